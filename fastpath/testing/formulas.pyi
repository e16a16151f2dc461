# Kinematics, plant and command fade of the loop as Python objects, for tests: the same inline functions that the tick calls.
# ValueError for a number that is not finite and for a mechanism or plant that cannot exist.

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias, final

Vector: TypeAlias = tuple[float, float, float]

# Where a mechanism's cursor is and what its motors do there; angles in radians, the device frame. Encoder counts per turn: 0 = ideal.
# serial: yaw-pitch-pitch arm, shoulder (m) and two links (m); five_bar: motor 1 (m), proximal and distal link (m), base (m) to motor 2.
# delta: a Falcon at its base (m), links are not looked at.
@final
class Mechanism:
    def __new__(
        cls,
        *,
        shoulder: Sequence[float],
        links: Sequence[float],
        counts_per_turn: float = 0,
        kind: Literal["serial", "five_bar", "delta", "hinge"] = "serial",
        base: float = 0,
    ) -> Mechanism: ...
    # Joint angles -> cursor (m).
    def forward(self, angles: Sequence[float]) -> Vector: ...
    # Cursor (m) -> joint angles; out of reach: the arm that points at it.
    def inverse(self, position: Sequence[float]) -> Vector: ...
    # Row by row dP/dangles (m/rad); zero where it is undefined.
    def jacobian(self, angles: Sequence[float]) -> tuple[Vector, Vector, Vector]: ...
    # J' f: cursor force (N) -> joint torques (N.m).
    def torque(self, angles: Sequence[float], force: Sequence[float]) -> Vector: ...
    # Joint torques (N.m) -> cursor force (N); zero at a singular pose.
    def force(self, angles: Sequence[float], torque: Sequence[float]) -> Vector: ...
    # Cursor velocity (m/s) -> joint velocities (rad/s); zero at a singular pose.
    def joint_velocity(self, angles: Sequence[float], velocity: Sequence[float]) -> Vector: ...
    # Angles as the encoders read them: down to a whole count.
    def quantise(self, angles: Sequence[float]) -> Vector: ...

# Two-mass hand: mass (kg), grip and arm stiffness (N/m) and damping (N.s/m), and the path that it intends.
class Hand(NamedTuple):
    mass: float
    grip_stiffness: float
    grip_damping: float
    arm_stiffness: float
    arm_damping: float
    path: Literal["circle", "rest", "hold"] = "hold"
    centre: Vector = (0.0, 0.0, 0.0)
    radius: float = 0.0
    period: float = 1.0

# One simulated device under a held force, with or without a hand; starts at rest at `position`, the hand with it.
# kg, N.s/m, N (Coulomb friction; weight along -z), N/m and N.s/m beyond the stops `low` and `high` (m).
@final
class Plant:
    def __new__(
        cls,
        *,
        mass: float,
        viscous: float = 0,
        coulomb: float = 0,
        weight: float = 0,
        stop_stiffness: float = 0,
        stop_damping: float = 0,
        low: Sequence[float] | None = None,
        high: Sequence[float] | None = None,
        position: Sequence[float] = (0.0, 0.0, 0.0),
        velocity: Sequence[float] = (0.0, 0.0, 0.0),
        hand: Hand | None = None,
    ) -> Plant: ...
    # Hold a force (N) for some seconds; in sub-steps of at most 1/32,000 s, or in as many as given.
    def advance(self, force: Sequence[float], seconds: float, substeps: int = 0) -> None: ...
    @property
    def position(self) -> Vector: ...
    @property
    def velocity(self) -> Vector: ...
    @property
    def hand_position(self) -> Vector: ...
    # N that the hand put on the device in the last sub-step.
    @property
    def hand_force(self) -> Vector: ...

# Share of a command that still counts at an age (ns) under a time-out (s): 1, then a ramp to 0 over 20 ms.
def hold_gain(age_ns: int, timeout: float) -> float: ...
