"""Ports at the level of descriptors: the last words that zero their motors when a fatal signal ends the process.

Whoever opens a port registers its zero packet before it sends the first force, and unregisters it before it closes the
descriptor: a number that the system has given to another file by then must not be written to.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stddef cimport size_t

cdef extern from "port/fatal_signal.h" nogil:
    const int HD_WORDS
    const int HD_WORD_BYTES
    ctypedef struct hd_word:
        pass
    hd_word *hd_words
    int hd_word_descriptor(const hd_word *word)
    int hd_words_put(int descriptor, const void *packet, size_t length)
    void hd_words_forget(int descriptor, const hd_word *except_one)
    int hd_words_install()


def install() -> None:
    """Stand before the handlers of SIGSEGV, SIGBUS, SIGFPE, SIGABRT; call it before and after faulthandler.enable(). OSError."""
    cdef int error = hd_words_install()
    if error != 0:
        raise OSError(error, "the handlers of fatal signals could not be set")


def register(int descriptor, bytes packet not None) -> None:
    """Prepare the zero packet (1 to 256 bytes) of an open descriptor, in place of an earlier one."""
    if descriptor < 0:
        raise ValueError(f"{descriptor} is no open descriptor")
    if not 1 <= PyBytes_GET_SIZE(packet) <= HD_WORD_BYTES:
        raise ValueError(f"a zero packet needs 1 to {HD_WORD_BYTES} bytes, not {len(packet)}")
    if not hd_words_put(descriptor, PyBytes_AS_STRING(packet), PyBytes_GET_SIZE(packet)):
        raise RuntimeError(f"{HD_WORDS} zero packets are prepared already: unregister the ports that were closed")


def unregister(int descriptor) -> None:
    """Forget the packet of a descriptor, if there is one."""
    hd_words_forget(descriptor, NULL)


def registered() -> tuple[int, ...]:
    """Descriptors that have a packet, in ascending order."""
    cdef int i
    found = []
    for i in range(HD_WORDS):
        if hd_word_descriptor(&hd_words[i]) >= 0:
            found.append(hd_word_descriptor(&hd_words[i]))
    return tuple(sorted(found))
