"""Messages of the session slice, and SessionTable, the published snapshot of all sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeAlias

from actors.kit.errors import HapticError
from actors.kit.message import Message, Request
from actors.values.spatial import ORIGIN, Basis, PartialTransform, Transform, Vec3, WorkspaceChange
from fastpath.arena.runtime import Lease
from fastpath.navigation.values import Bubble
from fastpath.scene.values import NO_SCENE, Field, Scene

MANAGER: Final = "sessions"
NO_PROFILE: Final = "default"
CUSTOM: Final = "custom"
OFF: Final = "off"
BUBBLE: Final = "bubble"


@dataclass(frozen=True, slots=True)
class Damping:
    """Damping of one device, N s/m; `scalar` and `vector` add."""

    scalar: float = 0.0  # N s/m, on every device axis
    vector: Vec3 = ORIGIN  # N s/m, per device axis

    @property
    def per_axis(self) -> Vec3:
        """Sum of both on each device axis, N s/m."""
        x, y, z = (self.scalar + part for part in self.vector)
        return x, y, z


@dataclass(frozen=True, slots=True)
class NavigationConfig:
    """Navigation of one session with one device."""

    mode: str = OFF  # `off` or `bubble`
    bubble: Bubble = field(default_factory=Bubble)  # kept while the mode is `off`

    @property
    def in_force(self) -> Bubble | None:
        """The bubble that the loop uses, None while the mode is `off`."""
        return self.bubble if self.mode == BUBBLE else None


@dataclass(frozen=True, slots=True)
class DeviceConfig:
    """One session's configuration of one device."""

    basis: Basis | None = None  # None: the session's
    preset: str | None = None  # None: the kind's start preset
    mount: Transform = field(default_factory=Transform)  # used under the preset `custom` only
    damping: Damping = field(default_factory=Damping)
    force_gate: float | None = None  # gain, 0 to 1; None: the setting's
    workspace: Transform = field(default_factory=Transform)  # start value; afterwards the edge keeps the transform
    navigation: NavigationConfig = field(default_factory=NavigationConfig)
    scene: Scene = field(default_factory=lambda: NO_SCENE)


UNCONFIGURED: Final = DeviceConfig()


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """Configuration of one session."""

    profile: str = NO_PROFILE
    required_sdk_version: str | None = None
    sdk_from_profile: bool = False  # the version was remembered for the profile, not declared by the session
    freeform: bool = False  # the profile is one of those that start with the preset `compact_zup`
    basis: Basis = field(default_factory=Basis)
    # by id; only devices that were configured
    devices: Mapping[str, DeviceConfig] = field(default_factory=lambda: MappingProxyType({}))

    def device(self, device_id: str) -> DeviceConfig:
        """Return the configuration of one device, defaults where nothing was configured."""
        return self.devices.get(device_id, UNCONFIGURED)

    def basis_of(self, device_id: str) -> Basis:
        """Return the device's own basis, else the session's."""
        return self.device(device_id).basis or self.basis


# ---------------------------------------------------------------- what a client may change


@dataclass(frozen=True, slots=True)
class DeclareProfile:
    """Set the profile name; a session that declared no SDK version gets the one remembered for the name."""

    name: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class ClearProfile:
    """Reset to `default` without an SDK version; forget the name's version unless another open session declared it."""

    path: str = ""


@dataclass(frozen=True, slots=True)
class RequireSdk:
    """Set the interface version that the client needs."""

    version: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class SetBasis:
    """Set the basis of one device."""

    device_id: str | None  # None: the session's basis
    basis: Basis | None  # None: the start value
    path: str = ""


@dataclass(frozen=True, slots=True)
class SetMount:
    """Change the given parts of one device's mount; the preset becomes `custom`."""

    device_id: str
    mount: PartialTransform
    path: str = ""


@dataclass(frozen=True, slots=True)
class SetPreset:
    """Set the workspace preset of one device."""

    device_id: str
    preset: str | None  # None: the start values of preset and mount
    path: str = ""


@dataclass(frozen=True, slots=True)
class SetDamping:
    """Replace the damping of one device, N s/m; a part that is None becomes 0."""

    device_id: str
    scalar: float | None = None
    vector: Vec3 | None = None
    path: str = ""


@dataclass(frozen=True, slots=True)
class ClearDamping:
    """Reset the damping of one device to its start value."""

    device_id: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class SetForceGate:
    """Set the gain of one device's force gate."""

    device_id: str
    gain: float | None  # 0 to 1; None: the start value, which may be the setting's
    path: str = ""


@dataclass(frozen=True, slots=True)
class SetNavigation:
    """Change the mode and the given Bubble fields of one device's navigation."""

    device_id: str
    mode: str | None
    fields: tuple[tuple[str, object], ...] = ()
    path: str = ""


@dataclass(frozen=True, slots=True)
class ClearNavigation:
    """Reset the navigation of one device to its start value."""

    device_id: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class SetScene:
    """Add, change and remove fields of one device's scene."""

    device_id: str
    fields: tuple[tuple[str, Field | None], ...] = ()  # by id; None: remove it
    replace: bool = False  # also remove all other fields
    kept: tuple[str, ...] = ()  # ids that `replace` does not remove
    path: str = ""


@dataclass(frozen=True, slots=True)
class ClearScene:
    """Reset the scene of one device to its start value."""

    device_id: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class SetWorkspace:
    """Change the given parts of one device's start workspace transform; for start values of new sessions only."""

    device_id: str
    workspace: WorkspaceChange
    path: str = ""


Change: TypeAlias = (
    DeclareProfile
    | ClearProfile
    | RequireSdk
    | SetBasis
    | SetMount
    | SetPreset
    | SetDamping
    | ClearDamping
    | SetForceGate
    | SetNavigation
    | ClearNavigation
    | SetScene
    | ClearScene
    | SetWorkspace
)


@dataclass(frozen=True, slots=True)
class Refused:
    """One change that was refused."""

    change: Change
    reason: str
    error: HapticError  # the edge maps its class to an HTTP status

    @property
    def path(self) -> str:
        """JSON path of the change in the message."""
        return self.change.path


@dataclass(frozen=True, slots=True)
class Applied:
    """Result of applying changes."""

    config: SessionConfig  # the configuration afterwards
    scopes: tuple[str, ...]  # names of the values that changed
    refused: tuple[Refused, ...]


@dataclass(frozen=True, slots=True)
class ConfigureSession(Request[Applied]):
    """Apply these changes in order; each one is made or refused by itself. Asked of `session/{id}`."""

    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class ConfigurationChanged(Message):
    """Told by the edge to `session/{id}`: values of these scopes, which the edge keeps, changed on these devices."""

    scopes: tuple[str, ...]
    device_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConfigureDefaults(Request[Applied]):
    """Change the start values of new sessions. Asked of the manager, which stores them in the ledger."""

    changes: tuple[Change, ...]


# ---------------------------------------------------------------- opening and closing


@dataclass(frozen=True, slots=True)
class Client:
    """The client of a session."""

    remote_address: str
    version: str  # frame version, `3.0` or `3.1`


@dataclass(frozen=True, slots=True)
class SessionHandle:
    """Result of OpenSession: id, slot, actor name and configuration of the session."""

    session_id: int
    lease: Lease
    actor: str  # directory name of the session's actor
    config: SessionConfig
    resumed: bool


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class OpenSession(Request[SessionHandle]):
    """Open a session; NoSlot when too many are open. Both callbacks are called on any thread."""

    client: Client
    lost: Callable[[], None]  # called when the session's actor crashed too often: the edge closes the connection
    resume: str | None = None  # id of the earlier session, as the client sent it
    gone: Callable[[], bool] = _never  # returns whether the connection has ended, in case CloseSession was lost


@dataclass(frozen=True, slots=True)
class CloseSession(Message):
    """The session's connection has ended; its writers are revoked already."""

    session_id: int
    lease: Lease


@dataclass(frozen=True, slots=True)
class CloseGone(Message):
    """Told by the edge when an OpenSession timed out: close each session that is open without a connection."""


@dataclass(frozen=True, slots=True)
class SessionDescribed(Message):
    """Told by a SessionActor to the SessionManager: the session's new configuration."""

    session_id: int
    config: SessionConfig


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """Row of one open session in the table."""

    session_id: int
    client: Client
    connected_at: str  # ISO 8601, UTC
    config: SessionConfig


@dataclass(frozen=True, slots=True)
class SessionTable:
    """All open sessions, oldest first, and the start values of new ones."""

    sessions: tuple[SessionRecord, ...] = ()
    defaults: SessionConfig = field(default_factory=SessionConfig)
