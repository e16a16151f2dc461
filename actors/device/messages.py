"""Records (device, bond, safety), the inventory and the messages of the device slice."""

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
    """Phase of a device's life."""

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
    """Constant properties of a device."""

    device_id: str
    kind: Kind
    connection: Connection
    port: str
    simulated: bool
    firmware: Firmware
    hardware_version: int
    uuid: str
    number: int  # order of first appearance
    reach: Reach | None
    found: FoundDevice | None = None  # report of a real device; its id differs from `device_id` if that was taken

    @property
    def link_id(self) -> str:
        """The device's id in its link."""
        return self.device_id if self.found is None else self.found.device_id


@dataclass(frozen=True, slots=True)
class SimulatedSpec:
    """One device to simulate."""

    kind: Kind
    connection: Connection
    device_id: str | None = None  # None: chosen by the service
    firmware: Firmware | None = None  # None: the kind's


@dataclass(frozen=True, slots=True)
class Bond:
    """Pair and calibration of a device, set by the PairingManager."""

    paired_with: str | None = None  # id of the partner
    origin: Origin | None = None
    partner_slot: int = -1  # in the arena; -1 while the partner is absent
    attached: bool = False  # the handle of the pair is attached
    calibrated: bool = False
    run: int = 0  # number of the running calibration; 0: none

    @classmethod
    def at_first(cls, *, simulated: bool, beats: bool = True, calibrated: bool = False) -> Bond:
        """Return the bond of a new device: a simulated one is calibrated, and attached while it sends heartbeats."""
        return cls(attached=simulated and beats, calibrated=simulated or calibrated)


@dataclass(frozen=True, slots=True)
class DeviceRecord:
    """One device of the inventory."""

    identity: DeviceIdentity
    lease: Lease  # its slot in the arena
    phase: Phase
    wide: DeviceWide = field(default_factory=DeviceWide)
    bond: Bond = field(default_factory=Bond)
    stopped: bool = False  # by the stop latch
    simulation: Simulation = field(default_factory=Simulation)
    name: str = ""  # given by people, such as "left arm"; "": none

    @property
    def paired_with(self) -> str | None:
        """Id of its partner, which may be absent."""
        return self.bond.paired_with

    @property
    def beats(self) -> bool:
        """Whether a simulated handle sends heartbeats."""
        return self.simulation.attached

    @property
    def fault(self) -> Fault:
        """Simulated fault; NONE for a real device."""
        return self.simulation.fault

    @property
    def device_id(self) -> str:
        """Its id, one to eight characters."""
        return self.identity.device_id

    @property
    def kind(self) -> Kind:
        """Its kind."""
        return self.identity.kind

    @property
    def ready(self) -> bool:
        """Whether it has settled."""
        return self.phase in (Phase.READY, Phase.ASLEEP)

    @property
    def shows_battery(self) -> bool:
        """Whether it has a battery whose charge the service reads."""
        found = self.identity.found
        return self.identity.connection is Connection.WIRELESS and (found is None or found.reads_battery)

    @property
    def accepts(self) -> bool:
        """Whether commands are accepted: it has motors, is ready, and no calibration runs."""
        return self.kind.has_motors and self.phase is Phase.READY and not self.bond.run

    def require(self, feature: str) -> None:
        """Raise FirmwareTooOld unless the device's firmware supports this one of FEATURES."""
        required = FEATURES[feature]
        if self.identity.firmware < required:
            raise FirmwareTooOld(feature, str(self.identity.firmware), str(required))


@dataclass(frozen=True, slots=True)
class Inventory:
    """All known devices; each is in exactly one of the four parts."""

    devices: tuple[DeviceRecord, ...] = ()  # real ones before simulated ones, each in order of first appearance
    failed: tuple[DeviceRecord, ...] = ()  # actor crashed too often
    withheld: tuple[DeviceIdentity, ...] = ()  # simulated, until their port is unblocked
    unplugged: tuple[DeviceRecord, ...] = ()  # simulated, until their fault is cleared
    choosing: bool = False  # the first scan decides whether devices are simulated

    def find(self, device_id: str) -> DeviceRecord | None:
        """Return the device with that id among `devices`, else None."""
        for record in self.devices:
            if record.identity.device_id == device_id:
                return record
        return None

    def get(self, device_id: str) -> DeviceRecord:
        """Return the device with that id among `devices`; NoSuchDevice."""
        record = self.find(device_id)
        if record is None:
            raise NoSuchDevice(device_id)
        return record


@dataclass(frozen=True, slots=True)
class StopStatus:
    """State of the stop latch."""

    everything: bool  # all devices are stopped, also those that connect later
    device_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StopSwitched(Message):
    """Told to the DeviceManager by the stop switch: the latch changed, and the loop obeys it already."""


@dataclass(frozen=True, slots=True)
class ConfigureDevice(Request[DeviceWide]):
    """Change the device-wide configuration; None keeps a value. Asked of `device/{id}`: InvalidInput, FirmwareTooOld."""

    handedness: str | None = None
    torque_scaling: bool | None = None
    gravity_compensation: bool | None = None
    gravity_scale: float | None = None
    home_return: bool | None = None

    def sent(self) -> dict[str, Any]:
        """Return the values that are not None, by name."""
        every = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {name: value for name, value in every if value is not None}


@dataclass(frozen=True, slots=True)
class NameDevice(Request[None]):
    """Give a device a name, or take it away with "". Asked of MANAGER: NoSuchDevice, InvalidInput, Conflict (name taken)."""

    device_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ResumeDevice(Request[bool]):
    """Let a latched e-brake end once the device is slow. Asked of `device/{id}`. The reply is whether one waited for it."""


@dataclass(frozen=True, slots=True)
class AddSimulated(Request[DeviceRecord]):
    """Add a simulated device. Asked of MANAGER: InvalidInput, Conflict (id taken, no free slot), Busy."""

    spec: SimulatedSpec


@dataclass(frozen=True, slots=True)
class RemoveSimulated(Request[DeviceRecord]):
    """Remove a simulated device. The reply is its last record. Asked of MANAGER: NoSuchDevice, also for a real device."""

    device_id: str


@dataclass(frozen=True, slots=True)
class Simulate(Request[DeviceRecord]):
    """Change a device's simulation; the loop has it after the next reply of the device's actor.

    Asked of MANAGER: NoSuchDevice (also for a real device), InvalidInput, Busy.
    """

    device_id: str
    change: SimulationChange = field(default_factory=SimulationChange)


@dataclass(frozen=True, slots=True)
class SimulationChanged(Message):
    """Told to a DeviceActor by the DeviceManager: the inventory has a new simulation of the device."""

    awake: bool | None = None  # None: unchanged


@dataclass(frozen=True, slots=True)
class PlugDue(Message):
    """Told to the DeviceManager by its timer: the next step of a simulated connection loop."""

    device_id: str
    step: int


@dataclass(frozen=True, slots=True)
class DeviceRested(Message):
    """Told to a DeviceActor by the timekeeper: the device has not moved for so long that a handle falls asleep."""

    generation: int


@dataclass(frozen=True, slots=True)
class DeviceSilent(Message):
    """Told to a DeviceActor by the timekeeper: no new data for `silent_ns`."""

    generation: int
    gone: bool  # so long that the device counts as disconnected
    silent_ns: int


class FodStage(StrEnum):
    """Stage of foreign object detection: something pushes a device whose grip is not held."""

    IDLE = "idle"
    GUARD = "guard"
    HARD = "hard"


@dataclass(frozen=True, slots=True)
class SafetyState:
    """Counters of the loop's monitors since the device connected, and the stage of foreign object detection."""

    ebrakes: int = 0
    ebrake_releases: int = 0
    stalls: int = 0
    ceilings: int = 0
    deratings: int = 0
    oscillations: int = 0
    grip_drops: int = 0
    kinetic_trips: int = 0
    power_trips: int = 0
    contact_trips: int = 0
    stiffness_warnings: int = 0
    ebrake_waits: int = 0
    stop_brakes: int = 0
    enable_drops: int = 0
    fod_stage: FodStage = FodStage.IDLE


@dataclass(frozen=True, slots=True)
class SafetyTripped(Message):
    """Told to a DeviceActor by the timekeeper: monitors acted between two snapshots."""

    generation: int
    before: SafetyState
    now: SafetyState


@dataclass(frozen=True, slots=True)
class IdleSleepChanged(Message):
    """Told to a DeviceActor by the timekeeper: idle sleep began (no motion or command for `features/screensaver/timeout`) or ended."""

    generation: int
    awake: bool


@dataclass(frozen=True, slots=True)
class DeviceLost(Message):
    """Told to the DeviceManager by a DeviceActor or a PortLink: the device of that lease is gone."""

    device_id: str
    generation: int
    why: str


@dataclass(frozen=True, slots=True)
class SaveConfiguration(Request[None]):
    """Save the device-wide configuration in the ledger, and in a real device if `in_device`. Asked of MANAGER: NoSuchDevice."""

    device_id: str
    in_device: bool = False


@dataclass(frozen=True, slots=True)
class DevicesChanged(Message):
    """Told by the DeviceManager to INVENTORY_READERS: devices came, left or changed their phase in the inventory."""

    repeatable: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class DeviceChanged(Message):
    """Told by a DeviceActor to the DeviceManager: new phase or configuration of the device of that lease."""

    device_id: str
    phase: Phase
    wide: DeviceWide
    generation: int | None = None


@dataclass(frozen=True, slots=True)
class UpdateBonds(Message):
    """Told to the DeviceManager by the PairingManager: new bonds by device id."""

    bonds: Mapping[str, Bond]


@dataclass(frozen=True, slots=True)
class BondChanged(Message):
    """Told to a DeviceActor by the DeviceManager: the inventory has a new bond of the device."""


@dataclass(frozen=True, slots=True)
class ConfirmInventory(Request[None]):
    """Reply when the inventory reflects every message that MANAGER got before."""


@dataclass(frozen=True, slots=True)
class CalibrationDue(Message):
    """Told to a simulated device's actor by its timer: calibration `run` ends."""

    run: int


@dataclass(frozen=True, slots=True)
class DeviceSettled(Message):
    """Told to a DeviceActor by its timer: the settle time is over."""


def unsupported_event(record: DeviceRecord, error: FirmwareTooOld) -> Emit:
    """Return `device-protocol-unsupported`: the firmware lacks a requested feature."""
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
