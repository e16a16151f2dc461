"""Ticks allocate no heap memory, whatever is enabled. (tests/lint checks that no call could.)"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Final

import pytest

from actors.values.identity import Kind
from fastpath.arena.runtime import default_oscillation
from fastpath.navigation.values import ZONES, Bubble
from tests.support.loop.devices import ARM_CENTRE, CIRCLE, REST, SteppedArm, arm_params, fill, grip_params
from tests.support.loop.driven_arm import point_outside
from tests.support.loop.monitored_arm import ATTACHED, DROPPED, EBRAKE
from tests.support.loop.scenes import ONE_OF_EACH

SAMPLES: Final = 1_000_000
AXES: Final = 3
WARM: Final = 1000
FREE: Final = 8
QUARTER_Z: Final = (0.7071067811865476, 0.0, 0.0, 0.7071067811865476)
FREQUENCY: Final = 32_000.0
# Together five seconds: two and a half turns of the hand.
PIECES: Final = 160
TICKS: Final = 1000
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


def test_filter_allocates_nothing_in_a_million_samples(counter: Counter) -> None:
    rig = SteppedArm(arm_params(hand={"path": REST}, slew=3000.0, slow_slew=500.0), frequency=FREQUENCY)
    rig.runtime.publish_loop(frequency=FREQUENCY, command_timeout=60.0, oscillation=default_oscillation())
    rig.force(2.0, -1.0, 0.5)
    rig.runtime.step(WARM)
    before = counter.bytes()

    rig.runtime.step(SAMPLES // AXES + 1)

    assert counter.bytes() == before


def everything(*, held: bool) -> SteppedArm:
    """An arm whose hand circles into and out of a bubble, with a paired grip and two sessions that use all that there is."""
    params = arm_params(
        hand={"path": CIRCLE, "centre": point_outside(0.0), "radius": 0.045, "period": 2.0},
        slew=3000.0,
        slow_slew=500.0,
        encoder_step=12.5e-6,
        safe_speed=0.25,
        grip_timeout=0.1,
        home_return=1,
        home=ARM_CENTRE,
        zone_low=(0.01, 0.06, 0.01),
        zone_high=(0.2, 0.01, 0.01),
    )
    heat = Kind.ARM.spec.thermal
    fill(params["thermal"], {name: getattr(heat, name) for name in ("rise", "ratio", "winding", "housing", "ambient")})
    rig = SteppedArm(params, frequency=FREQUENCY)
    grip = rig.runtime.lease_device("grip")
    fill(params, {"grip_slot": grip.slot})
    assert rig.runtime.publish_device(grip, grip_params(flags=61 | (ATTACHED if held else 0)))
    assert rig.runtime.publish_device(rig.device, params)
    rig.runtime.publish_loop(
        frequency=FREQUENCY, command_timeout=60.0, scene_timeout=600.0, oscillation=default_oscillation()
    )
    other = rig.other("2")
    rig.writer.set_navigation(Bubble(drifts=True, extra_inflate=0.01))
    rig.writer.set_clutch(0.5, rig.reader)
    other.set_workspace((0.0, 0.0, 0.0), QUARTER_Z, (1.0, 2.0, 1.0))
    for writer in (rig.writer, other):
        writer.set_damping(1.0, 2.0, 1.0)
        writer.set_gate(0.5)
        writer.set_duck(0.9)
        writer.set_effect(0, (0.1, 0.0, 0.0), 200.0)
        writer.set_effect(1, (0.0, 0.1, 0.0), 120.0)
    rig.writer.set_scene(ONE_OF_EACH)
    other.begin()
    other.torque(100.0, 50.0, -20.0)
    other.position(-0.5 * ARM_CENTRE[1], ARM_CENTRE[0], ARM_CENTRE[2])
    other.angle(0.0, 40.0, -80.0)
    assert other.publish()
    return rig


@pytest.mark.parametrize("held", [True, False])
def test_ticks_with_everything_enabled_allocate_nothing(counter: Counter, held: bool) -> None:
    rig = everything(held=held)
    rig.step(WARM)
    taken, safety, stages, zones = 0, 0, set[int](), set[int]()

    for piece in range(PIECES):
        # Shaken at 16 Hz, so that the filter has work.
        rig.force(4.0 if piece % 2 else -4.0, 1.0, 0.5)
        before = counter.bytes()
        rig.runtime.step(TICKS)
        taken += abs(counter.bytes() - before)
        state, shown = rig.reader.snapshot(), rig.reader.navigated(rig.writer)
        assert shown is not None
        safety |= int(state["safety"])
        stages.add(int(state["oscillation_stage"]))
        zones.add(shown.zone)

    assert taken == 0
    assert zones >= {ZONES.index("dead"), ZONES.index("velocity")}
    assert not held or min(stages) < FREE
    assert bool(safety & DROPPED) is bool(safety & EBRAKE) is not held


def test_allocation_counter_detects_an_allocation(counter: Counter) -> None:
    before = counter.bytes()
    block = counter.libc.malloc(3000)
    found = counter.bytes()
    counter.libc.free(block)

    assert found >= before + 3000
