"""Route of `POST /simulation/loop`: skip ticks of the control loop like a machine that is too slow; simulated devices only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from actors.control.api import FASTPATH, SetTickShare
from actors.kit.errors import InvalidInput
from transport.http.call import Answer, Call
from transport.http.route import Route
from transport.http.schema.json_schema import number as number_schema
from transport.http.schema.json_schema import obj
from transport.http.schema.route_schema import RouteSchema
from transport.wire.shapes import number

RATIO: Final = "ratio"
_SHARE: Final = obj({RATIO: number_schema(0, 1)})
SHARE: Final = RouteSchema(_SHARE, _SHARE, fails=(409,), example={RATIO: 0.9})


def routes() -> Iterator[Route]:
    """Yield the route."""
    yield Route("POST", "/simulation/loop", leave_ticks_out, "Starve the loop.", reads_body=True, schema=SHARE)


async def leave_ticks_out(call: Call) -> Answer:
    """Set `{"ratio": 0…1}`, the share of ticks that run, until the service restarts. Return the share in force."""
    fields = call.fields(RATIO)
    if RATIO not in fields:
        raise InvalidInput("send the share of ticks that still run, 0 to 1.", RATIO)
    ratio = number(fields[RATIO], RATIO)
    if not 0 <= ratio <= 1:
        raise InvalidInput("give the share of ticks that still run, 0 to 1.", RATIO)
    share = await call.bridge.ask(FASTPATH, SetTickShare(ratio))
    return Answer({RATIO: share})
