"""PortCell: the sample and order cells of one device, for a link with a Python thread; serial port threads use them in C."""

from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from fastpath.arena.runtime cimport Runtime
from fastpath.cells.cells cimport hd_load, hd_triple_front, hd_triple_publish, hd_triple_take
from fastpath.layout.arena cimport DeviceSlot
from fastpath.layout.constants cimport MAX_DEVICES
from fastpath.layout.port cimport OrderTaker, PortOrder, PortSample
from fastpath.port.order_gaps cimport is_answered

cdef extern from "platform/realtime.h" nogil:
    int64_t hd_now_ns()


cdef class PortCell:
    """Writes samples and reads orders of one device while its lease holds. One thread at a time: each cell has one writer."""

    cdef Runtime runtime
    cdef DeviceSlot *slot
    cdef uint64_t generation
    cdef PortSample sample
    cdef OrderTaker taker

    def __cinit__(self, Runtime runtime not None, lease):
        if not 0 <= lease.slot < MAX_DEVICES:
            raise ValueError(f"{lease.slot} is no slot of a device")
        self.runtime = runtime
        self.slot = &runtime.arena.devices[<int>lease.slot]
        self.generation = lease.generation
        memset(&self.sample, 0, sizeof(PortSample))
        memset(&self.taker, 0, sizeof(OrderTaker))
        self.taker.gaps = hd_load(&self.slot.order_gaps)
        self.taker.taken_ns = hd_now_ns()

    def put(
        self, *, joint=(0.0, 0.0, 0.0), position=(0.0, 0.0, 0.0), orientation=(0.0, 0.0, 0.0, 0.0), uint64_t buttons=0,
        double hall=0, double battery_level=0, double battery_voltage=0, double temperature=0, uint32_t bits=0, uint64_t faults=0,
    ) -> bool:
        """Publish a packet that arrived now; False when the lease has ended or a number is not finite."""
        cdef PortSample *s = &self.sample
        cdef double sum = hall + battery_level + battery_voltage + temperature
        cdef int i
        for i in range(3):
            s.joint[i] = joint[i]
            s.position[i] = position[i]
            sum += s.joint[i] + s.position[i]
        for i in range(4):
            s.orientation[i] = orientation[i]
            sum += s.orientation[i]
        if hd_load(&self.slot.generation) != self.generation or not isfinite(sum):
            return False
        s.count += 1
        s.time_ns = self.runtime._now()
        s.generation = <uint32_t>self.generation
        s.bits = bits
        s.faults = faults
        s.buttons = buttons
        s.hall = hall
        s.battery_level = battery_level
        s.battery_voltage = battery_voltage
        s.temperature = temperature
        hd_triple_publish(&self.slot.sample_cell, self.slot.samples, s, sizeof(PortSample))
        return True

    def order(self, int64_t period_ns=0) -> tuple[int, tuple[float, float, float], tuple[float, float, float]] | None:
        """Return the newest order: its time (ns), force (N, device frame), joint torques (N.mm); None before the first of this lease.

        Zero force and torques when the last call was more than 20 ms and a period of the caller (ns) ago, until the loop has begun from zero.
        """
        cdef PortOrder *o
        cdef bint answered
        if hd_load(&self.slot.generation) != self.generation:
            return None
        hd_triple_take(&self.slot.order_cell)
        o = <PortOrder *>hd_triple_front(&self.slot.order_cell, self.slot.orders, sizeof(PortOrder))
        if o.generation != self.generation:
            return None
        answered = is_answered(&self.taker, self.runtime.arena, self.slot, o, hd_now_ns(), period_ns)
        self.taker.taken_ns = hd_now_ns()
        if not answered:
            return o.time_ns, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        return o.time_ns, (o.force[0], o.force[1], o.force[2]), (o.torque[0], o.torque[1], o.torque[2])
