"""`/` and `/version`: which build this is."""

from __future__ import annotations

from transport.http.call import Answer, Call


async def read_version(call: Call) -> Answer:
    """String keys only, as `transport.build_info` gives them."""
    return Answer(call.edge.build)
