"""Structs of navigation: a shape as a signed distance, a session's bubble, and the loop's memory of it.

Units as in `arena.pxd`, which puts them together; every struct is a multiple of 8 bytes. Lengths are those of local space.
"""

from libc.stdint cimport uint32_t, uint64_t

cdef enum Solid:
    SOLID_SPHERE = 1
    SOLID_BOX = 2
    SOLID_ELLIPSOID = 3
    SOLID_ROUNDED_CONE = 4
    SOLID_CAPPED_CONE = 5
    SOLID_TORUS = 6
    SOLID_PLANE = 7

cdef enum NavigationMode:
    NAVIGATION_OFF = 0
    NAVIGATION_BUBBLE = 1

cdef struct Shape:
    # a Solid; fields that it does not use are 0
    uint64_t solid
    # start of the axis, its unit direction (plane: the normal), and its length
    double origin[3]
    double axis[3]
    double length
    # of a box: half-extents without its rounding; of an ellipsoid: semi-axes
    double extent[3]
    # radii at both ends; torus: ring and tube; plane: its height; box: its rounding
    double radius[2]

cdef struct Navigation:
    # a session's bubble on one device, as in its record
    uint32_t mode
    # a new revision restarts navigation
    uint32_t revision
    uint32_t drifts
    # 0: about the reach centre
    uint32_t placed
    Shape shape
    double centre[3]
    # 1/m, and share of the hand's speed
    double drift_gain
    double drift_ratio
    # m, m/s, none, s
    double width
    double speed
    double exponent
    double smoothing
    # N/m between surface and shell, N/m beyond it, N.s/m outwards, N.s/m inside
    double stiffness
    double wall_stiffness
    double damping
    double dead_damping
    # N: contact begins, contact ends, all motion stops; m by which contact inflates the bubble
    uint64_t collides
    double threshold
    double release
    double full_stop
    double inflate
    double hysteresis

cdef struct Navigated:
    # for frames: generations of session and device, N (a translation, m), its rate (m/s, application space), and the present bubble
    uint32_t session_generation
    uint32_t device_generation
    uint32_t revision
    uint32_t zone
    double offset[3]
    double rate[3]
    double centre[3]
    double inflated

cdef struct Navigator:
    # loop-private memory of one session's navigation on one device
    Navigated now
    # configured centre; velocity through the scene (m/s, local); direction of the push
    double asked[3]
    double velocity[3]
    double normal[3]
    double ramp
    # share of the new velocity in a tick, and the smoothing and the time (s) that it belongs to
    double share
    double share_smoothing
    double share_dt
    uint64_t contact
    uint64_t turned
