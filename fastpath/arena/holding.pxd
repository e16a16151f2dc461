"""The rule of who goes on holding a position: without asking, as long as the last one is younger than half a time-out.

Who may begin is decided on the event loop alone. Half the time-out leaves time until another session may take the device.
"""

from libc.stdint cimport int64_t, uint32_t

from fastpath.layout.constants cimport COMMAND_ANGLE, COMMAND_POSITION

cdef enum:
    HELD = 1 << COMMAND_POSITION | 1 << COMMAND_ANGLE


cdef inline bint goes_on_holding(uint32_t commands, int64_t command_ns, int64_t now_ns, int64_t timeout_ns) noexcept nogil:
    """Return whether a session with these commands in force, stamped at `command_ns`, may hold another position."""
    return commands & HELD != 0 and now_ns - command_ns <= timeout_ns // 2
