"""ParsedMessage, the result of parsing one message of a session channel, and the device facts that parsing needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

from actors.device.api import DeviceWide
from actors.kit.errors import InvalidInput
from actors.modules.module import DeviceTraits, Place
from actors.modules.registry import NOTHING_ON, Active
from actors.session.api import Change
from actors.values.similar import MOST_LETTERS, nearest
from actors.values.spatial import Transform, WorkspaceChange

MOST_PARTS: Final = 512
# Entries of `errors` in a frame, as in fastpath/text/encoder.pyx.
MOST_SHOWN: Final = 8
TOO_LONG: Final = f"this and what follows is ignored: a message may have {MOST_PARTS} keys, devices and commands in all"


class NamedDevice(DeviceTraits, Protocol):
    """A device that a message may name, as the parser needs it."""

    @property
    def accepts(self) -> bool:
        """Whether it takes commands now."""
        ...

    @property
    def refusal(self) -> str:
        """Reason why it takes no commands."""
        ...

    @property
    def preset(self) -> str:
        """The preset in force for this session."""
        ...

    @property
    def mount(self) -> Transform:
        """The mount in force for this session."""
        ...

    @property
    def wide(self) -> DeviceWide:
        """Its configuration for all sessions."""
        ...

    @property
    def name(self) -> str:
        """The name that people gave it, "" without one."""
        ...

    @property
    def paired_with(self) -> str | None:
        """Id of its partner."""
        ...


class TooLong(Exception):
    """A message has more than MOST_PARTS parts; the text is the path of the first one that is ignored."""


# device id, code, three numbers (application space or joints), path for a fault
DeviceCommand: TypeAlias = tuple[str, int, float, float, float, str]


@dataclass(frozen=True, slots=True)
class ModuleChange:
    """Parsed value of a module's word; `device_id` None: of the session."""

    module: str
    place: Place
    word: str
    value: object
    device_id: str | None
    path: str


@dataclass(slots=True)
class ParsedMessage:
    """Parsed message; `mapped`: devices with a commands map, `full`: groups that the frame shows with config (None: no full frame).

    `deprecated` are old forms that were used, each with what replaces it; `modules` are those that may read words;
    `spoken` are the bits (vocabulary.OWNERS) of the vocabularies whose own words were used.
    """

    changes: list[Change] = field(default_factory=list)
    workspaces: list[tuple[str, WorkspaceChange]] = field(default_factory=list)
    mapped: set[str] = field(default_factory=set)
    commands: list[DeviceCommand] = field(default_factory=list)
    full: frozenset[str] | None = None
    faults: list[tuple[str, str]] = field(default_factory=list)
    deprecated: list[tuple[str, str]] = field(default_factory=list)
    parts: int = 0
    spoken: int = 0
    modules: Active = NOTHING_ON
    module_changes: list[ModuleChange] | None = None

    def part(self, path: str) -> None:
        """Count one key, device or command; TooLong."""
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise TooLong(path)

    def fault(self, path: str, reason: str) -> None:
        """Note one bad part."""
        self.faults.append((path, reason))

    def meant(self, word: str, known: tuple[str, ...]) -> str | None:
        """Return the known word that an unknown one probably means: for as many faults as a frame shows, None for more."""
        return nearest(word[:MOST_LETTERS], known) if len(self.faults) < MOST_SHOWN else None

    def unknown(self, word: str, known: tuple[str, ...], otherwise: str) -> str:
        """Return the reason for an unknown word: the known one that it probably means, else `otherwise`."""
        meant = self.meant(word, known)
        return f"unknown: did you mean {meant}?" if meant else f"unknown: {otherwise}"


def checked(parsed: ParsedMessage, step: Any, value: Any, path: str, *more: Any) -> None:
    """Run one step of reading; what it refuses becomes a fault."""
    try:
        step(parsed, value, path, *more)
    except InvalidInput as error:
        parsed.fault(error.path or path, error.reason)
