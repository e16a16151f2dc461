"""Text of a device's newest state, shared by all sessions in the same space and format until the loop shows the next state.

A SharedText belongs to one thread: nobody else reads or writes it. It lies in one piece, made once.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memcpy

from fastpath.cells.cells cimport hd_load
from fastpath.layout.arena cimport View
from fastpath.layout.constants cimport MAX_DEVICES, SESSION_WORDS
from fastpath.text.state_text cimport FrameOptions

cdef enum:
    # spaces and formats of one device that are kept at the same time
    VARIANTS = 4
    # state and status of one device: 59 numbers and their names
    ENTRY_BYTES = 4096


cdef struct TextKey:
    # what a text depends on, beside the state and the view
    int shape
    bint wireless
    bint ready
    bint in_use
    const void *fields
    FrameOptions options

cdef struct DeviceText:
    # even: the number of the state that this is the text of; odd: none
    uint64_t sequence
    TextKey key
    View view
    # of the state: who commands the device
    uint64_t live[SESSION_WORDS]
    # numbers that were written as `null`
    uint64_t nulls
    size_t size
    char text[ENTRY_BYTES]

cdef struct SharedText:
    DeviceText texts[MAX_DEVICES][VARIANTS]
    # texts that were taken instead of being written
    uint64_t taken


cdef inline bint commanded_by_others(const uint64_t *live, int own_session) noexcept nogil:
    """Return whether any other session commands the device."""
    cdef uint64_t word
    cdef int i
    for i in range(SESSION_WORDS):
        word = live[i]
        if own_session >> 6 == i:
            word &= ~(<uint64_t>1 << (own_session & 63))
        if word != 0:
            return True
    return False


cdef inline const DeviceText *find_text(
    const SharedText *shared, int device, const uint64_t *sequence, const TextKey *key, const View *view, bint motors, int own_session
) noexcept nogil:
    """Return the text of the newest state, NULL for none; `key.in_use` counts for nothing: it follows from `own_session`."""
    cdef uint64_t now = hd_load(sequence)
    cdef const DeviceText *found
    cdef TextKey wanted = key[0]
    cdef int i
    for i in range(VARIANTS):
        found = &shared.texts[device][i]
        if found.sequence != now or now & 1:
            continue
        wanted.in_use = motors and commanded_by_others(found.live, own_session)
        if memcmp(&found.key, &wanted, sizeof(TextKey)) == 0 and memcmp(&found.view, view, sizeof(View)) == 0:
            return found
    return NULL


cdef inline void keep_text(
    SharedText *shared, int device, uint64_t sequence, const TextKey *key, const View *view, const uint64_t *live,
    uint64_t nulls, const char *text, size_t size,
) noexcept nogil:
    """Keep the text of a state in place of one of an older state; without such a place, and with an odd `sequence`, it is not kept."""
    cdef DeviceText *kept
    cdef int i
    if sequence & 1 or size > ENTRY_BYTES:
        return
    for i in range(VARIANTS):
        kept = &shared.texts[device][i]
        if kept.sequence == sequence:
            continue
        kept.sequence = sequence
        memcpy(&kept.key, key, sizeof(TextKey))
        memcpy(&kept.view, view, sizeof(View))
        memcpy(kept.live, live, sizeof(kept.live))
        kept.nulls = nulls
        kept.size = size
        memcpy(kept.text, text, size)
        return
