"""The arbiter: commands that sessions hold, their fade after the time-out, and their sum."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.arena.access import Writer
from fastpath.arena.runtime import Runtime
from fastpath.testing.formulas import hold_gain
from tests.support.loop.devices import SteppedArm, force_of, forces, still_arm_params

RATES = [1_000.0, 4_000.0, 8_000.0, 32_000.0]
FADE_S = 0.020
IDLE, FORCE, POSITION = 0, 1, 2
IDENTITY = (1.0, 0.0, 0.0, 0.0)
ONES = (1.0, 1.0, 1.0)


def test_a_force_is_applied_at_the_next_tick_and_held() -> None:
    rig = SteppedArm()

    rig.force(1.0, -2.0, 3.0)

    assert force_of(rig.step()) == (1.0, -2.0, 3.0)
    assert force_of(rig.step(100)) == (1.0, -2.0, 3.0)


def test_a_new_force_replaces_the_old_one_at_the_next_tick() -> None:
    rig = SteppedArm()
    rig.force(1.0, 0.0, 0.0)
    rig.step(3)

    rig.force(0.0, 2.0, 0.0)

    assert force_of(rig.step()) == (0.0, 2.0, 0.0)


def test_newest_of_several_forces_between_ticks_counts() -> None:
    rig = SteppedArm()

    for newton in range(10):
        rig.force(float(newton), 0.0, 0.0)

    assert force_of(rig.step()) == (9.0, 0.0, 0.0)


def test_omitted_force_is_released_at_once() -> None:
    rig = SteppedArm()
    rig.force(1.0, 2.0, 3.0)
    rig.step(3)

    rig.writer.begin()
    rig.writer.publish()

    assert force_of(rig.step()) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("timeout", [0.02, 0.05, 0.5])
@pytest.mark.parametrize("rate", RATES)
def test_a_force_stays_whole_until_the_time_out_and_then_fades_in_20_ms(rate: float, timeout: float) -> None:
    rig = SteppedArm(frequency=rate, timeout=timeout)
    rig.force(4.0, 0.0, 0.0)
    stamp = rig.writer.command_ns

    for clock, force in forces(rig, timeout + FADE_S + 5 / rate):
        age = (clock - stamp) * 1e-9
        if clock - stamp < round(timeout * 1e9):
            assert force[0] == 4.0
        else:
            assert force[0] == pytest.approx(4.0 * max(0.0, 1 - (age - timeout) / FADE_S), abs=1e-6)
        if age >= timeout + FADE_S + 2 / rate:
            assert force[0] == 0.0

    assert rig.reader.snapshot()["mode"] == IDLE


@pytest.mark.parametrize("rate", RATES)
def test_force_stamped_between_ticks_ends_two_ticks_after_its_fade(rate: float) -> None:
    rig = SteppedArm(frequency=rate)
    last = 0
    rig.force(4.0, 0.0, 0.0)
    stamp = rig.writer.command_ns
    for clock, force in forces(rig, 0.08):
        if force[0] != 0.0:
            last = clock

    assert last - stamp <= round((0.05 + FADE_S + 1 / rate) * 1e9)


def test_refreshed_fading_force_is_full_again() -> None:
    rig = SteppedArm()
    rig.force(4.0, 0.0, 0.0)
    assert 0 < rig.step(rig.ticks(0.060))["force"][0] < 4.0

    rig.force(4.0, 0.0, 0.0)

    assert force_of(rig.step()) == (4.0, 0.0, 0.0)


def test_a_view_that_is_published_alone_does_not_refresh_a_command() -> None:
    rig = SteppedArm()
    rig.force(4.0, 0.0, 0.0)
    for _ in range(10):
        rig.step(rig.ticks(0.010))
        rig.writer.set_workspace((1.0, 0.0, 0.0), IDENTITY, ONES)
        rig.writer.publish(refresh=False)

    assert force_of(rig.step()) == (0.0, 0.0, 0.0)


def test_a_shorter_time_out_holds_from_the_next_tick() -> None:
    rig = SteppedArm(timeout=0.5)
    rig.force(4.0, 0.0, 0.0)
    rig.step(rig.ticks(0.1))

    rig.runtime.publish_loop(frequency=rig.frequency, command_timeout=0.05)

    assert force_of(rig.step()) == (0.0, 0.0, 0.0)


def test_forces_of_several_sessions_add() -> None:
    rig = SteppedArm()
    rig.force(1.0, 2.0, 3.0)
    for number in range(2, 6):
        rig.force(0.5, -1.0, 0.25, writer=rig.other(str(number)))

    assert force_of(rig.step()) == (3.0, -2.0, 4.0)


def test_longer_timeout_does_not_restore_a_faded_force() -> None:
    rig = SteppedArm(frequency=4000.0)
    rig.runtime.publish_loop(frequency=4000.0, command_timeout=0.02)
    rig.force(0.0, 0.0, 2.0)
    rig.step(4 * 30)
    fading = force_of(rig.step())[2]
    assert 0 < fading < 2

    rig.runtime.publish_loop(frequency=4000.0, command_timeout=0.5)
    seen = [force_of(rig.step())[2] for _ in range(4 * 12)]

    assert all(later <= earlier for earlier, later in zip([fading, *seen], seen, strict=False))
    assert seen[-1] == 0
    rig.force(0.0, 0.0, 2.0)
    assert force_of(rig.step())[2] == 2


def test_sessions_fade_independently() -> None:
    rig = SteppedArm()
    other = rig.other("2")
    rig.force(4.0, 0.0, 0.0)
    other.force(0.0, 2.0, 0.0)

    seen: list[tuple[float, ...]] = []
    for _ in range(10):
        other.publish()
        seen.append(force_of(rig.step(rig.ticks(0.010))))

    assert [force[1] for force in seen] == [2.0] * 10
    assert [force[0] for force in seen[:4]] == [4.0] * 4
    assert seen[5][0] == pytest.approx(2.0, abs=1e-6)
    assert [force[0] for force in seen[7:]] == [0.0] * 3


def test_closed_session_removes_its_own_force_only() -> None:
    rig = SteppedArm()
    other_lease = rig.runtime.lease_session("2")
    other = rig.runtime.writer(other_lease, rig.device)
    rig.force(1.0, 0.0, 0.0)
    rig.force(0.0, 2.0, 0.0, writer=other)
    rig.step()

    other.revoke()
    rig.runtime.release_session(other_lease)

    assert force_of(rig.step()) == (1.0, 0.0, 0.0)


def test_each_of_256_sessions_counts_and_closes_independently() -> None:
    runtime = Runtime(stepping=True, max_sessions=256)
    device = runtime.lease_device("arm")
    runtime.publish_device(device, still_arm_params(peak_force=1e6, torque_limit=1e12))
    reader = runtime.reader(device)
    runtime.step(240)
    writers: list[Writer] = []
    for number in range(256):
        writer = runtime.writer(runtime.lease_session(str(number)), device)
        writer.force(1.0, float(number), 0.0)
        writer.publish()
        writers.append(writer)

    runtime.step()
    state = reader.snapshot()
    assert force_of(state) == (256.0, 255.0 * 128, 0.0)
    assert state["live"].tolist() == [2**64 - 1] * 4

    for number in (0, 63, 64, 191, 255):
        writers[number].revoke()
    runtime.step()
    state = reader.snapshot()
    assert force_of(state) == (251.0, 255.0 * 128 - 63 - 64 - 191 - 255, 0.0)
    assert sum(int(word).bit_count() for word in state["live"]) == 251


def test_session_has_one_record_per_device() -> None:
    runtime = Runtime(stepping=True)
    session = runtime.lease_session("1")
    devices = [runtime.lease_device(str(number)) for number in range(16)]
    for number, device in enumerate(devices):
        runtime.publish_device(device, still_arm_params(peak_force=100.0))
        writer = runtime.writer(session, device)
        writer.force(float(number), 0.0, 0.0)
        writer.publish()
    runtime.step(200)

    seen = [force_of(runtime.reader(device).snapshot())[0] for device in devices]

    assert seen == [float(number) for number in range(16)]


@pytest.mark.parametrize("fresher", [0, 1])
@pytest.mark.parametrize(("command", "target"), [("position", "target"), ("angle", "target_joint")])
def test_fresher_of_two_held_positions_counts(command: str, target: str, fresher: int) -> None:
    rig = SteppedArm()
    writers = [rig.writer, rig.other("2")]
    getattr(writers[1 - fresher], command)(0.1, 0.0, 0.0)
    writers[1 - fresher].publish()
    rig.step(rig.ticks(0.055))
    getattr(writers[fresher], command)(0.2, 0.0, 0.0)
    writers[fresher].publish()

    assert rig.step()[target][0] == 0.2


def test_a_command_that_times_out_is_counted_once() -> None:
    rig = SteppedArm()
    for times in (1, 2, 3):
        rig.force(1.0, 0.0, 0.0)
        assert rig.step(rig.ticks(0.2))["faded"] == times
    rig.force(1.0, 0.0, 0.0)
    rig.step()
    rig.writer.begin()
    rig.writer.publish()
    assert rig.step(rig.ticks(0.2))["faded"] == 3


AGES = st.integers(-(10**9), 10**9)
TIMEOUTS = st.floats(0.02, 0.5)


@given(AGES, TIMEOUTS)
def test_command_weight_is_full_then_fading_then_zero(age_ns: int, timeout: float) -> None:
    late = age_ns * 1e-9 - timeout

    gain = hold_gain(age_ns, timeout)

    assert gain == pytest.approx(min(1.0, max(0.0, 1 - late / FADE_S)), abs=1e-12)
    assert gain == 1.0 or late > 0
    assert gain == 0.0 or late < FADE_S


@given(AGES, st.integers(0, 10**9), TIMEOUTS)
def test_command_weight_never_grows_with_age(age_ns: int, older_by: int, timeout: float) -> None:
    assert hold_gain(age_ns + older_by, timeout) <= hold_gain(age_ns, timeout)


def test_command_with_a_future_stamp_counts_fully() -> None:
    assert hold_gain(-1, 0.02) == 1.0
