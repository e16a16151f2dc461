"""The structs of `arena.pxd` that cross to Python, as numpy dtypes; `runtime.pyx` refuses to load when the two differ."""

from __future__ import annotations

import numpy as np

# Bit of DEVICE_STATE's `flags`: the state shows a reading of this lease's device. Without it its numbers say nothing.
MEASURED = 128

_VEC = ("f8", (3,))

HAND_PARAMS = np.dtype(
    [
        ("mass", "f8"),
        ("grip_stiffness", "f8"),
        ("grip_damping", "f8"),
        ("arm_stiffness", "f8"),
        ("arm_damping", "f8"),
        ("centre", *_VEC),
        ("radius", "f8"),
        ("period", "f8"),
        ("path", "i8"),
    ],
    align=True,
)
PLANT_PARAMS = np.dtype(
    [
        ("mass", "f8"),
        ("viscous", "f8"),
        ("coulomb", "f8"),
        ("gravity_mass", "f8"),
        ("stop_stiffness", "f8"),
        ("stop_damping", "f8"),
        ("low", *_VEC),
        ("high", *_VEC),
    ],
    align=True,
)
MECHANISM_PARAMS = np.dtype(
    [("shoulder", *_VEC), ("link", "f8", (2,)), ("base", "f8"), ("counts_per_turn", "f8"), ("kind", "u8")], align=True
)
SIMULATION_PARAMS = np.dtype(
    [
        ("external", *_VEC),
        ("push", *_VEC),
        ("lock_stiffness", "f8"),
        ("orientation", "f8", (4,)),
        ("push_revision", "u8"),
        ("battery_revision", "u8"),
        ("frozen", "u8"),
    ],
    align=True,
)
THERMAL_PARAMS = np.dtype(
    [("rise", "f8"), ("ratio", "f8"), ("winding", "f8"), ("housing", "f8"), ("ambient", "f8")], align=True
)
OSCILLATION_PARAMS = np.dtype(
    [
        ("power_on", "f8"),
        ("power_off", "f8"),
        ("tremor_factor", "f8"),
        ("tremor_period", "f8"),
        ("shortest", "f8"),
        ("longest", "f8"),
        ("forget", "f8"),
        ("crossing", "f8"),
        ("sustained", "f8"),
        ("votes", "i8"),
        ("relapse_votes", "i8"),
        ("floor_gain", "f8"),
        ("attack", "f8"),
        ("release", "f8"),
        ("window", "f8"),
        ("window_step", "f8"),
        ("relapse_window", "f8"),
        ("contact", "f8"),
        ("contact_end", "f8"),
        ("enabled", "u8"),
    ],
    align=True,
)
DEVICE_PARAMS = np.dtype(
    [
        ("kind", "u4"),
        ("flags", "u4"),
        ("accepts_commands", "u4"),
        ("torque_scaling", "u4"),
        ("plant_revision", "u8"),
        ("seed", "u8"),
        ("peak_force", "f8"),
        ("torque_limit", "f8"),
        ("gravity_scale", "f8"),
        ("force_scale", "f8"),
        ("left_handed", "u4"),
        ("home_return", "u4"),
        ("home", *_VEC),
        ("mechanism", MECHANISM_PARAMS),
        ("plant", PLANT_PARAMS),
        ("hand", HAND_PARAMS),
        ("buttons", "u4"),
        ("grip_slot", "i4"),
        ("battery_start", "f8"),
        ("battery_life", "f8"),
        ("encoder_step", "f8"),
        ("zone_low", *_VEC),
        ("zone_high", *_VEC),
        ("safe_speed", "f8"),
        ("grip_timeout", "f8"),
        ("slew", "f8"),
        ("slow_slew", "f8"),
        ("thermal", THERMAL_PARAMS),
        ("simulation", SIMULATION_PARAMS),
        ("source", "u8"),
        ("silence", "f8"),
    ],
    align=True,
)
DEVICE_STATE = np.dtype(
    [
        ("tick", "u8"),
        ("time_ns", "i8"),
        ("generation", "u4"),
        ("flags", "u4"),
        ("domain", "u4"),
        ("mode", "u4"),
        ("live", "u8", (4,)),
        ("position", *_VEC),
        ("velocity", *_VEC),
        ("joint", *_VEC),
        ("joint_velocity", *_VEC),
        ("orientation", "f8", (4,)),
        ("force", *_VEC),
        ("torque", *_VEC),
        ("target", *_VEC),
        ("target_joint", *_VEC),
        ("hand_force", *_VEC),
        ("hall", "f8"),
        ("battery_level", "f8"),
        ("battery_voltage", "f8"),
        ("still", "f8"),
        ("buttons", "u8"),
        ("clamped", "u8"),
        ("saturated", "u8"),
        ("faded", "u8"),
        ("safety", "u4"),
        ("oscillation_stage", "u4"),
        ("severity", "f8"),
        ("external", "f8"),
        ("temperature", "f8"),
        ("derating", "f8"),
        ("oscillations", "u8"),
        ("ceilings", "u8"),
        ("ebrakes", "u8"),
        ("ebrake_releases", "u8"),
        ("guards", "u8"),
        ("stalls", "u8"),
        ("deratings", "u8"),
        ("grip_drops", "u8"),
        ("port_bits", "u8"),
        ("port_faults", "u8"),
        ("samples", "u8"),
        ("silences", "u8"),
    ],
    align=True,
)
LOOP_STATE = np.dtype(
    [
        ("ticks", "u8"),
        ("missed", "u8"),
        ("started_ns", "i8"),
        ("tick_ns", "i8"),
        ("frequency", "f8"),
        ("target_frequency", "f8"),
        ("margin", "f8"),
        ("running", "u8"),
        ("fifo", "u8"),
        ("pinned", "u8"),
        ("locked", "u8"),
        ("dead_man_trips", "u8"),
        ("gaps", "u8"),
        ("lateness_sum", "f8"),
        ("lateness_max", "f8"),
        ("lateness", "u8", (24,)),
        ("step_samples", "u8"),
        ("step_seconds", "f8", (8,)),
        ("tick_seconds", "f8"),
    ],
    align=True,
)
