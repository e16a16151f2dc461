"""Values of detection: Candidate, a listed port; FoundDevice, what the device at a port reports of itself; PortFault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from actors.values.identity import Connection, Firmware, Kind
from actors.values.mechanism_kind import MechanismKind as MechanismKind  # noqa: PLC0414 - stands beside FoundMechanism
from actors.values.spatial import Reach


class Transport(StrEnum):
    """Bus of a port; each has its own setting to disable it."""

    SERIAL = "serial"
    USB = "usb"


class PortFault(StrEnum):
    """Why a port cannot be used, in words of the interface."""

    NO_DRIVER = "no_driver"
    PERMISSION = "permission"
    IN_USE = "in_use"
    NO_FIRMWARE_IMAGE = "no_firmware_image"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One port that the operating system lists."""

    port: str  # unique name
    path: str
    transport: Transport
    vendor_id: int | None = None
    product_id: int | None = None
    name: str = ""
    serial: str = ""
    assigned: bool = False  # a setting names the port, so that vendor and name filters do not apply
    node: str = ""  # identity of the device node, new after each plugging; "" if unknown

    def stayed(self, now: Candidate | None) -> bool:
        """Whether `now` is the same plugging of the port; an unknown node counts as the same."""
        return now is not None and now.path == self.path and (now.node == self.node or "" in (now.node, self.node))


@dataclass(frozen=True, slots=True)
class FoundMechanism:
    """A mechanism that differs from its kind's."""

    kind: MechanismKind
    peak_force: float  # N
    torque_limit: float  # N mm
    step: float  # m, largest motion of the cursor by one encoder count
    # by the names of the loop's mechanism parameters
    geometry: Mapping[str, float | tuple[float, ...]] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class FoundDevice:
    """One device behind a link, as it reports itself."""

    device_id: str  # one to eight characters
    kind: Kind
    connection: Connection
    firmware: Firmware
    hardware_version: int
    uuid: str
    driver: str
    reach: Reach | None = None  # None: its kind's
    mechanism: FoundMechanism | None = None  # None: its kind's
    calibrated: bool = False  # when it was found
    settle_s: float | None = None  # s; None: its kind's
    by_hand: bool = False  # never paired automatically
    calibrates: bool = False  # can be told to calibrate
    reads_battery: bool = False  # its packets contain the battery charge
