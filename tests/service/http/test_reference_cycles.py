"""Refused and broken requests leave no reference cycles: freeing thousands of them at once would stall every session."""

from __future__ import annotations

import gc
import socket
import struct
from collections.abc import Iterator

import pytest

from tests.service.edge_server import EdgeServer
from tests.support.service.polling import eventually
from transport.http.base import HttpHandler

REQUESTS = 20
# linger on, for 0 s
RESET = struct.pack("ii", 1, 0)
HOST = "Host: 127.0.0.1\r\n"
REFUSED = {
    "unknown path": f"GET /nonsense HTTP/1.1\r\n{HOST}\r\n",
    "unknown device": f"GET /arm/FFFF HTTP/1.1\r\n{HOST}\r\n",
    "wrong method": f"DELETE /version HTTP/1.1\r\n{HOST}\r\n",
    "unknown method": f"BREW /version HTTP/1.1\r\n{HOST}\r\n",
    "foreign page": f"GET /devices HTTP/1.1\r\n{HOST}Origin: http://elsewhere.example\r\n\r\n",
    "foreign host": "GET /devices HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n",
    "long body": f"POST /stop HTTP/1.1\r\n{HOST}Content-Length: 70000\r\n\r\n",
}
CUT = {
    "long body": f"POST /stop HTTP/1.1\r\n{HOST}Content-Length: 70000\r\n\r\n",
    "half a body": f'POST /stop HTTP/1.1\r\n{HOST}Content-Length: 100\r\n\r\n{{"a',
    "no body": f"POST /stop HTTP/1.1\r\n{HOST}Content-Length: 100\r\n\r\n",
}


@pytest.fixture
def no_collection() -> Iterator[None]:
    """Nothing but reference counts frees objects."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def handlers() -> int:
    return sum(isinstance(found, HttpHandler) for found in gc.get_objects())


def read_some(connection: socket.socket) -> None:
    assert connection.recv(65536)


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("request_text", REFUSED.values(), ids=REFUSED)
def test_refused_request_is_freed_without_the_garbage_collector(rig: EdgeServer, request_text: str) -> None:
    before = handlers()
    for _ in range(REQUESTS):
        with rig.connect() as connection:
            connection.sendall(request_text.encode())
            read_some(connection)

    eventually(lambda: handlers() <= before or None, "all handlers are freed", pause_s=0.02)


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("request_text", CUT.values(), ids=CUT)
def test_request_whose_connection_is_cut_is_freed_without_the_garbage_collector(
    rig: EdgeServer, request_text: str
) -> None:
    before = handlers()
    for _ in range(REQUESTS):
        with rig.connect() as connection:
            connection.sendall(request_text.encode())
    rig.get("/nonsense")

    eventually(lambda: handlers() <= before or None, "all handlers are freed", pause_s=0.02)


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("request_text", CUT.values(), ids=CUT)
def test_request_whose_connection_is_reset_is_freed_without_the_garbage_collector(
    rig: EdgeServer, request_text: str
) -> None:
    """The error of the socket must not keep the frames that read it."""
    before = handlers()

    def send_and_reset() -> None:
        for _ in range(REQUESTS):
            with rig.connect() as connection:
                connection.sendall(request_text.encode())
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)

    # On the edge's own thread, so that all are reset before the first is read.
    rig.call(send_and_reset)
    rig.get("/nonsense")

    eventually(lambda: handlers() <= before or None, "all handlers are freed", pause_s=0.02)
