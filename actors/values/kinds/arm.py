"""KindSpec of the arm, a force-feedback device with three motors."""

from __future__ import annotations

from typing import Final

from actors.values.connection import Connection
from actors.values.firmware import Firmware
from actors.values.kinds.base import (
    MOVER_DEVICE_AREAS,
    MOVER_SESSION_AREAS,
    Dynamics,
    FrameShape,
    InverseWords,
    KindSpec,
    Mechanism,
    PairSide,
)
from actors.values.spatial import Reach

ARM: Final = KindSpec(
    name="arm",
    article="an",
    inverse=InverseWords("inverse3", "inverse3", "inverse", aliases=("inverse3x",), patterns=("inverse*", "*inverse")),
    has_motors=True,
    has_cursor=True,
    pairs_as=PairSide.MOVER,
    session_areas=MOVER_SESSION_AREAS | {"pivot"},
    device_areas=MOVER_DEVICE_AREAS,
    frame_shape=FrameShape.CURSOR,
    device_type=4,
    connections=(Connection.SIMULATED,),
    connection=Connection.SIMULATED,
    firmware=Firmware(7, 5),
    hardware_version=1,
    settles=True,
    reach=Reach(
        low=(-0.230, -0.285, -0.120),
        high=(0.230, -0.005, 0.390),
        zone_low=(0.010, 0.060, 0.010),
        zone_high=(0.010, 0.010, 0.010),
    ),
    mechanism=Mechanism(
        shoulder=(0.0, 0.08, 0.135),
        links=(0.26, 0.26),
        counts_per_turn=2.0**18,
        torque_limit=6000.0,
        peak_force=10.0,
    ),
    dynamics=Dynamics(mass=0.20, viscous=0.30, coulomb=0.15, gravity_mass=0.20),
)
