"""A server that sends garbage, nothing, or ends in the middle: one error of ours, and no thread or descriptor is left."""

from __future__ import annotations

import asyncio
import gc
import socket
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import pytest

import hapticd_client as haptics
from hapticd_client import HapticsError, NoService, ProtocolBroken, Refused, ServiceLost, ServiceSilent, WrongInstance
from hapticd_client.core import http, operations
from hapticd_client.core.address import Address
from tests.clients.python.frames import arm, frame
from tests.clients.python.hostile_server import HostileServer, text

Answer = Callable[[socket.socket], None]


def sending(*parts: bytes) -> Answer:
    """Send the first frame, and each part when a message comes; then end."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(text(frame(arm())))
        for part in parts:
            connection.recv(4096)
            connection.sendall(part)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(4096):
            pass

    return answer


def shaped(**state: object) -> dict[str, Any]:
    """An arm with something else in its state."""
    entry = arm()
    return {**entry, "state": {**entry["state"], **state}}


def update(url: str) -> None:
    with haptics.connect(url) as service:
        for _ in range(10):
            service.update()
            _ = service.arm.position, service.arm.hall


def update_aio(url: str) -> None:
    async def run() -> None:
        async with haptics.aio.connect(url) as service:
            for _ in range(10):
                await service.update()
                _ = service.arm.position, service.arm.hall

    asyncio.run(run())


GARBAGE = {
    "no JSON": (text(b"garbage"), ProtocolBroken),
    "no object": (text(b"[1]"), ProtocolBroken),
    "an object of another shape": (text(b'{"arm": [7]}'), ProtocolBroken),
    "a vector that is a list": (text(frame(shaped(cursor_position=[1, 2, 3]))), ProtocolBroken),
    "a number that is a text": (text(frame(shaped(cursor_position={"x": "abc", "y": 0, "z": 0}))), ProtocolBroken),
    "a number that is an object": (text(frame(shaped(cursor_position={"x": {}, "y": 0, "z": 0}))), ProtocolBroken),
    "a config that is a number": (text(frame({**arm(), "config": 5})), ProtocolBroken),
    "a hall sensor that is a text": (text(frame(shaped(hall="x"))), ProtocolBroken),
    "JSON that is nested deeply": (text(b"[" * 60000), ProtocolBroken),
    "no frame": (b"HTTP/1.1 400 Bad Request\r\n\r\n", ServiceLost),
    "a masked frame": (b"\x81\x82abcdef", ProtocolBroken),
    "reserved bits": (b"\xf1\x00", ProtocolBroken),
    "an unknown opcode": (b"\x83\x00", ProtocolBroken),
    "a fragment": (b"\x01\x01{", ProtocolBroken),
    "a frame that is too long": (b"\x81\x7f\x00\x00\x00\x01\x00\x00\x00\x00", ProtocolBroken),
    "no UTF-8": (text(b"\xff\xfe"), ProtocolBroken),
    "half a frame": (b"\x81\x7e\x10\x00half", ServiceLost),
    "the end": (b"", ServiceLost),
    "a close frame": (b"\x88\x02\x03\xf3", ServiceLost),
}


@pytest.mark.parametrize("use", [update, update_aio])
@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_one_error_of_ours_and_nothing_is_left(name: str, use: Callable[[str], None]) -> None:
    garbage, expected = GARBAGE[name]
    threads = threading.active_count()

    with HostileServer(sending(garbage)) as server:
        with pytest.raises(expected) as caught:
            use(server.url)
        assert isinstance(caught.value, HapticsError)
        assert "\n" not in str(caught.value)
        del caught
        gc.collect()

    assert threading.active_count() == threads


@pytest.mark.parametrize("use", [haptics.connect, haptics.aio.connect])
def test_server_that_never_answers_is_an_error_within_the_time_limit(use: Callable[..., object]) -> None:
    def silent(connection: socket.socket) -> None:
        while connection.recv(4096):
            pass

    async def connected(url: str) -> None:
        found = use(url, timeout=0.2)
        if isinstance(found, haptics.aio.Service):
            await found

    with HostileServer(silent) as server, pytest.raises(ServiceSilent, match="has not answered"):
        asyncio.run(connected(server.url))


def test_server_that_trickles_is_silent_at_the_deadline() -> None:
    def trickle(connection: socket.socket) -> None:
        connection.sendall(text(frame(arm())))
        connection.recv(4096)
        for byte in text(b" " * 60000):
            connection.sendall(bytes([byte]))
            if ended.wait(0.005):
                return

    ended = threading.Event()
    with HostileServer(trickle) as server:
        try:
            with pytest.raises(ServiceSilent), haptics.connect(server.url, timeout=0.3) as service:
                service.update()
        finally:
            ended.set()


def test_pings_are_answered_while_frames_are_awaited() -> None:
    pongs: list[bytes] = []

    def pinging(connection: socket.socket) -> None:
        connection.sendall(text(frame(arm())))
        connection.recv(4096)
        connection.sendall(b"\x89\x02hi")
        pongs.append(connection.recv(4096))
        connection.sendall(text(frame(arm(config=False, z=0.2))))
        while connection.recv(4096):
            pass

    with HostileServer(pinging) as server, haptics.connect(server.url) as service:
        service.update()
        assert service.arm.position[2] == 0.2

    assert pongs[0][0] == 0x8A


@pytest.mark.parametrize("session_id", ["x", None, [], {}])
def test_first_frame_with_a_session_id_that_is_none_is_one_error_of_ours(session_id: object) -> None:
    def odd(connection: socket.socket) -> None:
        connection.sendall(text(frame(arm(), session_id=session_id)))
        while connection.recv(4096):
            pass

    with HostileServer(odd) as server, pytest.raises(ProtocolBroken):
        haptics.connect(server.url)


def test_other_instance_than_the_expected_one_is_refused() -> None:
    with HostileServer(sending()) as server, pytest.raises(WrongInstance, match="somebody else"):
        haptics.connect(server.url, expect_instance="0123456789abcdef")


def test_nobody_listens_is_an_error_that_says_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

    for use in (haptics.connect, haptics.aio.connect):
        with pytest.raises(NoService, match="hapticd run"):
            asyncio.run(_connected(use, f"ws://127.0.0.1:{port}"))
    with pytest.raises(NoService, match="local:STATE_DIR"):
        haptics.connect("local:/nowhere")


async def _connected(use: Callable[..., object], url: str) -> None:
    found = use(url)
    if isinstance(found, haptics.aio.Service):
        await found


def test_http_of_a_stranger_is_an_error_that_says_so() -> None:
    def stranger(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=lambda: stranger(listening.accept()[0]))
        thread.start()
        with pytest.raises(NoService, match="hapticd"):
            haptics.connect(f"ws://127.0.0.1:{listening.getsockname()[1]}")
        thread.join()


def test_refused_handshake_shows_the_sentence_of_the_service() -> None:
    def refuse(connection: socket.socket) -> None:
        connection.recv(65536)
        body = b'{"ok": false, "error": "64 sessions are open.", "data": null}'
        head = f"HTTP/1.1 503 Service Unavailable\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        connection.sendall(head + body)
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=lambda: refuse(listening.accept()[0]))
        thread.start()
        with pytest.raises(Refused, match="64 sessions are open") as caught:
            haptics.connect(f"ws://127.0.0.1:{listening.getsockname()[1]}")
        thread.join()

    assert caught.value.status == 503


def test_local_service_that_trickles_is_no_service_at_the_deadline() -> None:
    ended = threading.Event()

    def trickle(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            while not ended.wait(0.02):
                connection.sendall(b" ")

    with tempfile.TemporaryDirectory(prefix="hapticd-") as folder, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{folder}/local.sock")
        listening.listen()
        trickling = threading.Thread(target=trickle, args=(listening,))
        trickling.start()
        try:
            with pytest.raises(NoService, match="no answer"):
                haptics.connect(f"local:{folder}", timeout=0.3)
        finally:
            ended.set()
            trickling.join()


@pytest.mark.parametrize("operation", [operations.ports, operations.stopped, lambda: operations.describe("a/b")])
@pytest.mark.parametrize("data", [[], None, 7, "x", {"key": 3}])
def test_answer_over_http_of_another_shape_is_one_error_of_ours(
    operation: Callable[[], http.Operation[Any]], data: object
) -> None:
    checked = http.Checked(operation(), Address("localhost", 1))
    checked.first()

    with pytest.raises(NoService, match="another answer"):
        checked.after(data)


def test_length_of_an_answer_that_is_no_length_is_not_believed() -> None:
    answer = http.Answer(Address("localhost", 1))

    assert not answer.take(b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n{}")
    with pytest.raises(NoService, match="is not hapticd"):
        answer.data()
