"""Runtime: owns the arena (the memory that the loop shares with Python), leases its slots, and makes Writers and Readers.

Slots are leased by name under a lock that no tick takes. A Writer commands one device for one session; a Reader reads one
device's state. Both work without a lock while their leases hold.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset
import threading

import numpy as np

from fastpath.arena.access import Reader, Writer
from fastpath.arena.array_copy cimport copy_in, copy_out
from fastpath.arena.memory import Lease
from fastpath.arena.memory cimport ArenaMemory
from fastpath.cells.cells cimport hd_load, hd_or, hd_seq_read, hd_store, hd_triple_init, hd_triple_publish
from fastpath.layout.arena cimport Arena, DeviceParams, DeviceSlot, DeviceState, LoopParams, LoopState, RecordCell
from fastpath.layout.constants cimport MAX_DEVICES, MAX_SESSIONS, SLOT_ACTIVE, SLOT_FREE, SLOT_RETIRING
from fastpath.layout.dtypes import DEVICE_PARAMS, LOOP_STATE, OSCILLATION_PARAMS
from fastpath.layout.force cimport OscillationParams
from fastpath.layout.initial_state cimport reset_state
from fastpath.layout.scene cimport SCENES, SceneCell
from fastpath.tick.loop cimport loop_join, loop_start, loop_step, loop_sweep
from fastpath.tick.oscillation_defaults cimport oscillation_defaults

cdef extern from "platform/realtime.h" nogil:
    int HD_STACK_BYTES
    int64_t hd_now_ns()
    void *hd_pages(size_t bytes)
    void hd_pages_free(void *pages, size_t bytes)
    int hd_pages_lock(void *pages, size_t bytes)


class NoSlot(RuntimeError):
    """Every slot of the arena is leased."""


def now_ns() -> int:
    """Return CLOCK_MONOTONIC in ns, the clock of the whole service."""
    return hd_now_ns()


def default_oscillation() -> np.ndarray:
    """Return the tuned parameters of the oscillation filter: 0-d array of dtype OSCILLATION_PARAMS."""
    cdef OscillationParams params
    out = np.empty((), dtype=OSCILLATION_PARAMS)
    oscillation_defaults(&params)
    copy_out(out, &params, sizeof(OscillationParams))
    return out


cdef class Runtime(ArenaMemory):
    """The arena and its loop. With `stepping` the loop runs only by `step`, on a virtual clock that starts at 1 s."""

    def __cinit__(self, *, bint realtime=True, int max_sessions=64, bint stepping=False):
        if not 1 <= max_sessions <= MAX_SESSIONS:
            raise ValueError(f"max_sessions must be 1 to {MAX_SESSIONS}, not {max_sessions}")
        cdef size_t records = <size_t>max_sessions * MAX_DEVICES * sizeof(RecordCell)
        cdef size_t size = sizeof(Arena) + records + SCENES * sizeof(SceneCell)
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
        self.arena.scenes = <SceneCell *>(<char *>self.arena + sizeof(Arena) + records)
        self.arena.session_count = max_sessions
        self.arena.session_words = (max_sessions + 63) // 64
        self.arena.dead_man_gain = 1
        self.arena.virtual_clock = stepping
        self.arena.virtual_ns = 1000000000 if stepping else 0
        self.arena.beat_ns = self.arena.virtual_ns
        self.arena.window_ns = <int64_t>self.arena.virtual_ns
        hd_triple_init(&self.arena.params_cell)
        for i in range(MAX_DEVICES):
            reset_state(&self.arena.devices[i].inner.state)
            reset_state(&self.arena.devices[i].shown)
            hd_triple_init(&self.arena.devices[i].params_cell)
            hd_triple_init(&self.arena.devices[i].sample_cell)
            hd_triple_init(&self.arena.devices[i].order_cell)
        for i in range(max_sessions * MAX_DEVICES):
            hd_triple_init(&self.arena.records[i].cell)
        for i in range(SCENES):
            hd_triple_init(&self.arena.scenes[i].cell)
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
        """Return the clock that stamps commands, ns: CLOCK_MONOTONIC, or the virtual one when stepping."""
        return self._now()

    def beat(self) -> None:
        """Feed the dead man's switch: it trips when 500 ms pass without a beat of the timekeeper."""
        hd_store(&self.arena.beat_ns, <uint64_t>self._now())

    # ------------------------------------------------------------ the loop

    def publish_loop(
        self, *, double frequency, double command_timeout, double scene_timeout=0.5, bint spin=True, double duty=1, oscillation=None,
    ) -> None:
        """Set the loop's parameters from the next tick on: `frequency` in Hz (1 to 32,000), time-outs in s, `duty` the share of ticks that run."""
        cdef LoopParams params
        if not 1 <= frequency <= 32000:
            raise ValueError(f"the loop frequency must be 1 to 32000 Hz, not {frequency}")
        if not command_timeout > 0:
            raise ValueError(f"the command time-out must be above 0 s, not {command_timeout}")
        params.frequency = frequency
        params.command_timeout = command_timeout
        if not scene_timeout > 0:
            raise ValueError(f"the time-out of scenes must be above 0 s, not {scene_timeout}")
        params.scene_timeout = scene_timeout
        if not 0 <= duty <= 1:
            raise ValueError(f"the share of ticks that run must be 0 to 1, not {duty}")
        params.spin = spin
        params.duty = duty
        oscillation_defaults(&params.oscillation)
        if oscillation is not None:
            if oscillation.dtype != OSCILLATION_PARAMS:
                raise TypeError("parameters of the oscillation filter need dtype OSCILLATION_PARAMS")
            copy_in(oscillation, &params.oscillation, sizeof(OscillationParams))
        with self._lock:
            self.revision += 1
            params.revision = self.revision
            hd_triple_publish(&self.arena.params_cell, self.arena.params, &params, sizeof(LoopParams))

    def start(self, *, int priority=80, int cpu=-1) -> None:
        """Start the loop thread. `loop_state` shows whether `priority` and `cpu` were granted. Raise OSError without a thread."""
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
        """Put zero force on every device, stop the loop, and wait for its end."""
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

    def step(self, long long ticks=1, *, bint beat=True, long long missed=0) -> None:
        """Run ticks of the loop on the calling thread, at exact periods of the virtual clock. Leasing waits meanwhile.

        A gap of `missed` periods comes before the first tick, as on a machine that is short of time.
        """
        if not self.stepping:
            raise RuntimeError("step() needs Runtime(stepping=True)")
        if missed < 0:
            raise ValueError(f"the number of missed periods must be 0 or more, not {missed}")
        # Without a loop thread, a released slot is freed at once on the caller's thread; the lock keeps that out of a tick.
        with self._lock, nogil:
            loop_step(self.arena, ticks, beat, missed)

    @property
    def running(self) -> bool:
        """Whether the loop thread has been started and not stopped."""
        return self.thread != NULL

    def loop_state(self) -> np.ndarray:
        """Return a copy of the loop's counters: 0-d array of dtype LOOP_STATE."""
        out = np.empty((), dtype=LOOP_STATE)
        cdef LoopState state
        hd_seq_read(&self.arena.sequence, &self.arena.shown, &state, sizeof(LoopState))
        copy_out(out, &state, sizeof(LoopState))
        return out

    cdef bint _lock_memory(self) except -1:
        """Lock the memory that the loop uses: arena, stack, and pages of the fastpath extensions. False when the system refuses."""
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
        """Lease a session's slot by name. A leased name gets the same slot and the next generation. Raise NoSlot when all are in use."""
        cdef int slot
        with self._lock:
            slot = self._find(self._sessions, name, self.max_sessions, False)
            hd_store(&self.arena.sessions[slot].generation, self.arena.sessions[slot].generation + 1)
            hd_store(&self.arena.sessions[slot].heard_ns, <uint64_t>self._now())
            hd_store(&self.arena.sessions[slot].state, SLOT_ACTIVE)
            self._sessions[name] = slot
            return Lease(slot, self.arena.sessions[slot].generation, name)

    def hear(self, lease: Lease) -> None:
        """Note a sign of life of a session's client: without one for the time-out of scenes its scenes fade."""
        hd_store(&self.arena.sessions[<int>lease.slot].heard_ns, <uint64_t>self._now())

    def release_session(self, lease: Lease) -> None:
        """Release a session's slot: its records are invalid at once, the slot is free after the next tick."""
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
        """Lease a device's slot by name. A leased name gets the same slot and the next generation. Raise NoSlot when all are in use."""
        cdef int slot
        cdef DeviceParams empty
        with self._lock:
            slot = self._find(self._devices, name, MAX_DEVICES, True)
            if name not in self._devices:
                memset(&empty, 0, sizeof(empty))
                hd_triple_publish(
                    &self.arena.devices[slot].params_cell, self.arena.devices[slot].params, &empty, sizeof(empty))
                hd_store(&self.arena.devices[slot].stop, 0)
            hd_store(&self.arena.devices[slot].resume, 0)
            hd_store(&self.arena.devices[slot].generation, self.arena.devices[slot].generation + 1)
            hd_store(&self.arena.devices[slot].state, SLOT_ACTIVE)
            self._devices[name] = slot
            return Lease(slot, self.arena.devices[slot].generation, name)

    def release_device(self, lease: Lease) -> None:
        """Release a device's slot: the loop writes zero output and frees the slot at its next tick."""
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
        """Return the numbers of session slots and of device slots in use."""
        cdef int i, sessions = 0, devices = 0
        for i in range(self.max_sessions):
            sessions += hd_load(&self.arena.sessions[i].state) != SLOT_FREE
        for i in range(MAX_DEVICES):
            devices += hd_load(&self.arena.devices[i].state) != SLOT_FREE
        return sessions, devices

    # ------------------------------------------------------------ devices

    def publish_device(self, lease: Lease, params: np.ndarray) -> bool:
        """Publish one device's parameters (0-d array of dtype DEVICE_PARAMS); False when the lease has ended. Only its DeviceActor may call it."""
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
        """Set or release the stop latch of one device: zero output from the next tick; False when the lease has ended."""
        cdef DeviceSlot *slot = &self.arena.devices[<int>lease.slot]
        with self._lock:
            if slot.generation != lease.generation or slot.state != SLOT_ACTIVE:
                return False
            hd_store(&slot.stop, stopped)
            return True

    def resume_device(self, lease: Lease) -> bool:
        """Let a latched e-brake end once the device has rested; False when the lease has ended or no brake waits for a request."""
        cdef DeviceSlot *slot = &self.arena.devices[<int>lease.slot]
        cdef DeviceState state
        reset_state(&state)
        with self._lock:
            if slot.generation != lease.generation or slot.state != SLOT_ACTIVE:
                return False
            hd_seq_read(&slot.sequence, &slot.shown, &state, sizeof(DeviceState))
            if state.generation != <uint32_t>slot.generation or state.waiting == 0:
                return False
            hd_store(&slot.resume, <uint64_t>slot.generation << 32 | state.waiting)
            return True

    def reader(self, lease: Lease) -> Reader:
        """Return a Reader of one device's state."""
        return Reader(self, lease)

    def writer(self, session: Lease, device: Lease) -> Writer:
        """Return a Writer of one session for one device; its view is the identity and it commands nothing yet."""
        return Writer(self, session, device)
