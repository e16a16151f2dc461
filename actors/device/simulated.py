"""Simulated devices: which ones, from a setting's words, and what identifies each of them from start to start."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from actors.device.kinds import KINDS
from actors.device.messages import DeviceIdentity
from actors.kit.errors import InvalidInput
from actors.values.identity import Connection, Kind

MOST_DEVICES: Final = 16
WHEN_NOTHING_REAL: Final = ("arm", "grip")


@dataclass(frozen=True, slots=True)
class SimulatedSpec:
    """One device to simulate; `device_id` None = one of our own."""

    kind: Kind
    connection: Connection
    device_id: str | None = None


def parse(word: str) -> SimulatedSpec:
    """`arm`, `compact`, `grip` (wireless), `grip:wired`, `grip:wireless` or `pen`; InvalidInput."""
    name, colon, connection = word.strip().partition(":")
    if name not in tuple(Kind):
        raise InvalidInput(f'"{word}" is no device to simulate: use arm, compact, grip, grip:wired or pen')
    kind = Kind(name)
    if not colon:
        return SimulatedSpec(kind, KINDS[kind].connection)
    if kind is not Kind.GRIP or connection not in ("wired", "wireless"):
        raise InvalidInput(f'"{word}" is no device to simulate: only a grip is grip:wired or grip:wireless')
    return SimulatedSpec(kind, Connection(connection))


def identities(specs: Iterable[SimulatedSpec], first_number: int = 0) -> tuple[DeviceIdentity, ...]:
    """Identities in order; an id of ours is four hex digits made of kind, connection and how many such came before."""
    found: list[DeviceIdentity] = []
    taken: set[str] = set()
    for index, spec in enumerate(specs):
        if index >= MOST_DEVICES:
            raise InvalidInput(f"at most {MOST_DEVICES} devices can be simulated: shorten the list")
        device_id = spec.device_id or _own_id(spec, taken)
        if device_id in taken:
            raise InvalidInput(f'two simulated devices are called "{device_id}": give each an id of its own')
        taken.add(device_id)
        found.append(_identity(spec, device_id, index, first_number + index))
    return tuple(found)


def _own_id(spec: SimulatedSpec, taken: set[str]) -> str:
    count = 0
    while True:
        text = f"simulated {spec.kind} {spec.connection} {count}"
        device_id = hashlib.blake2b(text.encode(), digest_size=2).hexdigest().upper()
        if device_id not in taken:
            return device_id
        count += 1


def _identity(spec: SimulatedSpec, device_id: str, port: int, number: int) -> DeviceIdentity:
    data = KINDS[spec.kind]
    return DeviceIdentity(
        device_id=device_id,
        kind=spec.kind,
        connection=spec.connection,
        port=f"sim{port}",
        simulated=True,
        firmware=data.firmware,
        hardware_version=data.hardware_version,
        uuid=hashlib.blake2b(f"simulated {device_id}".encode(), digest_size=16).hexdigest().upper(),
        number=number,
        reach=data.reach,
    )
