"""Messages of the device slice, and Inventory, the published snapshot of all devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar, Final

from actors.event.messages import Emit
from actors.kit.errors import FirmwareTooOld, NoSuchDevice
from actors.kit.message import Message, Request
from actors.pairing.messages import PAIRING, Origin
from actors.values.hardware import FoundDevice
from actors.values.identity import Connection, Firmware, Kind
from actors.values.simulation import Fault, Simulation, SimulationChange
from actors.values.spatial import Reach
from fastpath.arena.runtime import Lease

MANAGER: Final = "devices"
INVENTORY_READERS: Final = (PAIRING,)


def actor_name(device_id: str) -> str:
    """Return the directory name of a device's actor."""
    return f"device/{device_id}"


class Phase(StrEnum):
    """Where a device is in its life."""

    CONNECTING = "connecting"
    SETTLING = "settling"
    READY = "ready"
    ASLEEP = "asleep"
    DISCONNECTED = "disconnected"
    FAILED = "failed"


# Oldest firmware that has a feature.
FEATURES: Final[Mapping[str, Firmware]] = MappingProxyType({"damping": Firmware(7, 5), "home_return": Firmware(7, 4)})


@dataclass(frozen=True, slots=True)
class DeviceWide:
    """Configuration that a device has once for all sessions."""

    handedness: str = "right"
    torque_scaling: bool = True
    gravity_compensation: bool = True
    gravity_scale: float = 1.0
    home_return: bool = False


@dataclass(frozen=True, slots=True)
class DeviceIdentity:
    """What is known of a device before it does anything; `number` orders devices by first appearance.

    `found`: what a real device said of itself; its id there is another one where two devices say the same.
    """

    device_id: str
    kind: Kind
    connection: Connection
    port: str
    simulated: bool
    firmware: Firmware
    hardware_version: int
    uuid: str
    number: int
    reach: Reach | None
    found: FoundDevice | None = None

    @property
    def link_id(self) -> str:
        """The id by which a real device's link knows it."""
        return self.device_id if self.found is None else self.found.device_id


@dataclass(frozen=True, slots=True)
class SimulatedSpec:
    """One device to simulate; `device_id` None = one of our own, `firmware` None = that of its kind."""

    kind: Kind
    connection: Connection
    device_id: str | None = None
    firmware: Firmware | None = None


@dataclass(frozen=True, slots=True)
class Bond:
    """What the PairingManager says of a device: its other half, what holds for both, and the calibration under way (0: none).

    `attached`: the handle of the pair is in place. `partner_slot`: the other half's in the arena, -1 while it is away.
    """

    paired_with: str | None = None
    origin: Origin | None = None
    partner_slot: int = -1
    attached: bool = False
    calibrated: bool = False
    run: int = 0

    @classmethod
    def at_first(cls, *, simulated: bool, beats: bool = True, calibrated: bool = False) -> Bond:
        """Of a device that has just come: a simulated one is calibrated, and held while it beats; a real one says what it is."""
        return cls(attached=simulated and beats, calibrated=simulated or calibrated)


@dataclass(frozen=True, slots=True)
class DeviceRecord:
    """One device as the inventory shows it; `lease` is its slot in the arena."""

    identity: DeviceIdentity
    lease: Lease
    phase: Phase
    wide: DeviceWide = field(default_factory=DeviceWide)
    bond: Bond = field(default_factory=Bond)
    stopped: bool = False
    simulation: Simulation = field(default_factory=Simulation)

    @property
    def paired_with(self) -> str | None:
        """The id of its other half, also while that is away."""
        return self.bond.paired_with

    @property
    def beats(self) -> bool:
        """Whether a simulated handle sends heartbeats."""
        return self.simulation.attached

    @property
    def fault(self) -> Fault:
        """What goes wrong with a simulated device; NONE for a real one."""
        return self.simulation.fault

    @property
    def device_id(self) -> str:
        """The device's id: one to eight characters."""
        return self.identity.device_id

    @property
    def kind(self) -> Kind:
        """The device's type."""
        return self.identity.kind

    @property
    def ready(self) -> bool:
        """Whether it has settled."""
        return self.phase in (Phase.READY, Phase.ASLEEP)

    @property
    def accepts(self) -> bool:
        """Whether commands are taken: it has motors, is ready, and no calibration runs."""
        return self.kind.has_motors and self.phase is Phase.READY and not self.bond.run

    def require(self, feature: str) -> None:
        """FirmwareTooOld unless the device's firmware has that one of FEATURES."""
        required = FEATURES[feature]
        if self.identity.firmware < required:
            raise FirmwareTooOld(feature, str(self.identity.firmware), str(required))


@dataclass(frozen=True, slots=True)
class Inventory:
    """Every device that is here, real ones before simulated ones, each in order of first appearance.

    `failed` were given up. Simulated ones that are away: `withheld` come when their port is unblocked, `unplugged` when
    their fault is cleared. `choosing`: whether any are simulated is decided when real ones have been looked for.
    """

    devices: tuple[DeviceRecord, ...] = ()
    failed: tuple[DeviceRecord, ...] = ()
    withheld: tuple[DeviceIdentity, ...] = ()
    unplugged: tuple[DeviceRecord, ...] = ()
    choosing: bool = False

    def find(self, device_id: str) -> DeviceRecord | None:
        """The device with exactly that id."""
        for record in self.devices:
            if record.identity.device_id == device_id:
                return record
        return None

    def get(self, device_id: str) -> DeviceRecord:
        """The device with exactly that id; NoSuchDevice."""
        record = self.find(device_id)
        if record is None:
            raise NoSuchDevice(device_id)
        return record


@dataclass(frozen=True, slots=True)
class StopStatus:
    """The stop latch: `everything` holds for devices that are yet to come as well."""

    everything: bool
    device_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StopSwitched(Message):
    """The stop latch is another one, and the loop follows it already."""


@dataclass(frozen=True, slots=True)
class ConfigureDevice(Request[DeviceWide]):
    """Change what a device has for all sessions; None keeps a value. Asked of `device/{id}`: InvalidInput, FirmwareTooOld."""

    handedness: str | None = None
    torque_scaling: bool | None = None
    gravity_compensation: bool | None = None
    gravity_scale: float | None = None
    home_return: bool | None = None

    def sent(self) -> dict[str, Any]:
        """The values that are not kept, by name."""
        every = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {name: value for name, value in every if value is not None}


@dataclass(frozen=True, slots=True)
class AddSimulated(Request[DeviceRecord]):
    """Simulate one more device from now on. Asked of MANAGER: InvalidInput, Conflict (its id is taken, no room), Busy."""

    spec: SimulatedSpec


@dataclass(frozen=True, slots=True)
class RemoveSimulated(Request[DeviceRecord]):
    """Simulate this device no longer; the reply is what it was. Asked of MANAGER: NoSuchDevice, also for a real one."""

    device_id: str


@dataclass(frozen=True, slots=True)
class Simulate(Request[DeviceRecord]):
    """Change a device's simulation; the loop has it once the device's actor has answered something else.

    Asked of MANAGER: NoSuchDevice, also for a real one, InvalidInput, Busy.
    """

    device_id: str
    change: SimulationChange = field(default_factory=SimulationChange)


@dataclass(frozen=True, slots=True)
class SimulationChanged(Message):
    """Told to a DeviceActor by its manager: the inventory shows another simulation; `awake` None keeps it as it is."""

    awake: bool | None = None


@dataclass(frozen=True, slots=True)
class PlugDue(Message):
    """Told to the manager by its timer: the next step of a device's connection loop."""

    device_id: str
    step: int


@dataclass(frozen=True, slots=True)
class DeviceRested(Message):
    """Told to a DeviceActor by the timekeeper: nothing has moved the device for so long that a handle falls asleep."""

    generation: int


@dataclass(frozen=True, slots=True)
class DeviceSilent(Message):
    """Told to a DeviceActor by the timekeeper: no new data for `silent_ns`; `gone`: for so long that it counts as disconnected."""

    generation: int
    gone: bool
    silent_ns: int


class FodStage(StrEnum):
    """How sure the loop is that something pushes a device whose grip nobody holds."""

    IDLE = "idle"
    GUARD = "guard"
    HARD = "hard"


@dataclass(frozen=True, slots=True)
class SafetyState:
    """What the loop's monitors have counted since the device came, and the stage of the foreign object now."""

    ebrakes: int = 0
    ebrake_releases: int = 0
    stalls: int = 0
    ceilings: int = 0
    deratings: int = 0
    oscillations: int = 0
    grip_drops: int = 0
    fod_stage: FodStage = FodStage.IDLE


@dataclass(frozen=True, slots=True)
class SafetyTripped(Message):
    """Told to a DeviceActor by the timekeeper: monitors acted between two looks at the device."""

    generation: int
    before: SafetyState
    now: SafetyState


@dataclass(frozen=True, slots=True)
class DeviceDozed(Message):
    """Told to a DeviceActor by the timekeeper: for `features/screensaver/timeout` nobody moved or commanded it, or somebody does again."""

    generation: int
    awake: bool


@dataclass(frozen=True, slots=True)
class DeviceLost(Message):
    """Told to the manager by a DeviceActor or a PortLink: the device of that lease is not there any more."""

    device_id: str
    generation: int
    why: str


@dataclass(frozen=True, slots=True)
class SaveConfiguration(Request[None]):
    """Have the ledger told once more what a device has for all sessions, and a real device too if `in_device`. Of MANAGER: NoSuchDevice."""

    device_id: str
    in_device: bool = False


@dataclass(frozen=True, slots=True)
class DevicesChanged(Message):
    """Told by the manager to INVENTORY_READERS: devices have come, gone or changed their phase, and the inventory shows it."""

    repeatable: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class DeviceChanged(Message):
    """Told by a DeviceActor to its manager: phase or configuration is now this; `generation` is that of its lease."""

    device_id: str
    phase: Phase
    wide: DeviceWide
    generation: int | None = None


@dataclass(frozen=True, slots=True)
class UpdateBonds(Message):
    """Told to the manager by the PairingManager: the bonds of these devices are now these."""

    bonds: Mapping[str, Bond]


@dataclass(frozen=True, slots=True)
class BondChanged(Message):
    """Told to a DeviceActor by its manager: the inventory shows another bond of the device."""


@dataclass(frozen=True, slots=True)
class ConfirmInventory(Request[None]):
    """Answered when the inventory shows all that MANAGER was told before."""


@dataclass(frozen=True, slots=True)
class CalibrationDue(Message):
    """Told to a simulated device's actor by its timer: that run has taken its time."""

    run: int


@dataclass(frozen=True, slots=True)
class DeviceSettled(Message):
    """Told to a DeviceActor by its timer: the settle window is over."""


def unsupported_event(record: DeviceRecord, error: FirmwareTooOld) -> Emit:
    """`device-protocol-unsupported`: the firmware lacks a feature that somebody asked for."""
    return Emit(
        "device-protocol-unsupported",
        {
            "device_id": record.device_id,
            "device_family": str(record.kind),
            "feature": error.feature,
            "firmware": error.firmware,
            "required": error.required,
        },
        error.sentence,
    )
