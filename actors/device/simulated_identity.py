"""Parse the setting of simulated devices, and give each the same identity at every start."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable
from typing import Final

from actors.device.messages import DeviceIdentity, SimulatedSpec
from actors.kit.errors import InvalidInput
from actors.values.identity import Connection, Kind
from actors.values.kinds.nouns import any_of, joined, simulated_words
from actors.values.kinds.registry import specs
from fastpath.layout.constants import MAX_DEVICES

MOST_DEVICES: Final = MAX_DEVICES
WHEN_NOTHING_REAL: Final = ("arm", "grip")


def parse(word: str) -> SimulatedSpec:
    """Return the device that a word of the setting means; InvalidInput."""
    name, colon, connection = word.strip().partition(":")
    if name not in tuple(Kind):
        raise InvalidInput(f'"{word}" is no device to simulate: use {joined(simulated_words())}')
    kind = Kind(name)
    if not colon:
        return SimulatedSpec(kind, kind.spec.connection)
    if f"{name}:{connection}" not in kind.spec.variants:
        several = [spec for spec in specs() if spec.variants]
        ways = joined(way for spec in several for way in spec.variants)
        whose = any_of(lambda spec: spec in several)
        raise InvalidInput(f'"{word}" is no device to simulate: only {whose} is {ways}')
    return SimulatedSpec(kind, Connection(connection))


def identities(specs: Iterable[SimulatedSpec], first_number: int = 0) -> tuple[DeviceIdentity, ...]:
    """Return the identities in order; InvalidInput if too many or if two have the same id."""
    found: list[DeviceIdentity] = []
    for index, spec in enumerate(specs):
        if index >= MOST_DEVICES:
            raise InvalidInput(f"at most {MOST_DEVICES} devices can be simulated: shorten the list")
        if spec.device_id in {one.device_id for one in found}:
            raise InvalidInput(f'two simulated devices are called "{spec.device_id}": give each an id of its own')
        found.append(identity_of(spec, own_id(spec, found), found, first_number + index))
    return tuple(found)


def own_id(spec: SimulatedSpec, others: Iterable[DeviceIdentity]) -> str:
    """Return the requested id, or four hex digits that depend on kind, connection and the number of such devices in `others`."""
    taken = {one.device_id for one in others}
    count = 0
    device_id = spec.device_id
    while device_id is None:
        text = f"simulated {spec.kind} {spec.connection} {count}"
        own = hashlib.blake2b(text.encode(), digest_size=2).hexdigest().upper()
        device_id = None if own in taken else own
        count += 1
    return device_id


def identity_of(spec: SimulatedSpec, device_id: str, others: Iterable[DeviceIdentity], number: int) -> DeviceIdentity:
    """Return the identity of the device, on the first port that is free among `others`."""
    data = spec.kind.spec
    taken = {one.port for one in others}
    return DeviceIdentity(
        device_id=device_id,
        kind=spec.kind,
        connection=spec.connection,
        port=next(port for port in map("sim{}".format, itertools.count()) if port not in taken),
        simulated=True,
        firmware=spec.firmware or data.firmware,
        hardware_version=data.hardware_version,
        uuid=hashlib.blake2b(f"simulated {device_id}".encode(), digest_size=16).hexdigest().upper(),
        number=number,
        reach=data.reach,
    )
