"""Soak: delay from an order to an emulated board's motor while a simulated arm is commanded too; loop at 4 kHz."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from websockets.sync.client import connect

from bench.support.result_table import Limit, ResultTable, Row, hold
from tests.emulators.boards import Boards
from tests.support.service.polling import TIMEOUT_S, eventually
from tests.support.service.process import RunningService
from tests.support.service.shutdown_timing import wait_ready

SECTION: Final = "order to motor · board at 1 kHz on a pseudo-terminal beside a simulated arm, loop at 4 kHz · reference: two periods of the link"
LIMIT: Final = Limit(1.0, "≤")
ORDERS: Final = 2_000
PERIODS_MS: Final = 2.0
# To and fro, and so little that the board stays where it is.
FORCE: Final = 0.05
# Of each turn: push, look, rest.
MESSAGES: Final = 3
STAMPED: Final = (sys.executable, "-m", "tests.support.service.timestamping_service")

pytestmark = [pytest.mark.soak, pytest.mark.realtime]


def words(devices: list[str], force: float) -> str:
    commands = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": force}}}
    return json.dumps({"arm": [{"device_id": device_id, "commands": commands} for device_id in devices]})


def pushed(frame: str | bytes, device_id: str) -> float:
    """The force that a frame shows on that arm."""
    shown: Any = json.loads(frame)
    assert "errors" not in shown
    return next(
        float(one["state"]["current_cursor_force"]["z"]) for one in shown["arm"] if one["device_id"] == device_id
    )


def test_order_reaches_the_motor_within_two_link_periods(results: ResultTable, tmp_path: Path) -> None:
    """Both ends are stamped by CLOCK_MONOTONIC where they happen, the board runs before all others, the test only waits: no clock of its own."""
    stamps = tmp_path / "stamps"
    driven: list[int] = []
    beside = 0
    with Boards("arm:A1") as boards:
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(boards.pid, os.SCHED_FIFO, os.sched_param(20))
        settings = {
            "devices/detection/serial_ports": boards.path(),
            "control/frequency": 4000,
            "sessions/command_timeout": 0.5,
            # To and fro looks like an oscillation to it.
            "filters/oscillation/enabled": "false",
        }
        with RunningService(
            simulate="arm",
            settings=settings,
            state_dir=tmp_path / "state",
            command=STAMPED,
            environment={"STAMPS": str(stamps)},
        ) as service:
            wait_ready(service, "arm", "A1")
            status, found = service.request("GET", "/devices")
            assert status == 200
            (simulated,) = [one["device_id"] for one in found["arm"] if one["device_id"] != "A1"]
            wait_ready(service, "arm", simulated)
            with connect(service.ws, proxy=None, open_timeout=TIMEOUT_S) as channel:
                channel.recv()
                both = ["A1", simulated]
                for turn in range(ORDERS):
                    force = FORCE * (-1) ** turn
                    before = boards.see().driven_ns
                    channel.send(words(both, force))
                    channel.recv()
                    driven.append(
                        eventually(
                            lambda: now if (now := boards.see().driven_ns) != before else None,  # noqa: B023
                            "its motors are on",
                            pause_s=0.001,
                        )
                    )
                    channel.send("{}")
                    beside += pushed(channel.recv(), simulated) * force > 0
                    channel.send(words(both, 0.0))
                    channel.recv()
                    eventually(lambda: not boards.see().driven, "its motors are off", pause_s=0.001)
            trips = boards.see().trips
    given = np.array(stamps.read_text().split(), dtype=np.int64)[::MESSAGES]
    took = (np.array(driven) - given) * 1e-6
    assert took.size == ORDERS
    assert took.min() > 0
    assert beside >= 0.99 * ORDERS
    note = ", ".join(f"p{share} {np.percentile(took, share):.2f}" for share in (50, 95, 99))
    row = Row(SECTION, f"p95 of {ORDERS:,}", float(np.percentile(took, 95)), "ms", PERIODS_MS, LIMIT)
    sys.stdout.write(
        f"ms from order to motor: {note}, most {took.max():.2f}; watchdog trips {trips}; simulated arm pushed {beside:,} times\n"
    )
    results.add(Row(SECTION, "median", float(np.median(took)), "ms", PERIODS_MS, note=f"{note}, most {took.max():.2f}"))
    hold(results.add(row))
