"""An emulated hAPI board with the service as installed: a force turns the motors; every end leaves zero torque."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.emulators.hapi import HapiBoard
from tests.emulators.pty_port import PtyPort
from tests.support.clients.event_client import EventClient
from tests.support.service.polling import TIMEOUT_S, eventually
from tests.support.service.process import RunningService
from transport.link.protocols.hapi.board import BOARDS, zero_message

MECHANISM = "2diy-plastic"
DEVICE = "HTTYACM7"
PUSH = {"set_cursor_force": {"vector": {"x": 0, "y": -0.5, "z": 0.5}}}
ZERO = zero_message(BOARDS[MECHANISM])


class Bench:
    """The board, its port, and the service that drives it."""

    def __init__(self, port: PtyPort, board: HapiBoard, service: RunningService) -> None:
        self.port = port
        self.board = board
        self.service = service

    def driven(self) -> bool:
        return max(abs(torque) for torque in self.board.torques) > 0.005

    def ready(self) -> None:
        def look() -> bool:
            status, found = self.service.request("GET", f"/compact/{DEVICE}")
            return status == 200 and found["status"]["ready"]

        eventually(look, "the board is ready", pause_s=0.02)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    board = HapiBoard(MECHANISM)
    with PtyPort(board, link=tmp_path / "ttyACM7") as port:
        settings = {"devices/hapi/ports": f"{port.path}={MECHANISM}", "sessions/command_timeout": 0.5}
        with RunningService(settings=settings, state_dir=tmp_path / "state") as service:
            bench = Bench(port, board, service)
            bench.ready()
            yield bench


def push(channel: ClientConnection) -> Any:
    channel.send(json.dumps({"compact": [{"device_id": DEVICE, "commands": PUSH}]}))
    frame = json.loads(channel.recv())
    assert "errors" not in frame
    return frame


def pushing(bench: Bench, channel: ClientConnection) -> None:
    channel.recv()
    eventually(lambda: push(channel) and bench.driven(), "the motors turn", pause_s=0.005)


def test_client_force_turns_the_motors_and_ends_on_disconnect(bench: Bench) -> None:
    with connect(bench.service.ws, proxy=None, open_timeout=TIMEOUT_S) as channel:
        pushing(bench, channel)
        entry = next(one for one in push(channel)["compact"] if one["device_id"] == DEVICE)
        assert entry["state"]["cursor_position"]["z"] == 0
        assert entry["state"]["current_cursor_force"]["z"] == 0

    eventually(lambda: not bench.driven(), "the motors are at zero", pause_s=0.005)


def test_stopping_service_sends_zero_torque_last(bench: Bench) -> None:
    with connect(bench.service.ws, proxy=None, open_timeout=TIMEOUT_S) as channel:
        pushing(bench, channel)
        assert bench.service.stop(signal.SIGTERM) == 0

    eventually(lambda: bench.port.last.endswith(ZERO), "the last packet carries no torque", pause_s=0.005)
    assert bench.board.torques == (0, 0)


def test_silent_board_becomes_stale_then_disconnected(bench: Bench) -> None:
    with EventClient(bench.service.events) as events:
        bench.port.freeze()

        stale = events.wait_for_event("device-safety-triggered", safety_type="device_stale", device_id=DEVICE)
        lost = events.wait_for_event("device-disconnected", device_id=DEVICE)
        bench.port.thaw()

        assert stale["time"] < lost["time"]
        events.wait_for_event("device-connected", device_id=DEVICE)
