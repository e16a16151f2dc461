"""Soak, five minutes: devices are plugged, unplugged and broken at random, actors are killed; no errors, no leaks."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.boards.device_storm import STEPS, DeviceStorm, unexpected_log_lines

if TYPE_CHECKING:
    from pathlib import Path

SEED = 20_260_102
SECONDS = 300.0

pytestmark = pytest.mark.soak


def test_five_minutes_of_device_faults_leak_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), DeviceStorm(tmp_path, SEED) as storm:
        storms = storm.run(1, SECONDS)
        comings = len(storm.events.received_events("device-connected"))
        deaths = storm.deaths
    sys.stdout.write(f"{storms} storms of {STEPS} steps, {comings} connections, {deaths} actors killed\n")

    assert deaths > 0
    assert unexpected_log_lines(caplog.records) == []
