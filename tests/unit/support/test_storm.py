"""Which log records the device storm allows."""

from __future__ import annotations

import inspect
import logging

import pytest

from actors.control import actor
from tests.support.boards.storm import STALLED, unforeseen
from tests.support.service.living_actors import Killed


def test_only_a_killed_actor_and_a_timekeeper_without_a_turn_are_foreseen(caplog: pytest.LogCaptureFixture) -> None:
    name, stalled = STALLED
    assert stalled in inspect.getsource(actor)
    logging.getLogger(name).error(stalled)
    logging.getLogger("actors.kit.mailbox").error("died", exc_info=Killed())
    assert unforeseen(caplog.records) == []

    logging.getLogger(name).error("the loop has ended")
    logging.getLogger("actors.port.detection").error(stalled)
    logging.getLogger("actors.kit.mailbox").error("died", exc_info=ValueError())
    assert unforeseen(caplog.records) == ["the loop has ended", stalled, "died"]
