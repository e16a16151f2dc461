"""Devices plugged, unplugged and broken at random: no leaks, no errors. A short run; tests/soak has five minutes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from tests.support.boards.storm import Storm, unforeseen

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SEED = 20_260_101


def test_a_storm_over_all_kinds_of_devices_leaves_nothing_behind(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR), Storm(tmp_path, SEED) as storm:
        storm.rides_out(3, 20.0)

    assert unforeseen(caplog.records) == []
