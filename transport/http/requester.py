"""Extract the `Requester` of a Tornado request for the access check."""

from __future__ import annotations

from typing import Final

from tornado.httputil import HTTPServerRequest

from actors.kit.errors import InvalidInput
from transport.http.request_target import parse_query, parse_target
from transport.security import Requester, bearer
from transport.tornado_ext.streams import stream_of

HEALTH: Final = frozenset({("healthz",), ("readyz",)})
DASHBOARD: Final = "dashboard"
STOP: Final = "stop"
STOPPING: Final = frozenset({"POST", "DELETE"})


def requester_of(request: HTTPServerRequest) -> Requester:
    """Return the sender of a request; a token in the header wins over one in the query."""
    headers = request.headers
    return Requester(
        method=request.method or "",
        upgrade=is_upgrade(request),
        peer=request.remote_ip or "",
        local=_local_address(request),
        host=headers.get("Host"),
        origin=headers.get("Origin"),
        token=bearer(headers.get("Authorization")) or _query_token(request.uri or ""),
        site=headers.get("Sec-Fetch-Site"),
        health=asks_for_health(request.uri or ""),
        dashboard=asks_for_dashboard(request.uri or "", headers.get("Accept", "")),
        asks_for=headers.get("Access-Control-Request-Method"),
        asks_private=headers.get("Access-Control-Request-Private-Network", "").lower() == "true",
    )


def is_upgrade(request: HTTPServerRequest) -> bool:
    """Whether the request is a WebSocket handshake."""
    headers = request.headers
    hops = (hop.strip().lower() for hop in headers.get("Connection", "").split(","))
    return request.method == "GET" and headers.get("Upgrade", "").lower() == "websocket" and "upgrade" in hops


def is_urgent(requester: Requester, uri: str) -> bool:
    """Whether a request passes the queue: a stop, its release, health."""
    if requester.health:
        return True
    if requester.method not in STOPPING or STOP not in uri:
        return False
    try:
        return parse_target(uri).segments[-1:] == (STOP,)
    except InvalidInput:
        return False


def asks_for_health(uri: str) -> bool:
    """Whether the path is that of `/healthz` or `/readyz`, with or without a version before it."""
    if "z" not in uri:
        return False
    try:
        return parse_target(uri).segments in HEALTH
    except InvalidInput:
        return False


def asks_for_dashboard(uri: str, accept: str) -> bool:
    """Whether the path is that of the dashboard or below, or that of `/` asked by a browser, which is sent there."""
    path = uri.partition("?")[0]
    if DASHBOARD not in path and not prefers_page(accept):
        return False
    try:
        segments = parse_target(path).segments
    except InvalidInput:
        return False
    return segments[:1] == (DASHBOARD,) or (not segments and prefers_page(accept))


def prefers_page(accept: str) -> bool:
    """Whether an Accept header names HTML, as every browser does for what is typed into it, and programs do not."""
    kinds = (part.partition(";")[0].strip().lower() for part in accept.split(","))
    return "text/html" in kinds


def _query_token(uri: str) -> str | None:
    try:
        return parse_query(uri.partition("?")[2]).get("token")
    except InvalidInput:
        return None


def _local_address(request: HTTPServerRequest) -> str:
    """Return the local address of the connection, "" when it has ended."""
    stream = stream_of(request.connection)
    socket = None if stream is None else stream.socket
    try:
        return "" if socket is None else str(socket.getsockname()[0])
    except OSError:
        return ""
