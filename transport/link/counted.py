"""What the thread of a serial port has counted, as every link shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.port.link import LinkCounters

if TYPE_CHECKING:
    from fastpath.port.port_thread import Counters


def counted(counters: Counters) -> LinkCounters:
    """Frames, bytes and errors since the port was opened; `late`: forces that were too old to be sent."""
    return LinkCounters(
        frames_in=counters.frames_in,
        frames_bad=counters.frames_bad,
        frames_out=counters.orders,
        bytes_in=counters.bytes_in,
        bytes_out=counters.bytes_out,
        late=counters.zeros,
        errors=counters.errors,
    )
