"""Soak: how long motors keep a force after the service, its client or its board ends or hangs; upper bounds."""

from __future__ import annotations

import math
import re
import signal
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Final

import pytest

from bench.support.result_table import Limit, ResultTable, Row, hold
from tests.emulators.boards import Boards
from tests.support.clients.event_client import Event, EventClient
from tests.support.clients.streaming_clients import StreamingClients
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from tests.support.service.shutdown_timing import (
    FAULTS,
    HAPI_DEVICE,
    SIGNALS,
    CommandStream,
    TimestampingBoard,
    fault_to_motors_off_s,
    hapi_service,
    motors_turn,
    signal_to_motors_off_s,
    wait_ready,
    watchdog_times_ms,
)

SECTION: Final = "Ways out of the service · emulated boards on pseudo-terminals · reference: the bound"
LIMIT: Final = Limit(1.0, "≤")
TURNS: Final = 5
HAND_NM_PER_RAD: Final = 5.0
# Degrees of the shafts, by port, with the cursor in the middle of the reach.
MIDDLE: Final = {1: 45.0, 2: 135.0}

pytestmark = [pytest.mark.soak, pytest.mark.realtime]


def longest(results: ResultTable, name: str, took: list[float], bound: float) -> None:
    sys.stdout.write(f"{name}: {', '.join(f'{ms:.1f}' for ms in took)} ms\n")
    hold(results.add(Row(SECTION, name, max(took), "ms", bound, LIMIT)))


@pytest.mark.parametrize("number", SIGNALS, ids=[number.name for number in SIGNALS])
def test_board_without_a_watchdog_is_at_zero_within_50_ms(
    results: ResultTable, tmp_path: Path, number: signal.Signals
) -> None:
    took: list[float] = []
    for turn in range(TURNS):
        folder = tmp_path / str(turn)
        folder.mkdir()
        took.append(1000 * signal_to_motors_off_s(folder, number))

    longest(results, f"{number.name} to zero torque without a watchdog", took, 50.0)


@pytest.mark.parametrize("where", FAULTS)
def test_service_fault_leaves_no_torque_after_50_ms(results: ResultTable, tmp_path: Path, where: str) -> None:
    took: list[float] = []
    for turn in range(TURNS):
        folder = tmp_path / str(turn)
        folder.mkdir()
        took.append(1000 * fault_to_motors_off_s(folder, where))

    longest(results, f"null pointer ({where}) to zero torque without a watchdog", took, 50.0)


def test_the_board_s_watchdog_takes_60_ms_at_most(results: ResultTable, tmp_path: Path) -> None:
    longest(
        results, "SIGSTOP to zero torque by the board's watchdog", watchdog_times_ms(tmp_path, TURNS, calm=True), 60.0
    )


def rests(hapi: TimestampingBoard) -> bool:
    """Whether the linkage is where the hand holds it."""
    return not any(hapi.duties) and all(
        abs(shaft.speed) < 0.01 and abs(shaft.angle - shaft.held) < 0.01 for shaft in hapi.shafts.values()
    )


def test_client_cut_off_loses_its_force_within_75_ms(results: ResultTable, tmp_path: Path) -> None:
    took: list[float] = []
    with hapi_service(tmp_path) as (service, hapi):
        # A hand holds it: pushed turn after turn to the end of its reach, it would meet the limit springs there.
        for port, degrees in MIDDLE.items():
            hapi.shafts[port].held, hapi.shafts[port].stiffness = math.radians(degrees), HAND_NM_PER_RAD
        eventually(lambda: rests(hapi), "it rests in the hand", pause_s=0.01)
        for _ in range(TURNS):
            with CommandStream(service.ws, "compact", HAPI_DEVICE):
                eventually(lambda: motors_turn(hapi), "the motors turn", pause_s=0.002)
                begun = time.monotonic()
            eventually(lambda: not any(hapi.duties), "the motors are off", pause_s=0.002)
            took.append(1000 * (hapi.motors_off_s - begun))

    longest(results, "connection cut to zero torque", took, 75.0)


def after_ms(event: Event, begun_s: float) -> float:
    return 1000 * (datetime.fromisoformat(event["time"]).timestamp() - begun_s)


def silent_ms(event: Event) -> float:
    """How long the board had sent nothing when that was found, by the clock of the watch that did: the loop's or its port's."""
    if "silent_ms" in event["data"]:
        return float(event["data"]["silent_ms"])
    (told,) = re.findall(r"sent nothing for ([\d.]+) ms", event["message"])
    return float(told)


def test_silent_board_is_stale_and_disconnected_in_time(results: ResultTable, tmp_path: Path) -> None:
    stale: list[float] = []
    lost: list[float] = []
    heard: list[str] = []
    with Boards("arm:A1") as boards:
        settings = {"devices/detection/serial_ports": boards.path()}
        with (
            RunningService(simulate="", settings=settings, state_dir=tmp_path) as service,
            EventClient(service.events) as events,
        ):
            for _ in range(TURNS):
                wait_ready(service, "arm", "A1")
                events.events.clear()
                begun = time.time()
                boards.freeze()
                is_stale = events.wait_for_event("device-safety-triggered", safety_type="device_stale")
                is_lost = events.wait_for_event("device-disconnected", device_id="A1")
                stale.append(silent_ms(is_stale))
                lost.append(silent_ms(is_lost))
                heard.append(f"{after_ms(is_stale, begun):.1f}/{after_ms(is_lost, begun):.1f}")
                boards.thaw()
                events.wait_for_event("device-connected", device_id="A1")

    sys.stdout.write(f"events after the stop, by the wall's clock: {', '.join(heard)} ms\n")
    longest(results, "last data to device_stale, by the loop's clock", stale, 30.0)
    longest(results, "last data to device-disconnected, by the clock of the watch that found it", lost, 600.0)


def test_killed_board_is_disconnected_at_once(results: ResultTable, tmp_path: Path) -> None:
    with Boards("arm:A1") as boards:
        settings = {"devices/detection/serial_ports": boards.path()}
        with (
            RunningService(simulate="", settings=settings, state_dir=tmp_path) as service,
            EventClient(service.events) as events,
        ):
            wait_ready(service, "arm", "A1")
            begun = time.time()
            boards.kill()
            lost = after_ms(events.wait_for_event("device-disconnected", device_id="A1"), begun)
            assert not events.received_events("device-safety-triggered", safety_type="device_stale")

    longest(results, "board killed to device-disconnected", [lost], 100.0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_service_with_eight_clients_stops_within_two_seconds(
    results: ResultTable, tmp_path: Path, number: signal.Signals
) -> None:
    took: list[float] = []
    for turn in range(TURNS):
        with RunningService(state_dir=tmp_path / str(turn)) as service, StreamingClients(service.ws, 8, 0.5) as clients:
            clients.wait_frames(100)
            begun = time.monotonic()
            assert service.stop(number) == 0
            took.append(1000 * (time.monotonic() - begun))
            assert {client.close_code() for client in clients.clients} == {1001}

    longest(results, f"{number.name} to the end of the process", took, 2000.0)
