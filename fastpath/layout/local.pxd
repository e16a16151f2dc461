"""Shared memory of clients on this machine: the layout of their header, and what the loop keeps of each of them.

The header is what clients compile; the service has no second description of the layout.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from fastpath.layout.constants cimport COMMANDS

cdef extern from *:
    """
    #define HAPTICD_LOCAL_LAYOUT_ONLY
    #include "local/hapticd_local.h"
    """

cdef extern from "local/hapticd_local.h" nogil:
    enum:
        HAPTICD_LOCAL_VERSION
        HAPTICD_LOCAL_DEVICES
        HAPTICD_LOCAL_SEATS
        HAPTICD_LOCAL_TAKEN
        HAPTICD_LOCAL_BAD_SEQUENCE
        HAPTICD_LOCAL_BAD_DEVICE
        HAPTICD_LOCAL_BAD_COMMANDS
        HAPTICD_LOCAL_BAD_NUMBER
    uint64_t HAPTICD_LOCAL_MAGIC
    ctypedef struct hapticd_local_record:
        uint64_t sequence
        uint32_t generation
        uint32_t commands
        double set_points[4][3]
    ctypedef struct hapticd_local_cell:
        uint64_t sequence
        hapticd_local_record records[16]
    ctypedef struct hapticd_local_page:
        hapticd_local_cell devices[16]
    ctypedef struct hapticd_local_state:
        uint64_t tick
        int64_t time_ns
        uint32_t generation
        uint32_t flags
        uint32_t mode
        uint32_t safety
        double position[3]
        double velocity[3]
        double force[3]
        double angles[3]
        double angular_velocities[3]
        double torques[3]
        double orientation[4]
        double hall
        uint64_t buttons
    ctypedef struct hapticd_local_shown:
        uint64_t sequence
        hapticd_local_state state
    ctypedef struct hapticd_local_name:
        uint64_t sequence
        uint64_t generation
        char device_id[48]
        char kind[24]
    ctypedef struct hapticd_local_answer:
        uint64_t taken
        uint64_t records
        uint64_t refused
        uint32_t reason
        uint32_t in_force
    ctypedef struct hapticd_local_seat:
        uint64_t session
        hapticd_local_answer devices[16]
    ctypedef struct hapticd_local_states:
        uint64_t magic
        uint32_t version
        uint32_t bytes
        uint64_t tick
        int64_t tick_ns
        int64_t period_ns
        int64_t timeout_ns
        hapticd_local_name names[16]
        hapticd_local_shown devices[16]
        hapticd_local_seat seats[32]

cdef struct LocalCommands:
    # of one session on one device. What each tick looks at comes first: address of the hapticd_local_cell (0: none), a word of the main thread
    uint64_t cell
    # how often the session had to give a position up, a word of the main thread, and how much of that the loop has heard
    uint64_t gave_up
    uint64_t given_up
    # the loop's own: sequence seen last and when it looked last (ns); the leases that all this belongs to; what is in force, and its stamp
    uint64_t seen
    int64_t looked_ns
    uint32_t session_generation
    uint32_t device_generation
    uint32_t commands
    uint32_t spare
    int64_t command_ns
    double set_points[COMMANDS][3]
    # sequence taken last
    uint64_t taken
    # words of the main thread: the client's seat, bits of the commands that the device takes now, and when it was last allowed to begin to
    # hold a position (ns)
    uint64_t seat
    uint64_t takes
    uint64_t begin_ns
    # words of the loop for the main thread: the client wants to begin to hold; commands in force, their stamp, the permission used last
    uint64_t wants
    uint64_t shown_commands
    uint64_t shown_ns
    uint64_t used_ns

cdef struct LocalShared:
    # words of the main thread: address of the hapticd_local_states (0: nobody reads them), CLOCK of the event loop's newest turn, and how
    # old it may be (ns)
    uint64_t states
    uint64_t turned_ns
    uint64_t longest_turn_ns
    # largest magnitude of the numbers of each command, written before any client is there
    double largest[COMMANDS]
