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
    """What carries the bytes; each can be switched off by a setting of its own."""

    SERIAL = "serial"
    USB = "usb"


class PortFault(StrEnum):
    """Why a port cannot be used: words of the interface."""

    NO_DRIVER = "no_driver"
    PERMISSION = "permission"
    IN_USE = "in_use"
    NO_FIRMWARE_IMAGE = "no_firmware_image"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One port as the operating system lists it; `port` is its name here, two ports never share one.

    `assigned`: a setting names it, so that it is wanted whatever vendor or name it has. `node`: which node of the operating
    system is there, another one each time it is plugged in; "" when that is not known.
    """

    port: str
    path: str
    transport: Transport
    vendor_id: int | None = None
    product_id: int | None = None
    name: str = ""
    serial: str = ""
    assigned: bool = False
    node: str = ""

    def stayed(self, now: Candidate | None) -> bool:
        """Whether that is the same plugging, whatever else is known of it now; a node that is not known tells nothing."""
        return now is not None and now.path == self.path and (now.node == self.node or "" in (now.node, self.node))


@dataclass(frozen=True, slots=True)
class FoundMechanism:
    """A mechanism that is not that of its kind: N, N mm, m; `geometry` by the names of the loop's mechanism parameters.

    `step` is the farthest that one encoder count moves the cursor (m).
    """

    kind: MechanismKind
    peak_force: float
    torque_limit: float
    step: float
    geometry: Mapping[str, float | tuple[float, ...]] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class FoundDevice:
    """One device behind a link, in its own words; `reach` and `mechanism` None are those of its kind.

    `device_id` has one to eight characters; `calibrated` when it was found; `settle_s` None = as long as its kind takes.
    `by_hand`: nothing says that it sits in an arm, so it is paired only when somebody says so. `calibrates`: it can be told to.
    `reads_battery`: its packets carry the charge of its battery.
    """

    device_id: str
    kind: Kind
    connection: Connection
    firmware: Firmware
    hardware_version: int
    uuid: str
    driver: str
    reach: Reach | None = None
    mechanism: FoundMechanism | None = None
    calibrated: bool = False
    settle_s: float | None = None
    by_hand: bool = False
    calibrates: bool = False
    reads_battery: bool = False
