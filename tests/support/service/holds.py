"""What a service waits for, each held up by a context manager: the rows of "What may wait, and how long" in docs/architecture.md."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import psutil
import pytest

from tests.emulators.hapi import HapiBoard
from tests.emulators.pty_port import PtyPort
from tests.support.clients.raw_websocket import ConnectionEnded, RawWebSocket, encode_message
from tests.support.service.addresses import STREAMING
from tests.support.service.held_calls import HeldCalls
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

ROOT: Final = Path(__file__).parents[3]
FORCE: Final = {"set_cursor_force": {"vector": {"x": 0.1, "y": 0, "z": 0}}}
# So many messages of a client that pushes ahead are not answered yet.
AHEAD: Final = 100
MECHANISM: Final = "2diy-plastic"
# Made from files at the start, or from what the service knows.
PAGES: Final = ("/dashboard/", "/dashboard/js/feed.js", "/openapi.json", "/devices", "/settings", "/metrics")

# Of a service, with the calls of its system; a hAPI board may be plugged in at the path, for which the service looks.
Hold = Callable[[RunningService, HeldCalls, Path], AbstractContextManager[None]]


@contextmanager
def disk(service: RunningService, calls: HeldCalls, _port: Path) -> Generator[None]:
    """The disk takes nothing, with a write under way, and gives nothing: neither state nor program."""
    files = (service.state_dir, ROOT, sys.prefix, sys.base_prefix)
    writing = threading.Thread(target=lambda: service.request("POST", "/settings/sessions/command_timeout", 0.06))
    with calls.hold("fsync"):
        writing.start()
        calls.wait_for("fsync")
        with calls.hold("open", *files):
            assert [service.request("GET", page)[0] for page in PAGES] == [200] * len(PAGES)
            yield
    writing.join()


@contextmanager
def failsafe(service: RunningService, _calls: HeldCalls, port: Path) -> Generator[None]:
    """The failsafe process is stopped, and so is each that takes its place; a port is opened meanwhile."""
    ended = threading.Event()

    def stop_them() -> None:
        while not ended.wait(0.01):
            # One that was killed meanwhile, or all of them behind the service's end.
            with suppress(psutil.NoSuchProcess):
                for child in psutil.Process(service.process.pid).children():
                    child.suspend()

    stopping = threading.Thread(target=stop_them)
    stopping.start()
    board = HapiBoard(MECHANISM)
    try:
        eventually(lambda: "is lost (it hangs)" in service.log, "the failsafe process hangs", pause_s=0.005)
        with PtyPort(board, link=port):
            eventually(lambda: board.setups, "the port is opened", pause_s=0.005)
            yield
    finally:
        ended.set()
        stopping.join()


@contextmanager
def port_list(_service: RunningService, calls: HeldCalls, _port: Path) -> Generator[None]:
    """The system's list of ports does not come."""
    with calls.hold("opendir", "/dev"):
        calls.wait_for("opendir")
        yield


@contextmanager
def port_open(_service: RunningService, calls: HeldCalls, port: Path) -> Generator[None]:
    """The `open` of a port does not return."""
    with calls.hold("open", port), PtyPort(HapiBoard(MECHANISM), link=port):
        calls.wait_for("open")
        yield


@contextmanager
def session_lock(service: RunningService, calls: HeldCalls, _port: Path) -> Generator[None]:
    """The streaming thread keeps the lock of a session for 5 ms with each read, and the next messages are there before it is done."""
    if STREAMING:
        pytest.skip("there are no streaming threads")
    client = RawWebSocket(service.ws)
    pushing = threading.Thread(target=push_ahead, args=(client,))
    try:
        pushing.start()
        with calls.hold("recv"):
            calls.wait_for("recv")
            yield
    finally:
        client.drop()
        pushing.join()


def push_ahead(client: RawWebSocket) -> None:
    """Command the arm with messages that are ahead of their answers, until the connection ends."""
    device = client.frame()["arm"][0]["device_id"]
    message = encode_message({"arm": [{"device_id": device, "commands": FORCE}]})
    with suppress(ConnectionEnded, OSError):
        client.socket.sendall(message * AHEAD)
        while client.frame():
            client.socket.sendall(message)


@contextmanager
def names(_service: RunningService, calls: HeldCalls, _port: Path) -> Generator[None]:
    """No name of a machine is found; nobody looks for one."""
    with calls.hold("names"):
        yield
    assert not calls.waits("names")


@contextmanager
def sockets(service: RunningService, _calls: HeldCalls, _port: Path) -> Generator[None]:
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


HOLDS: Final[dict[str, Hold]] = {
    "disk": disk,
    "failsafe process": failsafe,
    "list of ports": port_list,
    "open of a port": port_open,
    "lock of a session": session_lock,
    "names of machines": names,
    "sockets": sockets,
}
