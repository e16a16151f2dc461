"""What a request says of its sender, taken out of Tornado's request for the guard."""

from __future__ import annotations

from typing import Any

from tornado.httputil import HTTPServerRequest

from actors.kit.errors import InvalidInput
from transport.http.target import parse_query
from transport.security import Visitor, bearer


def visitor_of(request: HTTPServerRequest) -> Visitor:
    """The sender of a request; a token in the header counts before one in the query."""
    headers = request.headers
    return Visitor(
        method=request.method or "",
        upgrade=is_upgrade(request),
        peer=request.remote_ip or "",
        local=_local_address(request),
        host=headers.get("Host"),
        origin=headers.get("Origin"),
        token=bearer(headers.get("Authorization")) or _query_token(request.uri or ""),
    )


def is_upgrade(request: HTTPServerRequest) -> bool:
    """Whether a WebSocket is asked for."""
    headers = request.headers
    hops = (hop.strip().lower() for hop in headers.get("Connection", "").split(","))
    return request.method == "GET" and headers.get("Upgrade", "").lower() == "websocket" and "upgrade" in hops


def _query_token(uri: str) -> str | None:
    try:
        return parse_query(uri.partition("?")[2]).get("token")
    except InvalidInput:
        return None


def _local_address(request: HTTPServerRequest) -> str:
    """The address of ours that the connection reached, "" when it is gone."""
    stream: Any = getattr(request.connection, "stream", None)
    try:
        return str(stream.socket.getsockname()[0])
    except (AttributeError, OSError):
        return ""
