"""The state of a device before its first reading, and again when its slot is leased anew."""

from libc.string cimport memset

from fastpath.layout.arena cimport DeviceState


cdef inline void forget_reading(DeviceState *s) noexcept nogil:
    """Nothing is known of the device: no FLAG_, and the identity for its rotation, as zeros are none."""
    s.flags = 0
    memset(s.orientation, 0, sizeof(s.orientation))
    s.orientation[0] = 1
    s.buttons = 0
    s.hall = 0
    s.battery_level = 0
    s.battery_voltage = 0


cdef inline void state_begin(DeviceState *s) noexcept nogil:
    """All zero, but for the rotation."""
    memset(s, 0, sizeof(DeviceState))
    forget_reading(s)
