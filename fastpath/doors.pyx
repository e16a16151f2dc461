"""Python doors to the inline formulas of spaces, kinematics, plant and arbiter: HTTP and tests use the loop's own lines.

Vectors are three floats, quaternions four (w x y z); a basis is (axes, signs), a transform (position, rotation, scale), as
Writer takes them. Whatever is no finite number, basis or transform: ValueError.
"""

from collections.abc import Sequence
from typing import NamedTuple

from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int64_t
from libc.string cimport memset

from fastpath cimport arbiter, kinematics, layout, plant, spatial
from fastpath.checked cimport fill_basis, fill_transform
from fastpath.layout cimport MECHANISM_DELTA, MECHANISM_FIVE_BAR, MECHANISM_SERIAL, MechanismParams, View
from fastpath.pose cimport Pose, cursor_force, joint_torque, joint_velocity
from fastpath.simulation_layout cimport HAND_CIRCLE, HAND_HOLD, HAND_REST, HandParams, PlantParams, SimDevice

cdef enum:
    PATH_RATE = 1000

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Basis = tuple[Sequence[int], Sequence[int]]
Transform = tuple[Sequence[float], Sequence[float], Sequence[float]]

_MECHANISMS = {"serial": MECHANISM_SERIAL, "five_bar": MECHANISM_FIVE_BAR, "delta": MECHANISM_DELTA}
_HAND_PATHS = {"circle": HAND_CIRCLE, "rest": HAND_REST, "hold": HAND_HOLD}


# ---------------------------------------------------------------- spaces

def basis_apply(basis, v) -> tuple[float, float, float]:
    """v' = B v: positions, velocities, forces."""
    cdef layout.Basis b
    cdef double u[3]
    take_basis(&b, basis)
    fill_vector(u, v, 3)
    spatial.basis_apply(&b, u, u)
    return u[0], u[1], u[2]


def basis_undo(basis, v) -> tuple[float, float, float]:
    """v = B' v'."""
    cdef layout.Basis b
    cdef double u[3]
    take_basis(&b, basis)
    fill_vector(u, v, 3)
    spatial.basis_undo(&b, u, u)
    return u[0], u[1], u[2]


def basis_rotation(basis, q) -> tuple[float, float, float, float]:
    """Quaternion of B R(q) B'."""
    cdef layout.Basis b
    cdef double u[4]
    take_basis(&b, basis)
    fill_vector(u, q, 4)
    spatial.basis_rotation(&b, u, u)
    return u[0], u[1], u[2], u[3]


def basis_axial(basis, v) -> tuple[float, float, float]:
    """w' = det(B) B w: angular velocities, torques about axes of space."""
    cdef layout.Basis b
    cdef double u[3]
    take_basis(&b, basis)
    fill_vector(u, v, 3)
    spatial.basis_axial(&b, u, u)
    return u[0], u[1], u[2]


def transform_point(transform, p) -> tuple[float, float, float]:
    """t + R (s * p)."""
    cdef layout.Transform m
    cdef double u[3]
    take_transform(&m, transform)
    fill_vector(u, p, 3)
    spatial.transform_point(&m, u, u)
    return u[0], u[1], u[2]


def transform_point_back(transform, p) -> tuple[float, float, float]:
    """(R' (p - t)) / s."""
    cdef layout.Transform m
    cdef double u[3]
    take_transform(&m, transform)
    fill_vector(u, p, 3)
    spatial.transform_point_back(&m, u, u)
    return u[0], u[1], u[2]


cdef class Space:
    """What lies between a device and an application: basis, mount and workspace, both ways."""

    cdef View view

    def __cinit__(self, *, basis=None, mount=None, workspace=None):
        spatial.view_identity(&self.view)
        if basis is not None:
            take_basis(&self.view.basis, basis)
        if mount is not None:
            take_transform(&self.view.mount, mount)
        if workspace is not None:
            take_transform(&self.view.workspace, workspace)

    def position_to_application(self, p) -> tuple[float, float, float]:
        """m, device frame -> m, application space."""
        cdef double u[3]
        fill_vector(u, p, 3)
        spatial.position_to_application(&self.view, u, u)
        return u[0], u[1], u[2]

    def position_to_device(self, p) -> tuple[float, float, float]:
        """m, application space -> m, device frame."""
        cdef double u[3]
        fill_vector(u, p, 3)
        spatial.position_to_device(&self.view, u, u)
        return u[0], u[1], u[2]

    def velocity_to_application(self, v) -> tuple[float, float, float]:
        """m/s, device frame -> m/s, application space; scale included."""
        cdef double u[3]
        fill_vector(u, v, 3)
        spatial.velocity_to_application(&self.view, u, u)
        return u[0], u[1], u[2]

    def velocity_to_device(self, v) -> tuple[float, float, float]:
        """m/s, application space -> m/s, device frame; scale taken out."""
        cdef double u[3]
        fill_vector(u, v, 3)
        spatial.velocity_to_device(&self.view, u, u)
        return u[0], u[1], u[2]

    def force_to_application(self, f) -> tuple[float, float, float]:
        """N, device frame -> N, application space: rotated, never scaled."""
        cdef double u[3]
        fill_vector(u, f, 3)
        spatial.force_to_application(&self.view, u, u)
        return u[0], u[1], u[2]

    def force_to_device(self, f) -> tuple[float, float, float]:
        """N, application space -> N, device frame: rotated, never scaled."""
        cdef double u[3]
        fill_vector(u, f, 3)
        spatial.force_to_device(&self.view, u, u)
        return u[0], u[1], u[2]

    def rotation_to_application(self, q) -> tuple[float, float, float, float]:
        """Orientation, device frame -> application space."""
        cdef double u[4]
        fill_vector(u, q, 4)
        spatial.rotation_to_application(&self.view, u, u)
        return u[0], u[1], u[2], u[3]

    def rotation_to_device(self, q) -> tuple[float, float, float, float]:
        """Orientation, application space -> device frame."""
        cdef double u[4]
        fill_vector(u, q, 4)
        spatial.rotation_to_device(&self.view, u, u)
        return u[0], u[1], u[2], u[3]


# ---------------------------------------------------------------- kinematics

cdef class Mechanism:
    """Where a mechanism's cursor is and what its motors do there; angles in radians, the device frame.

    `serial`: yaw-pitch-pitch arm, shoulder (m) and two links (m). `five_bar`: motor 1 (m), proximal and distal link (m), `base`
    the way (m) to motor 2. `delta`: a Falcon, its base (m), links are not looked at. Encoder counts per turn: 0 = ideal.
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
        """Cursor (m) -> joint angles; out of reach: the arm that points at it."""
        cdef double a[3]
        cdef double p[3]
        fill_vector(p, position, 3)
        kinematics.inverse(&self.params, p, a)
        return a[0], a[1], a[2]

    def jacobian(self, angles) -> tuple[Vector, Vector, Vector]:
        """Row by row dP/dangles (m/rad); zero where it is undefined."""
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
        """Angles as the encoders read them: down to a whole count."""
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
    """Two-mass hand: mass (kg), grip and arm stiffness (N/m) and damping (N.s/m), and the path that it intends."""

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
    """One simulated device under a held force, with or without a hand; starts at rest at `position`, the hand with it."""

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
        """Hold a force (N) for some seconds; in sub-steps of at most 1/32,000 s, or in as many as given."""
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
        """Cursor, m."""
        return self.sim.plant.x[0], self.sim.plant.x[1], self.sim.plant.x[2]

    @property
    def velocity(self) -> tuple[float, float, float]:
        """Cursor, m/s."""
        return self.sim.plant.v[0], self.sim.plant.v[1], self.sim.plant.v[2]

    @property
    def hand_position(self) -> tuple[float, float, float]:
        """The hand's mass, m."""
        return self.sim.plant.hand_x[0], self.sim.plant.hand_x[1], self.sim.plant.hand_x[2]

    @property
    def hand_force(self) -> tuple[float, float, float]:
        """N that the hand put on the device in the last sub-step."""
        return self.sim.plant.hand_force[0], self.sim.plant.hand_force[1], self.sim.plant.hand_force[2]


# ---------------------------------------------------------------- arbiter

def hold_gain(int64_t age_ns, double timeout) -> float:
    """Share of a command that still counts at an age (ns) under a time-out (s)."""
    return arbiter.hold_gain(age_ns, timeout)


cdef int take_basis(layout.Basis *b, basis) except -1:
    axes, signs = basis
    return fill_basis(b, axes, signs)


cdef int take_transform(layout.Transform *m, transform) except -1:
    position, rotation, scale = transform
    return fill_transform(m, position, rotation, scale)


cdef int fill_vector(double *out, values, int count) except -1:
    """Copy numbers in; ValueError unless there are `count`, all finite."""
    cdef int i
    if len(values) != count:
        raise ValueError(f"{count} numbers are needed here, not {len(values)}")
    for i in range(count):
        out[i] = values[i]
        if not isfinite(out[i]):
            raise ValueError("numbers must be finite")
    return 0
