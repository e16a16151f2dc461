"""E-brakes of the devices: which act, which wait for `hapticd resume`, and the sentences about them."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Final

from transport.cli.client import Client, results_of
from transport.cli.devices import devices_of, numbers
from transport.cli.text import clean

SAFE_SPEED: Final = 0.3  # m/s, as in docs/force-path.md
SAFE_SECONDS: Final = 1.0
SLOW: Final = f"slower than {1000 * SAFE_SPEED:g} mm/s for {SAFE_SECONDS:g} s"
LOOKS: Final = 50
LOOK_S: Final = 0.02
EVERY_DEVICE: Final = "/*/*/resume"


class Brake(StrEnum):
    """An e-brake that acts."""

    WAITING = "waiting"  # until `hapticd resume`, and then until the device is slow
    BRAKING = "braking"  # until the device is slow


def brakes_of(client: Client) -> dict[str, Brake]:
    """Return the devices whose e-brake acts; none of a service that has no such route, or no device. NoService."""
    _, answer, error = client.exchange("GET", EVERY_DEVICE)
    found: dict[str, Brake] = {}
    for entry in results_of(answer) if error is None else ():
        if entry.get("waiting") is True:
            found[str(entry.get("device_id"))] = Brake.WAITING
        elif entry.get("braking") is True:
            found[str(entry.get("device_id"))] = Brake.BRAKING
    return found


def brakes_after_request(client: Client, requested: Collection[str]) -> dict[str, Brake]:
    """Return the brakes once the loop has seen the requests; a device that tripped again waits all the same."""
    found: dict[str, Brake] = {}
    for _ in range(LOOKS):
        found = brakes_of(client)
        if not any(found.get(name) is Brake.WAITING for name in requested):
            break
        time.sleep(LOOK_S)
    return found


def brake_sentences(brakes: Mapping[str, str]) -> list[str]:
    """Return one sentence for each brake, with what ends it."""
    return [brake_sentence(name, brake) for name, brake in brakes.items()]


def brake_sentence(device_id: str, brake: str) -> str:
    """Return what holds a device, and what ends it."""
    name = clean(device_id)
    if brake == Brake.WAITING:
        return f"{name} is held by its e-brake: hapticd resume {name}"
    return f"{name} brakes until it has been {SLOW}: move its handle slowly"


def speed_of(client: Client, device_id: str) -> float | None:
    """Return the speed of a device's cursor in m/s; None when it is not told. NoService."""
    _, answer, error = client.exchange("GET", "/devices")
    for one in devices_of(answer) if error is None else ():
        velocity = numbers(one.state, "cursor_velocity")
        if one.device_id == device_id and velocity:
            return math.hypot(*velocity)
    return None
