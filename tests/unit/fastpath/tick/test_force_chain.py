"""The force chain on a stepped loop: filter and gate, slew limit, ramps to zero, motor limits."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fastpath.arena.access import Writer
from tests.support.loop.devices import (
    ARM_CENTRE,
    ARM_HIGH,
    ARM_LINKS,
    ARM_LOW,
    ARM_SHOULDER,
    REST,
    SteppedArm,
    arm_params,
    still_arm_params,
)

SLEW: Final = 3000.0
SLOW: Final = 500.0
SHAKE_HZ: Final = 15.0
# N·s/m, `damping` of the filter.
FILTER_DAMPING: Final = 30.0


def chain_rig(*, frequency: float = 4000.0, timeout: float = 0.05, **changes: object) -> SteppedArm:
    """A still arm with the slew limits of a real one, that already obeys."""
    rig = SteppedArm(still_arm_params(slew=SLEW, slow_slew=SLOW, **changes), frequency=frequency, timeout=timeout)
    rig.force(0.0, 0.0, 0.0)
    rig.step(2)
    return rig


def size(state: NDArray[np.void]) -> float:
    return float(np.linalg.norm(state["force"]))


def norms(rig: SteppedArm, seconds: float) -> list[float]:
    """Force (N) of each tick."""
    return [size(rig.step()) for _ in range(rig.ticks(seconds))]


# ---------------------------------------------------------------- slew limit


@pytest.mark.parametrize("frequency", [1_000.0, 4_000.0, 32_000.0])
def test_force_step_of_ten_newtons_takes_a_300th_of_a_second(frequency: float) -> None:
    rig = chain_rig(frequency=frequency)
    rig.force(0.0, 0.0, 10.0)

    seen = norms(rig, 0.006)

    # In whole ticks: at 1 kHz it is there after the fourth.
    taken = (1 + int(np.argmax(np.array(seen) > 9.9999))) / frequency
    assert taken == pytest.approx(10 / SLEW, abs=0.2e-3) or taken == math.ceil(10 / SLEW * frequency) / frequency
    assert max(np.diff([0.0, *seen])) <= SLEW / frequency + 1e-9


def test_slew_limit_applies_to_the_vector_not_each_axis() -> None:
    rig = chain_rig()
    rig.force(6.0, 0.0, 8.0)

    for _ in range(5):
        force = rig.step()["force"]
        assert force[0] * 8 == pytest.approx(force[2] * 6)


def test_texture_of_250_hz_passes_unchanged() -> None:
    rig = chain_rig()
    seen = []
    for tick in range(rig.ticks(0.5)):
        rig.force(0.0, 0.0, math.sin(math.tau * 250 * tick / rig.frequency))
        seen.append(float(rig.step()["force"][2]))

    assert max(seen[200:]) > 0.99
    assert min(seen[200:]) < -0.99


def test_slew_limit_applies_away_from_zero_only() -> None:
    rig = chain_rig()
    rig.force(0.0, 0.0, 8.0)
    rig.step(rig.ticks(0.005))

    rig.force(0.0, 0.0, 1.0)
    assert size(rig.step()) == 1.0
    rig.force(0.0, 0.0, 8.0)
    rig.step(rig.ticks(0.005))
    rig.force(0.0, 0.0, -8.0)
    assert float(rig.step()["force"][2]) == pytest.approx(-SLEW / rig.frequency)


@pytest.mark.parametrize("how", ["stopped", "refused", "from position to force"])
def test_output_after_a_pause_grows_until_it_has_caught_up(how: str) -> None:
    params = still_arm_params(slew=SLEW, slow_slew=SLOW)
    rig = SteppedArm(params)
    rig.force(0.0, 0.0, 4.0)
    rig.step(rig.ticks(0.01))
    if how == "stopped":
        rig.runtime.stop_device(rig.device, stopped=True)
        assert size(rig.step()) == 0
        rig.runtime.stop_device(rig.device, stopped=False)
    elif how == "refused":
        for accepts in (0, 1):
            params["accepts_commands"] = accepts
            assert rig.runtime.publish_device(rig.device, params)
            rig.step()
    else:
        rig.writer.begin()
        rig.writer.position(*ARM_CENTRE)
        rig.writer.publish()
        rig.step(rig.ticks(0.005))
        rig.force(0.0, 0.0, 4.0)

    grown = norms(rig, 0.004)
    assert max(np.diff(grown)) <= SLOW / rig.frequency + 1e-9
    assert grown[-1] == pytest.approx(0.004 * SLOW, abs=0.3)

    rig.force(0.0, 0.0, 4.0)
    rig.step(rig.ticks(0.01))
    rig.force(0.0, 0.0, 6.0)
    assert max(np.diff(norms(rig, 0.001))) == pytest.approx(SLEW / rig.frequency)


def turn(rig: SteppedArm, *torques: float, force: float = 0.0) -> None:
    """Command joint torques (N.mm), and a force along z (N) beside them."""
    rig.writer.begin()
    rig.writer.torque(*torques)
    if force:
        rig.writer.force(0.0, 0.0, force)
    assert rig.writer.publish()


def away(last: NDArray[np.float64], force: NDArray[np.float64]) -> float:
    """N between this force and the nearest one that only less of the last one comes to."""
    square = float(last @ last)
    kept = min(max(float(force @ last) / square, 0.0), 1.0) if square > 0 else 0.0
    return float(np.linalg.norm(force - kept * last))


def cursor_steps(rig: SteppedArm, seconds: float) -> list[float]:
    """N by which the force at the cursor goes away from zero in each tick."""
    seen = [rig.reader.snapshot()["force"].copy(), *(rig.step()["force"].copy() for _ in range(rig.ticks(seconds)))]
    return [away(last, force) for last, force in pairwise(seen)]


@pytest.mark.parametrize("frequency", [1_000.0, 4_000.0])
@pytest.mark.parametrize(
    "torques", [(6000.0, 0.0, 0.0), (0.0, -6000.0, 0.0), (0.0, 0.0, 6000.0), (4000.0, 4000.0, -4000.0)]
)
def test_torque_step_grows_no_faster_than_a_peak_force_step(
    torques: tuple[float, float, float], frequency: float
) -> None:
    rig = chain_rig(frequency=frequency)
    turn(rig, *torques)

    steps = cursor_steps(rig, 0.03)

    assert max(steps) <= SLEW / frequency + 1e-9
    assert size(rig.reader.snapshot()) == pytest.approx(10, rel=1e-6)


def test_torque_step_keeps_its_direction() -> None:
    rig = chain_rig()
    turn(rig, 600.0, -300.0, 150.0)

    for _ in range(8):
        torque = rig.step()["torque"]
        assert torque == pytest.approx(torque[0] / 600 * np.array((600.0, -300.0, 150.0)))


def test_force_and_torque_share_the_limit() -> None:
    rig = chain_rig()
    turn(rig, 0.0, 900.0, 0.0, force=4.0)

    assert max(cursor_steps(rig, 0.02)) <= SLEW / rig.frequency + 1e-9


def test_torque_reversal_is_immediate_to_zero_then_limited() -> None:
    rig = chain_rig()
    turn(rig, 0.0, 900.0, 0.0)
    rig.step(rig.ticks(0.01))
    assert float(rig.reader.snapshot()["torque"][1]) == pytest.approx(900)

    turn(rig, 0.0, 100.0, 0.0)
    assert float(rig.step()["torque"][1]) == pytest.approx(100)
    turn(rig, 0.0, 900.0, 0.0)
    rig.step(rig.ticks(0.01))
    turn(rig, 0.0, -900.0, 0.0)
    seen = float(rig.step()["torque"][1])
    assert -900 * SLEW / rig.frequency / 2 <= seen < 0
    rig.writer.begin()
    assert rig.writer.publish()
    assert size(rig.step()) == 0


def test_released_torque_does_not_let_a_force_step_through() -> None:
    rig = chain_rig()
    rig.force(0.0, 0.0, -8.0)
    rig.step(rig.ticks(0.045))
    against = tuple(float(part) for part in rig.reader.snapshot()["torque"])
    other = rig.other("2")
    for _ in range(rig.ticks(0.03)):
        rig.force(0.0, 0.0, 8.0)
        other.begin()
        other.torque(*against)
        assert other.publish()
        rig.step()
    assert size(rig.reader.snapshot()) < 0.01

    other.revoke()
    rig.force(0.0, 0.0, 8.0)
    steps = cursor_steps(rig, 0.01)

    assert max(steps) <= SLEW / rig.frequency + 1e-3
    assert rig.reader.snapshot()["force"] == pytest.approx([0, 0, 8])


def test_released_torque_ends_at_the_next_tick_while_a_force_grows() -> None:
    rig = chain_rig()
    turn(rig, 900.0, 0.0, 0.0)
    rig.step(rig.ticks(0.01))
    assert float(rig.reader.snapshot()["torque"][0]) == pytest.approx(900)

    rig.force(0.0, 0.0, 8.0)
    state = rig.step()

    # A force along z takes no yaw where the arm stands.
    assert float(state["torque"][0]) == pytest.approx(0, abs=1e-6)
    assert size(state) == pytest.approx(SLEW / rig.frequency)


def test_torque_near_the_stretched_arm_is_limited_as_its_force() -> None:
    far = (ARM_HIGH[0], ARM_LOW[1], ARM_HIGH[2])
    rig = SteppedArm(arm_params(plant={"mass": 1e9}, hand={"path": REST, "centre": far}, slew=SLEW, slow_slew=SLOW))
    for joint in range(3):
        turn(rig, *(6000.0 if joint == k else 0.0 for k in range(3)))
        assert max(cursor_steps(rig, 0.01)) <= SLEW / rig.frequency + 1e-9
        rig.writer.begin()
        assert rig.writer.publish()
        rig.step(2)


@pytest.mark.parametrize("scaling", [1, 0])
@pytest.mark.parametrize("frequency", [1_000.0, 4_000.0])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_opposing_sessions_cause_no_faster_step_at_the_cursor(frequency: float, scaling: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    rig = SteppedArm(still_arm_params(slew=SLEW, slow_slew=SLEW, torque_scaling=scaling), frequency=frequency)
    rig.step(rig.ticks(0.06))
    writers = [rig.writer, rig.other("2"), rig.other("3")]
    steps = []
    for _ in range(40):
        for writer in writers:
            command_anything(writer, random)
        steps += cursor_steps(rig, float(random.choice((0.001, 0.002, 0.006))))

    assert max(steps) <= SLEW / frequency * (1 + 1e-6) + 1e-6
    assert max(steps) > SLEW / frequency * 0.9


def command_anything(writer: Writer, random: np.random.Generator) -> None:
    """One command of any kind, most of them at the limits of the device, or the release of all."""
    writer.begin()
    kinds = random.choice(("force", "torque", "both", "position", "angles", "nothing", "as before"))
    if kinds == "as before":
        return
    if kinds in {"force", "both"}:
        writer.force(*(random.choice((-1.0, -0.1, 0.0, 0.1, 1.0), 3) * 10))
    if kinds in {"torque", "both"}:
        writer.torque(*(random.choice((-1.0, -0.1, 0.0, 0.1, 1.0), 3) * random.choice((300, 1500, 6000))))
    if kinds == "position":
        writer.position(*(np.array(ARM_CENTRE) + random.uniform(-0.02, 0.02, 3)))
    if kinds == "angles":
        writer.angle(*random.uniform(-30.0, 60.0, 3))
    assert writer.publish()


def test_released_force_does_not_let_a_torque_step_through() -> None:
    rig = chain_rig()
    rig.force(0.0, 0.0, -8.0)
    rig.step(rig.ticks(0.045))
    against = tuple(float(part) for part in rig.reader.snapshot()["torque"])
    for _ in range(rig.ticks(0.03)):
        turn(rig, *against, force=8.0)
        rig.step()
    assert size(rig.reader.snapshot()) < 0.01

    turn(rig, *against)
    assert max(cursor_steps(rig, 0.01)) <= SLEW / rig.frequency + 1e-3
    assert rig.reader.snapshot()["force"] == pytest.approx([0, 0, -8], abs=0.01)


def test_torques_without_force_at_a_singular_pose_use_the_relative_limit() -> None:
    stretched = (ARM_SHOULDER[0], ARM_SHOULDER[1] - sum(ARM_LINKS) - 0.01, ARM_SHOULDER[2])
    params = arm_params(plant={"mass": 1e9}, hand={"path": REST, "centre": stretched}, slew=SLEW, slow_slew=SLOW)
    params["mechanism"]["counts_per_turn"] = 0
    rig = SteppedArm(params)
    # It begins out of reach, which looks like a jump: the brake is over after 2.5 s.
    rig.step(rig.ticks(2.6))
    turn(rig, 3000.0, 0.0, -4000.0)

    seen = [rig.step()["torque"].copy() for _ in range(rig.ticks(0.003))]

    assert size(rig.reader.snapshot()) == 0
    steps = np.linalg.norm(np.diff(seen, axis=0), axis=1)
    assert max(steps) == pytest.approx(SLEW / rig.frequency * 6000 / 10)
    assert seen[-1] == pytest.approx([3000, 0, -4000])
    turn(rig, 600.0, 0.0, -800.0)
    assert rig.step()["torque"] == pytest.approx([600, 0, -800])
    turn(rig, 3000.0, 0.0, 4000.0)
    assert float(np.linalg.norm(rig.step()["torque"])) < 1000
    rig.writer.begin()
    assert rig.writer.publish()
    assert not rig.step()["torque"].any()


def test_torque_after_a_stop_grows_at_the_slew_limit() -> None:
    rig = chain_rig()
    turn(rig, 0.0, 900.0, 0.0)
    rig.step(rig.ticks(0.01))
    rig.runtime.stop_device(rig.device, stopped=True)
    assert size(rig.step()) == 0
    rig.runtime.stop_device(rig.device, stopped=False)
    turn(rig, 0.0, 900.0, 0.0)

    assert max(cursor_steps(rig, 0.004)) <= SLOW / rig.frequency + 1e-9


# ---------------------------------------------------------------- ways to zero


@pytest.mark.parametrize("frequency", [1_000.0, 4_000.0])
def test_silent_client_s_force_is_zero_21_ms_after_its_timeout(frequency: float) -> None:
    rig = chain_rig(frequency=frequency)
    rig.force(0.0, 0.0, 10.0)
    assert size(rig.step(rig.ticks(0.05))) == pytest.approx(10)

    seen = norms(rig, 0.021)

    assert seen[0] > 9
    assert seen[-1] < 0.05


def test_stopped_timekeeper_fades_loop_generated_forces_until_it_returns() -> None:
    rig = SteppedArm(still_arm_params(slew=SLEW, slow_slew=SLOW), timeout=2.0)
    rig.writer.begin()
    rig.writer.position(ARM_CENTRE[0] + 0.004, *ARM_CENTRE[1:])
    rig.writer.publish()

    assert size(rig.step(rig.ticks(0.5), beat=False)) == pytest.approx(2, abs=0.01)
    assert size(rig.step(rig.ticks(0.051), beat=False)) < 0.05
    rig.writer.publish()
    assert size(rig.step(rig.ticks(0.4))) == pytest.approx(2, abs=0.01)


# ---------------------------------------------------------------- filter and gate


def shaken(gate: float, ticks: int = 600) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Force along z (N) and severity of the tick before, of an arm that is shaken along x; the gate is that of a push of 1 N along z."""
    rig = SteppedArm(arm_params(grip="light", hand={"path": REST}), frequency=1000)
    steady = rig.other("2")
    steady.set_gate(gate)
    assert steady.publish(refresh=False)
    rows: list[tuple[float, float]] = []
    for tick in range(200 + ticks):
        rig.force(3 * math.sin(math.tau * SHAKE_HZ * tick / 1000), 0.0, 0.0)
        steady.begin()
        steady.force(0.0, 0.0, 1.0)
        assert steady.publish()
        state = rig.step()
        rows.append((float(state["force"][2]), float(state["severity"])))
    forces, severity = np.array(rows).T
    return forces[1:], severity[:-1]


def test_gate_of_one_half_passes_the_mean_of_none_and_all() -> None:
    open_gate, severity = shaken(0.0)
    half, _severity = shaken(0.5)
    shut, _severity = shaken(1.0)

    assert max(severity) > 0.5
    assert half == pytest.approx((open_gate + shut) / 2, abs=1e-6)
    assert shut == pytest.approx(1 - severity, abs=1e-6)


def test_closed_gate_passes_the_gain_of_the_settled_stage() -> None:
    rig = SteppedArm(arm_params(grip="light", hand={"path": REST}), frequency=1000)
    steady = rig.other("2")
    steady.set_gate(1.0)
    assert steady.publish(refresh=False)
    settled = 0
    for tick in range(800):
        rig.force(3 * math.sin(math.tau * SHAKE_HZ * tick / 1000), 0.0, 0.0)
        steady.begin()
        steady.force(0.0, 0.0, 1.0)
        assert steady.publish()
        state = rig.step()
        settled = settled + 1 if int(state["oscillation_stage"]) == 0 else 0
        if settled > 80:
            assert float(state["force"][2]) == pytest.approx(0.12, abs=1e-6)

    assert settled > 200


def test_gate_change_ramps_over_50_ms() -> None:
    rig = SteppedArm(arm_params(grip="light", hand={"path": REST}), frequency=1000)
    steady = rig.other("2")
    shares: list[float] = []
    for tick in range(800):
        if tick == 700:
            steady.set_gate(1.0)
        rig.force(3 * math.sin(math.tau * SHAKE_HZ * tick / 1000), 0.0, 0.0)
        steady.begin()
        steady.force(0.0, 0.0, 1.0)
        assert steady.publish()
        severity = float(rig.reader.snapshot()["severity"])
        taken = 1 - float(rig.step()["force"][2])
        shares.append(taken / severity if severity > 0.1 else 0.0)

    assert shares[699] == pytest.approx(0, abs=1e-9)
    assert shares[699:750] == pytest.approx([0.02 * k for k in range(51)], abs=0.021)
    assert max(np.diff(shares[690:])) <= 0.0201
    assert shares[-1] == pytest.approx(1, abs=1e-6)


def test_rate_change_keeps_the_stage_of_the_filter_and_ramps_up() -> None:
    rig = SteppedArm(arm_params(grip="light", hand={"path": REST}), frequency=1000)
    for tick in range(600):
        rig.force(6 * math.sin(math.tau * SHAKE_HZ * tick / 1000), 0.0, 0.0)
        rig.step()
    state = rig.reader.snapshot()
    entered, stage = int(state["oscillations"]), int(state["oscillation_stage"])
    assert entered >= 1
    assert stage < 8

    rig.runtime.publish_loop(frequency=2000, command_timeout=0.05)
    rig.force(0.0, 0.0, 2.0)
    state = rig.step()
    assert (int(state["oscillation_stage"]), int(state["oscillations"])) == (stage, entered)
    seen = [size(state), *(size(rig.step()) for _ in range(99))]
    rig.force(0.0, 0.0, 2.0)
    state = rig.step()

    assert seen[0] < 0.05
    assert max(np.diff(seen)) < 2 / 50 / 2 * 1.5
    # What is left across it is the damping of a contact that has oscillated: the hand still swings.
    assert state["force"][1:] == pytest.approx([0, 2], abs=1e-3)
    assert float(state["force"][0]) == pytest.approx(-FILTER_DAMPING * float(state["velocity"][0]), abs=0.01)


def second_entry_s(newtons: float, hertz: float) -> float | None:
    """From the entry that damps until the one that lowers the gain (s); None without one in 2.5 s. A client shakes on, differently."""
    rig, damped_s, begun = SteppedArm(arm_params(grip="light", hand={"path": REST}), frequency=1000), None, 110
    for tick in range(2500):
        force, at = (6.0, 15.0) if tick < begun else (newtons, hertz)
        rig.force(force * math.sin(math.tau * at * tick / 1000), 0.0, 0.0)
        state = rig.step()
        if damped_s is None and int(state["oscillations"]) == 1:
            damped_s = tick / 1000
            assert int(state["oscillation_stage"]) == 8
        if int(state["oscillations"]) == 2:
            assert damped_s is not None
            assert int(state["oscillation_stage"]) == 0
            return tick / 1000 - damped_s
    assert damped_s is not None
    return None


@pytest.mark.parametrize(("newtons", "hertz"), [(0.8, 9.0), (0.8, 30.0)])
def test_damped_motion_that_is_not_fed_keeps_its_gain(newtons: float, hertz: float) -> None:
    assert second_entry_s(newtons, hertz) is None


def test_damped_motion_of_little_power_keeps_its_gain() -> None:
    assert second_entry_s(0.7, 12.0) is None


@pytest.mark.parametrize(("newtons", "hertz"), [(1.0, 12.0), (1.5, 11.0)])
def test_damped_motion_that_may_be_fed_lowers_the_gain_after_half_a_second(newtons: float, hertz: float) -> None:
    assert second_entry_s(newtons, hertz) == pytest.approx(0.51, abs=0.03)


def damping_of_the_shaken(
    mass: float, scale: float, of_sessions: float, hertz: float = SHAKE_HZ
) -> NDArray[np.float64]:
    """Damping (N·s/m) of sessions and filter together, and what of it the filter added (N) beside the command (N), by tick."""
    rig = SteppedArm(
        arm_params(grip="light", hand={"path": REST}, plant={"mass": mass}, force_scale=scale), frequency=1000
    )
    rows: list[tuple[float, float, float]] = []
    for tick in range(700):
        if tick == 400:
            rig.writer.set_damping(of_sessions, of_sessions, of_sessions)
        command = 3 / min(scale, 1) * math.sin(math.tau * hertz * tick / 1000)
        rig.force(command, 0.0, 0.0)
        state = rig.step()
        (force, _y, _z), (speed, _vy, _vz) = state["force"], state["velocity"]
        lost = (1 - float(state["severity"])) * scale * command - force
        if tick >= 400 and abs(speed) > 1e-3:
            rows.append(
                (lost / speed, lost - scale * min(of_sessions, mass_bears(mass) / scale) * speed, scale * command)
            )
    assert int(rig.reader.snapshot()["oscillations"]) >= 1
    return np.array(rows)


def mass_bears(mass: float) -> float:
    """0.4 pi m / (2 t) at 1 kHz, t being 1.5 periods and the lag of the low-pass of 100 Hz (N·s/m)."""
    return 0.4 * math.pi * mass / 2 / (1.5e-3 + 1 / (math.tau * 100))


@pytest.mark.parametrize("scale", [0.5, 1.0, 1.3])
@pytest.mark.parametrize("of_sessions", [0.0, 1.0, 2.0, 20.0])
def test_filter_and_sessions_together_damp_no_more_than_the_bare_mass_bears(scale: float, of_sessions: float) -> None:
    mass = 0.02
    together, _added, _command = damping_of_the_shaken(mass, scale, of_sessions, 30.0).T

    assert np.max(together) == pytest.approx(mass_bears(mass) * min(scale, 1.0), rel=0.02)


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_filter_adds_no_more_damping_than_the_command_commands(scale: float) -> None:
    together, added, command = damping_of_the_shaken(0.4, scale, 0.0).T

    assert np.max(together) > 5
    assert np.all(np.abs(added) <= np.abs(command) + 1e-9)


# ---------------------------------------------------------------- motors at their limit


def angle_between(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Degrees."""
    cosine = float(np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b)))
    return math.degrees(math.acos(min(1.0, max(-1.0, cosine))))


def places() -> st.SearchStrategy[tuple[float, float, float]]:
    return st.tuples(*[st.floats(low + 0.02, high - 0.02) for low, high in zip(ARM_LOW, ARM_HIGH, strict=True)])


def parts() -> st.SearchStrategy[tuple[float, float, float]]:
    return st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda parts: math.hypot(*parts) > 0.05)


@given(places(), parts())
def test_weak_motors_keep_the_direction_of_the_force(
    place: tuple[float, float, float], parts: tuple[float, float, float]
) -> None:
    params = arm_params(plant={"mass": 1e9}, hand={"path": REST, "centre": place}, torque_limit=1000.0)
    rig = SteppedArm(params, frequency=1000)
    wanted = np.array(parts) / math.hypot(*parts) * 10
    rig.force(*(float(part) for part in wanted))

    state = rig.step()

    assert int(state["saturated"]) > 0 or size(state) == pytest.approx(10)
    assert angle_between(state["force"], wanted) < 1
    assert np.max(np.abs(state["torque"])) <= 1000 * (1 + 1e-9)


@given(places(), parts(), st.booleans(), st.floats(0, 6000))
def test_torques_never_exceed_the_peak_force_at_the_cursor(
    place: tuple[float, float, float], parts: tuple[float, float, float], scaled: bool, newton_millimetres: float
) -> None:
    params = arm_params(
        plant={"mass": 1e9}, hand={"path": REST, "centre": place}, torque_scaling=int(scaled), peak_force=10.0
    )
    rig = SteppedArm(params, frequency=1000)
    rig.writer.begin()
    rig.writer.torque(*(newton_millimetres * part for part in parts))
    assert rig.writer.publish()

    state = rig.step()

    assert size(state) <= 10 * (1 + 1e-9)
    assert np.all(np.isfinite(state["torque"]))


def test_nearly_stretched_arm_gives_at_most_its_peak() -> None:
    far = (ARM_HIGH[0], ARM_LOW[1], ARM_HIGH[2])
    rig = SteppedArm(arm_params(plant={"mass": 1e9}, hand={"path": REST, "centre": far}))
    for joint in range(3):
        rig.writer.begin()
        rig.writer.torque(*(6000.0 if joint == k else 0.0 for k in range(3)))
        assert rig.writer.publish()
        assert size(rig.step()) <= 10 * (1 + 1e-9)
