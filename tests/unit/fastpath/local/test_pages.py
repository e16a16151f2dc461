"""Commands from shared memory: what the loop takes of a client's page, what it refuses, and what ends them."""

from __future__ import annotations

import ctypes
import fcntl
import math
import mmap
import os
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.local.seats import PAGE_BYTES, SEATS, STATES_BYTES
from tests.support.local import page as layout
from tests.support.local.page import ANGLE, FORCE, POSITION, TORQUE
from tests.support.local.rig import ALL, LocalArm
from tests.support.loop.devices import ARM_CENTRE, arm_params, force_of, forces
from transport.session.position_holders import PositionHolders

PEAK_N = 10.0
TIMEOUT_NS = 50_000_000
FALLOC_PUNCH_HOLE = 3
F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2


@pytest.fixture
def rig() -> LocalArm:
    return LocalArm()


# ---------------------------------------------------------------- taken and shown


def test_a_force_is_applied_and_shown_in_the_next_tick(rig: LocalArm) -> None:
    client = rig.client()
    sequence = client.force(1.0, -2.0, 3.0)

    assert force_of(rig.step()) == (1.0, -2.0, 3.0)
    assert rig.states.force(rig.slot) == (1.0, -2.0, 3.0)
    assert rig.states.tick == rig.states.state(rig.slot)[0]
    assert client.answer == (sequence, 1, 0, 0, FORCE)


def test_the_shown_state_is_that_of_the_reader(rig: LocalArm) -> None:
    rig.client()
    state = rig.step()
    shown = rig.states.state(rig.slot)

    assert shown[0] == state["tick"]
    assert shown[1] == state["time_ns"]
    assert shown[2] == rig.generation
    assert shown[3] == state["flags"]
    names = ("position", "velocity", "force", "joint", "joint_velocity", "torque", "orientation")
    assert np.array_equal(shown[6:28], np.concatenate([state[name] for name in names]))


def test_without_a_client_nothing_is_shown(rig: LocalArm) -> None:
    rig.step(5)
    assert rig.states.tick == 0

    client = rig.client()
    client.force(1.0, 0.0, 0.0)
    rig.step()
    client.seat.close()
    rig.step()
    # What ended is shown to the last.
    assert rig.states.force(rig.slot) == (0.0, 0.0, 0.0)
    rig.seats.sweep()
    before = rig.states.tick
    rig.step(5)

    assert rig.states.tick == before


def test_local_forces_add_to_those_of_other_sessions(rig: LocalArm) -> None:
    client = rig.client()
    rig.force(0.0, 1.0, 0.0)
    client.force(2.0, 0.0, 0.0)

    assert force_of(rig.step()) == (2.0, 1.0, 0.0)


def test_a_local_force_keeps_the_device_frame_in_a_turned_view(rig: LocalArm) -> None:
    client = rig.client()
    client.writer.set_basis((1, 2, 0), (1, -1, 1))
    client.writer.set_mount((1.0, 2.0, 3.0), (0.5, 0.5, 0.5, 0.5), (2.0, 2.0, 2.0))
    assert client.writer.publish(refresh=False)
    client.force(1.0, 2.0, 3.0)

    assert force_of(rig.step()) == (1.0, 2.0, 3.0)


def test_a_torque_is_taken(rig: LocalArm) -> None:
    client = rig.client()
    client.page.command(rig.slot, rig.generation, {TORQUE: (10.0, 20.0, 30.0)})

    assert np.linalg.norm(rig.step()["torque"]) > 1


def test_a_record_replaces_all_of_the_one_before(rig: LocalArm) -> None:
    client = rig.client()
    client.force(1.0, 0.0, 0.0)
    rig.step()
    client.page.command(rig.slot, rig.generation, {})

    assert force_of(rig.step()) == (0.0, 0.0, 0.0)
    assert client.answer[4] == 0


def test_commands_that_the_device_does_not_take_are_not_in_force(rig: LocalArm) -> None:
    client = rig.client()
    client.seat.attach(client.writer, TORQUE)
    client.force(1.0, 0.0, 0.0)

    assert force_of(rig.step()) == (0.0, 0.0, 0.0)
    assert client.answer[1:] == (1, 0, 0, 0)


def test_a_local_force_is_scaled_with_its_session(rig: LocalArm) -> None:
    client = rig.client()
    client.writer.set_duck(0.5)
    assert client.writer.publish(refresh=False)
    for _ in range(rig.ticks(0.06)):
        client.force(2.0, 0.0, 0.0)
        rig.step()

    assert force_of(rig.step()) == (1.0, 0.0, 0.0)


# ---------------------------------------------------------------- what ends it


def test_a_force_that_is_not_repeated_is_held_for_the_timeout_and_fades_in_20_ms(rig: LocalArm) -> None:
    client = rig.client()
    client.force(2.0, 0.0, 0.0)
    begun = int(rig.step()["time_ns"])

    seen = [((ns - begun) * 1e-9, force[0]) for ns, force in forces(rig, 0.1)]

    assert all(force == 2.0 for age, force in seen if age <= 0.05)
    assert all(
        force == pytest.approx(2.0 * (1 - (age - 0.05) / 0.02), abs=0.03) for age, force in seen if 0.05 < age < 0.07
    )
    assert all(force == 0 for age, force in seen if age > 0.0703)
    assert client.answer[4] == 0


def test_faded_commands_are_counted_once(rig: LocalArm) -> None:
    client = rig.client()
    before = int(rig.reader.snapshot()["faded"])
    client.force(2.0, 0.0, 0.0)

    assert rig.step(rig.ticks(0.2))["faded"] == before + 1


def test_closing_the_seat_gives_zero_at_the_next_tick(rig: LocalArm) -> None:
    client = rig.client()
    client.force(2.0, 0.0, 0.0)
    assert force_of(rig.step()) == (2.0, 0.0, 0.0)

    client.seat.close()
    client.force(3.0, 0.0, 0.0)

    assert force_of(rig.step()) == (0.0, 0.0, 0.0)
    assert rig.states.session(client.seat.number) == 0


def test_releasing_the_session_alone_gives_zero_at_the_next_tick(rig: LocalArm) -> None:
    client = rig.client()
    client.force(2.0, 0.0, 0.0)
    rig.step()

    rig.runtime.release_session(client.session)
    client.force(3.0, 0.0, 0.0)

    assert force_of(rig.step()) == (0.0, 0.0, 0.0)


def test_the_stop_latch_gives_zero_at_the_next_tick(rig: LocalArm) -> None:
    client = rig.client()
    client.force(2.0, 0.0, 0.0)
    rig.step()

    rig.runtime.stop_device(rig.device, stopped=True)
    client.force(3.0, 0.0, 0.0)

    assert force_of(rig.step()) == (0.0, 0.0, 0.0)


def test_a_record_for_the_device_that_had_the_slot_before_is_refused(rig: LocalArm) -> None:
    client = rig.client()
    old = rig.generation
    params = arm_params()
    rig.runtime.release_device(rig.device)
    rig.step()
    rig.device = rig.runtime.lease_device("another arm")
    assert rig.runtime.publish_device(rig.device, params)
    rig.reader = rig.runtime.reader(rig.device)
    assert rig.slot == client.writer.device
    client.writer = rig.runtime.writer(client.session, rig.device)
    assert client.writer.publish(refresh=False)
    client.seat.attach(client.writer, ALL)
    rig.step(2)

    client.page.force(rig.slot, old, 5.0, 0.0, 0.0)
    rig.step()

    assert client.answer[2:] == (1, 2, 0)
    assert not rig.reader.snapshot()["live"].any()


def test_no_record_is_taken_while_the_event_loop_stands_still(rig: LocalArm) -> None:
    client = rig.client()
    for _ in range(rig.ticks(1.1)):
        client.force(2.0, 0.0, 0.0)
        rig.step(turns=False)
    assert rig.reader.snapshot()["force"][0] == 0

    # Nor is the one of that time, when it goes on.
    assert force_of(rig.step()) == (0.0, 0.0, 0.0)
    client.force(3.0, 0.0, 0.0)
    assert force_of(rig.step()) == (3.0, 0.0, 0.0)


def test_a_record_from_a_gap_of_the_loop_is_not_taken(rig: LocalArm) -> None:
    client = rig.client()
    client.force(3.0, 0.0, 0.0)

    rig.step(missed=rig.ticks(0.03))
    assert not rig.reader.snapshot()["live"].any()

    client.force(3.0, 0.0, 0.0)
    rig.step()
    assert rig.reader.snapshot()["live"].any()


def test_a_record_from_before_the_page_was_attached_is_not_taken(rig: LocalArm) -> None:
    session = rig.runtime.lease_session("early")
    seat = rig.seats.seat(session)
    assert seat is not None
    page = layout.Page(seat.descriptor)
    page.force(rig.slot, rig.generation, 4.0, 0.0, 0.0)
    seat.seal()
    writer = rig.runtime.writer(session, rig.device)
    assert writer.publish(refresh=False)
    seat.attach(writer, ALL)

    assert force_of(rig.step(2)) == (0.0, 0.0, 0.0)


# ---------------------------------------------------------------- what is refused

NAN, INFINITY = math.nan, math.inf


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"points": {FORCE: (0.0, NAN, 0.0)}}, 4),
        ({"points": {FORCE: (INFINITY, 0.0, 0.0)}}, 4),
        ({"points": {FORCE: (0.0, 0.0, -INFINITY)}}, 4),
        ({"points": {FORCE: (1.0000001e6, 0.0, 0.0)}}, 4),
        ({"points": {FORCE: (1.0, 0.0, 0.0), TORQUE: (0.0, 0.0, NAN)}}, 4),
        ({"points": {ANGLE: (0.0, NAN, 0.0)}}, 4),
        ({"points": {POSITION: (0.0, 1e300, 0.0)}}, 4),
        ({"points": {FORCE: (1.0, 0.0, 0.0)}, "commands": 16}, 3),
        ({"points": {FORCE: (1.0, 0.0, 0.0)}, "commands": 0x80000001}, 3),
        ({"points": {FORCE: (1.0, 0.0, 0.0)}, "generation": 999}, 2),
        ({"points": {FORCE: (1.0, 0.0, 0.0)}, "generation": 0}, 2),
        ({"points": {FORCE: (1.0, 0.0, 0.0)}, "inner": 77}, 1),
        ({"points": {FORCE: (1.0, 0.0, 0.0)}, "sequence": 1}, 1),
    ],
)
def test_a_wrong_record_is_refused_and_the_last_one_ages(rig: LocalArm, given: dict[str, object], reason: int) -> None:
    client = rig.client()
    client.force(9.0, 0.0, 0.0)
    client.force(2.0, 0.0, 0.0)
    begun = int(rig.step()["time_ns"])
    arguments = {"generation": rig.generation, **given}

    client.page.command(rig.slot, **arguments)  # type: ignore[arg-type]
    states = list(forces(rig, 0.1))

    assert client.answer[1:4] == (1, 1, reason)
    assert all(force[0] == (2.0 if ns - begun <= TIMEOUT_NS else pytest.approx(force[0])) for ns, force in states)
    assert states[-1][1][0] == 0
    assert all(np.isfinite(force).all() for _, force in states)


def test_numbers_of_commands_that_are_not_given_do_not_matter(rig: LocalArm) -> None:
    client = rig.client()
    points = {FORCE: (1.0, 0.0, 0.0), POSITION: (NAN, INFINITY, 0.0)}
    client.page.command(rig.slot, rig.generation, points, commands=FORCE)

    assert force_of(rig.step()) == (1.0, 0.0, 0.0)


def test_denormal_numbers_are_taken_as_what_they_are(rig: LocalArm) -> None:
    client = rig.client()
    client.force(5e-324, 1.0, 0.0)

    assert np.isfinite(rig.step()["force"]).all()
    assert client.answer[1:3] == (1, 0)


def test_a_sequence_that_runs_backwards_is_refused_until_it_is_above_the_last_one(rig: LocalArm) -> None:
    client = rig.client()
    client.page.command(rig.slot, rig.generation, {FORCE: (1.0, 0.0, 0.0)}, sequence=1000)
    rig.step()
    for number in (999, 998, 3):
        client.page.command(rig.slot, rig.generation, {FORCE: (5.0, 0.0, 0.0)}, sequence=number)
        assert force_of(rig.step()) == (1.0, 0.0, 0.0)
    assert client.answer[2] == 3

    client.page.command(rig.slot, rig.generation, {FORCE: (2.0, 0.0, 0.0)}, sequence=2**63)
    assert force_of(rig.step()) == (2.0, 0.0, 0.0)


def test_a_half_written_record_is_never_seen(rig: LocalArm) -> None:
    client = rig.client()
    sequence = client.force(1.0, 0.0, 0.0)
    rig.step()
    at = rig.slot * layout.CELL_BYTES + layout.RECORDS_AT + (sequence + 1) % layout.PLACES * layout.RECORD_BYTES
    struct.pack_into("<QII3d", client.page.memory, at, sequence + 1, rig.generation, FORCE, 9.0, 9.0, 9.0)

    assert force_of(rig.step(3)) == (1.0, 0.0, 0.0)
    assert client.answer[2] == 0


def test_a_refused_record_is_counted_once(rig: LocalArm) -> None:
    client = rig.client()
    client.force(NAN, 0.0, 0.0)
    rig.step(10)

    assert client.answer[2] == 1


doubles = st.one_of(st.floats(), st.floats(-20, 20), st.sampled_from([NAN, INFINITY, -0.0, 5e-324, 1e6, -1e6, 1e308]))
anything = st.one_of(
    st.binary(min_size=0, max_size=layout.CELL_BYTES * 2),
    st.tuples(
        st.integers(0, 40),
        st.integers(0, 40),
        st.integers(0, 3),
        st.integers(0, 20),
        st.lists(doubles, min_size=12, max_size=12),
    ),
)


@given(st.lists(anything, max_size=8))
def test_whatever_is_in_a_page_gives_no_force_beyond_the_peak_and_no_nan(writes: list[Any]) -> None:
    rig = LocalArm(arm_params())
    client, other = rig.client(), rig.client("other")
    client.seat.allow_to_hold(rig.slot)
    for write in writes:
        if isinstance(write, bytes):
            client.page.scribble(write)
        else:
            sequence, inner, generation, commands, numbers = write
            for place in range(layout.PLACES):
                at = rig.slot * layout.CELL_BYTES + layout.RECORDS_AT + place * layout.RECORD_BYTES
                layout.RECORD.pack_into(client.page.memory, at, inner, generation, commands, *numbers)
            struct.pack_into("<Q", client.page.memory, rig.slot * layout.CELL_BYTES, sequence)
        state = rig.step(2)
        for name in ("force", "torque", "target", "target_joint", "position"):
            assert np.isfinite(state[name]).all()
        assert np.linalg.norm(state["force"]) <= PEAK_N * (1 + 1e-9)
        assert np.isfinite(rig.states.state(rig.slot)).all()
        assert other.answer == (0, 0, 0, 0, 0)


# ---------------------------------------------------------------- holding a position


def hold(at: tuple[float, float, float] = ARM_CENTRE) -> dict[int, tuple[float, float, float]]:
    return {POSITION: at}


def test_a_position_waits_until_the_event_loop_allows_it(rig: LocalArm) -> None:
    client = rig.client()
    client.page.command(rig.slot, rig.generation, hold())
    rig.step()
    assert client.answer[4] == 0
    assert client.seat.wants_to_hold(rig.slot)
    assert not client.seat.wants_to_hold(rig.slot)

    client.seat.allow_to_hold(rig.slot)
    client.page.command(rig.slot, rig.generation, hold())
    state = rig.step()

    assert client.answer[4] == POSITION
    assert tuple(state["target"]) == ARM_CENTRE


def test_who_holds_goes_on_without_asking_and_a_pause_of_half_a_timeout_ends_that(rig: LocalArm) -> None:
    client = rig.client()
    client.seat.allow_to_hold(rig.slot)
    for _ in range(20):
        client.page.command(rig.slot, rig.generation, hold())
        rig.step(rig.ticks(0.02))
        assert client.answer[4] == POSITION

    rig.step(rig.ticks(0.01))
    client.page.command(rig.slot, rig.generation, hold())
    rig.step()

    assert client.answer[4] == 0
    assert client.seat.wants_to_hold(rig.slot)


def test_a_permission_counts_once(rig: LocalArm) -> None:
    client = rig.client()
    client.seat.allow_to_hold(rig.slot)
    client.page.command(rig.slot, rig.generation, hold())
    rig.step()
    client.force(1.0, 0.0, 0.0)
    rig.step()

    client.page.command(rig.slot, rig.generation, hold())
    rig.step()

    assert client.answer[4] == 0


def test_a_permission_that_is_not_used_expires(rig: LocalArm) -> None:
    client = rig.client()
    client.seat.allow_to_hold(rig.slot)
    rig.step(rig.ticks(0.026))
    client.page.command(rig.slot, rig.generation, hold())
    rig.step()

    assert client.answer[4] == 0


def test_a_session_whose_output_is_off_gives_its_hold_up(rig: LocalArm) -> None:
    client = rig.client()
    client.seat.allow_to_hold(rig.slot)
    client.page.command(rig.slot, rig.generation, hold())
    rig.step()

    client.seat.give_up_positions()
    state = rig.step()
    assert state["mode"] == 0

    client.page.command(rig.slot, rig.generation, hold())
    assert rig.step()["mode"] == 0


def test_one_session_at_a_time_holds_a_device(rig: LocalArm) -> None:
    holders = PositionHolders()
    local, others = rig.client(), rig.writer
    seen = local.seat.hold(local.writer)

    def claim(session: int, writer: object) -> int | None:
        return holders.claim("arm", session, writer, rig.runtime.now_ns(), TIMEOUT_NS)  # type: ignore[arg-type]

    assert claim(1, seen) is None
    local.seat.allow_to_hold(rig.slot)
    assert claim(2, others) == 1  # permitted, not begun
    local.page.command(rig.slot, rig.generation, hold())
    rig.step()
    assert claim(2, others) == 1  # holds
    rig.step(rig.ticks(0.049))
    assert claim(2, others) == 1  # may go on in theory
    rig.step(rig.ticks(0.002))
    assert claim(2, others) is None  # timed out
    others.begin()
    others.position(*ARM_CENTRE)
    assert others.publish()
    assert claim(1, seen) == 2


def test_omitting_the_position_gives_the_device_free(rig: LocalArm) -> None:
    holders = PositionHolders()
    local = rig.client()
    seen = local.seat.hold(local.writer)
    assert holders.claim("arm", 1, seen, rig.runtime.now_ns(), TIMEOUT_NS) is None
    local.seat.allow_to_hold(rig.slot)
    local.page.command(rig.slot, rig.generation, hold())
    rig.step()
    local.force(0.0, 0.0, 0.0)
    rig.step()

    assert holders.claim("arm", 2, rig.writer, rig.runtime.now_ns(), TIMEOUT_NS) is None


def test_a_closed_seat_holds_nothing(rig: LocalArm) -> None:
    local = rig.client()
    seen = local.seat.hold(local.writer)
    local.seat.allow_to_hold(rig.slot)
    local.seat.close()

    assert seen.revoked


# ---------------------------------------------------------------- memory


def test_sizes_are_those_of_the_header() -> None:
    assert layout.PAGE_BYTES == PAGE_BYTES
    assert layout.SEATS_AT + SEATS * layout.SEAT_BYTES == STATES_BYTES


def test_the_area_of_states_cannot_be_written_shortened_or_emptied(rig: LocalArm) -> None:
    descriptor = rig.seats.descriptor

    with pytest.raises(PermissionError):
        mmap.mmap(descriptor, STATES_BYTES, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    with pytest.raises(PermissionError):
        os.ftruncate(descriptor, 0)
    with pytest.raises(PermissionError):
        os.pwrite(descriptor, b"x", 0)
    with pytest.raises(PermissionError):
        mmap.mmap(os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR), STATES_BYTES)
    assert not punches_a_hole(descriptor)


def test_a_page_cannot_be_shortened_or_emptied_once_it_is_sealed(rig: LocalArm) -> None:
    seat = rig.seats.seat(rig.runtime.lease_session("1"))
    assert seat is not None
    descriptor = os.dup(seat.descriptor)
    page = layout.Page(descriptor)

    with pytest.raises(PermissionError):
        os.ftruncate(descriptor, 0)
    with pytest.raises(PermissionError):
        os.ftruncate(descriptor, 1 << 20)
    seat.seal()
    assert not punches_a_hole(descriptor)
    with pytest.raises(PermissionError):
        fcntl.fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK)
    page.scribble(b"still writable")
    with pytest.raises(OSError, match="Operation not permitted"):
        page.memory.madvise(mmap.MADV_REMOVE)
    os.close(descriptor)


def punches_a_hole(descriptor: int) -> bool:
    """Whether the system lets a page be taken out of the file."""
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.fallocate(descriptor, FALLOC_PUNCH_HOLE, ctypes.c_long(0), ctypes.c_long(4096)) == 0)


def test_every_seat_can_be_taken_and_is_free_again_once_it_is_closed(rig: LocalArm) -> None:
    sessions = [rig.runtime.lease_session(str(number)) for number in range(SEATS + 1)]
    seats = [rig.seats.seat(session) for session in sessions]
    assert seats[-1] is None
    assert sorted(seat.number for seat in seats if seat is not None) == list(range(SEATS))

    for seat in seats:
        if seat is not None:
            seat.close()
    assert rig.seats.seat(sessions[-1]) is not None


def test_a_page_stays_mapped_while_a_tick_may_read_it() -> None:
    rig = LocalArm()
    client = rig.client()
    rig.step(10)
    client.seat.close()
    client.seat.close()
    rig.seats.sweep()
    again = rig.client("again")

    again.force(1.0, 0.0, 0.0)
    assert force_of(rig.step()) == (1.0, 0.0, 0.0)
