"""Orders that come to a device too late: what takes them there says so, and sends zero until the loop lets the force grow from zero.

The motors may have held an old order meanwhile, or the device's own watchdog may have ended it. Not on a virtual clock, which
stands still while orders are taken.
"""

from libc.stdint cimport int64_t

from fastpath.cells.cells cimport hd_store
from fastpath.layout.arena cimport Arena, DeviceSlot
from fastpath.layout.port cimport OLDEST_ORDER_NS, OrderTaker, PortOrder

cdef extern from "platform/realtime.h" nogil:
    int64_t hd_now_ns()


cdef inline void begin_orders(OrderTaker *taker, DeviceSlot *slot) noexcept nogil:
    """Begin with the orders of another lease, as if one had been taken now."""
    taker.taken_ns = hd_now_ns()
    hd_store(&slot.order_gaps, taker.gaps)


cdef inline bint is_answered(OrderTaker *taker, const Arena *arena, DeviceSlot *slot, const PortOrder *order, int64_t now, int64_t period) noexcept nogil:
    """Return whether an order may go to the device now (ns): False after a gap until the loop has answered to it.

    `period`: ns between two orders, beyond which OLDEST_ORDER_NS counts.
    """
    if not arena.virtual_clock and taker.taken_ns != 0 and now - taker.taken_ns > OLDEST_ORDER_NS + period:
        taker.gaps += 1
        # So that each gap counts once, also where the order is not sent.
        taker.taken_ns = now
    if order.gaps == taker.gaps:
        return True
    # In each call: another taker of the slot, on its way out, may have written its own count over this one.
    hd_store(&slot.order_gaps, taker.gaps)
    return False
