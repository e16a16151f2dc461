"""The HTTP client of the commands against servers that drip, stop in the middle, or are no hapticd."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import pytest

from transport.cli.address import parse_address
from transport.cli.client import Client
from transport.cli.exit_codes import NoService

BODY = b'{"ok": true, "error": null, "data": {"answer": 42}}'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
UNTIL_THE_END = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
PAUSE_S = 0.02  # between two bytes
TIMEOUT_S = 0.2


@contextmanager
def server(answer: Callable[[socket.socket], object]) -> Generator[str]:
    """A server that reads one request, calls `answer` and closes the connection; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            try:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(4096)
                    answer(connection)
            except OSError:
                pass

        serving = threading.Thread(target=serve)
        serving.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            # It wakes an `accept` to which nobody came.
            listening.shutdown(socket.SHUT_RDWR)
            serving.join()


def ask(url: str, timeout_s: float = 5.0) -> object:
    return Client(parse_address(url), timeout_s=timeout_s).get("/version")


def test_time_out_bounds_an_answer_that_drips() -> None:
    headers = b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 1000
    sent: list[int] = []

    def drip(connection: socket.socket) -> None:
        for at in range(len(headers)):
            connection.sendall(headers[at : at + 1])
            sent.append(at)
            threading.Event().wait(PAUSE_S)

    with server(drip) as url, pytest.raises(NoService, match=r"did not answer within 0\.2 s") as ended:
        ask(url, TIMEOUT_S)

    assert "--timeout" in ended.value.sentence
    assert len(sent) < len(headers), "it has gone before the headers were complete"


def test_time_out_bounds_the_search_for_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    found = threading.Event()

    def search(*_words: object, **_more: object) -> list[object]:
        found.wait(60)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", search)
    try:
        with pytest.raises(NoService, match=r"did not answer within 0\.2 s"):
            ask("http://machine.example:1", TIMEOUT_S)
    finally:
        found.set()


@pytest.mark.parametrize(
    "sent",
    [
        ANSWER[:4],
        ANSWER[:13],
        ANSWER[:30],
        ANSWER[:-5],
        CHUNKED,
        CHUNKED + b"10\r\nabc",
        CHUNKED + b"3\r\nabc\r\n",
    ],
    ids=["version", "status", "headers", "body", "no_chunk", "chunk", "no_last_chunk"],
)
def test_connection_that_ends_in_the_middle_of_the_answer_is_told(sent: bytes) -> None:
    with server(lambda connection: connection.sendall(sent)) as url, pytest.raises(NoService) as ended:
        ask(url)

    assert ended.value.sentence.startswith(f"The connection to {url} ended in the middle of the answer: ")


@pytest.mark.parametrize(
    "sent",
    [b"SSH-2.0-OpenSSH_9\r\n", UNTIL_THE_END + b"<html>", UNTIL_THE_END + b"{}"],
    ids=["other_protocol", "html", "other_json"],
)
def test_answer_of_something_else_is_told(sent: bytes) -> None:
    with (
        server(lambda connection: connection.sendall(sent)) as url,
        pytest.raises(NoService, match="is not hapticd: give the service's address with --url"),
    ):
        ask(url)


def test_route_that_is_missing_names_the_address() -> None:
    body = b'{"ok": false, "error": "There is no route \\"/version\\": check the spelling of the path.", "data": null}'
    sent = b"HTTP/1.1 404 Not Found\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)

    with server(lambda connection: connection.sendall(sent)) as url, pytest.raises(NoService, match="another port"):
        ask(url)


@pytest.mark.parametrize("sent", [ANSWER, UNTIL_THE_END + BODY], ids=["with_length", "until_the_end"])
def test_whole_answer_is_returned(sent: bytes) -> None:
    with server(lambda connection: connection.sendall(sent)) as url:
        assert ask(url) == {"answer": 42}
