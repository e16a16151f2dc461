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

MANAGER: Final = "sessions"
NO_PROFILE: Final = "default"
CUSTOM: Final = "custom"
OFF: Final = "off"
BUBBLE: Final = "bubble"


@dataclass(frozen=True, slots=True)
class Damping:
    """N s/m: `scalar` along every device axis, and `vector` along each by itself; they add."""

    scalar: float = 0.0
    vector: Vec3 = ORIGIN

    @property
    def per_axis(self) -> Vec3:
        """What acts along each device axis."""
        x, y, z = (self.scalar + part for part in self.vector)
        return x, y, z


@dataclass(frozen=True, slots=True)
class NavigationConfig:
    """Whether a session navigates with a device (`off`, `bubble`), and the bubble that it has or would have."""

    mode: str = OFF
    bubble: Bubble = field(default_factory=Bubble)

    @property
    def in_force(self) -> Bubble | None:
        """What the loop navigates by."""
        return self.bubble if self.mode == BUBBLE else None


@dataclass(frozen=True, slots=True)
class DeviceConfig:
    """One session's configuration of one device; None: the session's basis, the preset of the start, the setting's gain.

    `mount` counts only under the preset `custom`; a built-in preset has its own. `workspace` is the transform that a session
    starts with: from then on it is the edge's.
    """

    basis: Basis | None = None
    preset: str | None = None
    mount: Transform = field(default_factory=Transform)
    damping: Damping = field(default_factory=Damping)
    force_gate: float | None = None
    workspace: Transform = field(default_factory=Transform)
    navigation: NavigationConfig = field(default_factory=NavigationConfig)


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """Everything that a session has configured; devices that it never configured are not in `devices`.

    `freeform`: the profile is one of those whose compacts start with the preset `compact_zup`. `sdk_from_profile`:
    `required_sdk_version` was remembered for the profile's name; False: the session declared it, or has none.
    """

    profile: str = NO_PROFILE
    required_sdk_version: str | None = None
    sdk_from_profile: bool = False
    freeform: bool = False
    basis: Basis = field(default_factory=Basis)
    devices: Mapping[str, DeviceConfig] = field(default_factory=lambda: MappingProxyType({}))

    def device(self, device_id: str) -> DeviceConfig:
        """The configuration of one device, defaults where nothing was configured."""
        return self.devices.get(device_id, DeviceConfig())

    def basis_of(self, device_id: str) -> Basis:
        """The device's own basis, else the session's."""
        return self.device(device_id).basis or self.basis


# ---------------------------------------------------------------- what a client may change


@dataclass(frozen=True, slots=True)
class DeclareProfile:
    """The session is called this; a session that declared no SDK version itself gets the one remembered for the name, or none."""

    name: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class ClearProfile:
    """Back to `default` without an SDK version; the name's is forgotten unless another open session declared one under it."""

    path: str = ""


@dataclass(frozen=True, slots=True)
class RequireSdk:
    """The client needs this interface version."""

    version: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class SetBasis:
    """A basis for one device, or for the session where `device_id` is None; `basis` None: back to what it was at the start."""

    device_id: str | None
    basis: Basis | None
    path: str = ""


@dataclass(frozen=True, slots=True)
class SetMount:
    """A mount for one device, partial; the preset becomes `custom`."""

    device_id: str
    mount: PartialTransform
    path: str = ""


@dataclass(frozen=True, slots=True)
class SetPreset:
    """A workspace preset for one device; None: back to what it was at the start, which also resets the mount."""

    device_id: str
    preset: str | None
    path: str = ""


@dataclass(frozen=True, slots=True)
class SetDamping:
    """Damping of one device, all of it: a part that is None is 0."""

    device_id: str
    scalar: float | None = None
    vector: Vec3 | None = None
    path: str = ""


@dataclass(frozen=True, slots=True)
class ClearDamping:
    """Damping of one device: back to what it was at the start."""

    device_id: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class SetForceGate:
    """Gain of the force gate of one device, 0 to 1; None: back to what it was at the start, which may be the setting's."""

    device_id: str
    gain: float | None
    path: str = ""


@dataclass(frozen=True, slots=True)
class SetNavigation:
    """Navigation with one device: another mode, and other values of fields of its Bubble; what is not named stays."""

    device_id: str
    mode: str | None
    fields: tuple[tuple[str, object], ...] = ()
    path: str = ""


@dataclass(frozen=True, slots=True)
class ClearNavigation:
    """Navigation with one device: back to what it was at the start."""

    device_id: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class SetWorkspace:
    """The workspace transform of one device that new sessions start with, partial."""

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
    | SetWorkspace
)


@dataclass(frozen=True, slots=True)
class Refused:
    """One change that was not made, and why; `error` is what HTTP makes a status of."""

    change: Change
    reason: str
    error: HapticError

    @property
    def path(self) -> str:
        """Where the change stood in what was sent."""
        return self.change.path


@dataclass(frozen=True, slots=True)
class Applied:
    """What a session is configured to now, which values really changed, and what was refused."""

    config: SessionConfig
    scopes: tuple[str, ...]
    refused: tuple[Refused, ...]


@dataclass(frozen=True, slots=True)
class ConfigureSession(Request[Applied]):
    """Make these changes in order; each by itself is made or refused. Asked of `session/{id}`."""

    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class ConfigurationChanged(Message):
    """Told by the edge to `session/{id}`: it changed these scopes, whose values are its own, on these devices."""

    scopes: tuple[str, ...]
    device_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConfigureDefaults(Request[Applied]):
    """Change what new sessions start with; asked of the manager, which tells it to the ledger."""

    changes: tuple[Change, ...]


# ---------------------------------------------------------------- lives of sessions


@dataclass(frozen=True, slots=True)
class Client:
    """Who is at the other end: address, frame version `3.0` or `3.1`."""

    remote_address: str
    version: str


@dataclass(frozen=True, slots=True)
class SessionHandle:
    """What the edge works with from now on: the slot, and the name of the session's actor."""

    session_id: int
    lease: Lease
    actor: str
    config: SessionConfig
    resumed: bool


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class OpenSession(Request[SessionHandle]):
    """Open a session; `resume` is the id that the client had, as it sent it. NoSlot when too many are open.

    Both are called on any thread: `lost` when the session's actor failed too often, so that the edge closes the connection;
    `gone` says whether the connection has ended, for a manager that was not told.
    """

    client: Client
    lost: Callable[[], None]
    resume: str | None = None
    gone: Callable[[], bool] = _never


@dataclass(frozen=True, slots=True)
class CloseSession(Message):
    """The connection of this session is gone; its writers are revoked already."""

    session_id: int
    lease: Lease


@dataclass(frozen=True, slots=True)
class CloseGone(Message):
    """Told by the edge when an OpenSession failed: it may have been done all the same, too late. Close what has no connection."""


@dataclass(frozen=True, slots=True)
class SessionDescribed(Message):
    """Told by a SessionActor to its manager: the configuration is now this."""

    session_id: int
    config: SessionConfig


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One open session as the table shows it; `connected_at` is ISO 8601 UTC."""

    session_id: int
    client: Client
    connected_at: str
    config: SessionConfig


@dataclass(frozen=True, slots=True)
class SessionTable:
    """Every open session, oldest first, and what new ones start with."""

    sessions: tuple[SessionRecord, ...] = ()
    defaults: SessionConfig = field(default_factory=SessionConfig)
