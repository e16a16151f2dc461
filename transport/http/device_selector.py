"""Device selectors of paths, `/{device}/{id}`, as rules on the inventory: an exact id, an index, or a pattern.

An exact id counts first and under any word of its side; an index counts the devices that the type segment means, in the order
of a frame; in a pattern only `*` (any characters) is special.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from actors.kit.errors import NoSuchDevice, UnsupportedArea
from actors.values.selector import is_pattern, matches
from transport.wire.vocabulary import member_of, path_kinds, path_members

if TYPE_CHECKING:
    from actors.device.messages import DeviceRecord, Inventory
    from transport.wire.vocabulary import Vocabulary

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Area:
    """What a route is about, in the words of an error; `moves`: only devices with motors have it."""

    name: str
    moves: bool = True

    def on(self, record: DeviceRecord) -> bool:
        """Whether the device has it."""
        return record.kind.moves or not self.moves


@dataclass(frozen=True, slots=True)
class Devices:
    """The devices that a selector found, in the order of a frame; `pattern`: it may mean several by itself."""

    text: str
    records: tuple[DeviceRecord, ...]
    pattern: bool

    def having(self, area: Area) -> Devices:
        """Return those with `area`; UnsupportedArea when none of those found has it, NoSuchDevice when none was found."""
        kept = tuple(record for record in self.some() if area.on(record))
        if not kept:
            raise UnsupportedArea(self.records[0].kind.with_article, area.name)
        return Devices(self.text, kept, self.pattern)

    def some(self) -> tuple[DeviceRecord, ...]:
        """At least one device; NoSuchDevice."""
        if not self.records:
            raise NoSuchDevice(shown(self.text))
        return self.records


def find(word: str, wanted: str, inventory: Inventory, vocabulary: Vocabulary) -> Devices:
    """What `/{word}/{wanted}` means, both percent-decoded; no records when nothing has that name."""
    text = f"{word}/{wanted}"
    exact = inventory.find(wanted)
    if exact is not None and exact.kind in path_kinds(word):
        return Devices(text, (exact,), pattern=False)
    meant = _meant(word, inventory, vocabulary)
    if _INDEX.fullmatch(wanted):
        at = int(wanted)
        return Devices(text, meant[at : at + 1], pattern=False)
    if not is_pattern(wanted, single=False):
        return Devices(text, (), pattern=False)
    found = tuple(record for record in meant if matches(wanted, record.device_id, single=False))
    return Devices(text, found, pattern=True)


def _meant(word: str, inventory: Inventory, vocabulary: Vocabulary) -> tuple[DeviceRecord, ...]:
    """The devices of a type segment in the order of a frame: groups first, then the inventory's order."""
    members, groups = path_members(word), vocabulary.groups()
    found = (record for record in inventory.devices if member_of(record.kind, record.identity.connection) in members)
    return tuple(sorted(found, key=lambda one: groups.index(vocabulary.group(one.kind, one.identity.connection))))


def shown(text: str) -> str:
    """A selector from outside, fit for a message."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in text)
    return f"{printable[: _SHOWN - 1]}…" if len(printable) > _SHOWN else printable
