"""Vibrations that the service plays: sum, limits, end; the oscillation filter does not react to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fastpath.arena.access import Writer
from fastpath.arena.runtime import default_oscillation
from tests.support.loop.devices import (
    ARM_CENTRE,
    HOLD,
    NO_HAND,
    REST,
    SteppedArm,
    arm_params,
    fill,
    shaken_until_found,
    still_arm_params,
)
from tests.support.loop.monitored_arm import BARE, EBRAKE, MonitoredArm, bare_arm, latched
from tests.support.loop.walls import FIRM, LIGHT, MEDIUM, Setup

SLEW: Final[dict[str, Any]] = {"slew": 3000.0, "slow_slew": 500.0}
# s: the e-brake reaches the peak
BRAKE_ONSET_S: Final = 0.002
MOST_N: Final = 2.0
MOST_W: Final = 0.010
SWING_HZ: Final = 40.0
Vector = tuple[float, float, float]
# Amplitude along each axis, Hz.
Vibration = tuple[Vector, float]


def light_arm(mass: float = 0.2, **changes: object) -> NDArray[np.void]:
    """An arm of some mass that nobody holds, so light that power bounds what it is shaken with."""
    params = arm_params(plant={**BARE, "mass": mass}, hand={"path": NO_HAND}, **SLEW)
    fill(params, changes)
    return params


def bare_newtons(hertz: float, mass: float = 0.2) -> float:
    """N of a vibration of 10 mW at the bare mass: A^2 / (2 m 2 pi f) = P."""
    return math.sqrt(MOST_W * 2 * mass * math.tau * hertz)


def most_newtons(hertz: float, mass: float = 0.2) -> float:
    """N that a single vibration is put out with at most: 2 N, 10 mW, and below 40 Hz the way that 10 mW make of 40 Hz."""
    return min(MOST_N, bare_newtons(hertz, mass), bare_newtons(SWING_HZ, mass) * (hertz / SWING_HZ) ** 2)


def vibrate(writer: Writer, *vibrations: Vibration) -> None:
    for number, (force, hertz) in enumerate(vibrations):
        writer.set_effect(number, force, hertz)
    assert writer.publish(refresh=False)


def put_out(rig: SteppedArm, seconds: float, *, beat: bool = True) -> NDArray[np.float64]:
    """Force (N) of each tick, device frame."""
    return np.array([rig.step(beat=beat)["force"] for _ in range(rig.ticks(seconds))])


def amplitude(forces: NDArray[np.float64]) -> float:
    return float(np.max(np.linalg.norm(forces, axis=1)))


# ---------------------------------------------------------------- what is put out


@pytest.mark.parametrize("hertz", [20.0, 100.0, 250.0])
def test_vibration_within_limits_is_played_as_set(hertz: float) -> None:
    newtons = 0.9 * most_newtons(hertz)
    rig = SteppedArm(light_arm())
    vibrate(rig.writer, ((newtons, 0.0, 0.0), hertz))

    seen = put_out(rig, 2.0)[:, 0]

    wanted = newtons * np.sin(math.tau * hertz * np.arange(1, seen.size + 1) / rig.frequency)
    late = rig.ticks(0.1)
    assert seen[late:] == pytest.approx(wanted[late:], abs=0.02 * newtons)
    state = rig.reader.snapshot()
    assert (int(state["mode"]), int(state["oscillations"])) == (0, 0)


def test_vibration_starts_at_zero_within_the_slew_limit() -> None:
    rig = SteppedArm(light_arm())
    vibrate(rig.writer, ((0.0, 1.5, 0.0), 250.0))

    seen = put_out(rig, 0.02)[:, 1]

    assert np.max(np.abs(np.diff([0.0, *seen]))) <= 3000 / rig.frequency + 1e-9


def test_two_vibrations_of_two_sessions_add() -> None:
    rig = SteppedArm(light_arm())
    vibrate(rig.writer, ((0.2, 0.0, 0.0), 40.0), ((0.0, 0.1, 0.0), 80.0))
    vibrate(rig.other("2"), ((0.0, 0.0, 0.3), 160.0))

    seen = put_out(rig, 1.0)[rig.ticks(0.1) :]

    assert np.max(np.abs(seen), axis=0) == pytest.approx([0.2, 0.1, 0.3], rel=0.02)


def test_vibration_turns_with_its_view_and_is_not_scaled() -> None:
    rig = SteppedArm(light_arm())
    rig.writer.set_basis((1, 2, 0), (1, 1, 1))
    rig.writer.set_workspace((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (3.0, 3.0, 3.0))
    vibrate(rig.writer, ((0.5, 0.0, 0.0), 100.0))

    assert np.max(np.abs(put_out(rig, 0.5)), axis=0) == pytest.approx([0, 0.5, 0], abs=0.01)


def test_force_scale_and_duck_gain_count_like_amplitude() -> None:
    rig = SteppedArm(light_arm(force_scale=0.5))
    rig.writer.set_duck(0.5)
    vibrate(rig.writer, ((1.0, 0.0, 0.0), 100.0))

    assert amplitude(put_out(rig, 0.5)) == pytest.approx(0.25, rel=0.02)


def test_vibration_above_a_quarter_of_the_loop_rate_is_not_played() -> None:
    rig = SteppedArm(light_arm(), frequency=1000.0)
    vibrate(rig.writer, ((1.0, 0.0, 0.0), 260.0))
    assert amplitude(put_out(rig, 0.1)) == 0

    vibrate(rig.writer, ((1.0, 0.0, 0.0), 240.0))
    assert amplitude(put_out(rig, 0.1)) > 0.8


# ---------------------------------------------------------------- the bounds


def vibrations() -> st.SearchStrategy[Vibration]:
    parts = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda parts: math.hypot(*parts) <= 1)
    return st.tuples(
        st.tuples(parts, st.floats(0, MOST_N)).map(
            lambda both: (both[0][0] * both[1], both[0][1] * both[1], both[0][2] * both[1])
        ),
        st.floats(10, 400),
    )


@settings(max_examples=40)
@example([[((0.0, 0.0, 0.0), 10.0), ((0.0, 0.0, 2.0), 302.0)]], 0.09375, 1.0)
@example([[((0.0, 0.0, 2.0), 399.0)]], 0.25, 1.0)
@given(
    st.lists(st.lists(vibrations(), min_size=1, max_size=2), min_size=1, max_size=3),
    st.floats(0.04, 0.4),
    st.floats(0, 2),
)
def test_vibrations_stay_below_2_n_and_10_mw_at_the_bare_mass(
    sessions: Sequence[Sequence[Vibration]], mass: float, force_scale: float
) -> None:
    rig = SteppedArm(light_arm(mass, force_scale=force_scale), frequency=2000.0)
    for number, played in enumerate(sessions):
        vibrate(rig.other(f"{number}"), *played)

    seen = put_out(rig, 0.25)

    assert amplitude(seen) <= MOST_N + 1e-9
    if len(sessions) == len(sessions[0]) == 1:
        assert amplitude(seen) <= most_newtons(sessions[0][0][1], mass) + 1e-9
    highest = max(hertz for played in sessions for _, hertz in played)
    if MOST_N * math.tau * highest > SLEW["slew"]:
        # The slew limit makes a triangle of the sine, whose mean at a few ticks a period is not 0: the free mass below drifts.
        return
    # What the force alone makes of a mass that is free, about the middle of its swing.
    speeds = np.cumsum(seen, axis=0) / (mass * rig.frequency)
    swing = np.linalg.norm(speeds - (speeds.max(axis=0) + speeds.min(axis=0)) / 2, axis=1)
    # A sine that is held from tick to tick swings the mass by x / sin x more, x = pi f / rate.
    held = math.pi * highest / rig.frequency
    assert 0.5 * amplitude(seen) * swing.max() <= 1.05 * MOST_W * held / math.sin(held)


@pytest.mark.parametrize(
    ("hertz", "newtons"),
    [(20.0, bare_newtons(40) / 4), (40.0, bare_newtons(40)), (60.0, bare_newtons(60)), (250.0, MOST_N)],
)
def test_too_strong_vibration_is_reduced_to_exactly_the_limit(hertz: float, newtons: float) -> None:
    rig = SteppedArm(light_arm())
    vibrate(rig.writer, ((0.0, 0.0, 2.0), hertz))

    # 2 N at 250 Hz are 3,142 N/s: the slew limit takes a little of it.
    assert amplitude(put_out(rig, 0.6)[rig.ticks(0.1) :]) == pytest.approx(newtons, rel=0.06)


@pytest.mark.parametrize(
    ("number", "force", "hertz", "because"),
    [
        (2, (1.0, 0.0, 0.0), 50.0, "0 to 1"),
        (-1, (1.0, 0.0, 0.0), 50.0, "0 to 1"),
        (0, (2.1, 0.0, 0.0), 50.0, "at most 2 N"),
        (0, (math.nan, 0.0, 0.0), 50.0, "finite"),
        (0, (1.0, 0.0, 0.0), math.nan, "10 to 500 Hz"),
        (0, (1.0, 0.0, 0.0), 9.9, "10 to 500 Hz"),
        (0, (1.0, 0.0, 0.0), 501.0, "10 to 500 Hz"),
        (0, (1.0, 0.0, 0.0), -50.0, "10 to 500 Hz"),
    ],
)
def test_invalid_vibration_is_refused_and_the_last_one_continues(
    number: int, force: Vector, hertz: float, because: str
) -> None:
    rig = SteppedArm(light_arm())
    vibrate(rig.writer, ((0.3, 0.0, 0.0), 100.0))

    with pytest.raises(ValueError, match=because):
        rig.writer.set_effect(number, force, hertz)

    assert rig.writer.publish(refresh=False)
    assert amplitude(put_out(rig, 0.2)) == pytest.approx(0.3, rel=0.02)


def test_vibration_adds_to_a_peak_force_within_the_peak() -> None:
    rig = SteppedArm(light_arm(plant=arm_params(plant={"mass": 0.2, "viscous": 400.0})["plant"]))
    vibrate(rig.writer, ((0.0, 0.0, 1.0), 50.0))
    seen = []
    for _ in range(rig.ticks(0.2)):
        rig.writer.begin()
        rig.writer.force(0.0, 0.0, 10.0)
        assert rig.writer.publish()
        seen.append(float(rig.step()["force"][2]))

    assert max(seen) <= 10 + 1e-9
    assert min(seen[rig.ticks(0.1) :]) == pytest.approx(9, abs=0.1)


# ---------------------------------------------------------------- what ends it


def buzzing(rig: SteppedArm, newtons: float = 0.8) -> None:
    vibrate(rig.writer, ((0.0, newtons, 0.0), 100.0))
    assert amplitude(put_out(rig, 0.2)) == pytest.approx(newtons, rel=0.02)


def test_missing_beat_fades_the_vibration_in_50_ms_until_it_returns() -> None:
    rig = SteppedArm(light_arm())
    buzzing(rig)

    assert amplitude(put_out(rig, 0.48, beat=False)) == pytest.approx(0.8, rel=0.02)
    fading = put_out(rig, 0.07, beat=False)
    assert amplitude(fading[: rig.ticks(0.035)]) > 0.3
    assert amplitude(put_out(rig, 0.5, beat=False)) == 0
    assert amplitude(put_out(rig, 0.4)) == pytest.approx(0.8, rel=0.02)


@pytest.mark.parametrize("how", ["0 Hz", "revoked", "session closed", "stopped", "refused"])
def test_cleared_vibration_ends_at_the_next_tick(how: str) -> None:
    params = light_arm()
    rig = SteppedArm(params)
    buzzing(rig)
    if how == "0 Hz":
        vibrate(rig.writer, ((0.0, 0.0, 0.0), 0.0))
    elif how == "revoked":
        rig.writer.revoke()
    elif how == "session closed":
        rig.runtime.release_session(rig.session)
    elif how == "stopped":
        rig.runtime.stop_device(rig.device, stopped=True)
    else:
        params["accepts_commands"] = 0
        assert rig.runtime.publish_device(rig.device, params)

    assert amplitude(put_out(rig, 0.1)) == 0


def test_next_session_in_the_slot_plays_nothing() -> None:
    rig = SteppedArm(light_arm())
    buzzing(rig)
    rig.runtime.release_session(rig.session)
    rig.step(2)
    session = rig.runtime.lease_session("next")
    assert session.slot == rig.session.slot
    writer = rig.runtime.writer(session, rig.device)
    assert writer.publish()

    assert amplitude(put_out(rig, 0.1)) == 0


def test_command_release_and_timeout_keep_the_vibration() -> None:
    rig = SteppedArm(light_arm())
    rig.writer.force(1.0, 0.0, 0.0)
    buzzing(rig)
    rig.writer.begin()
    assert rig.writer.publish()

    assert amplitude(put_out(rig, 1.0)) == pytest.approx(0.8, rel=0.02)


def test_brake_replaces_the_vibration() -> None:
    rig = MonitoredArm(bare_arm())
    vibrate(rig.writer, ((0.0, 1.0, 0.0), 100.0))
    rig.push(3.5, 0, 0)
    rig.seconds_until(latched(EBRAKE), 0.02)
    rig.step(rig.ticks(BRAKE_ONSET_S))
    for _ in range(100):
        state = rig.step()
        speed = float(np.linalg.norm(state["velocity"]))
        assert state["force"] == pytest.approx(-5 * state["velocity"] * min(1, 10 / (5 * speed)), abs=1e-9)


def test_a_device_without_a_mass_plays_nothing() -> None:
    rig = SteppedArm(still_arm_params())
    params = still_arm_params()
    params["plant"]["mass"] = 0
    assert rig.runtime.publish_device(rig.device, params)
    vibrate(rig.writer, ((1.0, 0.0, 0.0), 100.0))

    assert float(rig.step(37)["force"][0]) == 0


# ---------------------------------------------------------------- the filter


def pressed_and_shaken(
    hand: tuple[float, ...], hertz: float, stiffness: float, *, played_by_client: bool = False, newtons: float = MOST_N
) -> Any:
    """The state after a hand has pressed the arm against a wall (N/m) for 1.5 s while it vibrates across the wall."""
    names = ("mass", "grip_stiffness", "grip_damping", "arm_stiffness", "arm_damping")
    params = arm_params(
        hand={**dict(zip(names, hand, strict=True)), "path": REST if stiffness else HOLD}, encoder_step=12.5e-6, **SLEW
    )
    rig = SteppedArm(params, frequency=1000.0)
    rig.runtime.publish_loop(frequency=1000.0, command_timeout=0.05, oscillation=default_oscillation())
    if not played_by_client:
        vibrate(rig.writer, ((newtons, 0.0, 0.0), hertz))
    state = rig.step()
    path = Setup(hand=(hand[0], hand[1], hand[2], hand[3], hand[4])).pressing(1.5)
    for tick, wanted in enumerate(path):
        if stiffness:
            params["hand"]["centre"] = (ARM_CENTRE[0] + wanted, ARM_CENTRE[1], ARM_CENTRE[2])
            rig.runtime.publish_device(rig.device, params)
        deep = max(float(state["position"][0]) - ARM_CENTRE[0], 0.0) if stiffness else 0.0
        shake = newtons * math.sin(math.tau * hertz * tick / 1000) if played_by_client else 0.0
        rig.force(shake - stiffness * deep, 0.0, 0.0)
        state = rig.step()
    return state


@pytest.mark.parametrize("hand", [LIGHT, MEDIUM, FIRM])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_vibration_at_its_limit_is_not_detected_as_oscillation(
    hand: tuple[float, float, float, float, float], share: float
) -> None:
    stiffness = share * Setup(hand=hand).critical_stiffness()
    for hertz in (12.0, 20.0, 25.0, 30.0, 45.0, 70.0, 110.0, 170.0, 240.0):
        state = pressed_and_shaken(hand, hertz, stiffness)
        assert (int(state["oscillations"]), int(state["oscillation_stage"])) == (0, 8), hertz


@pytest.mark.parametrize(("newtons", "stage"), [(0.0, 8), (0.05, 0)])
def test_gain_is_lowered_at_once_while_an_effect_is_played(newtons: float, stage: int) -> None:
    """The judge keeps silent then, so nothing would find what goes on although it is damped."""
    rig = SteppedArm(arm_params(grip="light", hand={"path": REST}), frequency=1000.0, timeout=1.0)
    vibrate(rig.writer, ((0.0, 0.0, newtons), 100.0))

    assert int(shaken_until_found(rig)["oscillation_stage"]) == stage


def test_equal_vibration_of_a_client_is_no_oscillation_either() -> None:
    newtons = 1.5 * bare_newtons(40)
    state = pressed_and_shaken(LIGHT, 40.0, 0.0, played_by_client=True, newtons=newtons)

    assert int(state["oscillations"]) == 0
