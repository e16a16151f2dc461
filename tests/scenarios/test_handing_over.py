"""A pulse of one session, then constant forces of two: what arrives is their sum, wherever the hand of the simulated arm is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from websockets.sync.client import connect

from tests.support.service.polling import TIMEOUT_S
from tests.support.service.safety_service import ARM, SafetyService, force_command

PULSE_S = 0.032
SETTLED_S = 0.3
SECONDS = 2.0
# s of the circle that the hand draws before the pulse: each begins elsewhere.
STARTS = [0.2, 0.9, 1.7, 2.6, 3.3]


@pytest.mark.parametrize("start_s", STARTS)
def test_sum_of_two_sessions_arrives_after_a_pulse(tmp_path: Path, start_s: float) -> None:
    """The ring that the pulse leaves was taken for an oscillation in three of five starts, and 0.4 to 2.9 N arrived."""
    with (
        SafetyService(tmp_path, control__frequency=4000) as setup,
        connect(setup.service.ws, proxy=None, open_timeout=TIMEOUT_S) as other,
    ):
        other.recv(TIMEOUT_S)
        setup.service.wait(start_s)
        setup.stream(PULSE_S, force_command(x=10), every=0.004)
        shown: list[float] = []
        for _ in range(round(SECONDS / 0.01)):
            other.send(json.dumps({"arm": [{"device_id": ARM, "commands": force_command(x=0.5)}]}))
            other.recv(TIMEOUT_S)
            frame = setup.frame(force_command(x=1))
            shown.append(float(frame["state"]["current_cursor_force"]["x"]))
            setup.service.wait(0.01)

    settled = shown[round(SETTLED_S / 0.01) :]
    assert min(settled) == pytest.approx(1.5, abs=0.05)
    assert max(settled) == pytest.approx(1.5, abs=0.05)
