"""Kinematics, plant and command fade for tests, as Python objects: the same inline functions that the tick calls.

Vectors are three floats. ValueError for a number that is not finite and for impossible parameters of a mechanism or plant.
"""

from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int64_t
from libc.string cimport memset
from typing import NamedTuple

from fastpath.layout.arena cimport MechanismParams
from fastpath.layout.constants cimport (
    HAND_CIRCLE, HAND_HOLD, HAND_REST, MECHANISM_DELTA, MECHANISM_FIVE_BAR, MECHANISM_HINGE,
    MECHANISM_SERIAL,
)
from fastpath.layout.force cimport BY_FILTER, ForceChanges
from fastpath.layout.simulation cimport HandParams, PlantParams, SimDevice
cimport fastpath.mechanisms.kinematics as kinematics
from fastpath.mechanisms.pose cimport Pose, cursor_force, joint_torque, joint_velocity
cimport fastpath.plant.plant as plant
from fastpath.space.validation cimport fill_vector
cimport fastpath.tick.arbiter as arbiter
from fastpath.tick.force_changes cimport note_change

cdef enum:
    PATH_RATE = 1000

Vector = tuple[float, float, float]

_MECHANISMS = {"serial": MECHANISM_SERIAL, "five_bar": MECHANISM_FIVE_BAR, "delta": MECHANISM_DELTA, "hinge": MECHANISM_HINGE}
_HAND_PATHS = {"circle": HAND_CIRCLE, "rest": HAND_REST, "hold": HAND_HOLD}


# ---------------------------------------------------------------- kinematics

cdef class Mechanism:
    """Kinematics of one mechanism; angles in radians, device frame.

    `serial`: yaw-pitch-pitch arm, shoulder (m) and two links (m). `five_bar`: motor 1 (m), proximal and distal link (m), `base`
    distance (m) to motor 2. `delta`: a Falcon, its base (m), links are ignored. Encoder counts per turn: 0 = ideal.
    """

    cdef MechanismParams params

    def __cinit__(self, *, shoulder, links, double counts_per_turn=0, str kind="serial", double base=0):
        fill_vector(self.params.shoulder, shoulder, 3)
        fill_vector(self.params.link, links, 2)
        if not (self.params.link[0] > 0 and self.params.link[1] > 0):
            raise ValueError("both links need a length above 0 m")
        if kind not in _MECHANISMS or not isfinite(base):
            raise ValueError(f"a mechanism is one of {', '.join(_MECHANISMS)}, and its base a number")
        self.params.kind = _MECHANISMS[kind]
        self.params.base = base
        self.params.counts_per_turn = counts_per_turn

    def forward(self, angles) -> tuple[float, float, float]:
        """Joint angles -> cursor (m)."""
        cdef Pose pose
        self._take(angles, &pose)
        return pose.position[0], pose.position[1], pose.position[2]

    def inverse(self, position) -> tuple[float, float, float]:
        """Cursor (m) -> joint angles; out of reach: the arm that points at the cursor."""
        cdef double a[3]
        cdef double p[3]
        fill_vector(p, position, 3)
        kinematics.inverse(&self.params, p, a)
        return a[0], a[1], a[2]

    def jacobian(self, angles) -> tuple[Vector, Vector, Vector]:
        """Return the Jacobian dP/dangles row by row (m/rad); zero where it is undefined."""
        cdef Pose pose
        self._take(angles, &pose)
        j = pose.jacobian
        return (j[0], j[1], j[2]), (j[3], j[4], j[5]), (j[6], j[7], j[8])

    def torque(self, angles, force) -> tuple[float, float, float]:
        """J' f: cursor force (N) -> joint torques (N.m)."""
        cdef Pose pose
        cdef double u[3]
        fill_vector(u, force, 3)
        self._take(angles, &pose)
        joint_torque(&pose, u, u)
        return u[0], u[1], u[2]

    def force(self, angles, torque) -> tuple[float, float, float]:
        """Joint torques (N.m) -> cursor force (N); zero at a singular pose."""
        cdef Pose pose
        cdef double u[3]
        fill_vector(u, torque, 3)
        self._take(angles, &pose)
        cursor_force(&pose, u, u)
        return u[0], u[1], u[2]

    def joint_velocity(self, angles, velocity) -> tuple[float, float, float]:
        """Cursor velocity (m/s) -> joint velocities (rad/s); zero at a singular pose."""
        cdef Pose pose
        cdef double u[3]
        fill_vector(u, velocity, 3)
        self._take(angles, &pose)
        joint_velocity(&pose, u, u)
        return u[0], u[1], u[2]

    def quantise(self, angles) -> tuple[float, float, float]:
        """Quantise angles as the encoders read them: down to a whole count."""
        cdef double a[3]
        fill_vector(a, angles, 3)
        kinematics.quantise(self.params.counts_per_turn, a)
        return a[0], a[1], a[2]

    cdef int _take(self, angles, Pose *pose) except -1:
        cdef double a[3]
        fill_vector(a, angles, 3)
        kinematics.take_pose(&self.params, a, pose)
        return 0


# ---------------------------------------------------------------- plant

class Hand(NamedTuple):
    """Two-mass hand: mass (kg), grip and arm stiffness (N/m) and damping (N.s/m), and its intended path."""

    mass: float
    grip_stiffness: float
    grip_damping: float
    arm_stiffness: float
    arm_damping: float
    path: str = "hold"
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    radius: float = 0.0
    period: float = 1.0


cdef class Plant:
    """Simulated device under a held force, with or without a hand; both start at rest at `position`."""

    cdef SimDevice sim
    cdef PlantParams params
    cdef HandParams hand
    cdef double weight

    def __cinit__(
        self, *, double mass, double viscous=0, double coulomb=0, double weight=0, double stop_stiffness=0,
        double stop_damping=0, low=None, high=None, position=(0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0), hand=None,
    ):
        cdef int i
        if not (mass > 0 and viscous >= 0 and coulomb >= 0):
            raise ValueError("a plant needs a mass above 0 kg and no negative friction")
        memset(&self.sim, 0, sizeof(self.sim))
        memset(&self.hand, 0, sizeof(self.hand))
        self.params.mass = mass
        self.params.viscous = viscous
        self.params.coulomb = coulomb
        self.params.gravity_mass = 0
        self.params.stop_stiffness = stop_stiffness
        self.params.stop_damping = stop_damping
        self.weight = weight
        for i in range(3):
            self.params.low[i] = -INFINITY
            self.params.high[i] = INFINITY
        if low is not None:
            fill_vector(self.params.low, low, 3)
        if high is not None:
            fill_vector(self.params.high, high, 3)
        fill_vector(self.sim.plant.x, position, 3)
        fill_vector(self.sim.plant.v, velocity, 3)
        if hand is not None:
            self.fill_hand(hand)
        for i in range(3):
            self.sim.hold[i] = self.sim.plant.x[i]
            self.sim.plant.hand_x[i] = self.sim.plant.x[i]

    cdef int fill_hand(self, hand) except -1:
        if hand.path not in _HAND_PATHS:
            raise ValueError(f'a hand follows "circle", "rest" or "hold", not "{hand.path}"')
        if not (hand.mass > 0 and hand.period > 0):
            raise ValueError("a hand needs a mass above 0 kg and a period above 0 s")
        self.hand.mass = hand.mass
        self.hand.grip_stiffness = hand.grip_stiffness
        self.hand.grip_damping = hand.grip_damping
        self.hand.arm_stiffness = hand.arm_stiffness
        self.hand.arm_damping = hand.arm_damping
        self.hand.radius = hand.radius
        self.hand.period = hand.period
        self.hand.path = _HAND_PATHS[hand.path]
        fill_vector(self.hand.centre, hand.centre, 3)
        return 0

    def advance(self, force, double seconds, int substeps=0) -> None:
        """Hold a force (N) for some seconds, in the given number of sub-steps or in steps of at most 1/32,000 s."""
        cdef double f[3]
        cdef double want[3]
        cdef double want_v[3]
        cdef int pieces, _k
        fill_vector(f, force, 3)
        if not (seconds > 0 and isfinite(seconds)) or substeps < 0:
            raise ValueError("a plant advances by more than 0 s, in 1 sub-step or more")
        if substeps == 0:
            pieces = <int>(seconds * PATH_RATE + 0.999999)
            for _k in range(pieces):
                plant.plant_advance(&self.sim, &self.params, &self.hand, f, self.weight, seconds / pieces)
            return
        plant.hand_target(&self.hand, self.sim.hold, self.sim.phase_time, want, want_v)
        plant.plant_substeps(
            &self.sim.plant, &self.params, &self.hand, want, want_v, f, self.weight, seconds / substeps, substeps)
        self.sim.phase_time += seconds

    @property
    def position(self) -> tuple[float, float, float]:
        """Position of the cursor, m."""
        return self.sim.plant.x[0], self.sim.plant.x[1], self.sim.plant.x[2]

    @property
    def velocity(self) -> tuple[float, float, float]:
        """Velocity of the cursor, m/s."""
        return self.sim.plant.v[0], self.sim.plant.v[1], self.sim.plant.v[2]

    @property
    def hand_position(self) -> tuple[float, float, float]:
        """Position of the hand's mass, m."""
        return self.sim.plant.hand_x[0], self.sim.plant.hand_x[1], self.sim.plant.hand_x[2]

    @property
    def hand_force(self) -> tuple[float, float, float]:
        """Force of the hand on the device in the last sub-step, N."""
        return self.sim.plant.hand_force[0], self.sim.plant.hand_force[1], self.sim.plant.hand_force[2]


# ---------------------------------------------------------------- arbiter

def hold_gain(int64_t age_ns, double timeout) -> float:
    """Return the fraction of a command that is still applied at an age (ns), with a time-out (s)."""
    return arbiter.hold_gain(age_ns, timeout)


def force_change(before, after, double seconds) -> tuple[float, float]:
    """Return N.s that are taken and added when a force (N) is changed for so many seconds."""
    cdef ForceChanges changes
    cdef double was[3]
    cdef double became[3]
    fill_vector(was, before, 3)
    fill_vector(became, after, 3)
    memset(&changes, 0, sizeof(changes))
    note_change(&changes, BY_FILTER, was, became, seconds)
    return changes.taken[BY_FILTER], changes.added[BY_FILTER]
