"""KindSpec of the knob, a test-only kind: one motorised rotation axis, rim of 20 mm, five turns either way, no cursor, never paired."""

from __future__ import annotations

from math import tau
from typing import Final

from actors.values.connection import Connection
from actors.values.firmware import Firmware
from actors.values.kinds.base import Dynamics, FrameShape, InverseWords, KindSpec, Mechanism
from actors.values.mechanism_kind import MechanismKind
from actors.values.spatial import Reach
from tests.kinds.knob.frame_text import STATE

RADIUS_M: Final = 0.020
END_M: Final = 5 * tau * RADIUS_M

KNOB: Final = KindSpec(
    name="knob",
    inverse=InverseWords("turn_knob", "turn_knob", "turn_knob"),
    has_motors=True,
    has_cursor=False,
    pairs_as=None,
    session_areas=frozenset({"basis"}),
    device_areas=frozenset({"torque_scaling", "stop"}),
    frame_shape=FrameShape.FIELDS,
    frame_fields=STATE,
    device_type=90,
    connections=(Connection.SIMULATED,),
    connection=Connection.SIMULATED,
    firmware=Firmware(7, 5),
    hardware_version=1,
    settles=False,
    # Along the rim: the mechanism unrolls it onto x.
    reach=Reach(low=(-END_M, -0.001, -0.001), high=(END_M, 0.001, 0.001), zone_low=(0, 0, 0), zone_high=(0, 0, 0)),
    mechanism=Mechanism(
        shoulder=(0.0, 0.0, 0.0),
        links=(RADIUS_M, 0.0),
        counts_per_turn=2.0**14,
        torque_limit=100.0,
        peak_force=5.0,
        kind=MechanismKind.HINGE,
    ),
    dynamics=Dynamics(mass=0.05, viscous=0.10, coulomb=0.02, gravity_mass=0.0),
)
