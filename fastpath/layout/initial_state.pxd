"""Reset a device's state to what it is before the first measurement, also when its slot is leased to another device."""

from libc.string cimport memset

from fastpath.layout.arena cimport DeviceState


cdef inline void reset_measurement(DeviceState *s) noexcept nogil:
    """Reset what was measured: flags, buttons, hall, battery to 0, orientation to the identity."""
    s.flags = 0
    memset(s.orientation, 0, sizeof(s.orientation))
    s.orientation[0] = 1
    s.buttons = 0
    s.hall = 0
    s.battery_level = 0
    s.battery_voltage = 0


cdef inline void reset_state(DeviceState *s) noexcept nogil:
    """Reset the whole state: all 0, orientation to the identity."""
    memset(s, 0, sizeof(DeviceState))
    reset_measurement(s)
