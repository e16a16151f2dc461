"""HTTP behaviour that all routes share, over a real socket: headers, envelope, errors, methods."""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import socket

import pytest

from actors.kit.errors import Busy, HapticError
from tests.service.edge_server import TIMEOUT_S, EdgeServer
from transport.http.app import HTTP_ROUTES
from transport.http.call import Answer, Call, Text
from transport.http.route import Route, RouteTable
from transport.wire.envelope import OUR_FAULT, Encoded

KIB = 1024


async def echo(call: Call) -> Answer:
    return Answer({"body": call.value()})


async def noted(call: Call) -> Answer:
    call.fields("known")
    return Answer(Encoded(b'{"a":1}'))


async def several(_call: Call) -> Answer:
    return Answer({"results": [{"ok": True}, {"ok": False}]}, 422, "The firmware is too old.")


async def broken(_call: Call) -> Answer:
    raise ValueError("/home/secret/file.py")


async def busy(_call: Call) -> Answer:
    raise Busy


async def unknown(_call: Call) -> Answer:
    raise HapticError("Something of another kind.")


async def words(call: Call) -> Answer:
    return Answer({"vocabulary": call.vocabulary.name, "version": call.version, "flag": call.flag("flag")})


async def text(_call: Call) -> Text:
    return Text(b'say "hi"\n', "text/plain; charset=utf-8")


TABLE = RouteTable(
    (
        Route("POST", "/echo", echo, "", reads_body=True),
        Route("PATCH", "/echo", echo, "", reads_body=True),
        Route("POST", "/noted", noted, "", reads_body=True, deprecation="use /new"),
        Route("GET", "/several", several, ""),
        Route("POST", "/ignored", words, ""),
        Route("GET", "/broken", broken, ""),
        Route("GET", "/busy", busy, ""),
        Route("GET", "/unknown", unknown, ""),
        Route("GET", "/words", words, ""),
        Route("GET", "/enveloped", words, "", enveloped=True),
        Route("GET", "/text", text, ""),
        Route("GET", "/always", words, "", always=True),
    )
)


@pytest.fixture
def rig(rig: EdgeServer) -> EdgeServer:
    rig.port = rig.serve(TABLE)
    return rig


def raw_exchange(rig: EdgeServer, request: bytes) -> bytes:
    """Everything that comes back until the service closes, which the request must make it do."""
    answer = b""
    with rig.connect() as connection, contextlib.suppress(ConnectionResetError, BrokenPipeError):
        connection.sendall(request)
        while received := connection.recv(64 * KIB):
            answer += received
    return answer


# ---------------------------------------------------------------- shapes


def test_answer_is_json_with_no_store(rig: EdgeServer) -> None:
    reply = rig.get("/words")

    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["server"] == "hapticd"
    assert "etag" not in reply.headers
    assert reply.json == {"vocabulary": "neutral", "version": "3.1", "flag": False}


@pytest.mark.parametrize(
    ("path", "enveloped"),
    [
        ("/words", False),
        ("/words?format=json", True),
        ("/words?format=plain", False),
        ("/enveloped", True),
        ("/enveloped?format=json", True),
        ("/enveloped?format=plain", False),
    ],
)
def test_the_envelope_is_chosen_by_route_and_query(rig: EdgeServer, path: str, enveloped: bool) -> None:
    shown = rig.get(path).json

    assert ("data" in shown) is enveloped
    assert shown.get("ok", True) is True


def test_envelope_with_results_of_422_is_not_ok(rig: EdgeServer) -> None:
    reply = rig.get("/several?format=json")

    assert reply.status == 422
    assert reply.json == {
        "ok": False,
        "error": "The firmware is too old.",
        "data": {"results": [{"ok": True}, {"ok": False}]},
    }
    assert rig.get("/several").json == {"results": [{"ok": True}, {"ok": False}]}


@pytest.mark.parametrize("query", ["", "?format=json", "?format=plain", "?format=xml"])
def test_failed_call_of_a_deprecated_route_says_what_to_use(rig: EdgeServer, query: str) -> None:
    reply = rig.ask("POST", f"/noted{query}", "{")

    assert reply.status == 400
    assert reply.json == {"ok": False, "error": reply.error, "data": None, "deprecation_warning": "use /new"}


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("format=xml", "?format="),
        ("format=", "?format="),
        ("vocabulary=klingon", "?vocabulary="),
        ("flag=perhaps", "?flag="),
    ],
)
def test_query_field_without_meaning_is_refused_by_name(rig: EdgeServer, query: str, name: str) -> None:
    reply = rig.get(f"/words?{query}")

    assert reply.status == 400
    assert name in reply.error


def test_vocabulary_is_the_setting_s_or_the_request_s(rig: EdgeServer) -> None:
    assert rig.get("/words").json["vocabulary"] == "neutral"
    assert rig.get("/words?vocabulary=inverse").json["vocabulary"] == "inverse"

    rig.port, port = rig.serve(HTTP_ROUTES), rig.port
    assert rig.ask("POST", "/settings/serialization/vocabulary", "inverse").status == 200
    rig.port = port

    assert rig.get("/words").json["vocabulary"] == "inverse"
    assert rig.get("/words?vocabulary=neutral").json["vocabulary"] == "neutral"


@pytest.mark.parametrize(("path", "version"), [("/3.0/words", "3.0"), ("/3.1/words", "3.1"), ("/words", "3.1")])
def test_version_prefix_selects_the_shape(rig: EdgeServer, path: str, version: str) -> None:
    assert rig.get(path).json["version"] == version


def test_text_is_plain_and_a_string_in_the_envelope(rig: EdgeServer) -> None:
    reply = rig.get("/text")

    assert (reply.headers["content-type"], reply.body) == ("text/plain; charset=utf-8", b'say "hi"\n')
    assert rig.get("/text?format=json").json == {"ok": True, "error": None, "data": 'say "hi"\n'}
    assert rig.get("/text?format=json").headers["content-type"] == "application/json"


def test_notes_stand_beside_the_answer(rig: EdgeServer) -> None:
    sent = {"known": 1, "frce": 2, "x": 3}
    beside = {
        "warnings": ['unknown key "frce" was ignored', 'unknown key "x" was ignored'],
        "deprecation_warning": "use /new",
    }

    assert rig.ask("POST", "/noted", sent).json == {"a": 1, **beside}
    assert rig.ask("POST", "/noted?format=json", sent).json == {"ok": True, "error": None, "data": {"a": 1}, **beside}


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize("query", ["", "?format=json", "?format=plain"])
@pytest.mark.parametrize(("path", "status"), [("/nope", 404), ("/busy", 503), ("/unknown", 500), ("/%zz", 400)])
def test_an_error_looks_the_same_plain_and_enveloped(rig: EdgeServer, path: str, status: int, query: str) -> None:
    reply = rig.get(path + query)

    assert reply.status == status
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["cache-control"] == "no-store"
    assert reply.error


def test_internal_error_is_logged_and_hidden(rig: EdgeServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        reply = rig.get("/broken")

    assert (reply.status, reply.error) == (500, OUR_FAULT)
    assert b"secret" not in reply.body
    assert "secret" in caplog.text


def test_busy_answer_has_retry_after(rig: EdgeServer) -> None:
    assert rig.get("/busy").headers["retry-after"] == "1"


@pytest.mark.parametrize("method", ["PUT", "POST", "TRACE", "CONNECT", "FOO", "get", "INITIALIZE", "_SERVE"])
def test_other_method_is_refused_with_the_allowed_ones(rig: EdgeServer, method: str) -> None:
    reply = rig.ask(method, "/words")

    assert reply.status == 405
    assert reply.headers["allow"] == "GET, HEAD, OPTIONS"
    assert "GET, HEAD, OPTIONS" in reply.error


def test_other_method_on_an_unknown_path_is_refused(rig: EdgeServer) -> None:
    assert rig.ask("POST", "/nope").status == 404
    assert rig.ask("FOO", "/nope").status == 404


@pytest.mark.parametrize("method", ["TRACE", "FOO", "CONNECT"])
def test_access_is_checked_before_the_method(rig: EdgeServer, method: str) -> None:
    assert rig.ask(method, "/words", headers={"Host": "evil.example"}).status == 403
    assert rig.ask(method, "/words", headers={"Origin": "https://evil.example"}).status == 403


def test_proxy_request_is_refused(rig: EdgeServer) -> None:
    reply = rig.ask("CONNECT", "example.org:443")

    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD, POST, PATCH, DELETE, OPTIONS")


def test_an_empty_vocabulary_is_refused(rig: EdgeServer) -> None:
    assert "neutral, inverse or auto" in rig.get("/words?vocabulary=").error


def test_head_is_get_without_a_body(rig: EdgeServer) -> None:
    head, whole = rig.ask("HEAD", "/words"), rig.get("/words")

    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"] == str(len(whole.body))
    assert rig.ask("HEAD", "/nope").status == 404


def test_options_names_the_methods(rig: EdgeServer) -> None:
    reply = rig.ask("OPTIONS", "/echo")

    assert (reply.status, reply.body, reply.headers["allow"]) == (200, b"", "POST, PATCH, OPTIONS")
    assert rig.ask("OPTIONS", "/nope").status == 404


@pytest.mark.parametrize(("listening", "stopping"), [(False, False), (True, True), (False, True)])
def test_starting_or_stopping_service_answers_some_routes_only(
    rig: EdgeServer, listening: bool, stopping: bool
) -> None:
    rig.bridge.listening, rig.bridge.stopping = listening, stopping

    reply = rig.get("/words")

    assert (reply.status, reply.headers["retry-after"]) == (503, "1")
    assert rig.get("/always").status == 200


# ---------------------------------------------------------------- bodies


@pytest.mark.parametrize("content_type", [None, "application/json", "text/plain", "application/x-www-form-urlencoded"])
def test_body_is_json_with_any_content_type(rig: EdgeServer, content_type: str | None) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}

    assert rig.ask("POST", "/echo", {"a": [1, None]}, headers).json == {"body": {"a": [1, None]}}


def test_multipart_type_is_still_read_as_json(rig: EdgeServer) -> None:
    headers = {"Content-Type": "multipart/form-data"}

    assert rig.ask("POST", "/echo", {"a": 1}, headers).json == {"body": {"a": 1}}


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"null", None),
        (b" 1 ", 1),
        (b'"x"', "x"),
        (b"[]", []),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b"\xef\xbb\xbf{}", {}),
        (b'"\\u00e9"', "\u00e9"),
    ],
)
def test_json_bodies_are_accepted(rig: EdgeServer, body: bytes, value: object) -> None:
    assert rig.ask("POST", "/echo", raw=body).json == {"body": value}


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"{}x",
        b"{'a': 1}",
        b"NaN",
        b'{"a": Infinity}',
        b"-Infinity",
        b"1e999",
        b"\xff\xfe{\x00}\x00",
        b'"\xff"',
        b'"\\ud800"',
        b"[" * 5000,
        b'{"a":' * 3000,
        b"01",
        b"a=1&b=2",
        b"\x00",
        b"undefined",
        b"\x1f\x8b\x08\x00",
    ],
)
def test_bodies_that_are_not_json_are_refused_with_the_place(rig: EdgeServer, body: bytes) -> None:
    reply = rig.ask("POST", "/echo", raw=body)

    assert reply.status == 400
    assert "not JSON" in reply.error
    assert "memory" not in reply.error
    assert "column" in reply.error


@pytest.mark.parametrize("body", [b"", b" \n", b"\xef\xbb\xbf"])
def test_missing_body_is_not_null(rig: EdgeServer, body: bytes) -> None:
    reply = rig.ask("POST", "/echo", raw=body)

    assert (reply.status, reply.error) == (400, "Send a JSON body.")


@pytest.mark.parametrize("body", [b"[]", b"null", b'"x"', b"1"])
def test_body_must_be_an_object_where_needed(rig: EdgeServer, body: bytes) -> None:
    reply = rig.ask("POST", "/noted", raw=body)

    assert (reply.status, reply.error) == (400, "The body must be a JSON object.")


def test_a_route_that_reads_no_body_takes_any(rig: EdgeServer) -> None:
    assert rig.ask("POST", "/ignored", raw=b"not json").status == 200


def test_a_get_with_a_body_is_answered(rig: EdgeServer) -> None:
    assert rig.ask("GET", "/words", {"a": 1}).status == 200


def test_exactly_64_kib_are_accepted(rig: EdgeServer) -> None:
    body = b'"' + b"x" * (64 * KIB - 2) + b'"'

    assert len(body) == 64 * KIB
    assert rig.ask("POST", "/echo", raw=body).status == 200


@pytest.mark.parametrize("size", [64 * KIB + 1, 200 * KIB, 900 * KIB])
def test_a_longer_body_is_413_and_the_connection_stays_usable(rig: EdgeServer, size: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", rig.port, timeout=TIMEOUT_S)
    try:
        for _ in range(2):
            connection.request("POST", "/echo", b"x" * size)
            answer = connection.getresponse()
            shown = json.loads(answer.read())
            assert answer.status == 413
            assert shown == {"ok": False, "error": "The body is too long: send at most 65536 bytes.", "data": None}
        connection.request("GET", "/words")
        assert connection.getresponse().status == 200
    finally:
        connection.close()


def test_a_longer_body_in_chunks_is_413(rig: EdgeServer) -> None:
    def chunks() -> list[bytes]:
        return [b"x" * 1000] * 100

    connection = http.client.HTTPConnection("127.0.0.1", rig.port, timeout=TIMEOUT_S)
    try:
        connection.request("POST", "/echo", iter(chunks()), encode_chunked=True)
        answer = connection.getresponse()
        assert answer.status == 413
        assert json.loads(answer.read())["ok"] is False
    finally:
        connection.close()


def test_a_short_body_in_chunks_is_read(rig: EdgeServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", rig.port, timeout=TIMEOUT_S)
    try:
        connection.request("POST", "/echo", iter([b'{"a"', b":1}"]), encode_chunked=True)
        assert json.loads(connection.getresponse().read()) == {"body": {"a": 1}}
    finally:
        connection.close()


def test_endless_body_is_cut_off_after_the_answer(rig: EdgeServer) -> None:
    with rig.connect() as connection:
        connection.sendall(b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 413"
        with pytest.raises(OSError):  # noqa: PT012 - how many of them still go out depends on the system's buffers
            for _ in range(10_000):
                connection.sendall(b"x" * 64 * KIB)


def test_expect_continue_for_a_long_body_is_refused_before_it_is_sent(rig: EdgeServer) -> None:
    request = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 70000\r\nExpect: 100-continue\r\n\r\n"

    answer = raw_exchange(rig, request)

    assert answer.startswith(b"HTTP/1.1 413")
    assert b"100 (Continue)" not in answer


def test_expect_continue_for_a_short_body_is_accepted(rig: EdgeServer) -> None:
    with rig.connect() as connection:
        connection.sendall(
            b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        )
        assert connection.recv(1000).startswith(b"HTTP/1.1 100")
        connection.sendall(b"42")
        assert b'{"body":42}' in connection.recv(4000)


def test_stalled_body_is_given_up(rig: EdgeServer) -> None:
    request = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
    with rig.connect() as connection:
        connection.sendall(request)
        assert connection.recv(1000) == b""

    assert rig.get("/words").status == 200


def test_refused_body_is_read_to_keep_the_connection(rig: EdgeServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", rig.port, timeout=TIMEOUT_S)
    try:
        for _ in range(3):
            connection.request("POST", "/nope", b"x" * 60 * KIB)
            answer = connection.getresponse()
            assert (answer.status, json.loads(answer.read())["ok"]) == (404, False)
    finally:
        connection.close()


# ---------------------------------------------------------------- what is no HTTP


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET /words\r\n\r\n",
        b"GET /words HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET /words HTTP/1.1\r\n\r\n",
        b"GET /words HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        b"POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET /words HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 70 * KIB,
    ],
)
def test_invalid_http_closes_its_connection_only(rig: EdgeServer, request_bytes: bytes) -> None:
    answer = raw_exchange(rig, request_bytes)

    assert answer == b"" or answer.startswith(b"HTTP/1.1 400")
    assert rig.get("/words").status == 200


@pytest.mark.parametrize("part", [b"", b"GET", b"GET /words HTTP/1.1\r\nHost: local"])
def test_request_that_ends_early_affects_no_other(rig: EdgeServer, part: bytes) -> None:
    with rig.connect() as connection:
        connection.sendall(part)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(KIB) == b""

    assert rig.get("/words").status == 200


def test_http_1_0_without_a_host_is_answered(rig: EdgeServer) -> None:
    assert raw_exchange(rig, b"GET /words HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200")


def test_a_whole_url_in_the_request_line_is_answered(rig: EdgeServer) -> None:
    request = b"GET http://localhost/words?flag=true HTTP/1.0\r\nHost: localhost\r\n\r\n"

    assert b'"flag":true' in raw_exchange(rig, request)


def test_star_is_no_path(rig: EdgeServer) -> None:
    assert raw_exchange(rig, b"OPTIONS * HTTP/1.0\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 400")


def test_disconnected_client_is_forgotten(rig: EdgeServer) -> None:
    for _ in range(5):
        with rig.connect() as connection:
            connection.sendall(b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")

    assert rig.get("/words").status == 200


def test_several_requests_are_answered_in_order_on_one_connection(rig: EdgeServer) -> None:
    request = b"".join(
        b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n%d" % number for number in range(5)
    )

    answer = raw_exchange(rig, request + b"GET /words HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")

    assert [int(part[0:1]) for part in answer.split(b'{"body":')[1:]] == [0, 1, 2, 3, 4]
    assert answer.endswith(b"}")
