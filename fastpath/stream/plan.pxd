"""What the streaming thread knows of one session: the words it takes, the records it writes, and the frame it answers with."""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from fastpath.arena.holding cimport HELD, goes_on_holding
from fastpath.arena.record_writes cimport hand_over, is_leased, write_set_point
from fastpath.cells.cells cimport hd_load
from fastpath.layout.arena cimport Arena, Record
from fastpath.layout.constants cimport COMMAND_POSITION, MAX_DEVICES
from fastpath.text.frame_plan cimport FramePlan

cdef extern from "stream/command_scan.h" nogil:
    enum:
        HD_WORD_BYTES
        HD_SCAN_GROUPS
        HD_SCAN_DEVICES
        HD_SCAN_COMMANDS
        HD_SCAN_PROBES
    ctypedef struct hd_word:
        uint32_t size
        char text[40]
    ctypedef struct hd_group:
        hd_word word
        uint64_t kinds
    ctypedef struct hd_command:
        hd_word name
        hd_word field
        hd_word keys[3]
        double largest
        uint32_t code
    ctypedef struct hd_device:
        hd_word id
        uint64_t kind
        uint64_t takes
    ctypedef struct locale_t:
        pass
    ctypedef struct hd_words:
        hd_group groups[48]
        hd_device devices[64]
        hd_command commands[8]
        hd_word probes[8]
        uint32_t group_count
        uint32_t device_count
        uint32_t command_count
        uint32_t probe_count
        locale_t numbers
    ctypedef struct hd_point:
        uint32_t device
        uint32_t code
        double value[3]
    ctypedef struct hd_scan:
        uint64_t mapped
        uint32_t count
        hd_point points[64]
    bint hd_scan_message(const char *message, size_t size, const hd_words *words, hd_scan *out)

cdef struct DevicePlan:
    Record *record
    int session
    int device
    const bint *revoked

cdef struct StreamPlan:
    hd_words words
    Arena *arena
    FramePlan *frame
    int count
    DevicePlan devices[MAX_DEVICES]
    # ns after which commands fade
    int64_t timeout_ns
    # version of inventory and settings that this was made for
    uint64_t version


cdef inline bint is_open(const StreamPlan *plan) noexcept nogil:
    """Return whether every record may be written."""
    cdef int i
    for i in range(plan.count):
        if plan.devices[i].revoked[0]:
            return False
    return True


cdef inline bint may_hold(const StreamPlan *plan, const hd_scan *scan, int64_t now_ns) noexcept nogil:
    """Return whether the session goes on holding each position that it sends; who may begin to is decided elsewhere."""
    cdef const Record *record
    cdef uint32_t i
    for i in range(scan.count):
        if not HELD >> scan.points[i].code & 1:
            continue
        record = plan.devices[scan.points[i].device].record
        if record.duck <= 0 or not goes_on_holding(record.commands, record.command_ns, now_ns, plan.timeout_ns):
            return False
        if scan.points[i].code == COMMAND_POSITION and record.view.clutch == 0:
            return False
    return True


cdef inline void apply_scan(StreamPlan *plan, const hd_scan *scan, int64_t now_ns) noexcept nogil:
    """Apply the commands of a plain message: one map of commands releases what none of the maps names."""
    cdef uint64_t touched = 0
    cdef DevicePlan *device
    cdef int i
    if scan.mapped == 0:
        return
    for i in range(plan.count):
        if plan.devices[i].record.commands != 0:
            plan.devices[i].record.commands = 0
            touched |= <uint64_t>1 << i
    for i in range(<int>scan.count):
        write_set_point(plan.devices[scan.points[i].device].record, <int>scan.points[i].code, scan.points[i].value)
        touched |= <uint64_t>1 << scan.points[i].device
    for i in range(plan.count):
        device = &plan.devices[i]
        if touched >> i & 1 and is_leased(plan.arena, device.record, device.session, device.device):
            device.record.command_ns = now_ns
            hand_over(plan.arena, device.record, device.session, device.device)
