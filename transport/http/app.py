"""The route table of the HTTP ports, and the Tornado application of one port: HTTP, and a WebSocket channel on `/`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

from tornado.httputil import HTTPServerRequest
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

from actors.kit.errors import HapticError
from transport.http import openapi
from transport.http.admission import Admission
from transport.http.base import LONGEST_BODY, HttpHandler, logged
from transport.http.call import Edge
from transport.http.request_queue import Waiting
from transport.http.request_target import Target, parse_target
from transport.http.requester import is_upgrade, is_urgent, requester_of
from transport.http.resources import (
    dashboard,
    device_areas,
    devices,
    force_scale,
    health,
    identify,
    log,
    metrics,
    names,
    old_routes,
    pairing,
    ports,
    rendering,
    session_areas,
    sessions,
    settings,
    simulation,
    simulation_loop,
    stop,
    support_bundle,
    trips,
    version,
    workspace,
)
from transport.http.route import RouteTable
from transport.security import check_access
from transport.wire.envelope import Forbidden

PING_AFTER_S: Final = 30
PONG_WITHIN_S: Final = 30

HTTP_ROUTES: Final[RouteTable] = RouteTable(
    (
        *version.routes(),
        *devices.routes(),
        *settings.routes(),
        *sessions.routes(),
        *force_scale.routes(),
        *stop.routes(),
        *trips.routes(),
        *rendering.routes(),
        *device_areas.routes(),
        *names.routes(),
        *identify.routes(),
        *pairing.routes(),
        *session_areas.routes(),
        *workspace.routes(),
        *ports.routes(),
        *simulation_loop.routes(),
        *simulation.routes(),
        *old_routes.routes(),
        *metrics.routes(),
        *health.routes(),
        *log.routes(),
        *support_bundle.routes(),
        *openapi.routes(lambda: HTTP_ROUTES),
    )
)

Upgrade: TypeAlias = Callable[[Target], "tuple[type[WebSocketHandler], dict[str, Any]] | None"]
"""The channel that a WebSocket on `/` gets, and what its `initialize` takes; None or a HapticError leaves the answer to HTTP."""

access_log = logging.getLogger("hapticd.access")


class PortApplication(Application):
    """The application of one port: admitted WebSockets go to their channel, everything else is HTTP."""

    def __init__(
        self, edge: Edge, table: RouteTable, upgrade: Upgrade | None = None, admission: Admission | None = None
    ) -> None:
        """`upgrade` None: no WebSocket on this port; `admission` None: no limits."""
        super().__init__(
            websocket_ping_interval=PING_AFTER_S,
            websocket_ping_timeout=PONG_WITHIN_S,
            websocket_max_message_size=LONGEST_BODY,
            log_function=log_request,
        )
        self._edge = edge
        self._table = table
        self._upgrade = upgrade
        self._admission = admission

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> Any:
        """Return the handler of one request."""
        del kwargs
        requester = requester_of(request)
        verdict = check_access(requester, self._edge.access.rules)
        refused = (None if self._admission is None else self._admission.asks(request)) or verdict
        wants_channel = refused is None and self._upgrade is not None and is_upgrade(request)
        found = self._channel(request) if wants_channel else None
        if found is None:
            pages = requester.dashboard and self._table is HTTP_ROUTES
            parts = {
                "edge": self._edge,
                "table": dashboard.ROUTES if pages else self._table,
                "requester": requester,
                "admission": self._admission,
                "refused": refused,
            }
            delegate = self.get_handler_delegate(request, HttpHandler, parts)
        else:
            delegate = self.get_handler_delegate(request, *found)
        if self._admission is None or (verdict is None and is_urgent(requester, request.uri or "")):
            return delegate
        foreign = isinstance(verdict, Forbidden)
        return Waiting(partial(self._admission.turn, requester.peer, foreign=foreign), delegate)

    def _channel(self, request: HTTPServerRequest) -> tuple[type[WebSocketHandler], dict[str, Any]] | None:
        bridge = self._edge.bridge
        if self._upgrade is None or not bridge.answers:
            return None
        try:
            target = parse_target(request.uri or "")
            return None if target.segments else self._upgrade(target)
        except HapticError:
            return None


def session_upgrade(channel: type[WebSocketHandler], parts: dict[str, Any], version_of_port: str) -> Upgrade:
    """Return the session channel with the frame version of the port, or of the path's prefix."""

    def upgrade(target: Target) -> tuple[type[WebSocketHandler], dict[str, Any]]:
        return channel, {**parts, "version": target.prefix or version_of_port, "query": target.query}

    return upgrade


def log_request(handler: RequestHandler) -> None:
    """Log one line for an answer, without the query, which may hold the token."""
    request = handler.request
    access_log.debug(
        "%s %s %d %.1f ms",
        request.remote_ip,
        logged(request),
        handler.get_status(),
        1000 * request.request_time(),
        extra={"client": request.remote_ip},
    )
