"""Register the zero packet of each open port; the handler of fatal signals writes them before the process ends.

Register the packet before the first force is sent, and unregister it before the descriptor is closed: the system may give the
same number to another file.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stddef cimport size_t

cdef extern from "port/fatal_signal.h" nogil:
    const int HD_PACKETS
    const int HD_PACKET_BYTES
    ctypedef struct hd_packet:
        pass
    hd_packet *hd_packets
    int hd_packet_descriptor(const hd_packet *word)
    int hd_packets_put(int descriptor, const void *packet, size_t length)
    void hd_packets_forget(int descriptor, const hd_packet *except_one)
    int hd_fatal_install()


def install() -> None:
    """Install the handler for SIGSEGV, SIGBUS, SIGFPE, SIGABRT; call it before and after faulthandler.enable(). Raise OSError."""
    cdef int error = hd_fatal_install()
    if error != 0:
        raise OSError(error, "the handlers of fatal signals could not be set")


def register(int descriptor, bytes packet not None) -> None:
    """Register the zero packet (1 to 256 bytes) of an open descriptor; it replaces an earlier one."""
    if descriptor < 0:
        raise ValueError(f"{descriptor} is no open descriptor")
    if not 1 <= PyBytes_GET_SIZE(packet) <= HD_PACKET_BYTES:
        raise ValueError(f"a zero packet needs 1 to {HD_PACKET_BYTES} bytes, not {len(packet)}")
    if not hd_packets_put(descriptor, PyBytes_AS_STRING(packet), PyBytes_GET_SIZE(packet)):
        raise RuntimeError(f"{HD_PACKETS} zero packets are prepared already: unregister the ports that were closed")


def unregister(int descriptor) -> None:
    """Remove the packet of a descriptor, if any."""
    hd_packets_forget(descriptor, NULL)


def registered() -> tuple[int, ...]:
    """Return the descriptors that have a packet, in ascending order."""
    cdef int i
    found = []
    for i in range(HD_PACKETS):
        if hd_packet_descriptor(&hd_packets[i]) >= 0:
            found.append(hd_packet_descriptor(&hd_packets[i]))
    return tuple(sorted(found))
