"""OpenAPI responses of the errors: one for each status of the table in `transport.wire.envelope`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from transport.http.schema.json_schema import TEXT, Schema
from transport.http.schema.route_schema import ERROR
from transport.wire.envelope import RETRY_AFTER_S, STATUS

if TYPE_CHECKING:
    from transport.http.route import Route

OUR_FAULT: Final = 500
MEANINGS: Final[Mapping[int, str]] = MappingProxyType(
    {
        400: "A body, a value, a selector or the percent-encoding cannot be taken.",
        401: "The peer is not on this machine and has shown no valid token.",
        403: "The Host may not come in, or a foreign web page asks.",
        404: "No such route, device, session, setting or port.",
        405: "The path has other methods: `Allow` names them.",
        409: "Calibration is locked, a pairing or a device is in the way.",
        413: "The body is longer than 64 KiB.",
        422: "The device's firmware is too old, or a device of its kind cannot have this.",
        429: "Too many requests from this peer.",
        431: "The headers are longer than 16 KiB.",
        OUR_FAULT: "The service failed: its log says why.",
        503: "The service starts, stops or is busy: try again after `Retry-After` seconds.",
        507: "The state directory cannot be written: a restart would not know of it.",
    }
)
EVERYWHERE: Final = frozenset({400, 401, 403, 405, 413, 429, 431, OUR_FAULT, 503})
# With a pattern, the status of the first failure applies to the whole answer.
LISTED: Final = frozenset({400, 404, 409, 422, 503, 507})
_HEADERS: Final[Mapping[int, Mapping[str, Schema]]] = MappingProxyType(
    {
        401: {"WWW-Authenticate": {"const": "Bearer"}},
        405: {"Allow": TEXT},
        503: {"Retry-After": {"const": str(RETRY_AFTER_S)}},
    }
)


def statuses() -> tuple[int, ...]:
    """Return every status that an error can have."""
    return tuple(sorted({*STATUS.values(), OUR_FAULT}))


def refusals_of(route: Route) -> tuple[int, ...]:
    """Return the statuses with which a route can fail."""
    own = {*route.schema.fails, *({404} if "{" in route.shape else ()), *({422} if route.schema.of_movers else ())}
    return tuple(status for status in statuses() if status in EVERYWHERE | own)


def response(status: int, schema: Schema = ERROR) -> dict[str, Any]:
    """Return the response of one status; over several devices or sessions its body is their results."""
    required = {"Cache-Control": {"const": "no-store"}, **_HEADERS.get(status, {})}
    return {
        "description": MEANINGS[status],
        "headers": {name: {"required": True, "schema": schema} for name, schema in required.items()},
        "content": {"application/json": {"schema": schema}},
    }
