"""Which log records the device storm allows."""

from __future__ import annotations

import inspect
import logging

import pytest

from actors.control import actor
from tests.support.boards.device_storm import STALLED, unexpected_log_lines
from tests.support.service.actor_faults import PlannedCrash


def test_only_planned_crashes_and_late_timekeepers_are_expected(caplog: pytest.LogCaptureFixture) -> None:
    name, stalled = STALLED
    assert stalled in inspect.getsource(actor)
    logging.getLogger(name).error(stalled)
    logging.getLogger("actors.kit.mailbox").error("died", exc_info=PlannedCrash())
    assert unexpected_log_lines(caplog.records) == []

    logging.getLogger(name).error("the loop has ended")
    logging.getLogger("actors.port.detection").error(stalled)
    logging.getLogger("actors.kit.mailbox").error("died", exc_info=ValueError())
    assert unexpected_log_lines(caplog.records) == ["the loop has ended", stalled, "died"]
