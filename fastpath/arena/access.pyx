"""Reader and Writer of one device: access to the shared memory without a lock, valid while their leases hold."""

from libc.math cimport INFINITY
from libc.stdint cimport uint32_t
from libc.string cimport memcmp, memset

import numpy as np

from fastpath.arena.array_copy cimport copy_out
from fastpath.arena.memory cimport ArenaMemory
from fastpath.arena.record_writes cimport hand_over, is_leased, write_effect, write_set_point
from fastpath.arena.state_reads cimport read_navigated, read_state
from fastpath.arena.values import RenderingBounds
from fastpath.cells.cells cimport hd_seq_read, hd_seq_read_both
from fastpath.layout.arena cimport Arena, DeviceGaps, DeviceSlot, DeviceState, Record, Transform, View
from fastpath.layout.constants cimport (
    COMMANDS, COMMAND_ANGLE, COMMAND_FORCE, COMMAND_POSITION, COMMAND_TORQUE, MAX_DEVICES,
)
from fastpath.layout.contact cimport (
    CONTACT_COMMAND, CONTACT_PLANE, CONTACT_SPHERE, LARGEST_CONTACT_DAMPING, LARGEST_CONTACT_STIFFNESS, Contact,
)
from fastpath.layout.dtypes import DEVICE_GAPS, DEVICE_STATE, TRIP_HISTORY
from fastpath.layout.force cimport EFFECTS
from fastpath.layout.initial_state cimport reset_state
from fastpath.layout.navigation cimport NAVIGATION_OFF, Navigated
from fastpath.layout.scene cimport SceneShown
from fastpath.layout.trips cimport TripHistory
from fastpath.navigation.validation cimport fill_navigation
from fastpath.navigation.values import Navigated as Shown
from fastpath.scene.description cimport Description
from fastpath.scene.values import Touched
from fastpath.space.spatial cimport clutch_offset, force_to_application, position_to_application, view_identity
from fastpath.space.surface cimport (
    SURFACE_FROZEN, SURFACE_NOT_ROUND, SURFACE_PLACED, SurfaceFault, place_surface,
)
from fastpath.space.validation cimport check_finite, fill_basis, fill_transform
from fastpath.tick.effects cimport EFFECT_FORCE
from fastpath.tick.rendering cimport bound_spring, most_damping

cdef uint32_t IN_SPACE = <uint32_t>1 << COMMAND_POSITION | <uint32_t>1 << CONTACT_COMMAND
cdef enum:
    # of a vibration: below, it would be motion; above, hardly felt
    LOWEST_HZ = 10
    HIGHEST_HZ = 500


cdef class Reader:
    """Reads the state of one device; any number of readers, each on one thread."""

    def __cinit__(self, ArenaMemory memory not None, lease):
        self.memory = memory
        self.device = lease.slot
        reset_state(&self.state)

    cdef void refresh(self) noexcept:
        """Copy the newest whole state in."""
        read_state(&self.memory.arena.devices[self.device], &self.state)

    cdef bint refresh_for(self, Writer writer, Navigated *out) noexcept:
        """Copy the newest state and the writer's navigation; False while that is off or the loop has not started it."""
        cdef Arena *arena = self.memory.arena
        if writer is None:
            self.refresh()
            return False
        return read_navigated(
            &arena.devices[self.device], &arena.records[writer.session * MAX_DEVICES + writer.device], &writer.record,
            writer.home, &self.state, out)

    def navigated(self, Writer writer not None) -> Shown | None:
        """Return the state of a writer's navigation, in one snapshot with the cursor; None while it is off or not yet started."""
        cdef Navigated n
        if not self.refresh_for(writer, &n):
            return None
        return Shown(
            (n.offset[0], n.offset[1], n.offset[2]), (n.rate[0], n.rate[1], n.rate[2]),
            (n.centre[0], n.centre[1], n.centre[2]), n.inflated, n.zone,
            (self.state.position[0], self.state.position[1], self.state.position[2]),
        )

    def touched(self, Writer writer not None) -> Touched | None:
        """Return what is touched of a writer's scene, as the loop showed it last; None without a scene."""
        cdef Arena *arena = self.memory.arena
        cdef SceneShown shown
        cdef double force[3]
        cdef double proxy[3]
        cdef Description description = writer.description
        if description is None or description.number == 0 or not description.places:
            return None
        hd_seq_read_both(&arena.devices[self.device].sequence, &arena.devices[self.device].shown, &self.state, sizeof(DeviceState),
                         &arena.scenes[description.number - 1].shown, &shown, sizeof(SceneShown))
        if (shown.tick != self.state.tick or shown.session_generation != writer.record.session_generation
                or shown.device_generation != writer.record.device_generation):
            return Touched()
        force_to_application(&writer.record.view, shown.force, force)
        position_to_application(&writer.record.view, shown.proxy, proxy)
        return Touched(
            tuple(name for name, place in description.places.items() if shown.touched >> <int>place & 1),
            (force[0], force[1], force[2]), (proxy[0], proxy[1], proxy[2]) if shown.touched else None, shown.depth,
        )

    def snapshot(self, out=None) -> np.ndarray:
        """Return the newest state: 0-d array of dtype DEVICE_STATE, `out` when given."""
        if out is None:
            out = np.empty((), dtype=DEVICE_STATE)
        self.refresh()
        copy_out(out, &self.state, sizeof(DeviceState))
        return out

    def rendering_bounds(self, double mass):
        """Return the RenderingBounds of a bare device of a mass (kg)."""
        cdef double stiffness = INFINITY, damping, best
        self.refresh()
        damping = most_damping(&self.state.rendering, mass)
        best = 0.5 * damping
        bound_spring(&self.state.rendering, mass, &stiffness, &best)
        return RenderingBounds(stiffness, best, damping, self.state.rendering.position_lag, self.state.rendering.velocity_lag)

    def gaps(self) -> np.ndarray:
        """Return the device's gaps and the time with force, at most 0.1 s old: 0-d array of dtype DEVICE_GAPS."""
        cdef DeviceSlot *slot = &self.memory.arena.devices[self.device]
        cdef DeviceGaps gaps
        out = np.empty((), dtype=DEVICE_GAPS)
        hd_seq_read(&slot.gap_sequence, &slot.shown_gaps, &gaps, sizeof(DeviceGaps))
        copy_out(out, &gaps, sizeof(DeviceGaps))
        return out

    def history(self) -> np.ndarray:
        """Return the device's newest trips and samples of its motion: 0-d array of dtype TRIP_HISTORY.

        They are of the lease of `generation`, and stay readable until the slot's next lease.
        """
        cdef DeviceSlot *slot = &self.memory.arena.devices[self.device]
        cdef TripHistory history
        out = np.empty((), dtype=TRIP_HISTORY)
        hd_seq_read(&slot.trip_sequence, &slot.history, &history, sizeof(TripHistory))
        copy_out(out, &history, sizeof(TripHistory))
        return out


cdef class Writer:
    """Writes one session's record of one device: its view (basis, mount, workspace) and its commands. Main thread only; the streaming thread writes the record too, under the session's lock."""

    def __cinit__(self, ArenaMemory memory not None, session, device):
        self.memory = memory
        self.session = session.slot
        self.device = device.slot
        self.session_lease = session
        self.device_lease = device
        self.revoked = False
        memset(&self.record, 0, sizeof(Record))
        self.record.session_generation = session.generation
        self.record.device_generation = device.generation
        self.record.duck = 1
        view_identity(&self.record.view)

    def set_basis(self, axes: tuple[int, int, int], signs: tuple[int, int, int]) -> None:
        """Application axis i takes signs[i] times device axis axes[i]; a held position and a contact are released."""
        fill_basis(&self.record.view.basis, axes, signs)
        self.record.commands &= ~IN_SPACE
        self.place_scene()

    def set_mount(self, position, rotation, scale) -> None:
        """Set the mount transform: position (m), unit quaternion w x y z, scale > 0; a held position and a contact are released."""
        fill_transform(&self.record.view.mount, position, rotation, scale)
        self.record.commands &= ~IN_SPACE
        self.place_scene()

    def set_workspace(self, position, rotation, scale) -> None:
        """Set the workspace transform: position (m), unit quaternion w x y z, scale > 0; a held position and a contact follow it, but for a sphere that gets another shape."""
        fill_transform(&self.record.view.workspace, position, rotation, scale)
        self.record.workspace_revision += 1
        if self.record.commands >> CONTACT_COMMAND & 1 and place_contact(self) != SURFACE_PLACED:
            self.release_contact()
        self.place_scene()

    def set_damping(self, double x, double y, double z) -> None:
        """Set the damping along each device axis (N.s/m, 0 or more); it acts while the session is open. ValueError."""
        check_finite(x, y, z)
        if x < 0 or y < 0 or z < 0:
            raise ValueError("damping must not be negative")
        self.record.damping[0] = x; self.record.damping[1] = y; self.record.damping[2] = z

    def set_gate(self, double gain) -> None:
        """Set the share of this session's output that the force gate takes at full severity (0 to 1). ValueError."""
        if not 0 <= gain <= 1:
            raise ValueError("the gain of a force gate is 0 to 1")
        self.record.gate = gain

    def set_duck(self, double gain) -> None:
        """Set the share of this session's output that reaches the device (0 to 1). ValueError."""
        if not 0 <= gain <= 1:
            raise ValueError("the gain of a session's output is 0 to 1")
        self.record.duck = gain

    def set_effect(self, int number, force=(0.0, 0.0, 0.0), double frequency=0) -> None:
        """Set vibration 0 or 1 of this session: peak force (N, application space, at most 2 N), 10 to 500 Hz. ValueError.

        It plays while the session is open, commands or not, past the oscillation filter, and is bounded in power; 0 Hz ends it.
        """
        cdef double f[3]
        f[0], f[1], f[2] = force
        check_finite(f[0], f[1], f[2])
        if not 0 <= number < EFFECTS:
            raise ValueError(f"a session has vibrations 0 to {EFFECTS - 1}")
        if frequency != 0 and not LOWEST_HZ <= frequency <= HIGHEST_HZ:
            raise ValueError(f"a vibration has {LOWEST_HZ} to {HIGHEST_HZ} Hz, or 0 to end it")
        if f[0] * f[0] + f[1] * f[1] + f[2] * f[2] > EFFECT_FORCE * EFFECT_FORCE * (1 + 1e-9):
            raise ValueError(f"a vibration has at most {EFFECT_FORCE:g} N")
        write_effect(&self.record, number, f, frequency, self.memory._now())

    def set_navigation(self, bubble, home=(0.0, 0.0, 0.0)) -> None:
        """Navigate by a Bubble, or not at all with None; N starts at 0 whenever it is switched on. ValueError.

        `home`: the reach centre (m, device frame), for frames from before the loop has taken a bubble without a position up.
        """
        if bubble is None:
            self.record.navigation.mode = NAVIGATION_OFF
            return
        if self.record.navigation.mode == NAVIGATION_OFF:
            self.record.navigation.revision += 1
        fill_navigation(&self.record.navigation, bubble)
        self.home[0], self.home[1], self.home[2] = home

    def set_scene(self, fields) -> None:
        """Describe the whole Scene of the session on this device, empty for none. ValueError names the field, and nothing has changed.

        Its surfaces, springs and dampers follow the view; what has no place in a new one waits for the next.
        """
        if self.revoked:
            return
        if self.description is None:
            if not fields:
                return
            self.description = Description(self.memory, self.session_lease, self.device_lease)
        self.description.describe(fields, &self.record.view)
        self.record.scene = self.description.number

    cdef void place_scene(self) noexcept:
        if self.description is not None:
            self.description.place(&self.record.view)

    def set_clutch(self, double ratio, Reader reader not None) -> tuple[float, float, float]:
        """Scale the motion from the present position by a ratio (0 to 1); releases a held position and a contact. ValueError.

        Return the offset of the previous ratio (m, application space); added to the workspace's position it avoids a jump.
        """
        cdef View *view = &self.record.view
        cdef double shift[3]
        cdef int i
        if not 0 <= ratio <= 1:
            raise ValueError("the ratio of a clutch is 0 to 1")
        reader.refresh()
        clutch_offset(view, reader.state.position, shift)
        view.clutch = ratio
        for i in range(3):
            view.anchor[i] = reader.state.position[i]
        self.record.commands &= ~IN_SPACE
        self.place_scene()
        return shift[0], shift[1], shift[2]

    def clutch_offset(self, Reader reader not None) -> tuple[float, float, float]:
        """Return the offset between the cursor and its position with a released clutch (m, application space)."""
        cdef double shift[3]
        reader.refresh()
        clutch_offset(&self.record.view, reader.state.position, shift)
        return shift[0], shift[1], shift[2]

    def release_positions(self) -> None:
        """Release a held position and held angles; forces and torques stay."""
        self.record.commands &= ~(<uint32_t>1 << COMMAND_POSITION | <uint32_t>1 << COMMAND_ANGLE)

    def begin(self) -> None:
        """Start a new set of commands; those not set again before `publish` are released."""
        self.record.commands = 0

    def set_point(self, int command, double x, double y, double z) -> None:
        """Set the three numbers of a `Command`: N, m (application space), N.mm, degrees. ValueError.

        A force keeps its direction at the device when the view changes later; a position follows the workspace.
        """
        cdef double v[3]
        if not 0 <= command < COMMANDS:
            raise ValueError(f"commands are 0 to {COMMANDS - 1}, not {command}")
        check_finite(x, y, z)
        v[0] = x; v[1] = y; v[2] = z
        write_set_point(&self.record, command, v)

    def force(self, double x, double y, double z) -> None:
        """Command a force (N, application space)."""
        self.set_point(COMMAND_FORCE, x, y, z)

    def torque(self, double a0, double a1, double a2) -> None:
        """Command joint torques (N.mm)."""
        self.set_point(COMMAND_TORQUE, a0, a1, a2)

    def position(self, double x, double y, double z) -> None:
        """Hold a position (m, application space)."""
        self.set_point(COMMAND_POSITION, x, y, z)

    def angle(self, double a0, double a1, double a2) -> None:
        """Hold joint angles (degrees)."""
        self.set_point(COMMAND_ANGLE, a0, a1, a2)

    def contact_plane(self, point, normal, double stiffness, double damping) -> None:
        """Render a wall: a point of it (m) and its normal towards the free side, application space; N/m and N.s/m at the device. ValueError.

        A command as `force` is, one for each session and device; the loop bounds it by what the device bears, and lets it come in gently.
        """
        cdef Contact contact = contact_of(CONTACT_PLANE, point, stiffness, damping)
        cdef double length
        cdef int i
        contact.normal[0], contact.normal[1], contact.normal[2] = normal
        check_finite(contact.normal[0], contact.normal[1], contact.normal[2])
        length = max(abs(contact.normal[0]), abs(contact.normal[1]), abs(contact.normal[2]))
        if length <= 0:
            raise ValueError("the normal is zero: send the direction from the wall to the free side")
        for i in range(3):
            contact.normal[i] /= length
        set_contact(self, &contact)

    def contact_sphere(self, centre, double radius, double stiffness, double damping) -> None:
        """Render a ball that is free outside: centre and radius (m), application space; N/m and N.s/m at the device. ValueError.

        A command as `contact_plane`. Refused in an application space whose scales differ between the axes.
        """
        cdef Contact contact = contact_of(CONTACT_SPHERE, centre, stiffness, damping)
        if not 0 < radius < 1e300:
            raise ValueError("the radius must be above 0")
        contact.radius = radius
        set_contact(self, &contact)

    def release_contact(self) -> None:
        """Release the contact; all else stays."""
        self.record.commands &= ~(<uint32_t>1 << CONTACT_COMMAND)

    def publish(self, bint refresh=True) -> bool:
        """Hand the record to the loop; `refresh` stamps its commands with now. False when the session or the device is closed."""
        if self.revoked or not is_leased(self.memory.arena, &self.record, self.session, self.device):
            return False
        if refresh:
            self.record.command_ns = self.memory._now()
        hand_over(self.memory.arena, &self.record, self.session, self.device)
        return True

    def revoke(self) -> None:
        """Release everything at the next tick; later writes are ignored."""
        if not self.revoked:
            self.record.commands = 0
            self.set_damping(0, 0, 0)
            self.set_navigation(None)
            for number in range(EFFECTS):
                self.set_effect(number)
            self.record.scene = 0
            self.publish(False)
            self.revoked = True
            if self.description is not None:
                self.description.release()

    @property
    def commands(self) -> int:
        """Bits of the commands that are set: 1 << `Command`."""
        return self.record.commands

    @property
    def clutch(self) -> float:
        """The clutch's ratio, 1 released."""
        return self.record.view.clutch

    @property
    def command_ns(self) -> int:
        """When commands were last stamped, nanoseconds of the runtime's clock; 0 = never."""
        return self.record.command_ns

    @property
    def workspace(self) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
        """Workspace transform as (position, rotation w x y z, scale)."""
        cdef Transform *m = &self.record.view.workspace
        return (m.t[0], m.t[1], m.t[2]), (m.q[0], m.q[1], m.q[2], m.q[3]), (m.s[0], m.s[1], m.s[2])


cdef Contact contact_of(int shape, point, double stiffness, double damping) except *:
    """Return a contact without a surface; ValueError."""
    cdef Contact contact
    memset(&contact, 0, sizeof(Contact))
    contact.shape = shape
    contact.point[0], contact.point[1], contact.point[2] = point
    check_finite(contact.point[0], contact.point[1], contact.point[2])
    if not 0 <= stiffness <= LARGEST_CONTACT_STIFFNESS:
        raise ValueError(f"a contact has 0 to {LARGEST_CONTACT_STIFFNESS} N/m")
    if not 0 <= damping <= LARGEST_CONTACT_DAMPING:
        raise ValueError(f"a contact has 0 to {LARGEST_CONTACT_DAMPING} N.s/m")
    contact.stiffness = stiffness
    contact.damping = damping
    return contact


cdef int set_contact(Writer writer, const Contact *contact) except -1:
    """Command a contact; ValueError if its surface has no place at the device, and then the last one is released."""
    cdef SurfaceFault fault
    writer.contact = contact[0]
    fault = place_contact(writer)
    writer.release_contact()
    if fault == SURFACE_FROZEN:
        raise ValueError("the clutch is frozen, so no surface can be reached: set its ratio above 0")
    if fault == SURFACE_NOT_ROUND:
        raise ValueError("a sphere needs the same scale along x, y and z: change the scale of the transform, or send a plane")
    if fault != SURFACE_PLACED:
        raise ValueError("the surface is too far from the device: check its numbers and the scale of the transform")
    writer.record.commands |= <uint32_t>1 << CONTACT_COMMAND
    return 0


cdef SurfaceFault place_contact(Writer writer) noexcept:
    """Write the contact to the record, in the device frame; a changed one gets a new revision."""
    cdef Contact placed
    cdef SurfaceFault fault = place_surface(&writer.record.view, &writer.contact, &placed)
    if fault == SURFACE_PLACED:
        placed.revision = writer.record.contact.revision
        if memcmp(&placed, &writer.record.contact, sizeof(Contact)) != 0:
            placed.revision += 1
            writer.record.contact = placed
    return fault
