"""A server that sends garbage, nothing, or ends in the middle: one error of ours within the time limit, and no leak (sanitizers)."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.clients.cpp.binaries import sanitized_program
from tests.clients.python.frames import arm, frame
from tests.clients.python.hostile_server import HostileServer, text
from tests.support.service.polling import TIMEOUT_S

Answer = Callable[[socket.socket], None]


def error_of(url: str, *words: str) -> str:
    """Run the test program, which must end with one error and without a leak; return its sentence."""
    done = subprocess.run(
        [str(sanitized_program()), url, *(words or ("update", "30"))],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 1, done.stderr
    (line,) = done.stderr.splitlines()
    return line


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


GARBAGE = {
    "no JSON": (text(b"garbage"), "ProtocolBroken"),
    "no object": (text(b"[1]"), "ProtocolBroken"),
    "an entry that is no object": (text(b'{"arm": [7]}'), "ProtocolBroken"),
    "an entry without a state": (text(b'{"arm": [{"device_id": "049D"}]}'), "ProtocolBroken"),
    "a position that is a text": (text(frame(arm(config=False)).replace(b'"z": 0.1', b'"z": "0.1"')), "ProtocolBroken"),
    "errors that are no objects": (text(b'{"arm": [], "errors": [1, 2]}'), "ProtocolBroken"),
    "JSON that is nested deeply": (text(b"[" * 60000), "ProtocolBroken"),
    "an entry that is nested deeply": (text(b'{"arm": ' + b"[" * 30000 + b"]" * 30000 + b"}"), "ProtocolBroken"),
    "no frame": (b"HTTP/1.1 400 Bad Request\r\n\r\n", "ProtocolBroken"),
    "a masked frame": (b"\x81\x82abcdef", "ProtocolBroken"),
    "reserved bits": (b"\xf1\x00", "ProtocolBroken"),
    "an unknown opcode": (b"\x83\x00", "ProtocolBroken"),
    "a continuation of nothing": (b"\x80\x01{", "ProtocolBroken"),
    "a frame of four gigabytes": (b"\x81\x7f\x00\x00\x00\x01\x00\x00\x00\x00", "ProtocolBroken"),
    "no UTF-8": (text(b"\xff\xfe"), "ProtocolBroken"),
    "half a frame": (b"\x81\x7e\x10\x00half", "ServiceLost"),
    "the end": (b"", "ServiceLost"),
    "a close frame": (b"\x88\x02\x03\xf3", "ServiceLost"),
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_one_error_of_ours(name: str) -> None:
    garbage, expected = GARBAGE[name]

    with HostileServer(sending(garbage)) as server:
        line = error_of(server.url)

    assert line.startswith(f"hapticd::{expected}: "), line


def test_close_frame_of_the_service_is_told_with_its_meaning() -> None:
    with HostileServer(sending(b"\x88\x06\x03\xe9stop")) as server:
        line = error_of(server.url)

    assert "has closed the session (the service is stopping: stop); forces are zero, connect again" in line


def test_first_frame_of_a_stranger_is_an_error() -> None:
    with HostileServer(lambda connection: connection.sendall(text(b'{"hello": 1}'))) as server:
        assert error_of(server.url).startswith("hapticd::ProtocolBroken: a frame of the service has no devices")


def test_server_that_never_sends_a_frame_is_silent_at_the_deadline() -> None:
    def silent(connection: socket.socket) -> None:
        while connection.recv(4096):
            pass

    with HostileServer(silent) as server:
        line = error_of(server.url, "update", "0.3")

    assert line.startswith("hapticd::ServiceSilent: ")
    assert "has not answered within 0.3 s" in line


def test_server_that_trickles_is_silent_at_the_deadline() -> None:
    ended = threading.Event()

    def trickle(connection: socket.socket) -> None:
        connection.sendall(text(frame(arm())))
        connection.recv(4096)
        for byte in text(b" " * 60000):
            connection.sendall(bytes([byte]))
            if ended.wait(0.005):
                return

    with HostileServer(trickle) as server:
        try:
            assert error_of(server.url, "update", "0.5").startswith("hapticd::ServiceSilent: ")
        finally:
            ended.set()


def test_server_that_does_not_read_or_answer_the_goodbye_does_not_hold_the_program() -> None:
    updates = 10

    def answer(connection: socket.socket) -> None:
        connection.sendall(text(frame(arm())))
        for _ in range(updates):
            connection.recv(4096)
            connection.sendall(text(frame(arm(config=False))))
        held.wait(TIMEOUT_S)

    held = threading.Event()
    with HostileServer(answer) as server:
        done = subprocess.run(
            [str(sanitized_program()), server.url, "update", "30"],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
        held.set()

    assert (done.returncode, done.stderr) == (0, "")


def test_pings_are_answered_while_frames_are_awaited() -> None:
    pongs: list[bytes] = []

    def pinging(connection: socket.socket) -> None:
        connection.sendall(text(frame(arm())))
        connection.recv(4096)
        connection.sendall(b"\x89\x02hi")
        pongs.append(connection.recv(4096))
        connection.sendall(b"\x88\x02\x03\xe8")

    with HostileServer(pinging) as server:
        assert error_of(server.url).startswith("hapticd::ServiceLost: ")

    assert pongs[0][0] == 0x8A


def test_other_instance_than_the_expected_one_is_refused() -> None:
    with HostileServer(sending()) as server:
        line = error_of(server.url, "expect", "0123456789abcdef")

    assert line.startswith("hapticd::WrongInstance: the running service is one without an id")


def test_nobody_listens_is_an_error_that_says_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

    line = error_of(f"ws://127.0.0.1:{port}")

    assert line.startswith("hapticd::NoService: ")
    assert "start one with hapticd run" in line
    assert "local:STATE_DIR" in error_of("local:/nowhere")


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("ftp://localhost", "InvalidAddress"),
        ("ws://", "InvalidAddress"),
        ("ws://localhost:0", "InvalidAddress"),
        ("ws://localhost:99999", "InvalidAddress"),
        ("ws://a@localhost", "InvalidAddress"),
        ("ws://local host", "InvalidAddress"),
        ("ws://[", "InvalidAddress"),
        ("wss://localhost", "NotSupported"),
    ],
)
def test_what_is_no_address_says_what_to_write(url: str, kind: str) -> None:
    assert error_of(url).startswith(f"hapticd::{kind}: ")


@contextmanager
def answering_once(raw: bytes) -> Generator[str]:
    """A server that answers whatever comes with these bytes; the address of it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(raw)

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"ws://127.0.0.1:{listening.getsockname()[1]}"
        thread.join(TIMEOUT_S)


@pytest.mark.parametrize("raw", [b"SSH-2.0-OpenSSH_9.2\r\n", b"", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"])
def test_stranger_is_an_error_that_says_so(raw: bytes) -> None:
    with answering_once(raw) as url:
        line = error_of(url)

    assert line.startswith("hapticd::NoService: ")
    assert "is not hapticd" in line


@pytest.mark.parametrize(
    ("status", "sentence", "more"),
    [(503, "64 sessions are open.", ""), (401, "The token is missing.", "HAPTICD_TOKEN")],
)
def test_refused_handshake_shows_the_sentence_of_the_service(status: int, sentence: str, more: str) -> None:
    body = f'{{"ok": false, "error": "{sentence}", "data": null}}'.encode()
    with answering_once(f"HTTP/1.1 {status} No\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body) as url:
        line = error_of(url)

    assert line.startswith(f"hapticd::Refused: {sentence}")
    assert more in line


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (None, "hapticd::NoService: "),
        (b"", "hapticd::NoService: "),
        (b"garbage\n", "hapticd::NoService: "),
        (b"x" * 5000, "hapticd::NoService: "),
        (b'{"session_id":7,"seat":0}\n', "hapticd::NoService: "),
        (b'{"error":"32 local sessions are open.","status":503}\n', "hapticd::Refused: The service refuses a local"),
    ],
)
def test_local_socket_of_a_stranger_is_one_error_within_the_time_limit(answer: bytes | None, expected: str) -> None:
    with tempfile.TemporaryDirectory(prefix="hapticd-") as folder, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(Path(folder) / "local.sock"))
        listening.listen()
        ended = threading.Event()

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                if answer is None:
                    ended.wait(TIMEOUT_S)
                else:
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            assert error_of(f"local:{folder}", "update", "0.3" if answer is None else "30").startswith(expected)
        finally:
            ended.set()
            thread.join(TIMEOUT_S)
