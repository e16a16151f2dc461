"""What a tick puts out after the loop was kept from running: slew and ramps advance by one period, the filter keeps its stage."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.support.loop.devices import REST, SteppedArm, arm_params, force_of, shaken_until_found, still_arm_params
from tests.support.loop.monitored_arm import EBRAKE, MonitoredArm, bare_arm

SLEW: Final = 3000.0
SLOW: Final = 500.0
PEAK_N: Final = 10.0
BRAKE_ONSET_S: Final = 0.002
RATES: Final = [1_000.0, 4_000.0, 32_000.0]
# s: a board holds its last order for 20 ms; after 250 ms everything begins anew
SHORT: Final = [0.0025, 0.005, 0.010, 0.019]
LONG: Final = [0.025, 0.080, 0.240]


def pulled(force: float, *, frequency: float = 4000.0, timeout: float = 1.0) -> SteppedArm:
    """A still arm that has put out this force along z for a while."""
    rig = SteppedArm(still_arm_params(slew=SLEW, slow_slew=SLOW), frequency=frequency, timeout=timeout)
    rig.force(0.0, 0.0, force)
    rig.step(rig.ticks(0.1))
    assert force_of(rig.reader.snapshot()) == pytest.approx((0.0, 0.0, force))
    return rig


def missed(rig: SteppedArm, seconds: float) -> int:
    """Periods without a tick, so that the next one comes after so long."""
    return rig.ticks(seconds) - 1


def shaken(frequency: float = 1000.0) -> SteppedArm:
    """An arm in a light hand whose oscillation along x has gone on although the filter damps it."""
    rig = SteppedArm(arm_params(grip="light", hand={"path": REST}, slew=SLEW, slow_slew=SLOW), frequency=frequency)
    for tick in range(rig.ticks(0.6)):
        rig.force(6 * math.sin(math.tau * 15 * tick / frequency), 0.0, 0.0)
        rig.step()
    assert int(rig.reader.snapshot()["oscillation_stage"]) < 8
    return rig


# ---------------------------------------------------------------- up to 20 ms


@pytest.mark.parametrize("frequency", RATES)
@pytest.mark.parametrize("gap", SHORT)
def test_held_force_goes_on_through_a_short_gap(frequency: float, gap: float) -> None:
    rig = pulled(2.0, frequency=frequency)

    for _ in range(20):
        assert force_of(rig.step(missed=missed(rig, gap))) == (0.0, 0.0, 2.0)
        assert force_of(rig.step(rig.ticks(0.02))) == (0.0, 0.0, 2.0)


@pytest.mark.parametrize("frequency", RATES)
@pytest.mark.parametrize("gap", [*SHORT, *LONG])
def test_slew_advances_by_one_period_however_long_the_gap_was(frequency: float, gap: float) -> None:
    rig = pulled(1.0, frequency=frequency)
    rig.force(0.0, 0.0, 9.0)
    begun = 1.0 if gap <= 0.020 else 0.0

    for tick in range(1, 4):
        force = force_of(rig.step(missed=missed(rig, gap) if tick == 1 else 0))
        assert force[2] == pytest.approx(min(begun + tick * SLEW / frequency, 9.0))


def test_short_gap_is_no_interruption() -> None:
    rig = pulled(2.0)
    rig.step(missed=missed(rig, 0.020))
    assert int(rig.runtime.loop_state()["gaps"]) == 0

    rig.step(missed=missed(rig, 0.021))
    assert int(rig.runtime.loop_state()["gaps"]) == 1


@given(
    gaps=st.lists(st.integers(0, 300), min_size=1, max_size=25),
    wanted=st.lists(st.tuples(*[st.floats(-12, 12) for _ in range(3)]), min_size=25, max_size=25),
)
def test_no_output_lies_further_than_a_period_from_the_last_one(
    gaps: list[int], wanted: list[tuple[float, float, float]]
) -> None:
    rig = pulled(2.0)
    last: NDArray[np.float64] = np.array((0.0, 0.0, 2.0))
    for gap, force in zip(gaps, wanted, strict=False):
        rig.force(*force)
        now = np.array(force_of(rig.step(missed=gap)))
        if (1 + gap) / rig.frequency > 0.020:
            last = np.zeros(3)
        # What is left of the last output along the new one is free.
        size = float(np.linalg.norm(last))
        along = min(max(float(now @ last) / size, 0.0), size) / size if size > 0 else 0.0
        assert np.linalg.norm(now - along * last) <= SLEW / rig.frequency + 1e-9
        last = now


# ---------------------------------------------------------------- the filter


@pytest.mark.parametrize("gap", [0.010, 0.025, 0.240])
def test_filter_keeps_its_stage_and_gain_over_a_gap(gap: float) -> None:
    rig = shaken()
    before = rig.reader.snapshot()

    after = rig.step(missed=missed(rig, gap))

    assert int(after["oscillations"]) == int(before["oscillations"])
    assert int(after["oscillation_stage"]) <= int(before["oscillation_stage"]) + 1
    assert float(after["severity"]) > 0.3


@pytest.mark.parametrize(("since_s", "stage"), [(0.05, 0), (0.8, 0), (1.1, 8)])
def test_gain_is_lowered_at_once_in_the_second_after_an_interruption(since_s: float, stage: int) -> None:
    """What goes on although it is damped would be found late there; otherwise the first entry only damps."""
    rig = SteppedArm(arm_params(grip="light", hand={"path": REST}, slew=SLEW, slow_slew=SLOW), frequency=1000)
    rig.force(1.0, 0.0, 0.0)
    rig.step(rig.ticks(0.1))
    rig.step(missed=missed(rig, 0.030))
    rig.step(rig.ticks(since_s))

    assert int(shaken_until_found(rig)["oscillation_stage"]) == stage


def test_filter_begins_anew_after_250_ms() -> None:
    rig = shaken()

    after = rig.step(missed=missed(rig, 0.26))

    assert (int(after["oscillation_stage"]), float(after["severity"])) == (8, 0.0)


def test_gap_of_one_velocity_is_no_oscillation() -> None:
    """The high-pass of the filter takes the first sample after an interruption as the state of rest."""
    rig = SteppedArm(arm_params(grip="light", slew=SLEW, slow_slew=SLOW))
    for _ in range(40):
        rig.force(2.0, 0.0, 0.0)
        rig.step(rig.ticks(0.03), missed=missed(rig, 0.025))

    assert int(rig.reader.snapshot()["oscillations"]) == 0


# ---------------------------------------------------------------- a new start


@pytest.mark.parametrize("frequency", RATES)
def test_output_ramps_up_in_50_ms_after_250_ms(frequency: float) -> None:
    rig = pulled(2.0, frequency=frequency)
    rig.force(0.0, 0.0, 2.0)

    first = force_of(rig.step(missed=missed(rig, 0.3)))[2]
    half = force_of(rig.step(rig.ticks(0.025) - 1))[2]
    whole = force_of(rig.step(rig.ticks(0.026)))[2]

    assert first == pytest.approx(2.0 / 0.050 / frequency, rel=0.3)
    assert half == pytest.approx(1.0, rel=0.05)
    assert whole == pytest.approx(2.0)


def test_damping_is_not_ramped() -> None:
    rig = MonitoredArm(bare_arm())
    rig.writer.set_damping(10, 10, 10)
    assert rig.writer.publish(refresh=False)
    rig.step()
    rig.push(0.5, 0.0, 0.0)
    rig.step(2)

    rig.runtime.publish_loop(frequency=2000.0, command_timeout=0.05)
    state = rig.step(3)

    assert force_of(state)[0] == pytest.approx(-10 * float(state["velocity"][0]), rel=0.05)
    assert force_of(state)[0] < -3.0


def test_limit_springs_are_not_ramped() -> None:
    params = bare_arm()
    params["hand"]["centre"] = (0.0, -0.20, 0.60)
    rig = MonitoredArm(params)
    pushed = force_of(rig.step(200))

    rig.runtime.publish_loop(frequency=2000.0, command_timeout=0.05)

    assert math.hypot(*force_of(rig.step(4))) == pytest.approx(math.hypot(*pushed), rel=0.2)


# ---------------------------------------------------------------- e-brake and thaw


@pytest.mark.parametrize("frequency", [1_000.0, 4_000.0, 32_000.0])
def test_ebrake_reaches_the_peak_in_2_ms_and_not_in_one_tick(frequency: float) -> None:
    rig = MonitoredArm(bare_arm(), frequency=frequency)
    rig.push(3.5, 0.0, 0.0)

    seen = [0.0, *(math.hypot(*force_of(rig.step())) for _ in range(rig.ticks(0.012)))]

    assert int(rig.reader.snapshot()["safety"]) & EBRAKE
    assert max(np.diff(seen)) <= PEAK_N / BRAKE_ONSET_S / frequency + 1e-9
    assert max(seen) == pytest.approx(PEAK_N, rel=1e-3)


@pytest.mark.parametrize("gap", SHORT)
def test_ebrake_goes_on_through_a_short_gap(gap: float) -> None:
    rig = MonitoredArm(bare_arm())
    rig.push(3.5, 0.0, 0.0)
    rig.step(rig.ticks(0.012))

    state = rig.step(missed=missed(rig, gap))

    assert int(state["safety"]) & EBRAKE
    assert math.hypot(*force_of(state)) == pytest.approx(min(5 * float(np.linalg.norm(state["velocity"])), PEAK_N))


def test_device_that_thaws_gets_its_force_by_the_slew_limit() -> None:
    rig = pulled(8.0)
    params = still_arm_params(slew=SLEW, slow_slew=SLOW)
    params["simulation"]["frozen"] = 1
    assert rig.runtime.publish_device(rig.device, params)
    rig.force(0.0, 0.0, 8.0)
    rig.step(rig.ticks(0.05))
    params["simulation"]["frozen"] = 0
    assert rig.runtime.publish_device(rig.device, params)
    rig.force(0.0, 0.0, 8.0)

    seen = [force_of(rig.step())[2] for _ in range(rig.ticks(0.03))]

    assert max(np.diff([0.0, *seen])) <= SLEW / rig.frequency + 1e-9
    assert seen[-1] == pytest.approx(8.0)


@pytest.mark.parametrize("missed_periods", [-1, -1000])
def test_negative_number_of_missed_periods_is_refused(missed_periods: int) -> None:
    with pytest.raises(ValueError, match="must be 0 or more"):
        SteppedArm().step(missed=missed_periods)
