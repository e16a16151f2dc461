"""Everything that ends a force: stop latch, revoked records, closed sessions, removed devices, dead-man switch."""

from __future__ import annotations

import numpy as np
import pytest

from fastpath.arena.runtime import Runtime
from tests.support.loop.devices import (
    ARM_CENTRE,
    SteppedArm,
    arm_params,
    force_of,
    forces,
    keep,
    still_arm_params,
)

RATES = [1_000.0, 4_000.0, 8_000.0, 32_000.0]
UNDEFINED, CARTESIAN, ANGULAR = 0, 1, 2
IDLE, FORCE, POSITION = 0, 1, 2
STOPPED = 256


def test_stopped_device_outputs_zero_from_the_next_tick_until_released() -> None:
    rig = SteppedArm()
    rig.force(1.0, 0.0, 0.0)
    rig.step()

    rig.runtime.stop_device(rig.device, stopped=True)
    state = rig.step()

    assert force_of(state) == (0.0, 0.0, 0.0)
    assert not np.any(state["torque"])
    assert state["mode"] == IDLE
    assert state["flags"] & STOPPED
    rig.force(2.0, 0.0, 0.0)
    assert force_of(rig.step(10)) == (0.0, 0.0, 0.0)

    rig.runtime.stop_device(rig.device, stopped=False)
    state = rig.step()
    assert force_of(state) == (2.0, 0.0, 0.0)
    assert not state["flags"] & STOPPED


def test_position_after_a_stop_ramps_in() -> None:
    rig = SteppedArm()
    rig.writer.position(0.1, 0.0, 0.1)
    keep(rig.writer, rig, 0.05)
    rig.runtime.stop_device(rig.device, stopped=True)
    keep(rig.writer, rig, 0.05)

    rig.runtime.stop_device(rig.device, stopped=False)

    assert np.linalg.norm(rig.step()["force"]) == pytest.approx(500 / rig.frequency)


def test_device_that_accepts_no_commands_outputs_zero() -> None:
    rig = SteppedArm(still_arm_params(accepts_commands=0))
    rig.writer.force(1.0, 0.0, 0.0)
    rig.writer.torque(100.0, 0.0, 0.0)
    rig.writer.position(0.1, 0.0, 0.1)
    rig.writer.angle(10.0, 0.0, 0.0)
    rig.writer.publish()

    state = rig.step(rig.ticks(0.03))

    assert force_of(state) == (0.0, 0.0, 0.0)
    assert not np.any(state["torque"])
    assert state["domain"] == UNDEFINED
    assert state["mode"] == IDLE


def test_device_without_parameters_outputs_zero() -> None:
    runtime = Runtime(stepping=True)
    device, session = runtime.lease_device("arm"), runtime.lease_session("1")
    writer = runtime.writer(session, device)
    writer.force(1.0, 0.0, 0.0)
    writer.publish()

    runtime.step(300)

    assert force_of(runtime.reader(device).snapshot()) == (0.0, 0.0, 0.0)


def test_closed_session_ends_at_the_next_tick() -> None:
    rig = SteppedArm()
    rig.force(1.0, 0.0, 0.0)
    rig.step()

    rig.writer.revoke()
    rig.runtime.release_session(rig.session)

    state = rig.step()
    assert force_of(state) == (0.0, 0.0, 0.0)
    assert state["mode"] == IDLE
    assert rig.runtime.slots() == (0, 1)


def test_released_session_ends_at_the_next_tick_without_revocation() -> None:
    rig = SteppedArm()
    rig.force(1.0, 0.0, 0.0)
    rig.step()

    rig.runtime.release_session(rig.session)

    assert force_of(rig.step()) == (0.0, 0.0, 0.0)


def test_a_late_write_of_a_revoked_writer_changes_nothing() -> None:
    rig = SteppedArm()
    rig.writer.revoke()
    rig.writer.force(1.0, 0.0, 0.0)

    assert not rig.writer.publish()
    assert force_of(rig.step()) == (0.0, 0.0, 0.0)


def test_a_late_write_of_a_released_session_changes_nothing() -> None:
    rig = SteppedArm()
    rig.runtime.release_session(rig.session)
    rig.writer.force(1.0, 0.0, 0.0)
    rig.writer.publish()

    state = rig.step()

    assert force_of(state) == (0.0, 0.0, 0.0)
    assert not np.any(state["live"])


@pytest.mark.parametrize("late", ["publish", "revoke"])
def test_late_write_keeps_the_next_session_s_record(late: str) -> None:
    rig = SteppedArm()
    rig.force(1.0, 0.0, 0.0)
    rig.step()
    rig.runtime.release_session(rig.session)
    rig.step()
    next_lease = rig.runtime.lease_session("2")
    assert next_lease.slot == rig.session.slot
    rig.force(0.0, 2.0, 0.0, writer=rig.runtime.writer(next_lease, rig.device))
    rig.step()

    getattr(rig.writer, late)()

    assert force_of(rig.step()) == (0.0, 2.0, 0.0)


def test_session_slot_leased_again_starts_without_commands() -> None:
    rig = SteppedArm()
    rig.force(1.0, 0.0, 0.0)
    rig.step()

    again = rig.runtime.lease_session("1")

    assert again.slot == rig.session.slot
    assert force_of(rig.step()) == (0.0, 0.0, 0.0)
    rig.force(0.0, 3.0, 0.0, writer=rig.runtime.writer(again, rig.device))
    assert force_of(rig.step()) == (0.0, 3.0, 0.0)


def test_a_released_device_shows_zero_and_frees_its_slot() -> None:
    rig = SteppedArm()
    rig.force(1.0, 0.0, 0.0)
    rig.step()

    rig.runtime.release_device(rig.device)
    state = rig.step()

    assert force_of(state) == (0.0, 0.0, 0.0)
    assert state["tick"] == 0
    assert rig.runtime.slots() == (1, 0)


def test_device_leased_again_accepts_new_writers_only() -> None:
    rig = SteppedArm()
    rig.force(1.0, 0.0, 0.0)
    rig.step()

    again = rig.runtime.lease_device("arm")
    assert rig.runtime.publish_device(again, still_arm_params())

    assert again.slot == rig.device.slot
    assert force_of(rig.step()) == (0.0, 0.0, 0.0)
    rig.force(0.0, 3.0, 0.0, writer=rig.runtime.writer(rig.session, again))
    state = rig.step()
    assert force_of(state) == (0.0, 3.0, 0.0)
    assert state["generation"] == again.generation


def test_device_leased_again_keeps_its_pose() -> None:
    rig = SteppedArm(arm_params())
    before = rig.step(rig.ticks(1.0))

    again = rig.runtime.lease_device("arm")
    rig.runtime.publish_device(again, arm_params())
    after = rig.step()

    assert np.linalg.norm(after["position"] - before["position"]) < 1e-4


def test_device_with_another_name_starts_afresh() -> None:
    rig = SteppedArm(arm_params())
    rig.step(rig.ticks(1.0))
    rig.runtime.release_device(rig.device)
    rig.step()

    device = rig.runtime.lease_device("another")
    rig.runtime.publish_device(device, arm_params())
    rig.runtime.step()
    state = rig.runtime.reader(device).snapshot()

    assert device.slot == rig.device.slot
    assert state["position"] == pytest.approx((ARM_CENTRE[0] + 0.03, ARM_CENTRE[1], ARM_CENTRE[2]), abs=1e-4)
    assert state["domain"] == UNDEFINED


def test_missing_beat_is_tolerated_for_half_a_second_after_the_first_tick() -> None:
    runtime = Runtime(stepping=True)
    runtime.publish_loop(frequency=1000, command_timeout=0.05)

    runtime.step(500, beat=False)
    assert runtime.loop_state()["dead_man_trips"] == 0
    runtime.step(1, beat=False)
    assert runtime.loop_state()["dead_man_trips"] == 1


@pytest.mark.parametrize("rate", RATES)
def test_missing_beat_releases_positions_and_keeps_forces(rate: float) -> None:
    rig = SteppedArm(frequency=rate)
    other = rig.other("2")
    other.force(0.0, 2.0, 0.0)
    rig.writer.position(ARM_CENTRE[0] + 0.1, ARM_CENTRE[1], ARM_CENTRE[2])
    rig.writer.publish()
    other.publish()
    keep(rig.writer, rig, 0.05)
    quiet_since = rig.runtime.now_ns()
    pulls: dict[int, float] = {}
    for index in range(rig.ticks(0.6)):
        if index % rig.ticks(0.01) == 0:
            other.publish()
            rig.writer.publish()
        state = rig.step(beat=False)
        assert state["force"][1] == pytest.approx(2.0, abs=2e-3)
        pulls[int(state["time_ns"]) - quiet_since] = float(state["force"][0])

    period = 1 / rate
    for since, pull in pulls.items():
        seconds = since * 1e-9
        if seconds <= 0.5:
            assert pull == pytest.approx(5.0, rel=1e-3)
        elif seconds >= 0.55 + 2 * period:
            assert pull == 0.0
        else:
            assert pull == pytest.approx(5.0 * (0.55 - seconds) / 0.05, abs=5.0 * 2 * period / 0.05 + 1e-6)
    assert rig.runtime.loop_state()["dead_man_trips"] == 1


def test_missing_beat_releases_angles_and_keeps_torques() -> None:
    rig = SteppedArm()
    other = rig.other("2")
    joint = rig.reader.snapshot()["joint"]
    rig.writer.angle(joint[0] + 0.9, joint[1], joint[2])
    other.torque(0.0, 100.0, 0.0)
    torque = joint
    for seconds, held in ((0.05, 900.0), (0.49, 900.0), (0.10, 0.0)):
        for _ in range(round(seconds / 0.010)):
            rig.writer.publish()
            other.publish()
            torque = rig.step(rig.ticks(0.010), beat=seconds == 0.05)["torque"]
        assert torque == pytest.approx((held, 100.0, 0.0), abs=1e-3)


def test_held_positions_return_200_ms_after_the_beat() -> None:
    rig = SteppedArm()
    rig.writer.position(ARM_CENTRE[0] + 0.1, ARM_CENTRE[1], ARM_CENTRE[2])
    keep(rig.writer, rig, 0.05)
    keep(rig.writer, rig, 0.7, beat=False)
    assert force_of(rig.reader.snapshot()) == (0.0, 0.0, 0.0)
    back_since = rig.runtime.now_ns()
    first_pull = 0
    for _ in range(30):
        rig.writer.publish()
        for clock, force in forces(rig, 0.010):
            if force[0] != 0 and first_pull == 0:
                first_pull = clock

    assert 0.200 <= (first_pull - back_since) * 1e-9 <= 0.200 + 2 / rig.frequency
    assert rig.reader.snapshot()["force"][0] == pytest.approx(5.0, rel=1e-3)
    assert rig.runtime.loop_state()["dead_man_trips"] == 1


def test_each_missing_beat_counts_one_trip() -> None:
    rig = SteppedArm(frequency=1000)
    for trips in (1, 2, 3):
        rig.step(700, beat=False)
        rig.step(300)
        assert rig.runtime.loop_state()["dead_man_trips"] == trips


def test_manual_beat_counts_as_a_beat() -> None:
    rig = SteppedArm(frequency=1000)
    for _ in range(10):
        rig.step(400, beat=False)
        rig.runtime.beat()

    assert rig.runtime.loop_state()["dead_man_trips"] == 0
