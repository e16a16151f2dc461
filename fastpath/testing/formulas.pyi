# Kinematics, plant and command fade for tests, as Python objects: the same inline functions that the tick calls.
# ValueError for a number that is not finite and for impossible parameters of a mechanism or plant.

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias, final

Vector: TypeAlias = tuple[float, float, float]

# Kinematics of one mechanism; angles in radians, device frame. Encoder counts per turn: 0 = ideal.
# serial: yaw-pitch-pitch arm, shoulder (m) and two links (m); five_bar: motor 1 (m), proximal and distal link (m), base (m) to motor 2.
# delta: a Falcon at its base (m), links are ignored.
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
    # Cursor (m) -> joint angles; out of reach: the arm that points at the cursor.
    def inverse(self, position: Sequence[float]) -> Vector: ...
    # The Jacobian dP/dangles row by row (m/rad); zero where it is undefined.
    def jacobian(self, angles: Sequence[float]) -> tuple[Vector, Vector, Vector]: ...
    # J' f: cursor force (N) -> joint torques (N.m).
    def torque(self, angles: Sequence[float], force: Sequence[float]) -> Vector: ...
    # Joint torques (N.m) -> cursor force (N); zero at a singular pose.
    def force(self, angles: Sequence[float], torque: Sequence[float]) -> Vector: ...
    # Cursor velocity (m/s) -> joint velocities (rad/s); zero at a singular pose.
    def joint_velocity(self, angles: Sequence[float], velocity: Sequence[float]) -> Vector: ...
    # Quantise angles as the encoders read them: down to a whole count.
    def quantise(self, angles: Sequence[float]) -> Vector: ...

# Two-mass hand: mass (kg), grip and arm stiffness (N/m) and damping (N.s/m), and its intended path.
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

# Simulated device under a held force, with or without a hand; both start at rest at `position`.
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
    # Hold a force (N) for some seconds, in the given number of sub-steps or in steps of at most 1/32,000 s.
    def advance(self, force: Sequence[float], seconds: float, substeps: int = 0) -> None: ...
    @property
    def position(self) -> Vector: ...
    @property
    def velocity(self) -> Vector: ...
    @property
    def hand_position(self) -> Vector: ...
    # Force of the hand on the device in the last sub-step, N.
    @property
    def hand_force(self) -> Vector: ...

# Fraction of a command that is still applied at an age (ns), with a time-out (s): 1, then a ramp to 0 over 20 ms.
def hold_gain(age_ns: int, timeout: float) -> float: ...

# N·s that are taken and added when a force (N) changes for some seconds.
def force_change(before: Vector, after: Vector, seconds: float) -> tuple[float, float]: ...
