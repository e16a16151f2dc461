"""Table of the device commands in a session message: parsing, reserved words, the page's table and the loop's codes derive from its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from actors.values.kinds.base import KindSpec

LARGEST: Final = 1e6
XYZ: Final = ("x", "y", "z")
JOINTS: Final = ("a0", "a1", "a2")


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPointCommand:
    """A command that moves motors: three numbers, in force until replaced, omitted or older than the command time-out."""

    name: str  # word in `commands`
    field: str  # the one member of its body
    keys: tuple[str, str, str]  # members of the field, one number each
    unit: str
    code: str  # constant of fastpath.layout.constants: index of its numbers in a session's record
    needs_cursor: bool  # only devices with a cursor take it; else those with motors
    largest: float = LARGEST  # magnitude of each number
    exclusive: bool = False  # one session at a time holds a device by it
    needs_clutch: bool = False  # out of reach while the session's clutch is frozen
    old_names: tuple[str, ...] = ()  # deprecated words for it

    @property
    def body(self) -> str:
        """Its body as the documentation shows it."""
        numbers = ", ".join(f'"{key}"' for key in self.keys)
        return f'{{"{self.field}": {{{numbers}}}}}'

    def taken_by(self, spec: KindSpec) -> bool:
        """Whether devices of a kind take the command."""
        return spec.has_cursor if self.needs_cursor else spec.has_motors


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCommand:
    """A command that sets the session's state of a device, which stays until it is changed."""

    name: str  # word in `commands`
    body: str  # as the documentation shows it
    unit: str
    area: str  # area of `config` that a device must have

    def taken_by(self, spec: KindSpec) -> bool:
        """Whether devices of a kind take the command."""
        return spec.has(self.area)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeCommand:
    """A command that does nothing beyond the frame that answers it, with any body, for every device."""

    name: str  # word in `commands`
    old_names: tuple[str, ...] = ()  # deprecated words for it


SET_POINT_COMMANDS: Final = (
    SetPointCommand(
        name="set_cursor_force", field="vector", keys=XYZ, unit="N", code="COMMAND_FORCE", needs_cursor=True
    ),
    SetPointCommand(
        name="set_cursor_position",
        field="position",
        keys=XYZ,
        unit="m",
        code="COMMAND_POSITION",
        needs_cursor=True,
        exclusive=True,
        needs_clutch=True,
    ),
    SetPointCommand(
        name="set_angular_torques",
        field="torques",
        keys=JOINTS,
        unit="N·mm",
        code="COMMAND_TORQUE",
        needs_cursor=False,
        old_names=("set_angular_torque",),
    ),
    SetPointCommand(
        name="set_angular_position",
        field="angles",
        keys=JOINTS,
        unit="degrees",
        code="COMMAND_ANGLE",
        needs_cursor=False,
        exclusive=True,
    ),
)
SET_TRANSFORM: Final = StateCommand(
    name="set_transform", body='{"transform": {"position"?, "rotation"?, "scale"?}}', unit="m, 1", area="transform"
)
PROBE_COMMANDS: Final = (
    ProbeCommand(name="probe_position", old_names=("probe_cursor_position",)),
    ProbeCommand(name="probe_orientation"),
    ProbeCommand(name="keep_alive"),
)
# Deprecated, and replaced by something that is no command: `configure.preset`.
SET_COORDINATE_ORIGIN: Final = "set_coordinate_origin"

# deprecated name -> name
RENAMED_COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {old: row.name for row in (*SET_POINT_COMMANDS, *PROBE_COMMANDS) for old in row.old_names}
)
# Every word of the core in a map of commands.
COMMAND_NAMES: Final = frozenset(
    {
        *(row.name for row in (*SET_POINT_COMMANDS, SET_TRANSFORM, *PROBE_COMMANDS)),
        *RENAMED_COMMANDS,
        SET_COORDINATE_ORIGIN,
    }
)
