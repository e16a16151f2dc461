"""Log lines of requests and of failed handlers have method and path, and nothing else that the client sent."""

from __future__ import annotations

import logging

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.web import RequestHandler

from transport.http.base import HttpHandler, logged
from transport.ws.protocol import Channel

SENT = "mark-of-a-client"


def request(method: str, uri: str) -> HTTPServerRequest:
    headers = HTTPHeaders({"Host": "localhost", "Cookie": SENT})
    made = HTTPServerRequest(start_line=RequestStartLine(method, uri, "HTTP/1.1"), headers=headers)
    made.remote_ip = "127.0.0.1"
    return made


@pytest.mark.parametrize(
    ("method", "uri", "text"),
    [
        ("GET", f"/devices?x={SENT}", "GET /devices"),
        ("GET", f"http://{SENT}@localhost:1/devices?{SENT}", "GET /devices"),
        (SENT, "/devices", "another method /devices"),
        ("GET", f"/{'x' * 100}", f"GET /{'x' * 78}…"),
        ("OPTIONS", "*", "OPTIONS *"),
    ],
)
def test_request_is_logged_without_query_authority_and_unknown_method(method: str, uri: str, text: str) -> None:
    assert logged(request(method, uri)) == text


@pytest.mark.parametrize("kind", [HttpHandler, Channel])
def test_failed_handler_is_logged_with_its_traceback_and_without_the_request(
    kind: type[RequestHandler], caplog: pytest.LogCaptureFixture
) -> None:
    handler = kind.__new__(kind)
    handler.request = request("GET", f"/?session_id={SENT}")
    error = ValueError("broken")

    handler.log_exception(type(error), error, None)

    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert record.exc_info[1] is error
    assert SENT not in record.getMessage()
