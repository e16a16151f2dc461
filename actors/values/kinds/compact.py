"""KindSpec of the compact, a small force-feedback device with three motors."""

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
    OwnPreset,
    PairSide,
)
from actors.values.spatial import Reach

COMPACT: Final = KindSpec(
    name="compact",
    inverse=InverseWords("inverse3", "minverse", "inverse", patterns=("inverse*", "*inverse")),
    has_motors=True,
    has_cursor=True,
    pairs_as=PairSide.MOVER,
    session_areas=MOVER_SESSION_AREAS,
    device_areas=MOVER_DEVICE_AREAS,
    frame_shape=FrameShape.CURSOR,
    device_type=5,
    presets=(
        OwnPreset("compact_centered", "minverse_centered"),
        OwnPreset("compact_zup", "minverse_zup", origin=(0.020, -0.075, 0.080), freeform=True),
    ),
    connections=(Connection.SIMULATED,),
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
