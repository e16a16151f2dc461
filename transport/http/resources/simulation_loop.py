"""`POST /simulation/loop`: leave ticks of the control loop out, as a machine that is too slow would; only where all is simulated."""

from __future__ import annotations

from actors.control.messages import FASTPATH, SetTickShare
from actors.kit.errors import InvalidInput
from transport.http.call import Answer, Call
from transport.wire.shapes import number

RATIO = "ratio"


async def leave_ticks_out(call: Call) -> Answer:
    """`{"ratio": 0…1}` is the share of ticks that still run, until the next start of the service; the answer is the one in force."""
    fields = call.fields(RATIO)
    if RATIO not in fields:
        raise InvalidInput("send the share of ticks that still run, 0 to 1.", RATIO)
    ratio = number(fields[RATIO], RATIO)
    if not 0 <= ratio <= 1:
        raise InvalidInput("give the share of ticks that still run, 0 to 1.", RATIO)
    share = await call.bridge.ask(FASTPATH, SetTickShare(ratio))
    return Answer({RATIO: share})
