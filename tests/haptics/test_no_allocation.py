"""A million samples of the filter, in ticks of the loop that ships, leave the heap as it was; that no call takes memory see tests/lint."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Final

import pytest

from fastpath.arena import default_oscillation
from tests.support.devices import REST, Rig, arm_params

SAMPLES: Final = 1_000_000
AXES: Final = 3
WARM: Final = 1000
# As the manual lists them.
COUNTS: Final = (
    "arena",
    "ordblks",
    "smblks",
    "hblks",
    "hblkhd",
    "usmblks",
    "fsmblks",
    "uordblks",
    "fordblks",
    "keepcost",
)


class Heap(ctypes.Structure):
    """`struct mallinfo2` of the C library."""

    _fields_ = [(name, ctypes.c_size_t) for name in COUNTS]


@dataclass(slots=True)
class Counter:
    """Bytes that malloc has given out and not got back; the count itself takes none once it has been asked."""

    libc: ctypes.CDLL

    def bytes(self) -> int:
        """In use now, mapped blocks too."""
        heap = self.libc.mallinfo2()
        return int(heap.uordblks) + int(heap.hblkhd)


@pytest.fixture
def counter() -> Counter:
    """Warm, so that two counts in a row are the same."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        pytest.skip("the C library has no mallinfo2 to count with")
    libc.mallinfo2.restype = Heap
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes = [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    found = Counter(libc)
    for _ in range(3):
        found.bytes()
    return found


def test_a_million_samples_of_the_filter_take_no_memory(counter: Counter) -> None:
    rig = Rig(arm_params(hand={"path": REST}, slew=3000.0, slow_slew=500.0), frequency=32_000.0)
    rig.runtime.publish_loop(frequency=32_000.0, command_timeout=60.0, oscillation=default_oscillation())
    rig.force(2.0, -1.0, 0.5)
    rig.runtime.step(WARM)
    before = counter.bytes()

    rig.runtime.step(SAMPLES // AXES + 1)

    assert counter.bytes() == before


def test_the_count_notices_a_block(counter: Counter) -> None:
    before = counter.bytes()
    block = counter.libc.malloc(3000)
    found = counter.bytes()
    counter.libc.free(block)

    assert found >= before + 3000
