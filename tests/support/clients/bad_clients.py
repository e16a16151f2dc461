"""Run every kind of misbehaving client of bad_client_kinds.py at once, and choose the devices that they and a good client share."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Final

from tests.support.clients.bad_client_kinds import (
    BadMessages,
    BadStreams,
    ClientTargets,
    connect_and_abort,
    flood,
    never_read,
    stop_sending,
)
from tests.support.clients.raw_websocket import encode_frame

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from tests.support.service.process import RunningService

COMMAND_TIMEOUT_S: Final = 0.5
SIMULATE: Final = "arm,arm,compact,grip,grip:wired,pen"
FAULTS: Final = b'{"arm": [' + b"0," * 30_000 + b"0]}"


def choose_devices(service: RunningService) -> ClientTargets:
    """The devices of a service that simulates SIMULATE."""
    _, devices = service.request("GET", "/devices")
    own, other = (device["device_id"] for device in devices["arm"])
    (compact,) = (device["device_id"] for device in devices["compact"])
    (pen,) = (device["device_id"] for device in devices["pen"])
    grips = {device["config"]["connection"]: device["device_id"] for device in devices["grip"]}
    names = {"A002": other, "C001": compact, "B001": grips["wireless"], "B002": grips["wired"], "D001": pen}
    return ClientTargets(service.ws, service.ws_v30, own, other, names)


def bad_clients(
    targets: ClientTargets, nonsense: BadMessages, streams: BadStreams
) -> dict[str, Callable[[threading.Event], None]]:
    """Return the work of each kind of bad client by its name."""
    return {
        "floods": flood(targets, repeat(encode_frame("{}")), 100),
        "floods with faults": flood(targets, repeat(encode_frame(FAULTS)), 2),
        "never reads": never_read(targets),
        "falls silent": stop_sending(targets),
        "sends nonsense": nonsense.run,
        "breaks the protocol": streams.run,
        "comes and goes": connect_and_abort(targets),
    }
