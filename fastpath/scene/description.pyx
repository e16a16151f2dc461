"""Description: the scene of one session on one device on its way to the loop, in a cell of its own.

A record is copied at every message, a scene only when it changes: so it has its own cell, of which a record names the number.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memset

from fastpath.arena.memory cimport ArenaMemory
from fastpath.cells.cells cimport hd_triple_publish
from fastpath.layout.arena cimport View
from fastpath.layout.scene cimport FIELD_SURFACE, SCENES, SCENE_FIELDS, Field, Scene, SceneCell
from fastpath.scene.placing cimport fill_field, place_field
from fastpath.space.surface cimport SURFACE_FROZEN, SURFACE_NOT_ROUND, SURFACE_PLACED, SurfaceFault


class NoScene(ValueError):
    """Every scene of the service is in use."""


cdef class Description:
    """Main thread only, as the Writer that holds it."""

    def __cinit__(self, ArenaMemory memory not None, session, device):
        cdef int number
        self.memory = memory
        self.number = 0
        self.places = {}
        memset(&self.scene, 0, sizeof(Scene))
        memset(self.asked, 0, sizeof(Field) * SCENE_FIELDS)
        self.scene.session = session.slot
        self.scene.session_generation = session.generation
        self.scene.device = device.slot
        self.scene.device_generation = device.generation
        for number in range(SCENES):
            if memory.arena.scene_owners[number] == 0:
                memory.arena.scene_owners[number] = 1
                self.number = number + 1
                return
        raise NoScene(f"all {SCENES} scenes of the service are in use: a session that ends gives its own back")

    def __dealloc__(self):
        self.release()

    cdef void release(self) noexcept:
        """Give the cell back; the loop no longer renders it once the record does not name it."""
        if self.number != 0:
            self.memory.arena.scene_owners[self.number - 1] = 0
            self.number = 0

    cdef int describe(self, fields, const View *view) except -1:
        """Take a whole Scene; ValueError names the field that cannot be, and then nothing has changed."""
        cdef Field[SCENE_FIELDS] asked
        cdef Field[SCENE_FIELDS] placed
        cdef uint64_t used = 0
        cdef SurfaceFault fault
        cdef int place, free = 0
        places = {}
        if len(fields) > SCENE_FIELDS:
            raise ValueError(f"a scene has at most {SCENE_FIELDS} fields, not {len(fields)}")
        for name in fields:
            if name in self.places:
                places[name] = self.places[name]
                used |= <uint64_t>1 << <int>self.places[name]
        for name, field in fields.items():
            if name not in places:
                while used >> free & 1:
                    free += 1
                places[name] = free
                used |= <uint64_t>1 << free
            place = places[name]
            try:
                fill_field(&asked[place], field.field, dict(field.values))
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError(f"field {name}: {error}") from error
            fault = place_field(view, &asked[place], &placed[place])
            if fault == SURFACE_FROZEN:
                raise ValueError(f"field {name}: the clutch is frozen, so no place can be reached: set its ratio above 0")
            if fault == SURFACE_NOT_ROUND:
                raise ValueError(
                    f"field {name}: a {field.field} needs the same scale along x, y and z: change the transform")
            if fault != SURFACE_PLACED:
                raise ValueError(f"field {name}: it is too far from the device: check its numbers and the scale of the transform")
        for name, place in places.items():
            if name not in self.places or asked[place].kind != self.asked[place].kind:
                # Another field than the one that was at this place.
                self.scene.field[place].key += 1
            self.asked[place] = asked[place]
        self.places = places
        self.scene.used = used
        self.place(view)
        return 0

    cdef void place(self, const View *view) noexcept:
        """Hand the scene to the loop as it is in a session's space now; fields that have no place in it wait until they have one."""
        cdef SceneCell *cell
        cdef Field placed
        cdef Field *old
        cdef uint64_t used = 0, surfaces = 0
        cdef int place
        for name in self.places:
            place = self.places[name]
            if place_field(view, &self.asked[place], &placed) != SURFACE_PLACED:
                # When it has a place again it is a new one: met where the cursor is.
                self.scene.field[place].key += 1
                continue
            old = &self.scene.field[place]
            placed.key = old.key
            placed.revision = old.revision
            if memcmp(&placed, old, sizeof(Field)) != 0:
                placed.revision += 1
                old[0] = placed
            used |= <uint64_t>1 << place
            if placed.kind == FIELD_SURFACE:
                surfaces |= <uint64_t>1 << place
        self.scene.used = used
        self.scene.surfaces = surfaces
        self.scene.revision += 1
        if self.number != 0:
            cell = &self.memory.arena.scenes[self.number - 1]
            hd_triple_publish(&cell.cell, cell.buffers, &self.scene, sizeof(Scene))
