"""Force on a machine that is short of time: random gaps of the loop over a held force, walls, an oscillation and the e-brake."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from actors.device.params import SLEW_N_S, SLOW_SLEW_N_S
from tests.support.loop.devices import ARM_CENTRE, REST, SteppedArm, arm_params, still_arm_params
from tests.support.loop.monitored_arm import EBRAKE, MonitoredArm, bare_arm
from tests.support.loop.walls import APPROACH_M, LIGHT, Rates, Setup, rms_mm_s

FREQUENCY: Final = 4000.0
# s: the motors hold their last order for so long, then they get zero
HELD_S: Final = 0.020
# longer than any gap: what a command's age does is not the subject
TIMEOUT_S: Final = 0.5
SETTLED_S: Final = 1.0
SECONDS: Final = 4.0

# gaps a second, and the shortest and the longest of them (s)
AT_REST_MM_S: Final = 5.0
SHORT_GAPS: Final = [(20, 0.005, 0.005), (5, 0.010, 0.010), (0.1, 0.0025, 0.019), (20, 0.0025, 0.019)]

Array = NDArray[Any]


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


def pressed(stiffness: float, missing: Iterator[int], *, seconds: float = SECONDS) -> tuple[Array, Array]:
    """A light hand presses on a wall along x, rendered from the last state: time (s) and velocity (m/s) of each tick."""
    params = arm_params(grip="light", hand={"path": REST}, encoder_step=12.5e-6, slew=SLEW_N_S, slow_slew=SLOW_SLEW_N_S)
    params["hand"]["centre"] = at(-APPROACH_M)
    rig = SteppedArm(params, frequency=FREQUENCY, timeout=TIMEOUT_S)
    wanted = Setup(hand=LIGHT).pressing(seconds * FREQUENCY / 1000.0, ramp=0.4 * FREQUENCY / 1000.0)
    state = rig.step()
    begun, times, speeds = int(state["time_ns"]), [0.0], [0.0]
    while times[-1] < seconds - 0.2:
        missed = next(missing)
        params["hand"]["centre"] = at(float(wanted[round(times[-1] * FREQUENCY)]))
        assert rig.runtime.publish_device(rig.device, params)
        rig.force(-stiffness * max(float(state["position"][0]) - ARM_CENTRE[0], 0.0), 0.0, 0.0)
        state = rig.step(missed=missed)
        times.append(1e-9 * (int(state["time_ns"]) - begun))
        speeds.append(float(state["velocity"][0]))
    return np.array(times), np.array(speeds)


def at(wanted: float) -> tuple[float, float, float]:
    """Where a hand is that means to be so far (m) behind the wall."""
    return (ARM_CENTRE[0] + wanted, ARM_CENTRE[1], ARM_CENTRE[2])


def settled(run: tuple[Array, Array]) -> float:
    """Velocity (mm/s rms) once the hand has arrived."""
    times, speeds = run
    return rms_mm_s(speeds[times > SETTLED_S])


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


def braked(missing: Iterator[int]) -> float:
    """Way (m) of a bare arm from 3.2 m/s until the e-brake has it at rest."""
    rig = MonitoredArm(bare_arm(), frequency=FREQUENCY)
    rig.push(3.2, 0.0, 0.0)
    state = rig.step(2)
    begun = float(state["position"][0])
    furthest, seen = begun, False
    for _ in range(rig.ticks(0.5)):
        state = rig.step(missed=next(missing))
        furthest = max(furthest, float(state["position"][0]))
        seen = seen or bool(int(state["safety"]) & EBRAKE)
    assert seen
    return furthest - begun


@pytest.mark.parametrize(("rate", "shortest", "longest"), SHORT_GAPS)
def test_constant_force_arrives_whole_through_gaps_of_up_to_20_ms(rate: float, shortest: float, longest: float) -> None:
    assert share_that_arrives(gaps(rate, shortest, longest, seed=1)) >= 0.99


def test_motors_get_zero_for_the_rest_of_a_longer_gap() -> None:
    """20 of 40 ms, five times a second: 90 %, and the ways back."""
    assert 0.85 <= share_that_arrives(gaps(5, 0.040, 0.040, seed=1)) <= 0.97


@pytest.mark.parametrize(("rate", "shortest", "longest"), SHORT_GAPS)
def test_wall_does_not_chatter_through_gaps_of_up_to_20_ms(rate: float, shortest: float, longest: float) -> None:
    assert settled(pressed(500.0, gaps(rate, shortest, longest, seed=2))) <= 1.0


@pytest.mark.parametrize("times_critical", [2, 4])
def test_oscillating_wall_is_damped_through_gaps_of_up_to_15_ms(times_critical: float) -> None:
    """Over several sequences of gaps within 1.5 times of what it is without them, or at rest; a filter that forgot it would leave 180 mm/s."""
    stiffness = times_critical * Setup(hand=LIGHT, rates=Rates(frequency=FREQUENCY)).critical_stiffness()
    quiet = settled(pressed(stiffness, none()))

    seen = [
        settled(pressed(stiffness, gaps(*each, seed=1)))
        for each in ((5, 0.010, 0.010), (5, 0.015, 0.015), (20, 0.0025, 0.015))
    ]

    assert rms(seen) <= max(1.5 * quiet, AT_REST_MM_S)
    assert max(seen) <= 15


def test_way_of_the_ebrake_through_gaps_of_5_ms() -> None:
    free = braked(none())

    assert max(braked(gaps(20, 0.005, 0.005, seed)) for seed in range(10)) <= 1.25 * free


def test_gap_before_the_ebrake_adds_what_the_device_moves_in_it() -> None:
    """Nobody brakes in a gap: 20 ms at 3.2 m/s are 64 mm."""
    free = braked(none())

    assert max(braked(gaps(20, 0.0025, 0.020, seed)) for seed in range(10)) <= free + 0.064 + 0.010


def rms(values: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
