"""Read a device's newest state as a session sees it, without the interpreter."""

from fastpath.cells.cells cimport hd_seq_read, hd_seq_read_both
from fastpath.layout.arena cimport DeviceSlot, DeviceState, Record, RecordCell
from fastpath.layout.navigation cimport NAVIGATION_OFF, Navigated
from fastpath.navigation.bubble cimport initial_bubble, is_current


cdef inline void read_state(const DeviceSlot *slot, DeviceState *out) noexcept nogil:
    """Copy the newest whole state in."""
    hd_seq_read(&slot.sequence, &slot.shown, out, sizeof(DeviceState))


cdef inline bint read_navigated(
    const DeviceSlot *slot, const RecordCell *cell, const Record *record, const double *home, DeviceState *out, Navigated *navigated
) noexcept nogil:
    """Copy the newest state and the navigation of a session's record in; False while that is off or the loop has not started it.

    `cell` is where the loop shows it, NULL for a record that is never published.
    """
    if record == NULL or record.navigation.mode == NAVIGATION_OFF:
        read_state(slot, out)
        return False
    if cell == NULL:
        read_state(slot, out)
    else:
        hd_seq_read_both(&slot.sequence, &slot.shown, out, sizeof(DeviceState), &cell.shown, navigated, sizeof(Navigated))
        if is_current(navigated, record):
            return True
    initial_bubble(record, home, navigated)
    return False
