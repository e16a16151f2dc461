"""Routes of `/ports`: reads come from the port table; a reset goes to PortManager and is on the disk when answered."""

from __future__ import annotations

from typing import Final

from actors.port.api import PORTS, PortState, PortStatus, ResetPort
from fastpath.text.encoder import encode_json
from transport.http.call import Answer, Call
from transport.http.durable import confirmed
from transport.http.route import Route
from transport.http.schema.json_schema import TEXT, WHOLE, FromService, Named, listed, nullable, obj, word
from transport.http.schema.route_schema import RouteSchema
from transport.security import audit
from transport.wire.envelope import Encoded

PORT: Final = Named(
    "Port",
    obj(
        {
            "port": TEXT,
            "path": TEXT,
            "state": word(*PortState),
            "device_id": nullable(TEXT),
            "loops": WHOLE,
            "blocked_since": nullable(TEXT),
            "reason": TEXT,
        }
    ),
)
WHICH: Final = {"port": FromService("ports")}
LISTED: Final = RouteSchema(obj({"ports": listed(PORT)}))
READ: Final = RouteSchema(PORT, path=WHICH)
RESET: Final = RouteSchema(PORT, path=WHICH, fails=(409, 507))


async def list_ports(call: Call) -> Answer:
    """Return every known or blocked port, by name."""
    table = call.bridge.ports

    def made() -> Encoded:
        return Encoded(encode_json({"ports": [_as_json(status) for status in table.ports]}))

    return Answer(call.edge.body_cache.ports.get("", (table,), made))


async def read_port(call: Call) -> Answer:
    """Return one port, by base name or path; NoSuchPort."""
    return Answer(_as_json(call.bridge.ports.get(call.words["port"])))


async def reset_port(call: Call) -> Answer:
    """Unblock a port, whatever the body; no effect on an active one. NoSuchPort, Conflict while a setting blocks it."""
    port = call.bridge.ports.get(call.words["port"]).port
    status = await call.bridge.ask(PORTS, ResetPort(port))
    audit(call.peer, "-", f"reset of port {port}", port=port)
    await confirmed(call.bridge, f"Port {port} is reset")
    return Answer(_as_json(status))


def routes() -> tuple[Route, ...]:
    """Return the routes of the ports."""
    return (
        Route("GET", "/ports", list_ports, "Every port, and which are blocked.", schema=LISTED),
        Route("GET", "/ports/{port}", read_port, "One port, by base name or path.", schema=READ),
        Route("POST", "/ports/{port}/reset", reset_port, "Unblock a port.", schema=RESET),
    )


def _as_json(status: PortStatus) -> dict[str, object]:
    return {
        "port": status.port,
        "path": status.path,
        "state": str(status.state),
        "device_id": status.device_id,
        "loops": status.loops,
        "blocked_since": status.blocked_since or None,
        "reason": status.reason,
    }
