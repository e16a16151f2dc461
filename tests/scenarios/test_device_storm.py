"""Devices plugged, unplugged and broken at random: no leaks, no errors. A short run; tests/soak has five minutes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from tests.support.boards.device_storm import DeviceStorm, unexpected_log_lines

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SEED = 20_260_101


def test_random_device_faults_of_all_drivers_leak_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), DeviceStorm(tmp_path, SEED) as storm:
        storm.run(3, 20.0)

    assert unexpected_log_lines(caplog.records) == []
