"""Python doors to the Falcon: its bytes for the thread that talks to it, its kinematics for the tests of the loop's own lines."""

from typing import NamedTuple

from fastpath cimport delta
from fastpath.link.falcon cimport (
    FALCON_FRAME, FALCON_HOMED, FALCON_MOST_COUNTS, FalconFrames, FalconReply, falcon_angle, falcon_count, falcon_counts,
    falcon_take, falcon_write,
)

HOMED = FALCON_HOMED
MOST_COUNTS = FALCON_MOST_COUNTS


class Reply(NamedTuple):
    """What a Falcon says: encoder counts, crank angles in degrees, homed bits, buttons of the grip."""

    counts: tuple[int, int, int]
    angles: tuple[float, float, float]
    homed: int
    buttons: int


def command(counts, lights=0) -> bytes:
    """16 bytes for three motor commands; ValueError unless each is within an int16."""
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
    """The replies in a stream of bytes, however it is cut."""

    cdef FalconFrames frames

    def take(self, bytes data not None) -> Reply | None:
        """The newest reply that these bytes end; None when they end none."""
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
    """The mechanism at its base (m, device frame). Angles in radians, in the order of the motors."""

    cdef double base[3]

    def __cinit__(self, base=(0.0, 0.0, 0.0)):
        self.base[0], self.base[1], self.base[2] = base

    def inverse(self, position) -> tuple[float, float, float] | None:
        """Cursor (m) -> crank angles; None out of reach."""
        cdef double p[3]
        cdef double angles[3]
        p[0], p[1], p[2] = position
        if not delta.delta_inverse(self.base, p, angles):
            return None
        return angles[0], angles[1], angles[2]

    def forward(self, angles, start=None) -> tuple[float, float, float] | None:
        """Crank angles -> cursor (m), searched from `start`, else from the middle; None when the legs do not close."""
        cdef double p[3]
        cdef double q[3]
        q[0], q[1], q[2] = angles
        if start is None:
            start = self.base[0], self.base[1] - delta.DELTA_MIDDLE, self.base[2]
        p[0], p[1], p[2] = start
        if not delta.delta_forward(self.base, q, p):
            return None
        return p[0], p[1], p[2]

    def jacobian(self, position) -> tuple[tuple[float, ...], ...] | None:
        """d(angle)/d(cursor), rad/m, a row for each crank; None at the edge of the reach."""
        cdef delta.DeltaPose pose
        cdef const double *rows = pose.rows
        if not self.place(position, &pose):
            return None
        return tuple(tuple(rows[3 * k + i] for i in range(3)) for k in range(3))

    def torque(self, position, force) -> tuple[float, float, float]:
        """Cursor force (N) -> crank torques (N.m); zero at a singular pose."""
        cdef delta.DeltaPose pose
        cdef double f[3]
        cdef double t[3]
        f[0], f[1], f[2] = force
        self.place(position, &pose)
        delta.delta_torque(&pose, f, t)
        return t[0], t[1], t[2]

    def force(self, position, torque) -> tuple[float, float, float]:
        """Crank torques (N.m) -> cursor force (N); zero at a singular pose."""
        cdef delta.DeltaPose pose
        cdef double f[3]
        cdef double t[3]
        t[0], t[1], t[2] = torque
        self.place(position, &pose)
        delta.delta_force(&pose, t, f)
        return f[0], f[1], f[2]

    cdef bint place(self, position, delta.DeltaPose *pose) except -1:
        """Fill the pose of a cursor (m); False out of reach."""
        cdef double p[3]
        cdef double angles[3]
        pose.determinant = 0
        p[0], p[1], p[2] = position
        return delta.delta_inverse(self.base, p, angles) and delta.delta_pose(self.base, angles, p, pose)
