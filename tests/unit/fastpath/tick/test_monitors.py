"""Each safety monitor on a stepped loop: when it trips, what it does, when it releases."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from fastpath.layout.dtypes import DEVICE_PARAMS
from tests.support.loop.devices import NO_HAND, REST, arm_params, keep
from tests.support.loop.monitored_arm import (
    BARE,
    DROPPED,
    EBRAKE,
    GUARD,
    HARD,
    STALLED,
    MonitoredArm,
    Params,
    bare_arm,
    free,
    latched,
    pressing,
    size,
)

# ---------------------------------------------------------------- e-brake


def test_a_braked_device_stops_from_one_metre_per_second_within_40_mm() -> None:
    rig = MonitoredArm(bare_arm())
    rig.push(3.5, 0, 0)
    rig.seconds_until(latched(EBRAKE), 0.02)
    places = [float(rig.step()["position"][0]) for _ in range(rig.ticks(0.5))]

    # What it really does, before the low-pass of the velocity.
    speeds = np.diff(places[::4]) * rig.frequency / 4
    begun = 4 * int(np.argmax(speeds < 1.0))

    assert speeds[0] > 3
    assert places[-1] - places[begun] == pytest.approx(0.040, abs=0.004)
    assert abs(speeds[-1]) < 0.01


def test_runaway_device_brakes_at_3_m_s_within_10_ms() -> None:
    rig = MonitoredArm(bare_arm())

    rig.push(2.9, 0, 0)
    assert not int(rig.step(40)["safety"]) & EBRAKE
    rig.push(0.3, 0, 0)
    assert rig.seconds_until(latched(EBRAKE), 0.05) <= 0.010
    assert rig.step()["ebrakes"] == 1


def test_fast_device_brakes_only_when_its_motors_accelerate() -> None:
    pushed, pulled = MonitoredArm(bare_arm()), MonitoredArm(bare_arm())
    for rig, force in ((pushed, 1.0), (pulled, -1.0)):
        rig.push(1.8, 0, 0)
        rig.step(rig.ticks(0.004))
        rig.force(force, 0, 0)

    assert 0.010 <= pushed.seconds_until(latched(EBRAKE), 0.03) <= 0.016
    assert not any(int(pulled.step()["safety"]) & EBRAKE for _ in range(pulled.ticks(0.03)))


def test_braked_device_ignores_commands_and_ramps_after_release() -> None:
    rig = MonitoredArm(bare_arm())
    rig.push(3.5, 0, 0)
    rig.seconds_until(latched(EBRAKE), 0.02)
    writer = pressing(rig, 0, 4, 0)
    rig.writer.torque(0, 500, 0)
    for _ in range(10):
        assert writer.publish()
        state = rig.step(rig.ticks(0.010))
        braking = -5 * state["velocity"] * min(1, 10 / (5 * size(state, "velocity")))
        assert state["force"] == pytest.approx(braking, abs=1e-9)

    rig.writer.begin()
    rig.seconds_until(free(EBRAKE), 4, pressing(rig, 0, 4, 0))
    assert size(rig.step()) < 0.05


def test_brake_releases_a_second_after_the_device_became_slow() -> None:
    rig = MonitoredArm(bare_arm())
    rig.push(3.5, 0, 0)
    rig.seconds_until(latched(EBRAKE), 0.02)
    slow = 0
    while slow < rig.ticks(0.5):
        slow = slow + 1 if size(rig.step(), "velocity") < 0.3 else 0

    assert rig.seconds_until(free(EBRAKE), 3) == pytest.approx(0.5, abs=1e-3)
    state = rig.step(rig.ticks(1))
    assert (int(state["ebrakes"]), int(state["ebrake_releases"])) == (1, 1)


def test_fast_motion_before_release_keeps_the_brake_on() -> None:
    rig = MonitoredArm(bare_arm())
    rig.push(3.5, 0, 0)
    rig.step(rig.ticks(0.9))
    rig.push(-0.5, 0, 0)
    rig.step(rig.ticks(0.1))

    assert 0.9 <= rig.seconds_until(free(EBRAKE), 3) <= 1.0


def test_hand_that_moves_on_does_not_keep_the_brake_on() -> None:
    rig = MonitoredArm(arm_params(slew=3000.0, slow_slew=500.0))
    rig.push(6, 0, 0)
    rig.seconds_until(latched(EBRAKE), 0.02)

    assert rig.seconds_until(free(EBRAKE), 2) <= 1.3
    assert size(rig.step(), "velocity") > 0.02


def test_force_comes_back_over_a_second_after_the_brake() -> None:
    rig = MonitoredArm(arm_params(slew=3000.0, slow_slew=500.0))
    rig.push(6, 0, 0)
    rig.seconds_until(latched(EBRAKE), 0.02)
    writer = pressing(rig, 0, 2, 0)
    rig.seconds_until(free(EBRAKE), 2, writer)

    for share in (0.25, 0.5, 0.75, 1.0):
        assert float(keep(writer, rig, 0.25)["force"][1]) == pytest.approx(2 * share, abs=0.03)
    assert float(keep(writer, rig, 0.5)["force"][1]) == pytest.approx(2)


def test_returning_force_throws_the_device_with_less_than_before() -> None:
    rig = MonitoredArm(bare_arm(slew=3000.0, slow_slew=500.0))
    writer = pressing(rig, 10, 0, 0)
    before = [float(rig.step()["force"][0]) for _ in range(rig.ticks(0.03))]
    rig.seconds_until(latched(EBRAKE), 1, writer)
    writer = pressing(rig, -10, 0, 0)
    rig.seconds_until(free(EBRAKE), 3, writer)

    after = [float(keep(writer, rig, 0.01)["force"][0]) for _ in range(30)]

    assert max(before) > 9
    assert min(after) > -4


def test_brake_force_is_at_most_the_peak() -> None:
    rig = MonitoredArm(bare_arm())
    rig.push(4, 4, 0)

    assert max(size(rig.step()) for _ in range(80)) == pytest.approx(10.0)


# ---------------------------------------------------------------- stall


def stalled_arm() -> MonitoredArm:
    """An arm that is locked, in the joints' way of a commanded torque."""
    rig = MonitoredArm(arm_params(hand={"path": NO_HAND}, torque_limit=1000.0))
    rig.order(lock_stiffness=20_000.0)
    return rig


@pytest.mark.parametrize(("share", "stalls"), [(0.65, 1), (0.55, 0)])
def test_strong_push_without_motion_for_two_seconds_is_a_stall(share: float, stalls: int) -> None:
    rig = stalled_arm()
    rig.writer.begin()
    rig.writer.torque(0, 1000 * share, 0)

    rig.step()
    assert keep(rig.writer, rig, 1.9)["stalls"] == 0
    state = keep(rig.writer, rig, 0.4)

    assert (int(state["stalls"]), int(state["safety"]) & STALLED) == (stalls, STALLED * stalls)


@pytest.mark.parametrize(("newtons", "stalls"), [(6.5, 1), (5.5, 0)])
def test_strong_force_without_motion_is_a_stall_wherever_the_arm_is(newtons: float, stalls: int) -> None:
    """In the middle of the reach, where the peak force needs 0.56 of the torque limit."""
    rig = MonitoredArm(arm_params(hand={"path": NO_HAND}))
    rig.order(lock_stiffness=20_000.0)
    pressing(rig, newtons, 0.0, 0.0)

    state = keep(rig.writer, rig, 2.5)

    assert np.max(np.abs(state["torque"])) < 0.6 * 6000
    assert (int(state["stalls"]), int(state["safety"]) & STALLED) == (stalls, STALLED * stalls)
    pressing(rig, 3.9, 0.0, 0.0)
    assert int(keep(rig.writer, rig, 0.1)["safety"]) & STALLED == 0


def test_a_stall_ends_with_motion_or_with_less_torque() -> None:
    for ends in ("motion", "less", "nothing"):
        rig = stalled_arm()
        rig.writer.begin()
        rig.writer.torque(0, 900, 0)
        rig.seconds_until(latched(STALLED), 3, rig.writer)
        if ends == "motion":
            rig.order(lock_stiffness=0.0)
        elif ends == "less":
            rig.writer.begin()
            rig.writer.torque(0, 390, 0)
        state = keep(rig.writer, rig, 0.1)
        assert bool(int(state["safety"]) & STALLED) is (ends == "nothing"), ends
        assert state["stalls"] == 1


# ---------------------------------------------------------------- foreign object


def let_go(**changes: object) -> MonitoredArm:
    """An arm that nobody holds: its paired grip lies beside it."""
    rig = MonitoredArm(bare_arm(**changes), grip=True)
    rig.hold(held=False)
    rig.step(4)
    return rig


@pytest.mark.parametrize("newtons", [0.8, 1.4, 2.6, 3.5])
def test_observer_estimates_the_external_force_in_100_ms(newtons: float) -> None:
    rig = MonitoredArm(bare_arm())
    rig.order(external=(newtons, 0.0, 0.0))

    assert float(rig.step(rig.ticks(0.1))["external"]) == pytest.approx(newtons, rel=0.05)


@pytest.mark.parametrize(("newtons", "stage"), [(0.8, 0), (1.4, GUARD), (2.6, GUARD), (4.0, HARD)])
def test_push_without_a_held_grip_sets_the_stage(newtons: float, stage: int) -> None:
    rig = let_go()
    rig.order(external=(newtons, 0.0, 0.0))

    state = rig.step(rig.ticks(0.12))

    assert int(state["safety"]) & (GUARD | HARD) == stage
    assert bool(int(state["safety"]) & EBRAKE) is (stage == HARD)


def test_held_or_gripless_device_has_no_foreign_object() -> None:
    held = MonitoredArm(bare_arm(), grip=True)
    alone = MonitoredArm(bare_arm())
    for rig in (held, alone):
        rig.order(external=(5.0, 0.0, 0.0))
        state = rig.step(rig.ticks(0.12))
        assert (int(state["safety"]), int(state["guards"])) == (0, 0)
        assert float(state["external"]) > 4


def test_reused_slot_is_no_released_grip() -> None:
    rig = let_go()
    rig.runtime.release_device(rig.grip)
    rig.step(2)
    other = rig.runtime.lease_device("other")
    assert other.slot == rig.grip.slot
    assert rig.runtime.publish_device(other, arm_params(hand={"path": REST}))
    rig.order(external=(5.0, 0.0, 0.0))

    assert int(rig.step(rig.ticks(0.12))["safety"]) == 0


def test_guarded_device_outputs_half() -> None:
    rig = let_go()
    rig.change(plant=in_honey(40))
    writer = pressing(rig, 0, 2, 0)
    rig.seconds_until(lambda state: size(state) > 1.99, 0.05, writer)
    rig.order(external=(2.0, 0.0, 0.0))

    rig.seconds_until(latched(GUARD), 0.1, writer)
    assert rig.step()["force"] == pytest.approx([0, 1, 0], abs=1e-9)

    rig.order(external=(0.0, 0.0, 0.0))
    assert 0.5 <= rig.seconds_until(free(GUARD), 1, writer) <= 0.6
    rig.step(rig.ticks(0.01))
    assert rig.step()["force"] == pytest.approx([0, 2, 0], abs=1e-9)


def in_honey(viscous: float) -> Params:
    """A plant that what pushes moves slowly (N.s/m)."""
    plant: Params = arm_params(plant={**BARE, "viscous": viscous})["plant"]
    return plant


def test_hard_stage_brakes_until_the_push_ends() -> None:
    rig = let_go()
    rig.change(plant=in_honey(100))
    rig.order(external=(4.0, 0.0, 0.0))
    rig.seconds_until(latched(EBRAKE), 0.2)

    state = rig.step(rig.ticks(4))
    assert int(state["safety"]) == EBRAKE | HARD
    assert state["ebrake_releases"] == 0

    rig.order(external=(0.0, 0.0, 0.0))
    assert 0.5 <= rig.seconds_until(free(HARD), 1) <= 0.6
    assert rig.step()["guards"] == 3
    rig.seconds_until(free(EBRAKE), 1.1)


def test_holding_the_grip_ends_the_stage() -> None:
    rig = let_go()
    rig.change(plant=in_honey(40))
    rig.order(external=(2.0, 0.0, 0.0))
    rig.seconds_until(latched(GUARD), 0.2)

    rig.hold(held=True)
    assert int(rig.step(3)["safety"]) == 0


# ---------------------------------------------------------------- grip let go


def test_released_grip_zeroes_the_output_51_ms_after_its_timeout() -> None:
    rig = MonitoredArm(bare_arm(grip_timeout=0.1), grip=True)
    rig.change(plant=in_honey(100))
    writer = pressing(rig, 0, 2, 0)
    rig.seconds_until(lambda state: size(state) > 1.99, 0.05, writer)
    rig.hold(held=False)

    assert rig.seconds_until(latched(DROPPED), 0.2, writer) == pytest.approx(0.1, abs=0.002)
    assert rig.seconds_until(lambda state: size(state) < 1e-9, 0.1, writer) <= 0.051
    assert rig.step()["grip_drops"] == 1

    rig.hold(held=True)
    assert 0.199 <= rig.seconds_until(free(DROPPED), 0.3, writer) <= 0.202
    assert rig.seconds_until(lambda state: size(state) > 1.999, 0.1, writer) <= 0.051


def test_release_shorter_than_the_timeout_changes_nothing() -> None:
    rig = MonitoredArm(bare_arm(grip_timeout=0.1), grip=True)
    rig.hold(held=False)
    rig.step(rig.ticks(0.09))
    rig.hold(held=True)

    assert rig.step(rig.ticks(0.2))["grip_drops"] == 0


def test_disabled_grip_monitor_never_trips_and_ends() -> None:
    rig = MonitoredArm(bare_arm(), grip=True)
    rig.hold(held=False)
    assert rig.step(rig.ticks(1))["grip_drops"] == 0

    rig.change(grip_timeout=0.1)
    rig.seconds_until(latched(DROPPED), 0.2)
    rig.change(grip_timeout=0.0)
    assert int(rig.step(2)["safety"]) & DROPPED == 0


# ---------------------------------------------------------------- all of them


def test_new_device_in_a_slot_has_no_latched_monitor() -> None:
    rig = MonitoredArm(bare_arm())
    rig.push(3.5, 0, 0)
    rig.seconds_until(latched(EBRAKE), 0.02)
    rig.runtime.release_device(rig.device)
    rig.step(2)
    again = rig.runtime.lease_device("another")
    params = np.zeros((), dtype=DEVICE_PARAMS)
    params[()] = bare_arm()
    assert rig.runtime.publish_device(again, params)
    rig.runtime.step(8)

    state = rig.runtime.reader(again).snapshot()
    assert (int(state["safety"]), int(state["ebrakes"])) == (0, 0)


def test_a_stop_holds_a_braked_device_at_zero() -> None:
    rig = MonitoredArm(bare_arm())
    rig.push(3.5, 0, 0)
    rig.seconds_until(latched(EBRAKE), 0.02)

    rig.runtime.stop_device(rig.device, stopped=True)

    assert size(rig.step()) == 0
    assert int(rig.step()["safety"]) & EBRAKE


# ---------------------------------------------------------------- a handle that is let go


def let_go_under(newtons: float, seconds: float, *, timeout: float = 0.0) -> tuple[int, NDArray[np.void]]:
    """Let a hand that holds against a force go: every bit of `safety` that came in so many seconds, and the last state."""
    rig = MonitoredArm(arm_params(hand={"path": REST}, slew=3000.0, slow_slew=500.0), grip=True)
    rig.change(grip_timeout=timeout)
    pressing(rig, newtons, 0.0, 0.0)
    keep(rig.writer, rig, 1.0)
    rig.hold(held=False)
    rig.params["hand"]["path"] = NO_HAND
    rig.change()
    seen, state = 0, rig.reader.snapshot()
    for tick in range(rig.ticks(seconds)):
        if tick % 40 == 0:
            assert rig.writer.publish()
        state = rig.step()
        seen |= int(state["safety"])
    return seen, state


@pytest.mark.parametrize("newtons", [0.5, 1.1, 2.0])
def test_handle_let_go_under_force_trips_the_dropped_grip_alone(newtons: float) -> None:
    seen, state = let_go_under(newtons, 1.0, timeout=0.1)

    assert seen == DROPPED
    assert size(state) == 0


@pytest.mark.parametrize("newtons", [0.5, 0.8, 1.0])
def test_arm_that_runs_into_its_stop_meets_no_foreign_object(newtons: float) -> None:
    seen, state = let_go_under(newtons, 1.5)

    assert seen == 0
    assert float(state["position"][0]) > 0.2


def test_faster_run_into_a_stop_trips_the_ebrake_alone() -> None:
    seen, _state = let_go_under(2.0, 1.5)

    assert seen == EBRAKE


def test_foreign_object_is_seen_right_after_the_handle_is_let_go() -> None:
    rig = MonitoredArm(bare_arm(), grip=True)
    rig.order(external=(2.0, 0.0, 0.0))
    rig.hold(held=False)

    assert rig.seconds_until(latched(GUARD), 0.1) <= 0.030
