"""Interface of a module: the JSON keys it claims, how they are parsed, and its part in a session. Pure.

Everything here runs on the thread that serves all sockets, between a message and its frame: a module never waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from actors.kit.errors import InvalidInput
from actors.values.spatial import PartialTransform, Vec3

if TYPE_CHECKING:
    from actors.session.messages import SessionTable
    from actors.values.identity import Kind
    from actors.values.spatial import Transform
    from fastpath.arena.access import Reader, Writer

LISTED: Final = "features/modules/enabled"
LARGEST: Final = 1e6
MOST_NAMED: Final = 8
NO_CHANGE: Final = PartialTransform()


class Place(StrEnum):
    """Where a word stands in a message or a frame."""

    COMMAND = "commands"
    CONFIGURE = "configure"
    SESSION = "session.configure"
    TRANSFORM = "commands.set_transform"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class ModuleInput:
    """`value` is any JSON value, `kind` that of the device (None for session.configure), `change` what else a set_transform holds.

    `note(path, reason)` names what is ignored.
    """

    place: Place
    word: str
    value: object
    path: str
    kind: Kind | None
    note: Callable[[str, str], None]
    change: PartialTransform = NO_CHANGE

    def fields(self, *known: str) -> Mapping[str, object]:
        """The value as an object; keys that are not `known` are named and ignored. InvalidInput."""
        return self._object(self.value, self.path, known)

    def number(self, key: str, least: float, most: float) -> float:
        """The number under a key; InvalidInput when it is missing or not in the range."""
        return self._number(self._needed(key), f"{self.path}.{key}", least, most)

    def point(self) -> Vec3:
        """The value as `{x, y, z}`; InvalidInput."""
        fields = self._object(self.value, self.path, ("x", "y", "z"))
        if not {"x", "y", "z"} <= fields.keys():
            raise InvalidInput("all of x, y, z are needed", self.path)
        x, y, z = (self._number(fields[key], f"{self.path}.{key}", -LARGEST, LARGEST) for key in "xyz")
        return x, y, z

    def _needed(self, key: str) -> object:
        if not isinstance(self.value, dict):
            raise InvalidInput("an object is needed", self.path)
        fields = cast("dict[str, object]", self.value)
        if key not in fields:
            raise InvalidInput(f"{key} is missing", f"{self.path}.{key}")
        return fields[key]

    def _object(self, value: object, path: str, known: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise InvalidInput("an object is needed", path)
        fields = cast("dict[str, Any]", value)
        for key in [key for key in fields if key not in known][:MOST_NAMED]:
            self.note(f"{path}.{key[:40]}", f"unknown: only {', '.join(known)} may stand here")
        return fields

    def _number(self, value: object, path: str, least: float, most: float) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InvalidInput("a number is needed", path)
        if not least <= value <= most:
            raise InvalidInput(f"the number must be between {least:.7g} and {most:.7g}", path)
        return float(value)


@dataclass(frozen=True, slots=True)
class WordTable:
    """What a module adds: commands and configure fields of a device, fields of session.configure and of set_transform, state fields."""

    commands: tuple[str, ...] = ()
    configure: tuple[str, ...] = ()
    session_configure: tuple[str, ...] = ()
    set_transform: tuple[str, ...] = ()
    state: tuple[str, ...] = ()

    def by_place(self) -> Mapping[Place, tuple[str, ...]]:
        """All of them."""
        return {
            Place.COMMAND: self.commands,
            Place.CONFIGURE: self.configure,
            Place.SESSION: self.session_configure,
            Place.TRANSFORM: self.set_transform,
            Place.STATE: self.state,
        }


class DeviceFacts(Protocol):
    """Identity and capabilities of a device."""

    @property
    def device_id(self) -> str:
        """Its id."""
        ...

    @property
    def kind(self) -> Kind:
        """Its type."""
        ...

    @property
    def has_motors(self) -> bool:
        """Whether it takes forces or torques."""
        ...

    @property
    def has_cursor(self) -> bool:
        """Whether it has a point in space that an application sees."""
        ...


class Device(DeviceFacts, Protocol):
    """One device of one session; the record is shown to the loop when the module's `take` or `close` has returned."""

    @property
    def reader(self) -> Reader:
        """Its newest state, in device space."""
        ...

    @property
    def writer(self) -> Writer:
        """The session's record of it, `set_effect` for vibrations among it; never call its `publish`."""
        ...

    @property
    def workspace(self) -> Transform:
        """The session's workspace transform."""
        ...

    def place(self, workspace: Transform) -> None:
        """Replace the workspace transform."""
        ...


class Session(Protocol):
    """One open session, as a module sees it."""

    @property
    def session_id(self) -> int:
        """Its id."""
        ...

    @property
    def devices(self) -> Mapping[str, Device]:
        """Every device that is here."""
        ...

    @property
    def sessions(self) -> SessionTable:
        """All open sessions."""
        ...

    def scale_output(self, session_id: int, gain: float) -> None:
        """Let through this share (0 to 1) of what that session puts out; nothing when it is not open."""
        ...


class Part:
    """What a module keeps of one session, from when both are there to when one of them goes; does nothing unless overridden."""

    def take(self, place: Place, word: str, value: object, device: Device | None) -> None:
        """A word was sent; `value` is what the module's `read` made of it, `device` None for session.configure. InvalidInput."""

    def state(self, device: Device) -> Mapping[str, object]:
        """State fields of one device for the next frame, by word; a word that is left out is not shown."""
        del device
        return {}

    def close(self) -> None:
        """The session closes, or the module is switched off: leave nothing behind."""


class Module(Protocol):
    """Made once for a running service. `setting`: a BOOL that switches it on, or LISTED, the list that its name is put in."""

    @property
    def name(self) -> str:
        """Lower-case letters, digits and underscores."""
        ...

    @property
    def setting(self) -> str:
        """The key of what switches it on."""
        ...

    @property
    def words(self) -> WordTable:
        """What it adds to the wire."""
        ...

    def read(self, sent: ModuleInput) -> object:
        """One of its words as it was sent, checked, without any effect; a set_transform word gives a WorkspaceChange. InvalidInput."""
        ...

    def open(self, session: Session) -> Part:
        """Begin with a session."""
        ...
