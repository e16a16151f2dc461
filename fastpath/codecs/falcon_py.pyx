"""Novint Falcon codec for Python: the driver encodes and decodes with it; its kinematics, for tests."""

from typing import NamedTuple

from fastpath.codecs.falcon cimport (
    FALCON_BLUE, FALCON_FRAME, FALCON_GREEN, FALCON_HOMED, FALCON_HOMING, FALCON_MOST_COUNTS, FALCON_RED, FalconFrames, FalconReply,
    falcon_angle, falcon_count, falcon_counts, falcon_take, falcon_write,
)
from fastpath.layout.arena cimport MechanismParams
from fastpath.mechanisms.delta_robot cimport delta_inverse, delta_pose, delta_search
from fastpath.mechanisms.pose cimport Pose, cursor_force, pose_clear

HOMED = FALCON_HOMED
# bits of the lights
HOMING = FALCON_HOMING
GREEN = FALCON_GREEN
BLUE = FALCON_BLUE
RED = FALCON_RED
MOST_COUNTS = FALCON_MOST_COUNTS


class Reply(NamedTuple):
    """Decoded reply: encoder counts, crank angles in degrees, homed bits, buttons of the grip."""

    counts: tuple[int, int, int]
    angles: tuple[float, float, float]
    homed: int
    buttons: int


def command(counts, lights=0) -> bytes:
    """Return the 16 bytes of three motor commands; ValueError unless each fits an int16."""
    cdef unsigned char frame[FALCON_FRAME]
    cdef int words[3]
    words[0], words[1], words[2] = counts
    if any(not -0x8000 <= word < 0x8000 for word in counts) or not 0 <= lights < 16:
        raise ValueError("a command is three int16 and four bits of lights")
    falcon_write(words, lights, frame)
    return frame[:FALCON_FRAME]


def motor_counts(torque, double counts_per_nm) -> tuple[int, int, int]:
    """Crank torques (N.mm) -> commands within +-4096 of the same direction."""
    cdef double wanted[3]
    cdef int words[3]
    wanted[0], wanted[1], wanted[2] = torque
    falcon_counts(wanted, counts_per_nm, words)
    return words[0], words[1], words[2]


def angle(int count) -> float:
    """Encoder count -> crank angle, degrees."""
    return falcon_angle(count)


def count(double degrees) -> float:
    """Crank angle, degrees -> encoder count."""
    return falcon_count(degrees)


cdef class Replies:
    """Decoder of replies in a stream of bytes, in pieces of any size."""

    cdef FalconFrames frames

    def take(self, bytes data not None) -> Reply | None:
        """Return the newest reply that these bytes complete, or None."""
        cdef const unsigned char *given = data
        cdef FalconReply reply
        reply.counts[0] = 0; reply.counts[1] = 0; reply.counts[2] = 0; reply.homed = 0; reply.buttons = 0
        if falcon_take(&self.frames, given, len(data), &reply) == 0:
            return None
        return Reply(
            (reply.counts[0], reply.counts[1], reply.counts[2]),
            (falcon_angle(reply.counts[0]), falcon_angle(reply.counts[1]), falcon_angle(reply.counts[2])),
            reply.homed,
            reply.buttons,
        )

    @property
    def whole(self) -> int:
        return self.frames.whole

    @property
    def bad(self) -> int:
        return self.frames.bad


cdef class Delta:
    """Kinematics of the Falcon's delta mechanism at `base` (m, device frame). Angles in radians, in the order of the motors."""

    cdef MechanismParams mechanism

    def __cinit__(self, base=(0.0, 0.0, 0.0)):
        self.mechanism.shoulder[0], self.mechanism.shoulder[1], self.mechanism.shoulder[2] = base

    def inverse(self, position) -> tuple[float, float, float] | None:
        """Cursor (m) -> crank angles; None out of reach."""
        cdef double p[3]
        cdef double angles[3]
        p[0], p[1], p[2] = position
        if not delta_inverse(&self.mechanism, p, angles):
            return None
        return angles[0], angles[1], angles[2]

    def forward(self, angles) -> tuple[float, float, float] | None:
        """Crank angles -> cursor (m); None when the legs do not close."""
        cdef Pose pose
        cdef double own[3]
        cdef double q[3]
        q[0], q[1], q[2] = angles
        if not delta_search(q, own):
            return None
        delta_pose(&self.mechanism, q, &pose)
        return pose.position[0], pose.position[1], pose.position[2]

    def cranks(self, position) -> tuple[tuple[float, ...], ...] | None:
        """d(angle)/d(cursor), rad/m, a row for each crank; None at the edge of the reach and outside."""
        cdef Pose pose
        cdef const double *rows = pose.inverse
        if not self.place(position, &pose):
            return None
        return tuple([tuple([rows[3 * k + i] for i in range(3)]) for k in range(3)])

    def force(self, position, torque) -> tuple[float, float, float]:
        """Crank torques (N.m) -> cursor force (N); zero at the edge of the reach and outside."""
        cdef Pose pose
        cdef double v[3]
        v[0], v[1], v[2] = torque
        self.place(position, &pose)
        cursor_force(&pose, v, v)
        return v[0], v[1], v[2]

    cdef bint place(self, position, Pose *pose) except -1:
        """Fill the pose of a cursor (m); False out of reach."""
        cdef double p[3]
        cdef double angles[3]
        pose_clear(pose, 3)
        p[0], p[1], p[2] = position
        return delta_inverse(&self.mechanism, p, angles) and delta_pose(&self.mechanism, angles, pose)
