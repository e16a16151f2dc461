"""Interface of a module: the JSON keys that it adds, how it parses them, and its part in a session. Pure.

All of it runs on the main thread between a message and its frame: a module must never wait.
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
    """Object of a message or frame in which a key stands."""

    COMMAND = "commands"
    CONFIGURE = "configure"
    SESSION = "session.configure"
    TRANSFORM = "commands.set_transform"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class ModuleInput:
    """One key of a module as it was received."""

    place: Place
    word: str
    value: object  # any JSON value
    path: str
    kind: Kind | None  # the device's; None for session.configure
    note: Callable[[str, str], None]  # note(path, reason) reports a part that is ignored
    change: PartialTransform = NO_CHANGE  # the other parts of a set_transform

    def fields(self, *known: str) -> Mapping[str, object]:
        """Return the value as an object; report and ignore keys that are not `known`. InvalidInput."""
        return self._object(self.value, self.path, known)

    def number(self, key: str, least: float, most: float) -> float:
        """Return the number under a key; InvalidInput if missing or out of range."""
        return self._number(self._needed(key), f"{self.path}.{key}", least, most)

    def point(self) -> Vec3:
        """Return the value as `{x, y, z}`; InvalidInput."""
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
    """The JSON keys that a module adds, by place."""

    commands: tuple[str, ...] = ()  # of a device
    configure: tuple[str, ...] = ()  # of a device
    session_configure: tuple[str, ...] = ()
    set_transform: tuple[str, ...] = ()  # inside of the command set_transform
    state: tuple[str, ...] = ()  # of a device, in frames

    def by_place(self) -> Mapping[Place, tuple[str, ...]]:
        """Return the keys by place."""
        return {
            Place.COMMAND: self.commands,
            Place.CONFIGURE: self.configure,
            Place.SESSION: self.session_configure,
            Place.TRANSFORM: self.set_transform,
            Place.STATE: self.state,
        }


class DeviceTraits(Protocol):
    """Identity and capabilities of a device."""

    @property
    def device_id(self) -> str:
        """Its id."""
        ...

    @property
    def kind(self) -> Kind:
        """Its kind."""
        ...

    @property
    def has_motors(self) -> bool:
        """Whether it accepts forces or torques."""
        ...

    @property
    def has_cursor(self) -> bool:
        """Whether it has a cursor in space."""
        ...


class Device(DeviceTraits, Protocol):
    """One device of one session; the record is shown to the loop when the module's `take` or `close` has returned."""

    @property
    def accepts(self) -> bool:
        """Whether it takes commands now."""
        ...

    @property
    def refusal(self) -> str:
        """Reason why it takes no commands."""
        ...

    @property
    def reader(self) -> Reader:
        """Reads its newest state, in the device frame."""
        ...

    @property
    def writer(self) -> Writer:
        """Writes the session's record, for instance `set_effect` for vibrations or `contact_plane`; never call its `publish`."""
        ...

    @property
    def workspace(self) -> Transform:
        """The session's workspace transform."""
        ...

    def place(self, workspace: Transform) -> None:
        """Replace the workspace transform."""
        ...


class Session(Protocol):
    """One open session, for a module."""

    @property
    def session_id(self) -> int:
        """Its id."""
        ...

    @property
    def devices(self) -> Mapping[str, Device]:
        """All devices by id."""
        ...

    @property
    def sessions(self) -> SessionTable:
        """All open sessions."""
        ...

    def scale_output(self, session_id: int, gain: float) -> None:
        """Scale the output of a session by `gain`, 0 to 1; does nothing if the session is not open."""
        ...


class Part:
    """A module's state in one session, while both exist and the module is enabled. By default it does nothing."""

    def take(self, place: Place, word: str, value: object, device: Device | None) -> None:
        """Handle a received key: `value` is what `read` returned, `device` None for session.configure. InvalidInput."""

    def state(self, device: Device) -> Mapping[str, object]:
        """Return the state fields of one device for the next frame, by key; a missing key is not shown."""
        del device
        return {}

    def close(self) -> None:
        """Undo every effect: the session closes or the module is disabled."""


class Module(Protocol):
    """An extension, created once per running service."""

    @property
    def name(self) -> str:
        """Lower-case letters, digits and underscores."""
        ...

    @property
    def setting(self) -> str:
        """Key of the BOOL setting that enables it, or LISTED, the list of enabled module names."""
        ...

    @property
    def words(self) -> WordTable:
        """The JSON keys that it adds."""
        ...

    def read(self, sent: ModuleInput) -> object:
        """Parse one of its keys without any effect; for set_transform return a WorkspaceChange. InvalidInput."""
        ...

    def open(self, session: Session) -> Part:
        """Return its part in a session."""
        ...
