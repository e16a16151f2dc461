"""A device as a program holds it: reads come from the newest state, what is assigned goes with the next message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from types import MappingProxyType
from typing import Any, Final

from hapticd_client.core.configuration import checked
from hapticd_client.core.scene import Field, Scene, documents
from hapticd_client.core.state import NOTHING, DeviceState
from hapticd_client.core.vectors import JOINTS, XYZ, Vector, limited, three
from hapticd_client.core.words import MOVERS
from hapticd_client.errors import DeviceGone, InvalidCommand

FORCE: Final = "set_cursor_force"
POSITION: Final = "set_cursor_position"
TORQUES: Final = "set_angular_torques"
ANGLES: Final = "set_angular_position"
TRANSFORM: Final = "set_transform"
FIELDS: Final[Mapping[str, tuple[str, tuple[str, str, str]]]] = MappingProxyType(
    {
        FORCE: ("vector", XYZ),
        POSITION: ("position", XYZ),
        TORQUES: ("torques", JOINTS),
        ANGLES: ("angles", JOINTS),
    }
)


class DeviceCore:
    """One device. **A set-point holds for the turn in which it was assigned**: a turn that assigns none releases it."""

    def __init__(self, kind: str, device_id: str) -> None:
        """`kind`: arm, compact, grip, pen, or the word of a module's kind; `id`: as the service shows it, such as 46C6; `withheld`: whether forces
        are held back, because the device or the service had gone, until `resume`.
        """
        self.kind = kind
        self.id = device_id
        # True while forces are held back, because the device or the service had gone, until `resume`.
        self.withheld = False
        self.group = kind  # word of the frames for its group
        self._now: DeviceState | None = None
        self._config: Mapping[str, Any] = NOTHING
        self._points: dict[str, tuple[float, float, float]] = {}
        self._others: dict[str, Any] = {}
        self._pending: dict[str, Any] = {}
        self._chosen: dict[str, Any] = {}

    # ------------------------------------------------------------ what it is

    @property
    def present(self) -> bool:
        """Whether the device was in the newest frame."""
        return self._now is not None

    @property
    def state(self) -> DeviceState:
        """The newest state, which never changes; DeviceGone while the device is unplugged."""
        now = self._now
        if now is None:
            raise DeviceGone(
                f"{self.kind} {self.id} is unplugged: plug it in, wait for `present`, and call resume() to push again"
            )
        return now

    @property
    def config(self) -> Mapping[str, Any]:
        """`config` of the last full frame, as docs/wire.md describes it; empty over shared memory. Read-only."""
        return MappingProxyType(dict(self._config))

    @property
    def name(self) -> str:
        """Name that people gave the device, "" without one; always "" over shared memory."""
        return str(self._config.get("name") or "")

    @property
    def is_mover(self) -> bool:
        """Whether it has motors: an arm or a compact."""
        return self.kind in MOVERS

    def resume(self) -> None:
        """Let what is assigned from now on act again, after the device or the service had gone."""
        self.withheld = False

    # ------------------------------------------------------------ reading; each raises DeviceGone

    @property
    def position(self) -> Vector:
        """Cursor, m, shape (3,): x, y, z, in application space; read-only. DeviceGone."""
        return self.state.position

    @property
    def velocity(self) -> Vector:
        """Velocity of the cursor, m/s, shape (3,); read-only. DeviceGone."""
        return self.state.velocity

    @property
    def angles(self) -> Vector:
        """Joint angles, degrees, shape (3,); read-only. DeviceGone."""
        return self.state.angles

    @property
    def angular_velocity(self) -> Vector:
        """Joint velocities, degrees/s, shape (3,); read-only. DeviceGone."""
        return self.state.angular_velocity

    @property
    def orientation(self) -> Vector:
        """Unit quaternion w, x, y, z, shape (4,); read-only. DeviceGone."""
        return self.state.orientation

    @property
    def mode(self) -> str:
        """`idle`, `force` or `position`: of the device, whoever commands it. DeviceGone."""
        return self.state.mode

    @property
    def hall(self) -> float:
        """Raw reading of the hall sensor of a grip or pen. DeviceGone."""
        return self.state.hall

    @property
    def buttons(self) -> Mapping[str, bool]:
        """Buttons of a grip or pen by name. DeviceGone."""
        return self.state.buttons

    @property
    def button(self) -> bool:
        """Whether any button is pressed. DeviceGone."""
        return self.state.button

    @property
    def attached(self) -> bool:
        """Whether a grip or pen is attached to its arm. DeviceGone."""
        return self.state.attached

    @property
    def ready(self) -> bool:
        """Whether the device is there, has settled and takes commands."""
        return self._now is not None and self._now.ready

    # ------------------------------------------------------------ set-points

    @property
    def force(self) -> Vector:
        """Read: force that the loop applied, N, shape (3,). Assign: force wanted for this turn. InvalidCommand, DeviceGone."""
        return self.state.force

    @force.setter
    def force(self, value: Iterable[float]) -> None:
        self._points[FORCE] = three(value, "a force", "N")

    @property
    def torques(self) -> Vector:
        """Read: torques that the loop applied, N·mm, shape (3,). Assign: torques for this turn. InvalidCommand, DeviceGone."""
        return self.state.torques

    @torques.setter
    def torques(self, value: Iterable[float]) -> None:
        self._points[TORQUES] = three(value, "torques", "N·mm")

    @property
    def target_position(self) -> tuple[float, float, float] | None:
        """Position that the service's loop holds in this turn, m; None: none. InvalidCommand."""
        return self._points.get(POSITION)

    @target_position.setter
    def target_position(self, value: Iterable[float] | None) -> None:
        self._hold(POSITION, value, "a target position", "m")

    @property
    def target_angles(self) -> tuple[float, float, float] | None:
        """Joint angles that the service's loop holds in this turn, degrees; None: none. InvalidCommand."""
        return self._points.get(ANGLES)

    @target_angles.setter
    def target_angles(self, value: Iterable[float] | None) -> None:
        self._hold(ANGLES, value, "target angles", "degrees")

    def _hold(self, name: str, value: Iterable[float] | None, what: str, unit: str) -> None:
        if value is None:
            self._points.pop(name, None)
        else:
            self._points[name] = three(value, what, unit)

    @property
    def commands(self) -> MutableMapping[str, Any]:
        """Commands of modules for this turn, by name: `arm.commands["set_contact"] = {…}`."""
        return self._others

    # ------------------------------------------------------------ configuration; sent with the next turn or `update`

    @property
    def preset(self) -> str:
        """Name of the workspace preset. InvalidCommand; FrameErrors with the next turn."""
        found = self._config.get("preset", "defaults")
        return str(found.get("preset")) if isinstance(found, dict) else str(found)

    @preset.setter
    def preset(self, name: str) -> None:
        self._configure("preset", name)

    @property
    def basis(self) -> str:
        """Basis as a signed permutation of device axes, such as `XZ-Y`. InvalidCommand; FrameErrors with the next turn."""
        found = self._config.get("basis", "XYZ")
        return str(found.get("permutation")) if isinstance(found, dict) else str(found)

    @basis.setter
    def basis(self, permutation: str) -> None:
        self._configure("basis", permutation)

    @property
    def mount(self) -> Mapping[str, Any]:
        """Mount transform: any of `position` (m, three numbers), `rotation` (unit quaternion w, x, y, z), `scale` (three numbers above 0, or one for all); what is not assigned stays. InvalidCommand; FrameErrors with the next turn."""
        return self._shown("mount")

    @mount.setter
    def mount(self, transform: Mapping[str, Any]) -> None:
        self._configure("mount", transform)

    @property
    def damping(self) -> float:
        """Damping of this session, N·s/m, 0 to 20. InvalidCommand; FrameErrors with the next turn."""
        found = self._filters("damping").get("scalar", 0.0)
        return float(found)

    @damping.setter
    def damping(self, value: float | Mapping[str, Any]) -> None:
        self._configure("damping", value)

    @property
    def force_gate(self) -> float:
        """Gain of the force gate of this session, 0 to 1. InvalidCommand; FrameErrors with the next turn."""
        return float(self._filters("force_gate").get("gain", 0.0))

    @force_gate.setter
    def force_gate(self, gain: float | Mapping[str, Any]) -> None:
        self._configure("force_gate", gain)

    @property
    def navigation(self) -> Mapping[str, Any]:
        """Navigation: `{"mode": "off"}` or `"bubble"` with its fields; assign a mode or an object. InvalidCommand; FrameErrors with the next turn."""
        return self._shown("navigation") or {"mode": "off"}

    @navigation.setter
    def navigation(self, value: str | Mapping[str, Any]) -> None:
        self._configure("navigation", value)

    @property
    def scene(self) -> Scene:
        """Force fields that the service's loop renders, by id; assign a list of fields, fields by id, or [] for none. InvalidCommand; FrameErrors with the next turn."""
        return Scene(self._scene_fields(), self._change_field)

    @scene.setter
    def scene(self, fields: Mapping[str, Field | Mapping[str, Any]] | Iterable[Field | Mapping[str, Any]]) -> None:
        self._configure("scene", {"fields": documents(fields), "replace": True})

    def _scene_fields(self) -> dict[str, Any]:
        """Return what the last full frame shows, with what is on its way."""
        found, body = self._config.get("scene", NOTHING), self._pending.get("scene", NOTHING)
        before = {} if body.get("replace") else found.get("fields", NOTHING)
        return {key: value for key, value in {**before, **body.get("fields", NOTHING)}.items() if value is not None}

    def _change_field(self, name: str, field: dict[str, Any] | None) -> None:
        """Send one field with what is already on its way; a session that begins anew gets all of them."""
        body = self._pending.get("scene", NOTHING)
        self._configure("scene", {**body, "fields": {**body.get("fields", NOTHING), name: field}})
        self._chosen["scene"] = {"fields": self._scene_fields(), "replace": True}

    @property
    def workspace(self) -> Mapping[str, Any]:
        """Workspace transform: any of `position` and `pivot` (m, three numbers), `rotation` and `scale` as of `mount`; what is not assigned stays. DeviceGone when read; InvalidCommand; FrameErrors with the next turn."""
        found = self.state.raw.get("transform", NOTHING)
        return found if isinstance(found, dict) else NOTHING

    @workspace.setter
    def workspace(self, transform: Mapping[str, Any]) -> None:
        self._pending[TRANSFORM] = checked("workspace", transform)

    @property
    def modules(self) -> ModuleConfiguration:
        """Configuration of modules by name: `arm.modules["clutch"] = {"ratio": 0.5}`. InvalidCommand; FrameErrors with the next turn."""
        shown = {} if self._now is None else self._now.raw
        return ModuleConfiguration({**shown, **self._config}, self._configure)

    def _configure(self, key: str, value: Any) -> None:
        if not self.is_mover and key != "basis":
            raise InvalidCommand(f"a {self.kind} has no {key}: it has a basis only")
        body = checked(key, value)
        self._pending[key] = body
        before = self._chosen.get(key)
        self._chosen[key] = {**before, **body} if isinstance(before, dict) and isinstance(body, dict) else body

    def _shown(self, key: str) -> Mapping[str, Any]:
        found = self._config.get(key, NOTHING)
        return MappingProxyType(dict(found)) if isinstance(found, dict) else NOTHING

    def _filters(self, key: str) -> Mapping[str, Any]:
        found = self._config.get(key)
        if found is None:
            filters = self._config.get("filters", NOTHING)
            found = filters.get(key) if isinstance(filters, dict) else None
        return found if isinstance(found, dict) else NOTHING

    # ------------------------------------------------------------ for the session

    def show(self, state: DeviceState | None) -> None:
        """Take the newest state; None: it is not there. A device that comes back is withheld."""
        if state is None and self._now is not None:
            self.withheld = True
            self.drop()
        self._now = state

    def describe(self, config: Mapping[str, Any]) -> None:
        """Take `config` of a full frame."""
        self._config = config

    @property
    def described(self) -> bool:
        """Whether a full frame has shown it."""
        return self._config is not NOTHING

    def drop(self) -> None:
        """Forget the set-points and commands of this turn."""
        self._points.clear()
        self._others.clear()

    def take_commands(self, most_force: float | None) -> dict[str, Any]:
        """Return the commands of this turn and forget them; forces are at most `most_force` long. DeviceGone."""
        if not (self._points or self._others):
            return {}
        if self._now is None:
            self.drop()
            return dict(self.state.raw)  # raises DeviceGone
        if self.withheld:
            self.drop()
            return {}
        made = dict(self._others)
        for name, vector in self._points.items():
            field, labels = FIELDS[name]
            if most_force is not None and name == FORCE:
                vector = limited(vector, most_force)  # noqa: PLW2901
            made[name] = {field: dict(zip(labels, vector, strict=True))}
        self.drop()
        return made

    def take_points(self, most_force: float | None) -> dict[str, tuple[float, float, float]]:
        """Return the set-points of this turn as vectors and forget them. DeviceGone, InvalidCommand for other commands."""
        points, others = dict(self._points), list(self._others)
        self.drop()
        if not (points or others):
            return {}
        if others:
            raise InvalidCommand(f"{others[0]} cannot go through shared memory: connect over a socket for it")
        if self._now is None:
            return dict(self.state.raw)  # raises DeviceGone
        if self.withheld:
            return {}
        if most_force is not None and FORCE in points:
            points[FORCE] = limited(points[FORCE], most_force)
        return points

    def take_configuration(self) -> dict[str, Any]:
        """Return the configuration that was assigned since, and forget it; `set_transform` is among it."""
        found, self._pending = self._pending, {}
        return found

    def ask_again(self) -> None:
        """Have everything that was ever configured sent again, for a session that has begun anew."""
        self._pending = {**self._chosen, **self._pending}

    def __repr__(self) -> str:
        """`<arm 049D>`, and what is special about it."""
        notes = [note for note, holds in (("unplugged", not self.present), ("withheld", self.withheld)) if holds]
        return f"<{' '.join([self.kind, self.id, *notes])}>"


class ModuleConfiguration(MutableMapping[str, Any]):
    """Configuration of modules of one device, by name."""

    def __init__(self, config: Mapping[str, Any], assign: Any) -> None:
        self._found = config
        self._assign = assign

    def __getitem__(self, name: str) -> Any:
        """Return what the last full frame or the newest state shows; KeyError."""
        return self._found[name]

    def __setitem__(self, name: str, value: Any) -> None:
        """Send it with the next turn or `update`."""
        self._assign(name, value)

    def __delitem__(self, name: str) -> None:
        """Refuse: a module's configuration is replaced, not removed."""
        raise InvalidCommand(f"{name} cannot be removed: assign what it shall be instead")

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._found)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._found)
