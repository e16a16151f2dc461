"""Run every kind of misbehaving client at once, and choose the devices that they and a good client share."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Final

from tests.support.clients.hostile import Cast, Nonsense, Streams, comes_and_goes, falls_silent, floods, never_reads
from tests.support.clients.peer import encoded

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from tests.support.service.process import RunningService

TIMEOUT_S: Final = 0.5
SIMULATE: Final = "arm,arm,compact,grip,grip:wired,pen"
FAULTS: Final = b'{"arm": [' + b"0," * 30_000 + b"0]}"


def cast_of(service: RunningService) -> Cast:
    """The devices of a service that simulates SIMULATE."""
    _, devices = service.request("GET", "/devices")
    own, other = (device["device_id"] for device in devices["arm"])
    (compact,) = (device["device_id"] for device in devices["compact"])
    (pen,) = (device["device_id"] for device in devices["pen"])
    grips = {device["config"]["connection"]: device["device_id"] for device in devices["grip"]}
    names = {"A002": other, "C001": compact, "B001": grips["wireless"], "B002": grips["wired"], "D001": pen}
    return Cast(service.ws, service.ws_v30, own, other, names)


def crew(cast: Cast, nonsense: Nonsense, streams: Streams) -> dict[str, Callable[[threading.Event], None]]:
    """Every kind of bad client."""
    return {
        "floods": floods(cast, repeat(encoded("{}")), 100),
        "floods with faults": floods(cast, repeat(encoded(FAULTS)), 2),
        "never reads": never_reads(cast),
        "falls silent": falls_silent(cast),
        "sends nonsense": nonsense.run,
        "breaks the protocol": streams.run,
        "comes and goes": comes_and_goes(cast),
    }
