"""Rig for shutdown tests: the installed service with an emulated board that a client commands."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, Self

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.emulators.boards import Boards
from tests.emulators.hapi import HapiBoard
from tests.emulators.pty_port import PtyPort
from tests.support.service.polling import TIMEOUT_S, eventually
from tests.support.service.process import RunningService

SIGNALS: Final = (signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL)
FAULTS: Final = ("main", "actor", "thread")
FAULTING: Final = (sys.executable, "-m", "tests.support.service.faulting_service")
MECHANISM: Final = "2diy-plastic"
HAPI_DEVICE: Final = "HTTYACM7"
PUSH_S: Final = 0.005
# N m/rad and N m s: a hand that gives way by some hundredths of a radian and does not swing.
HAND_STIFFNESS: Final = 5.0
HAND_DAMPING: Final = 0.05
FORCE: Final = {"set_cursor_force": {"vector": {"x": 0, "y": -0.5, "z": 0.5}}}


class TimestampingBoard(HapiBoard):
    """A hAPI board that remembers when its motors were last switched off; a firm hand holds its linkage, so that the brake stays out of it."""

    zeroed_s: float = 0.0

    def __post_init__(self) -> None:
        """See HapiBoard."""
        super().__post_init__()
        for shaft in self.shafts.values():
            shaft.held, shaft.stiffness, shaft.viscous = shaft.angle, HAND_STIFFNESS, HAND_DAMPING

    def feed(self, data: bytes) -> bytes:
        """See HapiBoard."""
        motors_turn = any(self.duties)
        answer = super().feed(data)
        if motors_turn and not any(self.duties):
            self.motors_off_s = time.monotonic()
        return answer


class CommandStream:
    """Context manager: a client that commands one device every 5 ms, until its service is gone or it is left."""

    def __init__(self, url: str, family: str, device_id: str) -> None:
        self._words = json.dumps({family: [{"device_id": device_id, "commands": FORCE}]})
        self._url = url
        self._stack = ExitStack()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._push, name="pusher", daemon=True)

    def __enter__(self) -> Self:
        self._channel = self._stack.enter_context(connect(self._url, proxy=None, open_timeout=TIMEOUT_S))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        # No closing handshake: the other end may stand still.
        with contextlib.suppress(OSError):
            self._channel.socket.shutdown(socket.SHUT_RDWR)
        self._stack.close()
        self._thread.join()

    def _push(self) -> None:
        try:
            while not self._stop.wait(PUSH_S):
                self._channel.send(self._words)
                self._channel.recv()
        except (ConnectionClosed, OSError):
            pass


def wait_ready(service: RunningService, family: str, device_id: str) -> None:
    """Wait until the device is ready for commands."""

    def look() -> bool:
        status, found = service.request("GET", f"/{family}/{device_id}")
        return status == 200 and bool(found["status"]["ready"])

    eventually(look, f"{device_id} is ready", pause_s=0.02)


@contextmanager
def hapi_service(
    folder: Path, command: Sequence[str] | None = None, **environment: str
) -> Generator[tuple[RunningService, TimestampingBoard]]:
    """A service that drives a hAPI board, and the board, ready to be commanded."""
    board = TimestampingBoard(MECHANISM)
    with PtyPort(board, link=folder / "ttyACM7") as port:
        settings: dict[str, Any] = {"devices/hapi/ports": f"{port.path}={MECHANISM}", "sessions/command_timeout": 0.5}
        with RunningService(
            simulate="", settings=settings, state_dir=folder / "state", command=command, environment=environment
        ) as service:
            wait_ready(service, "compact", HAPI_DEVICE)
            yield service, board


def motors_turn(board: TimestampingBoard) -> bool:
    """Return whether a motor has torque beyond the noise, from the duties that it was sent."""
    return any(board.duties) and max(abs(torque) for torque in board.torques) > 0.005


def signal_to_motors_off_s(folder: Path, number: signal.Signals) -> float:
    """Send the signal; return the seconds until the board's motors were off."""
    with hapi_service(folder) as (service, board), CommandStream(service.ws, "compact", HAPI_DEVICE):
        eventually(lambda: motors_turn(board), "the motors turn", pause_s=0.002)
        begun = time.monotonic()
        service.process.send_signal(number)
        eventually(lambda: not any(board.duties), "the motors are off", pause_s=0.002)
        service.wait()
        assert not any(board.duties)
        return board.motors_off_s - begun


def fault_to_motors_off_s(folder: Path, where: str) -> float:
    """From just before the service reads at a null pointer, in one of the FAULTS, until the board's motors were off, by one clock."""
    with (
        hapi_service(folder, FAULTING, STRIKE=where) as (service, board),
        CommandStream(service.ws, "compact", HAPI_DEVICE),
    ):
        eventually(lambda: motors_turn(board), "the motors turn", pause_s=0.002)
        service.process.send_signal(signal.SIGUSR2)
        eventually(lambda: not any(board.duties), "the motors are off", pause_s=0.002)
        assert service.wait() == -signal.SIGSEGV
        assert not any(board.duties)
        (struck,) = re.findall(r"^strikes at ([\d.]+)$", service.log, re.MULTILINE)
        return board.motors_off_s - float(struck)


def watchdog_times_ms(folder: Path, turns: int, *, calm: bool = False) -> list[float]:
    """Milliseconds from the last command that came until the board's watchdog had its motors off, for a service that is stopped so often.

    `calm`: the machine has the time for a command in each 50 ms, so that the watchdog does not trip before.
    """
    took = []
    with Boards("arm:A1") as boards:
        settings = {"devices/detection/serial_ports": boards.path()}
        with RunningService(simulate="", settings=settings, state_dir=folder) as service:
            wait_ready(service, "arm", "A1")
            assert not (calm and boards.see().trips)
            for _ in range(turns):
                with CommandStream(service.ws, "arm", "A1"):
                    eventually(lambda: boards.see().driven, "its motors are on", pause_s=0.005)
                    service.process.send_signal(signal.SIGSTOP)
                    seen = eventually(lambda: now if (now := boards.see()).tripped else None, "it trips", pause_s=0.005)
                    assert not seen.driven
                    took.append((seen.zeroed_ns - seen.command_ns) * 1e-6)
                    service.process.send_signal(signal.SIGCONT)
                eventually(lambda: not boards.see().tripped, "commands flow again", pause_s=0.005)
    return took
