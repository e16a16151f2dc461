"""Structs of a contact that the loop renders: a surface of one session on one device, and the loop's memory of touching it.

Units as in `arena.pxd`, which puts them together; every struct is a multiple of 8 bytes.
"""

from libc.stdint cimport uint32_t, uint64_t

cdef enum ContactShape:
    CONTACT_PLANE = 1
    CONTACT_SPHERE = 2

cdef enum:
    # bit of a contact in `commands` of a record, apart from those of the set-points
    CONTACT_COMMAND = 31
    # N/m and N.s/m at the device
    LARGEST_CONTACT_STIFFNESS = 2000
    LARGEST_CONTACT_DAMPING = 20

cdef struct Contact:
    # a ContactShape; fields that it does not use are 0
    uint64_t shape
    # a new one when anything below has changed
    uint64_t revision
    # point of the plane or centre of the sphere; unit normal towards the free side
    double point[3]
    double normal[3]
    double radius
    # N/m, N.s/m at the device
    double stiffness
    double damping

cdef struct Touch:
    # what the rest belongs to: generations of session and device, revision of the contact, and the tick of the loop
    uint32_t session_generation
    uint32_t device_generation
    uint64_t revision
    uint64_t tick
    # of the session's command in this tick: fade and duck gain
    double gain
    # of the last tick: position, direction of the force, felt depth, N/m, and its share of the commanded N/m that the device bears
    double position[3]
    double normal[3]
    double depth
    double stiffness
    double share
    # m below its own surface at which the contact is felt
    double yielded
    # N of the damper in the last tick, and its present limit
    double damper
    double damper_limit
