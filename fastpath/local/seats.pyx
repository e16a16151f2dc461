"""Seats of clients on this machine: their pages of commands, and the area of states that all of them read.

Main thread only. The loop reads a page only through the address in a session's record cell; a page is unmapped when ticks have passed since
that address was taken away.
"""

cimport cython
from libc.errno cimport errno
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset
import os

from fastpath.arena.access cimport Writer
from fastpath.arena.runtime cimport Runtime
from fastpath.cells.cells cimport hd_and, hd_load, hd_or, hd_seq_read, hd_seq_write, hd_store
from fastpath.layout.arena cimport LoopState
from fastpath.layout.constants cimport COMMANDS, MAX_DEVICES
from fastpath.layout.local cimport (
    HAPTICD_LOCAL_DEVICES, HAPTICD_LOCAL_MAGIC, HAPTICD_LOCAL_SEATS, HAPTICD_LOCAL_VERSION, LocalCommands, hapticd_local_answer,
    hapticd_local_name, hapticd_local_page, hapticd_local_seat, hapticd_local_states,
)

cdef extern from "local/memory_calls.h" nogil:
    int hd_file_make(const char *name, size_t bytes)
    int hd_file_close_writes(int file)
    void *hd_file_map(int file, size_t bytes, bint writable)
    void hd_file_unmap(void *map, size_t bytes)

cdef enum:
    # ticks after which none that was under way can still read a page
    TICKS_TO_LEAVE = 2

SEATS = HAPTICD_LOCAL_SEATS
VERSION = HAPTICD_LOCAL_VERSION
PAGE_BYTES = sizeof(hapticd_local_page)
STATES_BYTES = sizeof(hapticd_local_states)
if HAPTICD_LOCAL_DEVICES != MAX_DEVICES:
    raise AssertionError("hapticd_local.h and the arena differ in the number of devices")


cdef int fails(str what) except -1:
    raise OSError(errno, f"{what}: {os.strerror(errno)}")


# Its runtime is there until it has taken the area out of it.
@cython.no_gc_clear
cdef class LocalSeats:
    """The area of states, and the seats of clients. One for a Runtime."""

    cdef Runtime runtime
    cdef hapticd_local_states *states
    cdef readonly int descriptor
    cdef list free
    cdef list leaving
    cdef int open

    def __cinit__(self, Runtime runtime not None, largest):
        """`largest`: largest magnitude of the numbers of each command, by its code. OSError when there is no sealed memory on this system."""
        cdef int i
        self.runtime = runtime
        self.descriptor = -1
        self.free = list(range(SEATS))
        self.leaving = []
        for i in range(COMMANDS):
            runtime.arena.local.largest[i] = largest[i]
        self.descriptor = hd_file_make(b"hapticd-states", sizeof(hapticd_local_states))
        if self.descriptor < 0:
            fails("no memory file for states")
        self.states = <hapticd_local_states *>hd_file_map(self.descriptor, sizeof(hapticd_local_states), True)
        if self.states == NULL or hd_file_close_writes(self.descriptor) != 0:
            fails("no sealed memory for states")
        self.states.magic = HAPTICD_LOCAL_MAGIC
        self.states.version = HAPTICD_LOCAL_VERSION
        self.states.bytes = sizeof(hapticd_local_states)

    def __dealloc__(self):
        if self.descriptor >= 0:
            os.close(self.descriptor)
        if self.states == NULL:
            return
        hd_store(&self.runtime.arena.local.states, 0)
        # A tick may be under way that writes it: then it stays.
        if self.runtime.thread == NULL:
            hd_file_unmap(self.states, sizeof(hapticd_local_states))

    def turned(self, double longest_turn) -> None:
        """Note that the event loop turns; commands are taken until it has not for `longest_turn` (s)."""
        hd_store(&self.runtime.arena.local.longest_turn_ns, <uint64_t>(longest_turn * 1e9))
        hd_store(&self.runtime.arena.local.turned_ns, <uint64_t>self.runtime._now())

    def name(self, int slot, int64_t generation, str device_id, str kind) -> None:
        """Show which device has a slot; generation 0: none."""
        cdef hapticd_local_name named
        cdef bytes text
        memset(&named, 0, sizeof(named))
        named.generation = <uint64_t>generation
        text = device_id.encode()[:sizeof(named.device_id) - 1]
        memcpy(named.device_id, <const char *>text, len(text))
        text = kind.encode()[:sizeof(named.kind) - 1]
        memcpy(named.kind, <const char *>text, len(text))
        hd_seq_write(&self.states.names[slot].sequence, &self.states.names[slot].generation, &named.generation, sizeof(named) - 8)

    def seat(self, session) -> LocalSeat | None:
        """Return a seat for a leased session; None when all are taken. OSError."""
        cdef LocalSeat made
        self.sweep()
        if not self.free:
            return None
        made = LocalSeat(self, self.free[0], session)
        self.free.pop(0)
        self.open += 1
        hd_store(&self.runtime.arena.local.states, <uint64_t>self.states)
        return made

    def sweep(self) -> None:
        """Unmap the pages that no tick can read any more."""
        cdef LocalSeat left
        for left in self.leaving[:]:
            if self.runtime.thread == NULL or self.ticks() >= left.left_at + TICKS_TO_LEAVE:
                self.leaving.remove(left)
                left.unmap()
                self.free.append(left.number)
        if self.open == 0 and not self.leaving:
            # Nobody reads: a tick without clients does nothing.
            hd_store(&self.runtime.arena.local.states, 0)

    cdef uint64_t ticks(self):
        cdef LoopState state
        hd_seq_read(&self.runtime.arena.sequence, &self.runtime.arena.shown, &state, sizeof(LoopState))
        return state.ticks

    cdef void leave(self, LocalSeat seat):
        seat.left_at = self.ticks()
        self.leaving.append(seat)
        self.open -= 1


cdef class LocalHold:
    """What decides whether a client still holds one device by a position, as a Writer shows it of its session."""

    cdef LocalSeat seat
    cdef Writer writer

    def __cinit__(self, LocalSeat seat not None, Writer writer not None):
        self.seat = seat
        self.writer = writer

    @property
    def revoked(self) -> bool:
        """Whether the session has ended here."""
        return self.writer.revoked or not self.seat.has(self.writer)

    @property
    def commands(self) -> int:
        """Bits of the commands in force; all of them while a permission to begin is not used."""
        cdef LocalCommands *local = self.seat.at(self.writer.device)
        # Before what it was used for.
        if hd_load(&local.used_ns) != hd_load(&local.begin_ns):
            return (1 << COMMANDS) - 1
        return hd_load(&local.shown_commands)

    @property
    def command_ns(self) -> int:
        """When the newest record was taken, or the permission was given that is not used, ns."""
        cdef LocalCommands *local = self.seat.at(self.writer.device)
        cdef uint64_t begin = hd_load(&local.begin_ns)
        return begin if hd_load(&local.used_ns) != begin else hd_load(&local.shown_ns)


cdef class LocalSeat:
    """One client: its page of commands, for each device that it may command."""

    cdef LocalSeats seats
    cdef hapticd_local_page *page
    cdef readonly int number
    cdef readonly int descriptor
    cdef int session
    cdef uint64_t left_at
    cdef bint closed
    cdef dict writers

    def __cinit__(self, LocalSeats seats not None, int number, session):
        self.descriptor = hd_file_make(b"hapticd-commands", sizeof(hapticd_local_page))
        if self.descriptor < 0:
            fails("no memory file for commands")
        self.seats = seats
        self.number = number
        self.session = session.slot
        self.writers = {}
        memset(&seats.states.seats[number], 0, sizeof(hapticd_local_seat))

    def __dealloc__(self):
        if self.descriptor >= 0:
            os.close(self.descriptor)

    cdef void unmap(self):
        if self.page != NULL:
            hd_file_unmap(self.page, sizeof(hapticd_local_page))
            self.page = NULL

    cdef LocalCommands *at(self, int device):
        return &self.seats.runtime.arena.records[self.session * MAX_DEVICES + device].local

    cdef bint has(self, Writer writer):
        return not self.closed and self.writers.get(writer.device) is writer

    def seal(self) -> None:
        """Map the page once the client has; from then on it can neither be shortened nor emptied. OSError."""
        self.page = NULL if hd_file_close_writes(self.descriptor) != 0 else <hapticd_local_page *>hd_file_map(
            self.descriptor, sizeof(hapticd_local_page), False)
        if self.page == NULL:
            fails("no sealed memory for commands")
        os.close(self.descriptor)
        self.descriptor = -1

    def show(self, uint64_t session_id) -> None:
        """Show the client that its session is open."""
        hd_store(&self.seats.states.seats[self.number].session, session_id)

    def attach(self, Writer writer not None, int takes) -> None:
        """Let the loop take commands for the writer's device: bits `takes` of their codes."""
        cdef LocalCommands *local = self.at(writer.device)
        if self.closed or self.page == NULL:
            return
        hd_store(&local.takes, <uint64_t>takes)
        if self.writers.get(writer.device) is writer:
            return
        self.writers[writer.device] = writer
        hd_store(&local.begin_ns, 0)
        hd_store(&local.wants, 0)
        hd_store(&local.used_ns, 0)
        hd_store(&local.seat, <uint64_t>self.number)
        hd_store(&local.cell, <uint64_t>&self.page.devices[writer.device])
        hd_or(&self.seats.runtime.arena.devices[writer.device].local[self.session >> 6], <uint64_t>1 << (self.session & 63))

    def detach(self, int device) -> None:
        """Take nothing more for a device: zero at the next tick."""
        if self.writers.pop(device, None) is not None:
            hd_and(&self.seats.runtime.arena.devices[device].local[self.session >> 6], ~(<uint64_t>1 << (self.session & 63)))
            hd_store(&self.at(device).cell, 0)

    @property
    def devices(self) -> tuple[int, ...]:
        """Slots of the devices that are attached."""
        return tuple(self.writers)

    def close(self) -> None:
        """Take nothing more: zero at the next tick; the page is unmapped later."""
        if self.closed:
            return
        for device in tuple(self.writers):
            self.detach(device)
        self.closed = True
        hd_store(&self.seats.states.seats[self.number].session, 0)
        self.seats.leave(self)

    def give_up_positions(self) -> None:
        """Release held positions and angles; the client has to begin anew."""
        cdef LocalCommands *local
        for device in self.writers:
            local = self.at(device)
            hd_store(&local.begin_ns, hd_load(&local.used_ns))
            hd_store(&local.gave_up, hd_load(&local.gave_up) + 1)

    def wants_to_hold(self, int device) -> bool:
        """Return whether the client has sent a position that it was not allowed to begin with, since this was asked last."""
        cdef LocalCommands *local = self.at(device)
        cdef bint wants = hd_load(&local.wants) != 0
        hd_store(&local.wants, 0)
        return wants

    def allow_to_hold(self, int device) -> None:
        """Allow the client to begin to hold a device, once, within half a time-out."""
        hd_store(&self.at(device).begin_ns, <uint64_t>self.seats.runtime._now())

    def hold(self, Writer writer not None) -> LocalHold:
        """Return what shows whether the client still holds the writer's device."""
        return LocalHold(self, writer)

    def answer(self, int device) -> tuple[int, int, int]:
        """Return the number of records taken and refused of one device, and why the last one was refused."""
        cdef hapticd_local_answer *given = &self.seats.states.seats[self.number].devices[device]
        return given.records, hd_load(&given.refused), given.reason
