"""Encode state and status of one device as JSON, in the application space of one view; `encoder.pyx` puts them into frames.

Every function writes at a cursor and returns the cursor behind its text; the caller has reserved the room. Numbers that
float32 cannot hold become `null` and add to `nulls`. Readings are rounded in the device frame, to less than any device
resolves: meaningless digits would make a full frame longer than 4,096 bytes.
"""

from libc.math cimport rint
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

from fastpath.layout.arena cimport DeviceState, Transform, View
from fastpath.layout.constants cimport (
    DOMAIN_ANGULAR, DOMAIN_CARTESIAN, FLAG_ATTACHED, FLAG_AWAKE, FLAG_CALIBRATED, FLAG_CONNECTED, FLAG_POWER_SUPPLY,
    FLAG_READY, FLAG_STARTED, FLAG_STOPPED, MODE_FORCE, MODE_POSITION, SAFETY_EBRAKE, SAFETY_GUARD, SAFETY_HARD,
    SAFETY_STALLED, ZONE_VELOCITY, ZONE_WALL,
)
from fastpath.layout.navigation cimport Navigated
from fastpath.space.spatial cimport (
    basis_rotation, force_to_application, position_to_application, rotation_to_application, transform_identity,
    velocity_to_application,
)

cdef extern from "text/number_text.h" namespace "hapticd" nogil:
    enum:
        NUMBER_BYTES
        INTEGER_BYTES
        ESCAPE_BYTES
    char *put(char *at, const char *literal)
    char *put_bytes(char *at, const char *text, size_t size)
    char *put_integer(char *at, int64_t value)
    char *put_unsigned(char *at, uint64_t value)
    char *put_number(char *at, double value, uint64_t *nulls)
    char *put_escaped(char *at, const char *text, size_t size)


cdef enum:
    PER_METRE = 1000000000  # to 1e-9 m, so that rounding causes no visible jump
    PER_METRE_S = 10000
    PER_DEGREE = 1000
    PER_DEGREE_SET = 10000  # set-points of clients
    PER_DEGREE_S = 10
    PER_NEWTON = 10000
    PER_NEWTON_MM = 10
    PER_QUATERNION = 100000
    PER_HALL = 10000
    PER_CHARGE = 1000
    PER_VOLT = 100


cdef struct FrameOptions:
    bint legacy
    bint explicit_fields
    bint complete_transforms
    bint safety


cdef inline double rounded(double value, double per_unit) noexcept nogil:
    """Round to whole steps of 1/per_unit, never -0."""
    return rint(value * per_unit) / per_unit + 0.0


cdef inline const double *rounded_vector(const double *v, double per_unit, double *out) noexcept nogil:
    """Round three numbers into `out`."""
    cdef int i
    for i in range(3):
        out[i] = rounded(v[i], per_unit)
    return out


cdef inline const double *rounded_quaternion(const double *q, double *out) noexcept nogil:
    """Round a quaternion into `out`."""
    out[0] = rounded(q[0], PER_QUATERNION)
    rounded_vector(q + 1, PER_QUATERNION, out + 1)
    return out


cdef inline char *put_three(char *at, const char *a, const char *b, const char *c, const double *v, uint64_t *nulls) noexcept nogil:
    """Write three numbers with their names; the caller closes the object."""
    at = put_number(put(at, a), v[0], nulls)
    at = put_number(put(at, b), v[1], nulls)
    return put_number(put(at, c), v[2], nulls)


cdef inline char *put_vector(char *at, const double *v, uint64_t *nulls) noexcept nogil:
    return put(put_three(at, b'{"x":', b',"y":', b',"z":', v, nulls), b"}")


cdef inline char *put_joints(char *at, const double *v, uint64_t *nulls) noexcept nogil:
    return put(put_three(at, b'{"a0":', b',"a1":', b',"a2":', v, nulls), b"}")


cdef inline char *put_quaternion(char *at, const double *q, uint64_t *nulls) noexcept nogil:
    at = put_number(put(at, b'{"w":'), q[0], nulls)
    return put(put_three(at, b',"x":', b',"y":', b',"z":', q + 1, nulls), b"}")


cdef inline char *put_orientation(char *at, double *q, uint64_t *nulls) noexcept nogil:
    """Choose, of the two quaternions of one rotation, the one with w >= 0."""
    cdef int i
    if q[0] < 0:
        for i in range(4):
            q[i] = 0 - q[i]
    return put_quaternion(at, q, nulls)


cdef inline bint all_are(const double *v, float value) noexcept nogil:
    """Return whether three numbers equal `value` as float32, as a client reads them."""
    return <float>v[0] == value and <float>v[1] == value and <float>v[2] == value


cdef inline char *put_transform(char *at, const Transform *m, bint complete, uint64_t *nulls) noexcept nogil:
    """Write position, rotation, scale; identity ones only when `complete`."""
    cdef char *start = at
    at = put(at, b"{")
    if complete or not all_are(m.t, 0):
        at = put(put_vector(put(at, b'"position":'), m.t, nulls), b",")
    if complete or not (<float>m.q[0] == 1 and all_are(m.q + 1, 0)):
        at = put(put_quaternion(put(at, b'"rotation":'), m.q, nulls), b",")
    if complete or not all_are(m.s, 1):
        at = put(put_vector(put(at, b'"scale":'), m.s, nulls), b",")
    if at - start > 1:
        at -= 1
    return put(at, b"}")


cdef inline char *put_flag(char *at, bint value) noexcept nogil:
    return put(at, b"true") if value else put(at, b"false")


cdef inline char *put_control(char *at, const DeviceState *s, const FrameOptions *options) noexcept nogil:
    """Write domain and mode; a v3.0 frame has the mode twice."""
    cdef const char *mode = b'"idle"'
    at = put(at, b',"control_domain":')
    if s.domain == DOMAIN_CARTESIAN:
        at = put(at, b'"cartesian"')
    elif s.domain == DOMAIN_ANGULAR:
        at = put(at, b'"angular"')
    else:
        at = put(at, b'"undefined"')
    if s.mode == MODE_FORCE:
        mode = b'"force"'
    elif s.mode == MODE_POSITION:
        mode = b'"position"'
    at = put(put(at, b',"control_mode":'), mode)
    return put(put(at, b',"mode":'), mode) if options.legacy else at


cdef inline void place(const View *view, const Navigated *n, const double *p, double *out) noexcept nogil:
    """Convert a position (m) from device frame to application space by the view, then by N."""
    cdef int i
    position_to_application(view, p, out)
    if n != NULL:
        for i in range(3):
            out[i] += n.offset[i]


cdef inline char *put_rate(char *at, const Navigated *n, bint explicit_fields, uint64_t *nulls) noexcept nogil:
    """Write the rate of N.W; parts at rest are omitted."""
    at = put(at, b',"transform_velocity":{')
    if n != NULL and not all_are(n.rate, 0):
        at = put_vector(put(at, b'"position":'), n.rate, nulls)
    elif explicit_fields:
        at = put(at, b'"position":{"x":0,"y":0,"z":0}')
    if explicit_fields:
        at = put(at, b',"rotation":{"x":0,"y":0,"z":0}')
    return put(at, b"}")


cdef inline char *put_navigation(char *at, const Navigated *n, double width, const FrameOptions *options, uint64_t *nulls) noexcept nogil:
    """Write the present bubble and N; `width` of the velocity zone, m."""
    cdef Transform travelled
    transform_identity(&travelled)
    memcpy(travelled.t, n.offset, sizeof(travelled.t))
    at = put_vector(put(at, b',"navigation":{"bubble":{"center":'), n.centre, nulls)
    at = put_number(put(at, b',"velocity_zone_width":'), width, nulls)
    at = put_number(put(at, b',"collision_extra_inflate":'), n.inflated, nulls)
    if n.zone == ZONE_WALL:
        at = put(at, b',"zone":"wall"}')
    elif n.zone == ZONE_VELOCITY:
        at = put(at, b',"zone":"velocity"}')
    else:
        at = put(at, b',"zone":"dead"}')
    return put(put_transform(put(at, b',"transform":'), &travelled, options.complete_transforms, nulls), b"}")


cdef inline char *put_arm(char *at, const DeviceState *s, const View *view, const Navigated *n, double width,
                          const FrameOptions *options, uint64_t *nulls) noexcept nogil:
    """Write the state of an arm or a compact; `n`: state of the session's navigation, NULL while it is off."""
    cdef double v[3]
    cdef double q[4]
    cdef double raw[4]
    place(view, n, rounded_vector(s.position, PER_METRE, raw), v)
    at = put_vector(put(at, b'"state":{"cursor_position":'), v, nulls)
    velocity_to_application(view, rounded_vector(s.velocity, PER_METRE_S, raw), v)
    at = put_vector(put(at, b',"cursor_velocity":'), v, nulls)
    at = put_joints(put(at, b',"angular_position":'), rounded_vector(s.joint, PER_DEGREE, raw), nulls)
    at = put_joints(put(at, b',"angular_velocity":'), rounded_vector(s.joint_velocity, PER_DEGREE_S, raw), nulls)
    rotation_to_application(view, rounded_quaternion(s.orientation, raw), q)
    at = put_orientation(put(at, b',"body_orientation":'), q, nulls)
    force_to_application(view, rounded_vector(s.force, PER_NEWTON, raw), v)
    at = put_vector(put(at, b',"current_cursor_force":'), v, nulls)
    if s.mode == MODE_POSITION and s.domain == DOMAIN_CARTESIAN:
        place(view, n, rounded_vector(s.target, PER_METRE, raw), v)
    else:
        memset(v, 0, sizeof(v))
    at = put_vector(put(at, b',"current_cursor_position":'), v, nulls)
    at = put_joints(put(at, b',"current_angular_torques":'), rounded_vector(s.torque, PER_NEWTON_MM, raw), nulls)
    memset(v, 0, sizeof(v))
    if s.mode == MODE_POSITION:
        rounded_vector(s.target_joint, PER_DEGREE_SET, v)
    at = put_joints(put(at, b',"current_angular_position":'), v, nulls)
    at = put_control(at, s, options)
    at = put_transform(put(at, b',"transform":'), &view.workspace, options.complete_transforms, nulls)
    at = put_rate(at, n, options.explicit_fields, nulls)
    if n != NULL:
        at = put_navigation(at, n, width, options, nulls)
    return put(at, b"}")


cdef inline char *put_safety(char *at, const DeviceState *s) noexcept nogil:
    """Write the state of the safety monitors, the oscillation filter (stage 8: free) and the stop latch."""
    at = put_flag(put(at, b',"safety":{"ebrake":'), s.safety & SAFETY_EBRAKE)
    at = put(at, b',"fod_stage":')
    if s.safety & SAFETY_HARD:
        at = put(at, b'"hard"')
    elif s.safety & SAFETY_GUARD:
        at = put(at, b'"guard"')
    else:
        at = put(at, b'"idle"')
    at = put_flag(put(at, b',"stalled":'), s.safety & SAFETY_STALLED)
    at = put_unsigned(put(at, b',"oscillation_stage":'), s.oscillation_stage)
    return put(put_flag(put(at, b',"stopped":'), s.flags & FLAG_STOPPED), b"}")


cdef inline char *put_arm_status(char *at, const DeviceState *s, bint ready, bint in_use, bint navigates, const FrameOptions *options) noexcept nogil:
    at = put_flag(put(at, b',"status":{"calibrated":'), s.flags & FLAG_CALIBRATED)
    at = put_flag(put(at, b',"in_use":'), in_use)
    at = put_flag(put(at, b',"power_supply":'), s.flags & FLAG_POWER_SUPPLY)
    at = put_flag(put(at, b',"ready":'), ready and s.flags & FLAG_READY)
    at = put_flag(put(at, b',"started":'), s.flags & FLAG_STARTED)
    if options.safety:
        at = put_safety(at, s)
    if navigates:
        at = put(at, b',"navigation":{"mode":"bubble"}')
    return put(at, b"}")


cdef inline char *put_grip(char *at, const DeviceState *s, const View *view, bint wireless, const FrameOptions *options, uint64_t *nulls) noexcept nogil:
    """Write the state of a grip or a pen, in the session's basis only."""
    cdef double q[4]
    cdef double raw[4]
    basis_rotation(&view.basis, rounded_quaternion(s.orientation, raw), q)
    at = put_orientation(put(at, b'"state":{"orientation":'), q, nulls)
    at = put_number(put(at, b',"hall":'), rounded(s.hall, PER_HALL), nulls)
    at = put_flag(put(at, b',"button":'), (s.buttons & 7) != 0)
    at = put_flag(put(at, b',"buttons":{"a":'), s.buttons & 1)
    at = put_flag(put(at, b',"b":'), s.buttons & 2)
    at = put_flag(put(at, b',"c":'), s.buttons & 4)
    at = put(at, b"}")
    if wireless:
        at = put_number(put(at, b',"battery_level":'), rounded(s.battery_level, PER_CHARGE), nulls)
        at = put_number(put(at, b',"battery_voltage":'), rounded(s.battery_voltage, PER_VOLT), nulls)
    at = put_transform(put(at, b',"transform":'), &view.workspace, options.complete_transforms, nulls)
    return put(at, b"}")


cdef inline char *put_grip_status(char *at, const DeviceState *s, bint ready) noexcept nogil:
    at = put_flag(put(at, b',"status":{"ready":'), ready and s.flags & FLAG_READY)
    at = put_flag(put(at, b',"error":0,"connected":'), s.flags & FLAG_CONNECTED)
    at = put_flag(put(at, b',"awake":'), s.flags & FLAG_AWAKE)
    at = put_flag(put(at, b',"attached":'), s.flags & FLAG_ATTACHED)
    return put(at, b"}")


cdef inline char *put_status(
    char *at, const DeviceState *s, bint motors, bint ready, bint in_use, bint navigates, const FrameOptions *options
) noexcept nogil:
    """Write the status; `ready` is true once both service and loop accept commands."""
    return put_arm_status(at, s, ready, in_use, navigates, options) if motors else put_grip_status(at, s, ready)
