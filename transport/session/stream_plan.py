"""The plan by which the streaming thread answers a session: the words of the general reader, and what each device takes now."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from actors.values.identity import Kind
from fastpath.stream.streaming import Plan
from transport.wire.commands import BY_CODE, PROBES
from transport.wire.vocabulary import GROUPS_IN, OWNERS

if TYPE_CHECKING:
    from fastpath.arena.runtime import Runtime
    from fastpath.text.encoder import FrameEncoder
    from transport.session.device import SessionDevice
    from transport.wire.parsed_message import NamedDevice

KIND_BITS: Final = MappingProxyType({kind: 1 << at for at, kind in enumerate(Kind)})
GROUPS: Final = MappingProxyType({word: sum(KIND_BITS[kind] for kind in kinds) for word, kinds in GROUPS_IN.items()})
POINTS: Final = tuple((row.name, row.field, row.keys, row.largest, code) for code, row in BY_CODE.items())


def plan_of(
    runtime: Runtime,
    encoder: FrameEncoder,
    devices: Iterable[SessionDevice],
    *,
    awaited: int,
    timeout_ns: int,
    version: int,
) -> Plan:
    """Return the plan of a session; words of the vocabularies in `awaited` (bits of OWNERS) are left to the event loop."""
    groups = {word: kinds for word, kinds in GROUPS.items() if not OWNERS[word] & awaited}
    taken = [(device.device_id, device.writer, KIND_BITS[device.kind], takes(device)) for device in devices]
    return Plan(runtime, encoder, groups, POINTS, sorted(PROBES), taken, timeout_ns=timeout_ns, version=version)


def takes(device: NamedDevice) -> int:
    """Return the codes of the set-points that a device takes now, as bits."""
    if not device.accepts:
        return 0
    return sum(
        1 << code for code, row in BY_CODE.items() if (device.has_cursor if row.needs_cursor else device.has_motors)
    )
