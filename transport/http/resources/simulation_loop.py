"""Routes of the loop of simulated devices: `POST /simulation/loop` starves it like a slow machine, `POST /simulation/steps` lets it tick."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from actors.control.api import FASTPATH, SetTickShare, StepLoop
from actors.kit.errors import HapticError, InvalidInput
from transport.http.call import Answer, Call
from transport.http.resources.simulation import wait_for_actors
from transport.http.route import Route
from transport.http.schema.json_schema import WHOLE, obj
from transport.http.schema.json_schema import number as number_schema
from transport.http.schema.route_schema import RouteSchema
from transport.wire.shapes import number

RATIO: Final = "ratio"
_SHARE: Final = obj({RATIO: number_schema(0, 1)})
SHARE: Final = RouteSchema(_SHARE, _SHARE, fails=(409,), example={RATIO: 0.9})
TICKS: Final = "ticks"
# A second of the fastest loop.
MOST_TICKS: Final = 32_000
STEPS: Final = RouteSchema(
    obj({TICKS: WHOLE, "time": number_schema(0, description="s since the start")}),
    obj({TICKS: {"type": "integer", "minimum": 1, "maximum": MOST_TICKS}}),
    fails=(409,),
    example={TICKS: 40},
)


def routes() -> Iterator[Route]:
    """Yield the routes."""
    yield Route("POST", "/simulation/loop", leave_ticks_out, "Starve the loop.", reads_body=True, schema=SHARE)
    yield Route("POST", "/simulation/steps", step, "Let the loop tick.", reads_body=True, schema=STEPS)


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


async def step(call: Call) -> Answer:
    """Let `{"ticks": 1…32000}` ticks pass at once where `simulation/stepped` holds. Return ticks and time since the start."""
    fields = call.fields(TICKS)
    ticks = number(fields[TICKS], TICKS) if TICKS in fields else 0.0
    # 40.0 is a whole number, too, as JSON Schema has it.
    if not (1 <= ticks <= MOST_TICKS and ticks.is_integer()):
        raise InvalidInput(f"send how many ticks shall pass, a whole number from 1 to {MOST_TICKS}.", TICKS)
    taken = await call.bridge.ask(FASTPATH, StepLoop(int(ticks)))
    for record in call.bridge.inventory.devices:
        if not record.ready:
            # It is ready for what follows if it has settled in these ticks, which have passed whatever becomes of it.
            with suppress(HapticError):
                await wait_for_actors(call.bridge, record.device_id)
    return Answer({TICKS: taken.ticks, "time": taken.seconds})
