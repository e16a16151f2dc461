"""Runtime: owner of the arena that the loop and the rest share; it leases slots and hands out writers and readers.

Slots are leased by name under a lock that no tick takes. A Writer is the right to command one device for one session; a
Reader sees one device's state. Both are capabilities: they work without asking anybody until their generation is over.
"""

import threading
from typing import NamedTuple

import numpy as np

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, Py_buffer, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastpath.cells cimport hd_load, hd_or, hd_seq_read, hd_store, hd_triple_init, hd_triple_publish
from fastpath.layout cimport (
    COMMAND_ANGLE, COMMAND_FORCE, COMMAND_POSITION, COMMAND_TORQUE, MAX_DEVICES, MAX_SESSIONS, SLOT_ACTIVE, SLOT_FREE,
    SLOT_RETIRING, Arena, Basis, DeviceParams, DeviceSlot, DeviceState, LoopParams, LoopState, Record, RecordCell,
    Transform,
)
from fastpath.loop cimport loop_join, loop_start, loop_step, loop_sweep
from fastpath.spatial cimport force_to_device, view_identity

cdef extern from "realtime.h" nogil:
    int HD_STACK_BYTES
    int64_t hd_now_ns()
    void *hd_pages(size_t bytes)
    void hd_pages_free(void *pages, size_t bytes)
    int hd_pages_lock(void *pages, size_t bytes)

_VEC = ("f8", (3,))

HAND_PARAMS = np.dtype([
    ("mass", "f8"), ("grip_stiffness", "f8"), ("grip_damping", "f8"), ("arm_stiffness", "f8"), ("arm_damping", "f8"),
    ("centre", *_VEC), ("radius", "f8"), ("period", "f8"), ("path", "i8"),
], align=True)
PLANT_PARAMS = np.dtype([
    ("mass", "f8"), ("viscous", "f8"), ("coulomb", "f8"), ("gravity_mass", "f8"), ("stop_stiffness", "f8"),
    ("stop_damping", "f8"), ("low", *_VEC), ("high", *_VEC),
], align=True)
MECHANISM_PARAMS = np.dtype([("shoulder", *_VEC), ("link", "f8", (2,)), ("counts_per_turn", "f8")], align=True)
DEVICE_PARAMS = np.dtype([
    ("kind", "u4"), ("flags", "u4"), ("accepts_commands", "u4"), ("torque_scaling", "u4"), ("plant_revision", "u8"),
    ("seed", "u8"), ("peak_force", "f8"), ("torque_limit", "f8"), ("gravity_scale", "f8"),
    ("mechanism", MECHANISM_PARAMS), ("plant", PLANT_PARAMS), ("hand", HAND_PARAMS),
    ("buttons", "u4"), ("grip_slot", "i4"), ("battery_start", "f8"), ("battery_life", "f8"),
], align=True)
DEVICE_STATE = np.dtype([
    ("tick", "u8"), ("time_ns", "i8"), ("generation", "u4"), ("flags", "u4"), ("domain", "u4"), ("mode", "u4"),
    ("live", "u8", (4,)), ("position", *_VEC), ("velocity", *_VEC), ("joint", *_VEC), ("joint_velocity", *_VEC),
    ("orientation", "f8", (4,)), ("force", *_VEC), ("torque", *_VEC), ("target", *_VEC), ("target_joint", *_VEC),
    ("hand_force", *_VEC), ("hall", "f8"), ("battery_level", "f8"), ("battery_voltage", "f8"), ("buttons", "u8"),
    ("clamped", "u8"), ("saturated", "u8"), ("faded", "u8"),
], align=True)
LOOP_STATE = np.dtype([
    ("ticks", "u8"), ("missed", "u8"), ("started_ns", "i8"), ("tick_ns", "i8"), ("frequency", "f8"),
    ("target_frequency", "f8"), ("margin", "f8"), ("running", "u8"), ("fifo", "u8"), ("pinned", "u8"), ("locked", "u8"),
    ("dead_man_trips", "u8"), ("gaps", "u8"), ("lateness_sum", "f8"), ("lateness_max", "f8"), ("lateness", "u8", (24,)),
    ("step_samples", "u8"), ("step_seconds", "f8", (6,)), ("tick_seconds", "f8"),
], align=True)

if not (DEVICE_PARAMS.itemsize == sizeof(DeviceParams) and DEVICE_STATE.itemsize == sizeof(DeviceState)
        and LOOP_STATE.itemsize == sizeof(LoopState)):
    raise ImportError("fastpath.arena: the numpy layouts and layout.pxd differ; rebuild the extensions")


class NoSlot(RuntimeError):
    """Every slot of the arena is leased."""


class Lease(NamedTuple):
    """The right to one slot: valid while the slot's generation is this one."""

    slot: int
    generation: int
    name: str


def now_ns() -> int:
    """Nanoseconds of CLOCK_MONOTONIC: the one clock of the service."""
    return hd_now_ns()


cdef class Runtime:
    """The arena and its loop. With `stepping` the loop runs only by `step`, on a virtual clock that starts at 1 s."""

    def __cinit__(self, *, bint realtime=True, int max_sessions=64, bint stepping=False):
        if not 1 <= max_sessions <= MAX_SESSIONS:
            raise ValueError(f"max_sessions must be 1 to {MAX_SESSIONS}, not {max_sessions}")
        cdef size_t records = <size_t>max_sessions * MAX_DEVICES * sizeof(RecordCell)
        cdef size_t size = sizeof(Arena) + records
        cdef int i
        self.arena = <Arena *>hd_pages(size)
        if self.arena == NULL:
            raise MemoryError(f"the arena needs {size} bytes")
        self.stack = NULL
        self.thread = NULL
        self.realtime = realtime
        self.stepping = stepping
        self.max_sessions = max_sessions
        self.arena.bytes = size
        self.arena.records = <RecordCell *>(<char *>self.arena + sizeof(Arena))
        self.arena.session_count = max_sessions
        self.arena.session_words = (max_sessions + 63) // 64
        self.arena.dead_man_gain = 1
        self.arena.virtual_clock = stepping
        self.arena.virtual_ns = 1000000000 if stepping else 0
        self.arena.beat_ns = self.arena.virtual_ns
        self.arena.window_ns = <int64_t>self.arena.virtual_ns
        hd_triple_init(&self.arena.params_cell)
        for i in range(MAX_DEVICES):
            hd_triple_init(&self.arena.devices[i].params_cell)
        for i in range(max_sessions * MAX_DEVICES):
            hd_triple_init(&self.arena.records[i].cell)
        self._lock = threading.Lock()
        self._sessions = {}
        self._devices = {}
        self.publish_loop(frequency=4000.0, command_timeout=0.05)

    def __dealloc__(self):
        if self.arena != NULL:
            self._join()
            hd_pages_free(self.arena, self.arena.bytes)

    # ------------------------------------------------------------ clock and beat

    def now_ns(self) -> int:
        """Nanoseconds of the clock that commands are stamped with: CLOCK_MONOTONIC, or the virtual one when stepping."""
        return self._now()

    cdef int64_t _now(self) noexcept:
        if self.arena.virtual_clock:
            return <int64_t>hd_load(&self.arena.virtual_ns)
        return hd_now_ns()

    def beat(self) -> None:
        """The timekeeper lives: keeps the dead man's switch from tripping for 500 ms."""
        hd_store(&self.arena.beat_ns, <uint64_t>self._now())

    # ------------------------------------------------------------ the loop

    def publish_loop(self, *, double frequency, double command_timeout, bint spin=True) -> None:
        """Parameters of the loop: ticks per second (1 to 32,000), seconds that a command is held; acts at the next tick."""
        cdef LoopParams params
        if not 1 <= frequency <= 32000:
            raise ValueError(f"the loop frequency must be 1 to 32000 Hz, not {frequency}")
        if not command_timeout > 0:
            raise ValueError(f"the command time-out must be above 0 s, not {command_timeout}")
        params.frequency = frequency
        params.command_timeout = command_timeout
        params.spin = spin
        with self._lock:
            hd_triple_publish(&self.arena.params_cell, self.arena.params, &params, sizeof(LoopParams))

    def start(self, *, int priority=80, int cpu=-1) -> None:
        """Start the loop thread; priority and cpu are requests, `loop_state` says which were granted. OSError if no thread."""
        cdef int error
        if self.stepping:
            raise RuntimeError("a stepping runtime is driven by step(), not by start()")
        with self._lock:
            if self.thread != NULL:
                return
            self.stack = hd_pages(HD_STACK_BYTES)
            if self.stack == NULL:
                raise MemoryError("no memory for the loop's stack")
            self.arena.priority = priority if self.realtime else 0
            self.arena.cpu = cpu if self.realtime else -1
            self.arena.state.locked = self.realtime and self._lock_memory()
            error = loop_start(self.arena, &self.thread, self.stack)
            if error != 0:
                self.thread = NULL
                hd_pages_free(self.stack, HD_STACK_BYTES)
                raise OSError(error, "the loop thread could not be started")

    def stop(self) -> None:
        """Stop the loop after zero force on every device; returns when it has ended."""
        with self._lock:
            self._join()

    cdef void _join(self) noexcept:
        if self.thread != NULL:
            with nogil:
                loop_join(self.arena, self.thread)
            self.thread = NULL
            hd_pages_free(self.stack, HD_STACK_BYTES)
            self.stack = NULL
            loop_sweep(self.arena)

    def step(self, long long ticks=1, *, bint beat=True) -> None:
        """Run ticks of the loop that ships on this thread, at exact periods of the virtual clock."""
        if not self.stepping:
            raise RuntimeError("step() needs Runtime(stepping=True)")
        with nogil:
            loop_step(self.arena, ticks, beat)

    @property
    def running(self) -> bool:
        """Whether the loop thread has been started and not stopped."""
        return self.thread != NULL

    def loop_state(self) -> np.ndarray:
        """A copy of the loop's counters: 0-d array of dtype LOOP_STATE."""
        out = np.empty((), dtype=LOOP_STATE)
        cdef LoopState state
        hd_seq_read(&self.arena.sequence, &self.arena.shown, &state, sizeof(LoopState))
        copy_out(out, &state, sizeof(LoopState))
        return out

    cdef bint _lock_memory(self) except -1:
        """Lock what the loop touches: arena, its stack, and the pages of the fastpath extensions. False when refused."""
        cdef bint locked = hd_pages_lock(self.arena, self.arena.bytes) and hd_pages_lock(self.stack, HD_STACK_BYTES)
        cdef size_t first, last
        try:
            with open("/proc/self/maps", encoding="utf-8") as maps:
                for line in maps:
                    if "/fastpath/" not in line or ".so" not in line:
                        continue
                    first, last = (int(end, 16) for end in line.split(" ", 1)[0].split("-"))
                    if line.split(" ", 2)[1][0] == "r":
                        locked = hd_pages_lock(<void *>first, last - first) and locked
        except OSError:
            return False
        return locked

    # ------------------------------------------------------------ slots

    def lease_session(self, str name) -> Lease:
        """Lease a session's slot by name; asking again gives the same slot and the next generation. NoSlot when all are taken."""
        cdef int slot
        with self._lock:
            slot = self._find(self._sessions, name, self.max_sessions, False)
            hd_store(&self.arena.sessions[slot].generation, self.arena.sessions[slot].generation + 1)
            hd_store(&self.arena.sessions[slot].state, SLOT_ACTIVE)
            self._sessions[name] = slot
            return Lease(slot, self.arena.sessions[slot].generation, name)

    def release_session(self, lease: Lease) -> None:
        """Give a session's slot back: its records are void at once, the slot is free after the next tick."""
        cdef int slot = lease.slot
        with self._lock:
            if self._sessions.get(lease.name) != slot or self.arena.sessions[slot].generation != lease.generation:
                return
            del self._sessions[lease.name]
            hd_store(&self.arena.sessions[slot].generation, self.arena.sessions[slot].generation + 1)
            hd_store(&self.arena.sessions[slot].state, SLOT_RETIRING)
            hd_or(&self.arena.retiring_sessions[slot >> 6], <uint64_t>1 << (slot & 63))
            self._sweep()

    def lease_device(self, str name) -> Lease:
        """Lease a device's slot by name; asking again gives the same slot and the next generation. NoSlot when all are taken."""
        cdef int slot
        cdef DeviceParams empty
        with self._lock:
            slot = self._find(self._devices, name, MAX_DEVICES, True)
            if name not in self._devices:
                memset(&empty, 0, sizeof(empty))
                hd_triple_publish(
                    &self.arena.devices[slot].params_cell, self.arena.devices[slot].params, &empty, sizeof(empty))
                hd_store(&self.arena.devices[slot].stop, 0)
            hd_store(&self.arena.devices[slot].generation, self.arena.devices[slot].generation + 1)
            hd_store(&self.arena.devices[slot].state, SLOT_ACTIVE)
            self._devices[name] = slot
            return Lease(slot, self.arena.devices[slot].generation, name)

    def release_device(self, lease: Lease) -> None:
        """Give a device's slot back: the loop writes zero output and frees it at its next tick."""
        cdef int slot = lease.slot
        with self._lock:
            if self._devices.get(lease.name) != slot or self.arena.devices[slot].generation != lease.generation:
                return
            del self._devices[lease.name]
            hd_store(&self.arena.devices[slot].generation, self.arena.devices[slot].generation + 1)
            hd_store(&self.arena.devices[slot].state, SLOT_RETIRING)
            self._sweep()

    cdef int _find(self, dict names, str name, int count, bint devices) except -1:
        cdef int slot
        if name in names:
            return names[name]
        for slot in range(count):
            if hd_load(&self.arena.devices[slot].state if devices else &self.arena.sessions[slot].state) == SLOT_FREE:
                return slot
        raise NoSlot(f"all {count} {'device' if devices else 'session'} slots are in use")

    cdef void _sweep(self) noexcept:
        if self.thread == NULL:
            loop_sweep(self.arena)

    def slots(self) -> tuple[int, int]:
        """Session slots and device slots that are not free."""
        cdef int i, sessions = 0, devices = 0
        for i in range(self.max_sessions):
            sessions += hd_load(&self.arena.sessions[i].state) != SLOT_FREE
        for i in range(MAX_DEVICES):
            devices += hd_load(&self.arena.devices[i].state) != SLOT_FREE
        return sessions, devices

    # ------------------------------------------------------------ devices

    def publish_device(self, lease: Lease, params: np.ndarray) -> bool:
        """Publish one device's parameters (0-d array of dtype DEVICE_PARAMS); False when the lease is over. One writer: its DeviceActor."""
        cdef DeviceParams copy
        cdef DeviceSlot *slot = &self.arena.devices[<int>lease.slot]
        if params.dtype != DEVICE_PARAMS:
            raise TypeError("parameters of a device need dtype DEVICE_PARAMS")
        copy_in(params, &copy, sizeof(DeviceParams))
        with self._lock:
            if slot.generation != lease.generation or slot.state != SLOT_ACTIVE:
                return False
            hd_triple_publish(&slot.params_cell, slot.params, &copy, sizeof(DeviceParams))
            return True

    def stop_device(self, lease: Lease, bint stopped) -> bool:
        """Set or release the stop latch of one device: zero output from the next tick; False when the lease is over."""
        cdef DeviceSlot *slot = &self.arena.devices[<int>lease.slot]
        with self._lock:
            if slot.generation != lease.generation or slot.state != SLOT_ACTIVE:
                return False
            hd_store(&slot.stop, stopped)
            return True

    def reader(self, lease: Lease) -> Reader:
        """A reader of one device's state."""
        return Reader(self, lease)

    def writer(self, session: Lease, device: Lease) -> Writer:
        """The right of one session to command one device, with an identity view and nothing commanded."""
        return Writer(self, session, device)


cdef int copy_out(object array, const void *value, Py_ssize_t size) except -1:
    """Copy a struct into an array of the same layout."""
    cdef Py_buffer buffer
    PyObject_GetBuffer(array, &buffer, PyBUF_WRITABLE)
    if buffer.len != size:
        PyBuffer_Release(&buffer)
        raise ValueError(f"the array must have {size} bytes, not {buffer.len}")
    memcpy(buffer.buf, value, size)
    PyBuffer_Release(&buffer)
    return 0


cdef int copy_in(object array, void *value, Py_ssize_t size) except -1:
    """Copy an array into a struct of the same layout."""
    cdef Py_buffer buffer
    PyObject_GetBuffer(array, &buffer, PyBUF_SIMPLE)
    if buffer.len != size:
        PyBuffer_Release(&buffer)
        raise ValueError(f"the array must have {size} bytes, not {buffer.len}")
    memcpy(value, buffer.buf, size)
    PyBuffer_Release(&buffer)
    return 0


cdef class Reader:
    """State of one device; any number of readers, each on one thread."""

    def __cinit__(self, Runtime runtime not None, lease):
        self.runtime = runtime
        self.device = lease.slot
        memset(&self.state, 0, sizeof(DeviceState))

    cdef void refresh(self) noexcept:
        """Copy the newest whole state in."""
        cdef DeviceSlot *slot = &self.runtime.arena.devices[self.device]
        hd_seq_read(&slot.sequence, &slot.shown, &self.state, sizeof(DeviceState))

    def snapshot(self, out=None) -> np.ndarray:
        """The newest whole state: 0-d array of dtype DEVICE_STATE, `out` when given."""
        if out is None:
            out = np.empty((), dtype=DEVICE_STATE)
        self.refresh()
        copy_out(out, &self.state, sizeof(DeviceState))
        return out


cdef class Writer:
    """One session's record of one device: its view (basis, mount, workspace) and what it commands. Main thread only."""

    def __cinit__(self, Runtime runtime not None, session, device):
        self.runtime = runtime
        self.session = session.slot
        self.device = device.slot
        self.revoked = False
        memset(&self.record, 0, sizeof(Record))
        self.record.session_generation = session.generation
        self.record.device_generation = device.generation
        view_identity(&self.record.view)

    def set_basis(self, axes: tuple[int, int, int], signs: tuple[int, int, int]) -> None:
        """Application axis i takes signs[i] times device axis axes[i]; a held position is released."""
        fill_basis(&self.record.view.basis, axes, signs)
        self.record.commands &= ~<uint32_t>COMMAND_POSITION

    def set_mount(self, position, rotation, scale) -> None:
        """Mount transform: position (m), unit quaternion w x y z, scale > 0; a held position is released."""
        fill_transform(&self.record.view.mount, position, rotation, scale)
        self.record.commands &= ~<uint32_t>COMMAND_POSITION

    def set_workspace(self, position, rotation, scale) -> None:
        """Workspace transform: position (m), unit quaternion w x y z, scale > 0; a held position follows it."""
        fill_transform(&self.record.view.workspace, position, rotation, scale)
        self.record.workspace_revision += 1

    def begin(self) -> None:
        """Start a new set of commands: what is not set again before `publish` is released."""
        self.record.commands = 0

    def force(self, double x, double y, double z) -> None:
        """Command a force (N, application space); it keeps its direction at the device when the view changes later."""
        cdef double f[3]
        check_finite(x, y, z)
        f[0] = x; f[1] = y; f[2] = z
        force_to_device(&self.record.view, f, self.record.force)
        self.record.commands |= COMMAND_FORCE

    def torque(self, double a0, double a1, double a2) -> None:
        """Command joint torques (N.mm)."""
        check_finite(a0, a1, a2)
        self.record.torque[0] = a0; self.record.torque[1] = a1; self.record.torque[2] = a2
        self.record.commands |= COMMAND_TORQUE

    def position(self, double x, double y, double z) -> None:
        """Hold a position (m, application space)."""
        check_finite(x, y, z)
        self.record.position[0] = x; self.record.position[1] = y; self.record.position[2] = z
        self.record.commands |= COMMAND_POSITION

    def angle(self, double a0, double a1, double a2) -> None:
        """Hold joint angles (degrees)."""
        check_finite(a0, a1, a2)
        self.record.angle[0] = a0; self.record.angle[1] = a1; self.record.angle[2] = a2
        self.record.commands |= COMMAND_ANGLE

    def publish(self, bint refresh=True) -> bool:
        """Hand the record to the loop; `refresh` stamps its commands with now. False when the session or the device is closed."""
        cdef RecordCell *cell
        if self.revoked or not current(self):
            return False
        if refresh:
            self.record.command_ns = self.runtime._now()
        self.record.revision += 1
        cell = &self.runtime.arena.records[self.session * MAX_DEVICES + self.device]
        hd_triple_publish(&cell.cell, cell.buffers, &self.record, sizeof(Record))
        hd_or(&self.runtime.arena.devices[self.device].fresh[self.session >> 6], <uint64_t>1 << (self.session & 63))
        return True

    def revoke(self) -> None:
        """Release everything at the next tick; nothing that is written later counts."""
        if not self.revoked:
            self.record.commands = 0
            self.publish(False)
            self.revoked = True

    @property
    def commands(self) -> int:
        """Which commands are set: 1 force, 2 position, 4 torques, 8 angles."""
        return self.record.commands

    @property
    def command_ns(self) -> int:
        """When commands were last stamped, nanoseconds of the runtime's clock; 0 = never."""
        return self.record.command_ns

    @property
    def workspace(self) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
        """Workspace transform as (position, rotation w x y z, scale)."""
        cdef Transform *m = &self.record.view.workspace
        return (m.t[0], m.t[1], m.t[2]), (m.q[0], m.q[1], m.q[2], m.q[3]), (m.s[0], m.s[1], m.s[2])


cdef bint current(Writer writer) noexcept:
    """Whether both leases of a writer hold; while it keeps the GIL nobody leases or releases."""
    cdef Arena *arena = writer.runtime.arena
    return (hd_load(&arena.sessions[writer.session].generation) == writer.record.session_generation
            and hd_load(&arena.devices[writer.device].generation) == writer.record.device_generation)


cdef int check_finite(double a, double b, double c) except -1:
    if not (isfinite(a) and isfinite(b) and isfinite(c)):
        raise ValueError("commands must be finite numbers")
    return 0


cdef int fill_basis(Basis *basis, axes, signs) except -1:
    """Copy a signed permutation in, with its determinant; ValueError unless it is one."""
    cdef int i, parity = 1
    if sorted(axes) != [0, 1, 2] or len(signs) != 3 or any(sign not in (-1, 1) for sign in signs):
        raise ValueError("a basis needs each axis once and signs of 1 or -1")
    for i in range(3):
        basis.axis[i] = axes[i]
        basis.sign[i] = signs[i]
        parity *= basis.sign[i]
    if (axes[0], axes[1], axes[2]) not in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        parity = -parity
    basis.determinant = parity
    return 0


cdef int fill_transform(Transform *m, position, rotation, scale) except -1:
    """Copy a transform in; ValueError unless finite, of unit rotation (1e-9) and positive scale."""
    cdef double norm = 0
    cdef Transform copy
    cdef int i
    if not (len(position) == 3 and len(rotation) == 4 and len(scale) == 3):
        raise ValueError("a transform needs 3 numbers of position, 4 of rotation and 3 of scale")
    for i in range(3):
        copy.t[i] = position[i]
        copy.s[i] = scale[i]
        if not (isfinite(copy.t[i]) and isfinite(copy.s[i]) and copy.s[i] > 0):
            raise ValueError("a transform needs finite positions and positive finite scales")
    for i in range(4):
        copy.q[i] = rotation[i]
        norm += copy.q[i] * copy.q[i]
    if not -1e-9 < norm - 1 < 1e-9:
        raise ValueError("a transform needs a unit quaternion")
    m[0] = copy
    return 0
