"""The compact device."""

from __future__ import annotations

from typing import Final

from actors.device.kinds.base import Dynamics, KindData, Mechanism
from actors.values.identity import Connection, Firmware, Kind
from actors.values.spatial import Reach
from fastpath.layout.constants import DeviceKind

COMPACT: Final = KindData(
    kind=Kind.COMPACT,
    number=DeviceKind.KIND_COMPACT,
    connection=Connection.SIMULATED,
    firmware=Firmware(7, 5),
    hardware_version=1,
    settles=True,
    reach=Reach(
        low=(-0.090, -0.185, 0.000),
        high=(0.070, -0.025, 0.160),
        zone_low=(0.025, 0.045, 0.045),
        zone_high=(0.005, 0.005, 0.005),
    ),
    mechanism=Mechanism(
        shoulder=(0.0, 0.03, 0.08),
        links=(0.13, 0.13),
        counts_per_turn=2.0**18,
        torque_limit=1200.0,
        peak_force=4.0,
    ),
    dynamics=Dynamics(mass=0.10, viscous=0.20, coulomb=0.10, gravity_mass=0.10),
)
