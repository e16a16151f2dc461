"""Whatever a service waits for is held up: a session streams on, STOP is answered, and SIGTERM ends the service.

The rows of "What may wait, and how long" in docs/architecture.md; the log has its own file, `test_held_streams.py`.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Self

import pytest

from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.held_calls import HeldCalls, build_library
from tests.support.service.holds import FORCE, HOLDS, MECHANISM
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

# A hold in the suite, and in the soak.
HOLD_S: Final = 1.0
SOAK_S: Final = 30.0
# STOP is answered within this, asked again and again for half a minute.
STOP_S: Final = 0.1


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_library(tmp_path_factory.mktemp("library"))


@pytest.fixture
def calls(library: Path, tmp_path: Path) -> HeldCalls:
    folder = tmp_path / "held"
    folder.mkdir()
    return HeldCalls(library, folder)


@pytest.fixture
def port(tmp_path: Path) -> Path:
    """Where the service looks for a hAPI board; none is there yet."""
    return tmp_path / "ttyACM7"


@pytest.fixture
def service(calls: HeldCalls, port: Path) -> Iterator[RunningService]:
    settings = {
        "communication/stop_storage_wait": 0.08,
        "devices/detection/period": 100,
        "devices/hapi/ports": f"{port}={MECHANISM}",
    }
    with RunningService(environment=calls.environment, settings=settings) as running:
        yield running


class Streaming:
    """Context manager: a client sends a force again and again inside, on a thread of its own, until `end`."""

    def __init__(self, service: RunningService) -> None:
        self.frames = 0
        self._ended = threading.Event()
        self._session = RawWebSocket(service.ws)
        self._device_id = self._session.frame()["arm"][0]["device_id"]
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _run(self) -> None:
        message = {"arm": [{"device_id": self._device_id, "commands": FORCE}]}
        while not self._ended.is_set():
            assert self._session.ask(message)["arm"]
            self.frames += 1

    def more(self, count: int) -> bool:
        """Whether so many more frames come."""
        wanted = self.frames + count
        eventually(lambda: self.frames >= wanted or not self._thread.is_alive(), "frames go on", pause_s=0.002)
        return self._thread.is_alive()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        self._session.drop()


def check(service: RunningService, held_up: AbstractContextManager[None], hold_s: float) -> list[float]:
    """Hold something up for so long; AssertionError when anybody else waits for it. How long each answer to STOP took (s)."""
    took = list[float]()
    with Streaming(service) as streaming, held_up:
        held = threading.Event()
        threading.Timer(hold_s, held.set).start()
        stopped = True
        while stopped:
            stopped = not held.is_set()
            assert streaming.more(50)
            began_s = time.monotonic()
            status, answer = service.request("POST", "/stop")
            took.append(time.monotonic() - began_s)
            assert (status, answer["stopped"]) == (200, True)
            service.request("DELETE", "/stop")
        streaming.end()
        service.process.send_signal(signal.SIGTERM)
        assert service.wait() == 0
    return took


@pytest.mark.parametrize("name", HOLDS)
def test_nobody_waits_for_what_is_held_up(service: RunningService, calls: HeldCalls, port: Path, name: str) -> None:
    check(service, HOLDS[name](service, calls, port), HOLD_S)


@pytest.mark.soak
@pytest.mark.parametrize("name", HOLDS)
def test_nobody_waits_for_half_a_minute(service: RunningService, calls: HeldCalls, port: Path, name: str) -> None:
    assert max(check(service, HOLDS[name](service, calls, port), SOAK_S)) <= STOP_S


@pytest.mark.parametrize("look_up", ["getaddrinfo('localhost', 1)", "getnameinfo(('127.0.0.1', 1), 0)"])
def test_name_of_a_machine_is_not_found_while_it_is_held(calls: HeldCalls, look_up: str) -> None:
    program = [sys.executable, "-c", f"import socket; socket.{look_up}"]
    with calls.hold("names"):
        looking = subprocess.Popen(program, env=calls.environment)
        calls.wait_for("names")
        assert looking.poll() is None
    assert looking.wait() == 0
