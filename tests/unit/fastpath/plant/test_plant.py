"""Fidelity of the simulated plant: mass, friction, hand and sampled wall behave as in the literature."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fastpath.testing.formulas import Hand, Plant
from tests.support.loop.devices import HANDS, SteppedArm, arm_params

Array = NDArray[Any]

NOTHING = (0.0, 0.0, 0.0)
SUBSTEP = 1 / 32000
FIRM = Hand(*HANDS["firm"])


def wall_peaks(stiffness: float, delay: int, *, seconds: float = 4.0, period: float = 1e-3) -> list[float]:
    """Largest |x| in each half second of a two-sided sampled spring with some samples of delay on a bare device."""
    device = Plant(mass=0.2, viscous=5.0, position=(1e-3, 0.0, 0.0))
    seen = [1e-3] * (delay + 1)
    peaks: list[float] = []
    window = round(0.5 / period)
    for _ in range(round(seconds / period) // window):
        largest = 0.0
        for _ in range(window):
            seen.append(device.position[0])
            device.advance((-stiffness * seen[-1 - delay], 0.0, 0.0), period)
            largest = max(largest, abs(device.position[0]))
        peaks.append(largest)
    return peaks


@pytest.mark.parametrize(("delay", "critical"), [(0, 10_000.0), (1, 10_000.0 / 3), (2, 2_000.0)])
def test_sampled_wall_is_stable_just_below_and_unstable_just_above_critical_stiffness(
    delay: int, critical: float
) -> None:
    below = wall_peaks(0.97 * critical, delay)
    above = wall_peaks(1.03 * critical, delay)

    assert all(later < 0.95 * earlier for earlier, later in pairwise(below))
    assert all(later > 1.05 * earlier for earlier, later in pairwise(above))


def spectral_radius(
    stiffness: float, delay: int, mass: float = 0.2, viscous: float = 5.0, period: float = 1e-3
) -> float:
    """Largest eigenvalue of the same wall by exact sample-and-hold discretisation: below 1 it decays."""
    decay = math.exp(-viscous / mass * period)
    reach = mass / viscous * (1 - decay)
    step = np.zeros((2 + delay, 2 + delay))
    step[0, :2] = 1.0, reach
    step[1, 1] = decay
    step[0, 1 + delay if delay else 0] -= stiffness * (period - reach) / viscous
    step[1, 1 + delay if delay else 0] -= stiffness * (1 - decay) / viscous
    for older in range(delay):
        step[2 + older, 1 + older if older else 0] = 1.0
    return float(np.max(np.abs(np.linalg.eigvals(step))))


@pytest.mark.parametrize("delay", [0, 1, 2])
@pytest.mark.parametrize("share", [0.9, 0.97, 1.0, 1.03, 1.1])
def test_sampled_wall_decays_at_the_rate_of_exact_sample_and_hold(delay: int, share: float) -> None:
    stiffness = share * 5.0 / (1e-3 * (0.5 + delay))

    peaks = wall_peaks(stiffness, delay)
    rate = math.log(peaks[-1] / peaks[1]) / (0.5 * (len(peaks) - 2))

    assert rate == pytest.approx(math.log(spectral_radius(stiffness, delay)) / 1e-3, abs=0.02)


@pytest.mark.parametrize("rate", [1_000, 8_000, 32_000])
def test_a_sliding_device_stops_where_coulomb_friction_stops_it(rate: int) -> None:
    device = Plant(mass=0.2, coulomb=0.15, velocity=(0.1, 0.0, 0.0))

    device.advance(NOTHING, 1.0, rate)

    assert device.position[0] == pytest.approx(0.1**2 * 0.2 / (2 * 0.15), rel=0.01)
    assert device.velocity == NOTHING


@given(st.floats(-5e-5, 5e-5))
def test_friction_step_never_reverses_the_speed(speed: float) -> None:
    device = Plant(mass=0.2, coulomb=0.15, velocity=(speed, 0.0, 0.0))

    device.advance(NOTHING, SUBSTEP, 1)

    left = max(abs(speed) - SUBSTEP * 0.15 / 0.2, 0.0)
    assert device.velocity[0] == pytest.approx(math.copysign(left, speed), abs=1e-18)


@given(st.floats(-0.1499, 0.1499), st.sampled_from([0, 1, 2]))
def test_force_below_friction_moves_nothing(force: float, axis: int) -> None:
    device = Plant(mass=0.2, viscous=0.3, coulomb=0.15)
    push = [0.0, 0.0, 0.0]
    push[axis] = force

    device.advance(push, 0.01)

    assert device.position == NOTHING
    assert device.velocity == NOTHING


def test_a_push_below_friction_moves_nothing_in_ten_seconds() -> None:
    device = Plant(mass=0.2, viscous=0.3, coulomb=0.15)

    device.advance((0.149, -0.149, 0.1), 10.0)

    assert device.position == NOTHING


def test_a_hand_below_friction_lets_the_device_rest() -> None:
    device = Plant(mass=0.2, coulomb=0.6, hand=Hand(*HANDS["medium"], path="rest", centre=(0.003, 0.0, 0.0)))

    device.advance(NOTHING, 10.0)

    assert device.position == NOTHING
    assert 0 < device.hand_force[0] < 0.6


def test_force_above_friction_accelerates_by_the_difference() -> None:
    device = Plant(mass=0.2, coulomb=0.15)

    device.advance((0.35, 0.0, 0.0), 0.5)

    assert device.velocity[0] == pytest.approx(0.2 / 0.2 * 0.5, rel=1e-9)
    assert device.position[0] == pytest.approx(0.5 * 1.0 * 0.5**2, rel=1e-9)


def test_an_undriven_frictionless_spring_keeps_its_energy() -> None:
    device = Plant(mass=0.2, low=NOTHING, high=NOTHING, stop_stiffness=1000.0, position=(0.01, 0.0, 0.0))
    cycle = round(2 * math.pi * math.sqrt(0.2 / 1000.0) / SUBSTEP)
    averages: list[float] = []
    for _ in range(round(5.0 / SUBSTEP / cycle)):
        energy = 0.0
        for _ in range(cycle):
            device.advance(NOTHING, SUBSTEP)
            energy += 0.5 * 0.2 * device.velocity[0] ** 2 + 0.5 * 1000.0 * device.position[0] ** 2
        averages.append(energy / cycle)

    seconds = np.arange(len(averages)) * cycle * SUBSTEP
    drift = np.polyfit(seconds, np.array(averages) / averages[0], 1)[0]

    assert abs(drift) < 0.001
    assert max(averages) / min(averages) < 1.005


def test_sampled_spring_gains_the_predicted_energy() -> None:
    device = Plant(mass=0.2, position=(0.01, 0.0, 0.0))
    largest = [0.0, 0.0]
    for part in range(2):
        for _ in range(32_000):
            device.advance((-1000.0 * device.position[0], 0.0, 0.0), SUBSTEP)
            largest[part] = max(largest[part], abs(device.position[0]))

    growth = 2 * math.log(largest[1] / largest[0])

    assert growth == pytest.approx(1000.0 * SUBSTEP / 2 / 0.2, rel=0.05)


def test_viscous_friction_is_the_exponential_of_time() -> None:
    device = Plant(mass=0.2, viscous=0.3, velocity=(0.1, -0.2, 0.0))

    device.advance(NOTHING, 1.0)

    assert device.velocity[0] == pytest.approx(0.1 * math.exp(-1.5), rel=1e-4)
    assert device.velocity[1] == pytest.approx(-0.2 * math.exp(-1.5), rel=1e-4)


def test_weight_accelerates_downwards_only() -> None:
    device = Plant(mass=0.2, weight=1.9613)

    device.advance(NOTHING, 0.1)

    assert device.velocity == pytest.approx((0.0, 0.0, -0.98065), rel=1e-9)


def test_end_stops_hold_a_push_at_both_ends() -> None:
    for sign in (-1.0, 1.0):
        device = Plant(
            mass=0.2,
            viscous=0.3,
            stop_stiffness=1e4,
            stop_damping=20.0,
            low=(-0.1, -0.1, -0.1),
            high=(0.1, 0.1, 0.1),
        )
        device.advance((sign * 5.0,) * 3, 3.0)
        assert device.position == pytest.approx((sign * (0.1 + 5.0 / 1e4),) * 3, abs=1e-6)


def test_a_hand_that_rests_pulls_the_device_to_its_place() -> None:
    device = Plant(mass=0.2, viscous=0.3, hand=FIRM._replace(path="rest", centre=(0.02, -0.01, 0.03)))

    device.advance(NOTHING, 5.0)

    assert device.position == pytest.approx((0.02, -0.01, 0.03), abs=1e-9)
    assert device.hand_position == pytest.approx((0.02, -0.01, 0.03), abs=1e-9)


def test_holding_hand_yields_by_two_springs_in_series() -> None:
    device = Plant(mass=0.2, viscous=0.3, position=(0.1, 0.0, 0.0), hand=FIRM)

    device.advance((2.0, 0.0, 0.0), 5.0)

    assert device.position[0] - 0.1 == pytest.approx(2.0 / 2000.0 + 2.0 / 400.0, rel=1e-6)
    assert device.hand_position[0] - 0.1 == pytest.approx(2.0 / 400.0, rel=1e-6)
    assert device.hand_force[0] == pytest.approx(-2.0, rel=1e-6)


@pytest.mark.parametrize("grip", ["light", "medium", "firm"])
def test_a_hand_draws_its_circle(grip: str) -> None:
    hand = Hand(*HANDS[grip], path="circle", centre=(0.0, -0.12, 0.135), radius=0.03, period=4.0)
    device = Plant(mass=0.2, viscous=0.3, position=(0.03, -0.12, 0.135), hand=hand)
    device.advance(NOTHING, 8.0)
    track: list[tuple[float, float, float]] = []
    for _ in range(400):
        device.advance(NOTHING, 0.01)
        track.append(device.position)

    points = np.array(track)
    radii = np.hypot(points[:, 0], points[:, 2] - 0.135)

    assert radii == pytest.approx(0.03, rel=0.1)
    assert points[:, 1] == pytest.approx(-0.12, abs=1e-9)
    assert np.ptp(points[:, 0]) == pytest.approx(0.06, rel=0.1)


def test_firm_hand_follows_a_step_within_three_micrometres() -> None:
    def response(substeps_each_ms: int) -> Array:
        device = Plant(mass=0.045, viscous=0.05, hand=FIRM._replace(path="rest", centre=(0.01, 0.0, 0.0)))
        out: list[float] = []
        for _ in range(300):
            device.advance(NOTHING, 1e-3, substeps_each_ms)
            out.append(device.position[0])
        return np.array(out)

    exact = response(4000)
    coarse, fine = (float(np.max(np.abs(response(steps) - exact))) for steps in (8, 32))

    assert fine < 3e-6
    assert fine < coarse / 3


@given(st.integers(1, 40), st.floats(-2.0, 2.0))
def test_held_force_is_exact_for_any_substeps(pieces: int, force: float) -> None:
    whole, cut = Plant(mass=0.2), Plant(mass=0.2)

    whole.advance((force, 0.0, 0.0), 1e-3)
    for _ in range(pieces):
        cut.advance((force, 0.0, 0.0), 1e-3 / pieces)

    assert cut.position[0] == pytest.approx(whole.position[0], rel=1e-9, abs=1e-18)
    assert whole.position[0] == pytest.approx(0.5 * force / 0.2 * 1e-6, rel=1e-9, abs=1e-18)


def fitted_amplitude(samples: Array, times: Array, frequency: float) -> Array:
    """Amplitude of each column's part at one frequency, by least squares."""
    phase = 2 * math.pi * frequency * times
    base = np.column_stack([np.cos(phase), np.sin(phase), np.ones_like(phase)])
    found = np.linalg.lstsq(base, samples, rcond=None)[0]
    return np.asarray(np.hypot(found[0], found[1]))


@pytest.mark.parametrize("loop_rate", [1_000.0, 4_000.0])
@pytest.mark.parametrize("frequency", [1.0, 2.0, 5.0, 10.0, 20.0])
def test_the_reported_velocity_is_that_of_the_motion_behind_a_100_hz_filter(frequency: float, loop_rate: float) -> None:
    hand = {"period": 1 / frequency, "radius": 0.02}
    rig = SteppedArm(arm_params(grip="firm", hand=hand), frequency=loop_rate)
    rig.step(rig.ticks(3.0))
    samples = rig.ticks(max(1.0, 2 / frequency))
    positions, velocities = np.empty((samples, 3)), np.empty((samples, 3))
    for index in range(samples):
        state = rig.step()
        positions[index] = state["position"]
        velocities[index] = state["velocity"]
    times = np.arange(samples) / loop_rate

    moved = fitted_amplitude(positions, times, frequency)[[0, 2]]
    shown = fitted_amplitude(velocities, times, frequency)[[0, 2]]
    behind_filter = 2 * math.pi * frequency * moved / math.hypot(1.0, frequency / 100.0)

    assert np.all(moved > 1e-3)
    assert shown == pytest.approx(behind_filter, rel=0.05)


@pytest.mark.parametrize("loop_rate", [1_000.0, 4_000.0, 32_000.0])
def test_encoder_count_gives_the_filter_s_step_response(loop_rate: float) -> None:
    rig = SteppedArm(arm_params(plant={"coulomb": 0.0}, hand={"path": 2}), frequency=loop_rate)
    rig.step(rig.ticks(2.0))
    before = rig.step()
    rig.force(0.05, 0.0, 0.0)
    after = before
    for _ in range(rig.ticks(0.045)):
        after = rig.step()
        if np.any(after["position"] != before["position"]):
            break

    jump = after["position"] - before["position"]
    share = 1 - math.exp(-2 * math.pi * 100 / loop_rate)

    assert np.any(jump != 0)
    assert np.linalg.norm(jump) < 10e-6
    assert after["velocity"] == pytest.approx(share * jump * loop_rate + (1 - share) * before["velocity"], abs=1e-12)


@pytest.mark.parametrize("path", ["circle", "rest", "hold"])
def test_equal_plants_give_identical_bits(
    path: Literal["circle", "rest", "hold"],
) -> None:
    def run() -> list[tuple[float, float, float]]:
        hand = Hand(*HANDS["light"], path=path, centre=(0.01, 0.0, 0.02), radius=0.03, period=0.5)
        device = Plant(mass=0.2, viscous=0.3, coulomb=0.15, hand=hand)
        track: list[tuple[float, float, float]] = []
        for tick in range(500):
            device.advance((math.sin(tick / 10), 0.1, -0.2), 1 / 4000)
            track.append(device.position)
        return track

    assert run() == run()


@pytest.mark.parametrize(
    ("mass", "viscous", "coulomb"), [(0.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.2, -1.0, 0.0), (0.2, 0.0, -0.1)]
)
def test_invalid_plant_is_refused(mass: float, viscous: float, coulomb: float) -> None:
    with pytest.raises(ValueError, match="mass above 0 kg and no negative friction"):
        Plant(mass=mass, viscous=viscous, coulomb=coulomb)


def test_hand_without_mass_or_path_is_refused() -> None:
    with pytest.raises(ValueError, match="a hand needs a mass above 0 kg"):
        Plant(mass=0.2, hand=FIRM._replace(mass=0.0))
    with pytest.raises(ValueError, match='a hand follows "circle", "rest" or "hold", not "square"'):
        Plant(mass=0.2, hand=FIRM._replace(path=cast("Literal['rest']", "square")))


@pytest.mark.parametrize(("seconds", "substeps"), [(0.0, 0), (-1.0, 0), (math.nan, 0), (math.inf, 0), (0.1, -1)])
def test_time_advances_by_whole_substeps(seconds: float, substeps: int) -> None:
    with pytest.raises(ValueError, match="a plant advances by more than 0 s"):
        Plant(mass=0.2).advance(NOTHING, seconds, substeps)
