"""Routes of `/healthz` and `/readyz`; the start of the service waits for the same readiness."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from actors.control.api import interruption_data
from actors.device.api import Phase
from transport.http.call import Answer, Call
from transport.http.route import Route
from transport.http.schema.devices import INTERRUPTION
from transport.http.schema.json_schema import listed, obj
from transport.http.schema.route_schema import RouteSchema
from transport.wire.envelope import NotReady

if TYPE_CHECKING:
    from transport.bridge import Bridge

STALLED_NS: Final = 1_000_000_000
HEALTH: Final = RouteSchema(obj({"status": {"const": "ok"}}))
READINESS: Final = RouteSchema(
    obj(
        {"status": {"const": "ready"}},
        optional={"interruptions": listed(INTERRUPTION)},
        description="With `interruptions` while devices lost force in the last minute because the control loop had gaps.",
    )
)
# Asleep counts as ready: a touch or a command wakes the device.
USABLE: Final = frozenset({Phase.READY, Phase.ASLEEP})


def routes() -> Iterator[Route]:
    """Yield both routes, also answered while the service starts and stops."""
    yield Route("GET", "/healthz", read_health, "Whether the service lives.", always=True, schema=HEALTH)
    yield Route("GET", "/readyz", read_readiness, "Whether the service can be used.", always=True, schema=READINESS)


async def read_health(_call: Call) -> Answer:
    """Answer, which shows that the main thread runs."""
    return Answer({"status": "ok"})


async def read_readiness(call: Call) -> Answer:
    """Raise NotReady with the first missing part; also if the state directory is not writable."""
    found = obstacle(call.bridge)
    if found is not None:
        raise NotReady(found)
    lost = call.bridge.system.loop_watch.value.interruptions
    if not lost:
        return Answer({"status": "ready"})
    shown = [{"device_id": one.device_id, **interruption_data(one)} for one in lost]
    return Answer({"status": "ready", "interruptions": shown})


def obstacle(bridge: Bridge) -> str | None:
    """Return the sentence of the 503 of `/readyz`: the first missing part, or a state directory that is not writable; else None."""
    return readiness(bridge) or bridge.system.ledger.trouble or None


def readiness(bridge: Bridge) -> str | None:
    """Return None when every part is ready, else a sentence about the first that is not."""
    return next(_obstacles(bridge), None)


def _obstacle_of_loop(bridge: Bridge) -> Iterator[str]:
    if bridge.system.runtime.stepping:
        return  # it ticks when it is told to
    loop = bridge.system.runtime.loop_state()
    silence_ns = bridge.system.context.clock.now_ns() - int(loop["tick_ns"])
    if not loop["running"]:
        yield "The control loop does not run: look into the log for the reason."
    elif silence_ns > STALLED_NS:
        yield f"The control loop has not ticked for {silence_ns / 1e9:.1f} s: look into the log for the reason."


def _obstacles(bridge: Bridge) -> Iterator[str]:
    if bridge.stopping:
        yield "The service is stopping: start it again."
    if not bridge.listening:
        yield "The service is starting: wait a moment."
    yield from _obstacle_of_loop(bridge)
    if bridge.failsafe is not None and bridge.failsafe.pid is None:
        yield "The failsafe process is away and is started again: a service that is killed now leaves its last force on open ports."
    if bridge.inventory.choosing:
        yield "The service looks for devices: wait a moment."
    for record in bridge.inventory.devices:
        if record.identity.simulated and record.phase not in USABLE:
            yield f"Device {record.device_id} is {record.phase}: wait until it is ready."
    for record in bridge.inventory.unplugged:
        if not bridge.ports.is_blocked(record.identity.port):
            yield f"Device {record.device_id} is unplugged: clear its fault."
    for record in bridge.inventory.failed:
        if record.identity.simulated:
            yield f"Device {record.device_id} has failed: look into the log, then restart the service."
