"""Client commands against servers that are not there, refuse, fail, break off, or are no hapticd: sentence and exit code of each."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from transport.cli.described import commands
from transport.cli.exit_codes import ExitCode
from transport.cli.program import run
from transport.cli.table import COMMANDS

NOBODY = "http://127.0.0.1:1"
CLIENTS = [
    words
    for command in commands()
    if (words := command.name.split()[1:])[0] in COMMANDS and words[0] not in {"bundle", "completion", "doctor"}
]
NEEDED = {
    "reset": ["sim0"],
    "settings set": ["control/frequency", "8000"],
    "settings reset": ["control/frequency"],
    "calibrate": ["arm/0"],
    "pair": ["arm/0"],
    "name": ["arm/0"],
    "identify": ["arm/0"],
    "check": ["arm/0", "--yes"],
}
EVIL = "\x1b[2J[red]\u202e"


def whole(words: list[str]) -> list[str]:
    """The words with the arguments that the command needs."""
    return [*words, *NEEDED.get(" ".join(words), [])]


def one_sentence(shown: str) -> str:
    (line,) = shown.splitlines()
    assert line.startswith("hapticd: ")
    return line.removeprefix("hapticd: ")


@contextmanager
def answering(status: int, body: bytes, **headers: str) -> Generator[str]:
    """Address of a server that answers everything so."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - names of the base class

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - name of the base class
            del format, args

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def refusal(error: object, data: object = None) -> bytes:
    return json.dumps({"ok": False, "error": error, "data": data}).encode()


def accepted(data: object) -> bytes:
    return json.dumps({"ok": True, "error": None, "data": data}).encode()


@pytest.mark.parametrize("words", [words for words in CLIENTS if words != ["doctor"]], ids=" ".join)
def test_command_without_a_service_says_so_and_ends_with_3(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*whole(words), "--url", NOBODY]) == ExitCode.NO_SERVICE

    shown = capsys.readouterr()
    assert shown.out == ""
    assert one_sentence(shown.err).startswith(f"No service answers at {NOBODY}")


@pytest.mark.parametrize("words", [words for words in CLIENTS if words != ["doctor"]], ids=" ".join)
def test_error_with_json_is_a_document_too(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*whole(words), "--url", NOBODY, "--json"]) == ExitCode.NO_SERVICE

    document = json.loads(capsys.readouterr().out)
    assert document["exit_code"] == 3
    assert document["error"].startswith("No service answers at")


@pytest.mark.parametrize("words", CLIENTS, ids=" ".join)
@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (400, "give a whole number.", ExitCode.REFUSED),
        (401, "a token is needed.", ExitCode.REFUSED),
        (403, "this host may not come in.", ExitCode.REFUSED),
        (404, "there is no device 9.", ExitCode.REFUSED),
        (409, "calibration is locked.", ExitCode.REFUSED),
        (422, "the firmware is too old.", ExitCode.REFUSED),
        (429, "too many requests.", ExitCode.REFUSED),
        (500, "the service failed.", ExitCode.FAILED),
        (503, "the service starts.", ExitCode.FAILED),
        (507, "the state directory cannot be written.", ExitCode.FAILED),
    ],
)
def test_refusal_is_the_service_s_own_sentence(
    words: list[str], status: int, error: str, code: ExitCode, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(status, refusal(error)) as url:
        assert run([*whole(words), "--url", url]) == code

    shown = capsys.readouterr()
    assert shown.out == ""
    assert one_sentence(shown.err).startswith(error)
    assert ("--token-file" in shown.err) == (status == 401)


@pytest.mark.parametrize("words", CLIENTS, ids=" ".join)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"null",
        b"{}",
        b'{"ok": true}',
        b"\xff\xfe",
        b'{"ok": 1, "error": 2, "data": 3',
        b"[" * 100_000,
    ],
    ids=lambda body: body[:12].decode("ascii", "replace"),
)
def test_stranger_is_no_service(words: list[str], body: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(200, body) as url:
        assert run([*whole(words), "--url", url]) == ExitCode.NO_SERVICE

    assert "is not hapticd" in one_sentence(capsys.readouterr().err)


@pytest.mark.parametrize(
    "data", [None, [], 5, "text", {}, {"arm": 5}, {"arm": [5, {}]}, {"results": 5}, {"arm": [{"device_id": 5}]}]
)
@pytest.mark.parametrize("words", CLIENTS, ids=" ".join)
def test_answer_of_an_unexpected_shape_is_no_stack_trace(
    words: list[str], data: object, capsys: pytest.CaptureFixture[str]
) -> None:
    extra = ["--count", "1"] if words == ["monitor"] else []
    with answering(200, accepted(data)) as url:
        assert run([*whole(words), *extra, "--url", url]) in set(ExitCode)

    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["devices"], ["ports"], ["sessions"], ["settings", "get"], ["monitor", "--count", "1"]], ids=" ".join
)
def test_hostile_names_are_printed_as_text(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    data = {
        "arm": [{"device_id": EVIL, "config": {"port": EVIL, "connection": EVIL}, "state": {"buttons": {EVIL: True}}}],
        "ports": [{"port": EVIL, "path": EVIL, "state": EVIL}],
        "sessions": [{"session_id": EVIL, "profile": {"name": EVIL}, "devices": [EVIL]}],
        EVIL: {"key": EVIL, "type_hint": EVIL, "value": EVIL, "overridden_by": EVIL},
    }
    with answering(200, accepted(data)) as url:
        assert run([*words, "--url", url]) == 0

    shown = capsys.readouterr().out
    assert "\\x1b[2J[red]\\u202e" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_hostile_refusal_is_printed_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    with answering(404, refusal(EVIL * 300, {"results": [{"device_id": EVIL, "error": EVIL}]})) as url:
        assert run(["stop", "--url", url]) == ExitCode.REFUSED

    assert "\x1b" not in one_sentence(capsys.readouterr().err)


def test_token_is_sent_and_read_from_option_file_and_environment(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathlib import Path

    file = Path(str(tmp_path)) / "token"
    file.write_text("from-file\n")
    monkeypatch.setenv("HAPTICD_TOKEN", "from-environment")
    for options, wanted in (
        ([], "from-environment"),
        (["--token", "from-option"], "from-option"),
        (["--token-file", str(file)], "from-file"),
    ):
        with socket.create_server(("127.0.0.1", 0)) as server:
            got: list[bytes] = []

            def serve(server: socket.socket = server, got: list[bytes] = got) -> None:
                connection, _ = server.accept()
                with connection:
                    got.append(connection.recv(65536))
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

            thread = threading.Thread(target=serve)
            thread.start()
            run(["ports", "--url", f"http://127.0.0.1:{server.getsockname()[1]}", *options])
            thread.join()
        assert f"Authorization: Bearer {wanted}\r\n".encode() in got[0]


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (b"", "closed the connection without an answer"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "is not hapticd"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{", "ended in the middle of the answer"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "ended in the middle of the answer"),
        (None, "did not answer within 0.2 s"),
    ],
    ids=["closed", "ssh", "cut_off", "bad_chunk", "silent"],
)
def test_broken_answer_is_one_sentence(sent: bytes | None, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        done = threading.Event()

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                if sent is None:
                    done.wait(30)
                else:
                    connection.sendall(sent)

        thread = threading.Thread(target=serve)
        thread.start()
        code = run(
            ["ports", "--timeout", "0.2" if sent is None else "30", "--url", f"127.0.0.1:{server.getsockname()[1]}"]
        )
        done.set()
        thread.join()

    assert code == ExitCode.NO_SERVICE
    assert says in one_sentence(capsys.readouterr().err)
