"""Whatever a service waits for is held up: a session streams on, STOP is answered, and SIGTERM ends the service.

The rows of "What may wait, and how long" in docs/architecture.md; the log has its own file, `test_held_streams.py`.
"""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sysconfig
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import psutil
import pytest

from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

SOURCE: Final = Path(__file__).parents[1] / "support/service/slow_disk.c"
# A hold in the suite, and in the soak.
HOLD_S: Final = 1.0
SOAK_S: Final = 30.0
# STOP is answered within this, asked again and again for half a minute.
STOP_S: Final = 0.1
FORCE: Final = {"set_cursor_force": {"vector": {"x": 0.1, "y": 0, "z": 0}}}


@pytest.fixture(scope="module")
def slow_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library whose fsync can be held."""
    target = tmp_path_factory.mktemp("disk") / "slow_disk.so"
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[:1]
    subprocess.run([*compiler, "-O2", "-shared", "-fPIC", "-o", target, SOURCE, "-ldl"], check=True)
    return target


@pytest.fixture
def flag(tmp_path: Path) -> Path:
    """The file that holds the disk while it exists."""
    return tmp_path / "held"


@pytest.fixture
def service(slow_disk: Path, flag: Path) -> Iterator[RunningService]:
    environment = {"LD_PRELOAD": str(slow_disk), "SLOW_DISK": str(flag)}
    with RunningService(environment=environment, settings={"communication/stop_storage_wait": 0.08}) as running:
        yield running
        flag.unlink(missing_ok=True)


Hold = Callable[[RunningService, Path], AbstractContextManager[None]]


@contextmanager
def disk(service: RunningService, flag: Path) -> Generator[None]:
    """The disk takes nothing, with a write under way."""
    flag.touch()
    writing = threading.Thread(target=lambda: service.request("POST", "/settings/sessions/command_timeout", 0.06))
    writing.start()
    yield
    flag.unlink(missing_ok=True)
    writing.join()


@contextmanager
def failsafe(service: RunningService, _flag: Path) -> Generator[None]:
    """The failsafe process is stopped, and so is each that takes its place."""
    ended = threading.Event()

    def stop_them() -> None:
        while not ended.wait(0.01):
            # One that was killed meanwhile, or all of them behind the service's end.
            with suppress(psutil.NoSuchProcess):
                for child in psutil.Process(service.process.pid).children():
                    child.suspend()

    stopping = threading.Thread(target=stop_them)
    stopping.start()
    yield
    ended.set()
    stopping.join()


@contextmanager
def sockets(service: RunningService, _flag: Path) -> Generator[None]:
    """Clients of every channel send and read nothing: sockets are full both ways."""
    held: list[socket.socket] = []
    for url, query in ((service.ws, {}), (service.ws, {"version": "3.0"}), (service.events, {})):
        peer = RawWebSocket(url, query)
        held.append(peer.socket)
        peer.socket.setblocking(False)
        fill(peer.socket, b"\x81\x80\0\0\0\0" * 1000)
    at = urlsplit(service.http)
    for _ in range(8):
        asking = socket.create_connection((at.hostname or "", at.port or 0), timeout=10)
        asking.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        asking.setblocking(False)
        fill(asking, b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
        held.append(asking)
    yield
    for each in held:
        each.close()


def fill(connection: socket.socket, data: bytes) -> None:
    """Send until nothing more is taken, or for a while."""
    try:
        for _ in range(200):
            connection.send(data)
    except (BlockingIOError, ConnectionError):
        pass


HOLDS: Final[dict[str, Hold]] = {"disk": disk, "failsafe process": failsafe, "sockets": sockets}


class Streaming:
    """A client that sends a force again and again, on a thread of its own."""

    def __init__(self, service: RunningService) -> None:
        self.frames = 0
        self._ended = threading.Event()
        self._session = RawWebSocket(service.ws)
        self._device_id = self._session.frame()["arm"][0]["device_id"]
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

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


def check(service: RunningService, flag: Path, hold: Hold, hold_s: float) -> list[float]:
    """Hold something up for so long; AssertionError when anybody else waits for it. How long each answer to STOP took (s)."""
    streaming, took = Streaming(service), list[float]()
    with hold(service, flag):
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
def test_nobody_waits_for_what_is_held_up(service: RunningService, flag: Path, name: str) -> None:
    check(service, flag, HOLDS[name], HOLD_S)


@pytest.mark.soak
@pytest.mark.parametrize("name", HOLDS)
def test_nobody_waits_for_half_a_minute(service: RunningService, flag: Path, name: str) -> None:
    assert max(check(service, flag, HOLDS[name], SOAK_S)) <= STOP_S
