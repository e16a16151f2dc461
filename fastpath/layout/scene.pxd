"""Structs of a scene: what one session describes on one device, and the loop's memory of rendering it.

Units as in `arena.pxd`, which puts them together; every struct is a multiple of 8 bytes.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from fastpath.cells.cells cimport hd_triple
from fastpath.layout.contact cimport Touch
from fastpath.layout.navigation cimport Shape

cdef enum:
    # fields of one scene, as bits of a word
    SCENE_FIELDS = 32
    # scenes of all sessions and devices at once
    SCENES = 128

cdef enum FieldKind:
    FIELD_NONE = 0
    FIELD_CONSTANT = 1
    FIELD_SPRING = 2
    FIELD_DAMPER = 3
    FIELD_SURFACE = 4

cdef struct Field:
    # a FieldKind; fields that it does not use are 0
    uint64_t kind
    # number of what is at this place: the same while the field is changed, another one when it was removed and another added
    uint64_t key
    # a new one when anything below has changed
    uint64_t revision
    # force N; centre of a spring; where the shape's space begins
    double place[3]
    # N/m, N.s/m at the device; of a damper the size of its symmetric part, and of its skew one
    double stiffness
    double damping
    double curl
    # m, m beyond which it ends (0: nowhere), N
    double dead_zone
    double reach
    double largest
    # 1: all of `matrix` counts; 0: it is the identity
    uint64_t turned
    # the free side of a surface is inside of its shape
    uint64_t inside
    double friction_static
    double friction_dynamic
    # spring: projection onto its axes; damper: N.s/m; box: its axes, one in each row
    double matrix[9]
    Shape shape

cdef struct Scene:
    # whose it is: another one's, or one of a lease before, is not rendered
    uint32_t session
    uint32_t session_generation
    uint32_t device
    uint32_t device_generation
    # a new one whenever it is handed over
    uint64_t revision
    # fields that there are, as bits; each keeps its place while it is there
    uint64_t used
    uint64_t surfaces
    Field field[SCENE_FIELDS]

cdef struct FieldMemory:
    # what the rest belongs to: the field and its revision
    uint64_t key
    uint64_t revision
    # of a field without a surface: s until a change has ended, 0 to 1: how far a new one has come in, and its share of what was
    # asked for that the device bears; force of the last tick (N), and what is left of the one before a change
    double left
    double grown
    double share
    double force[3]
    double residual[3]
    int64_t changed_ns
    # damping as it is now, on its way to the field's
    double matrix[9]
    # of a surface: the proxy, m; where the scene's way (m) may first meet it; from the cursor to the proxy: direction and m
    double proxy[3]
    double wake
    double normal[3]
    double depth
    Touch touch
    # tangential way (m) that friction holds, and whether it slides; cursor (m) of the last tick with friction
    double held[3]
    uint64_t slides
    double last[3]

cdef struct SceneShown:
    # for frames: generations of session and device, tick, and the touched fields as bits; N, m: the sum of all, and the proxy of the deepest one
    uint32_t session_generation
    uint32_t device_generation
    uint64_t tick
    uint64_t touched
    double force[3]
    double proxy[3]
    double depth

cdef struct SceneMemory:
    uint32_t session_generation
    uint32_t device_generation
    uint64_t tick
    # nothing of it has been rendered before this tick
    uint64_t fresh
    # of the scene in the last tick; surfaces that are touched, as bits; way (m) at which another one may be
    uint64_t revision
    uint64_t touching
    double wake
    # in the space of the scene: cursor of the last tick (m), and its way so far (m)
    double position[3]
    double way
    # 0 to 1: how much of the scene is there while its client gives signs of life
    double gain
    # N of the last tick
    double force[3]
    # of this tick, for the sum over all scenes: N/m and N.s/m that are asked for
    double stiffness
    double damping
    double curl
    FieldMemory field[SCENE_FIELDS]

cdef struct SceneCell:
    hd_triple cell
    Scene buffers[3]
    # the loop's own, and what it shows of it under the sequence of the device's state
    SceneMemory memory
    SceneShown now
    SceneShown shown
