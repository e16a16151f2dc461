"""Device selectors of paths, `/{device}/{id}`: an exact id, an index, a name or a pattern, found in the inventory.

An exact id is tried first, and matches under any word of its half of a pair; then an id or a name that people gave, in upper or lower case. An index
counts the devices of the type segment in frame order. In a pattern, of ids or names, only `*` (any characters) is special.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from actors.kit.errors import NoSuchDevice, UnsupportedArea
from actors.values.kinds.registry import specs
from actors.values.selector import folded, is_pattern, matches
from transport.wire.vocabulary import member_of, path_kinds, path_members

if TYPE_CHECKING:
    from actors.device.api import DeviceRecord, Inventory
    from transport.wire.vocabulary import Vocabulary

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Area:
    """The subject of a route, as error sentences name it."""

    name: str
    every_kind: bool = False  # True: devices of all kinds have it

    def on(self, record: DeviceRecord) -> bool:
        """Whether the device has this area."""
        return self.every_kind or record.kind.spec.has(self.name)

    @property
    def everywhere(self) -> bool:
        """Whether devices of every kind have it."""
        return self.every_kind or all(spec.has(self.name) for spec in specs())


class MotorArea(Area):
    """The subject of a route of every device with motors, whatever its kind lists."""

    def on(self, record: DeviceRecord) -> bool:
        """Whether the device has motors."""
        return record.kind.has_motors


@dataclass(frozen=True, slots=True)
class Devices:
    """The devices that a selector matches, in frame order."""

    text: str
    records: tuple[DeviceRecord, ...]
    pattern: bool  # the selector may match several

    def having(self, area: Area) -> Devices:
        """Return those with `area`; UnsupportedArea if no match has it, NoSuchDevice without matches."""
        kept = tuple(record for record in self.some() if area.on(record))
        if not kept:
            raise UnsupportedArea(self.records[0].kind.with_article, area.name)
        return Devices(self.text, kept, self.pattern)

    def some(self) -> tuple[DeviceRecord, ...]:
        """Return the records; NoSuchDevice without matches."""
        if not self.records:
            raise NoSuchDevice(quoted(self.text))
        return self.records


def find(word: str, wanted: str, inventory: Inventory, vocabulary: Vocabulary) -> Devices:
    """Find the devices of `/{word}/{wanted}`, both percent-decoded; no records when nothing matches."""
    text = f"{word}/{wanted}"
    exact = inventory.find(wanted)
    if exact is not None and exact.kind in path_kinds(word):
        return Devices(text, (exact,), pattern=False)
    meant = _meant(word, inventory, vocabulary)
    if _INDEX.fullmatch(wanted):
        at = int(wanted)
        return Devices(text, meant[at : at + 1], pattern=False)
    if not is_pattern(wanted, single=False):
        typed = folded(wanted)
        alike = tuple(one for one in meant if folded(one.device_id) == typed)
        alike = alike or tuple(one for one in meant if folded(one.name) == typed)
        return Devices(text, alike if len(alike) == 1 else (), pattern=False)
    found = (one for one in meant if any(matches(wanted, text, single=False) for text in (one.device_id, one.name)))
    return Devices(text, tuple(found), pattern=True)


def _meant(word: str, inventory: Inventory, vocabulary: Vocabulary) -> tuple[DeviceRecord, ...]:
    """Return the devices of a type segment in frame order: by group, then by inventory order."""
    members, groups = path_members(word), vocabulary.groups()
    found = (record for record in inventory.devices if member_of(record.kind, record.identity.connection) in members)
    return tuple(sorted(found, key=lambda one: groups.index(vocabulary.group(one.kind, one.identity.connection))))


def quoted(text: str) -> str:
    """Return a selector shortened and quoted for an error sentence."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in text)
    return f"{printable[: _SHOWN - 1]}…" if len(printable) > _SHOWN else printable
