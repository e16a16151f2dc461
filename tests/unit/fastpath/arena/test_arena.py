"""The arena's runtime, leases and capabilities: which lease may write a record, and until when."""

from __future__ import annotations

import ast
import gc
import math
import threading
from enum import EnumMeta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from fastpath.arena.runtime import Lease, NoSlot, Runtime
from fastpath.layout import constants, dtypes
from fastpath.layout.constants import MAX_DEVICES
from fastpath.layout.dtypes import DEVICE_PARAMS, DEVICE_STATE, LOOP_STATE
from tests.support.loop.devices import SteppedArm, arm_params, still_arm_params

ROOT = Path(__file__).parents[4]
IDENTITY = (1.0, 0.0, 0.0, 0.0)
ONES = (1.0, 1.0, 1.0)


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


def test_stub_names_every_constant_of_c_without_values() -> None:
    stub = ast.parse((ROOT / "fastpath" / "layout" / "constants.pyi").read_text(encoding="utf-8"))
    named = {
        node.name: [
            line.targets[0].id
            for line in node.body
            if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name)
        ]
        for node in stub.body
        if isinstance(node, ast.ClassDef)
    }
    enumerations = {name: value for name, value in vars(constants).items() if isinstance(value, EnumMeta)}

    assert named == {name: list(value.__members__) for name, value in enumerations.items()}
    assert not any(isinstance(node, ast.Constant) and isinstance(node.value, int) for node in ast.walk(stub))


def test_the_dtypes_have_the_offsets_of_c() -> None:
    offsets = {name: offset for name, (_dtype, offset, *_title) in (DEVICE_STATE.fields or {}).items()}

    assert offsets["tick"] == 0
    assert offsets["live"] == offsets["mode"] + 4
    assert DEVICE_STATE["live"].shape == (constants.SESSION_WORDS,)
    assert LOOP_STATE["step_seconds"].shape == (constants.STEPS,)
    assert DEVICE_PARAMS["mechanism"] == dtypes.MECHANISM_PARAMS
    assert all(dtype.itemsize % 8 == 0 for dtype in vars(dtypes).values() if isinstance(dtype, np.dtype))


# ---------------------------------------------------------------- slots


def test_leasing_again_gives_the_same_slot_and_next_generation() -> None:
    runtime = Runtime(stepping=True)

    first, second = runtime.lease_session("1"), runtime.lease_session("1")
    arm, again = runtime.lease_device("arm"), runtime.lease_device("arm")

    assert (second.slot, second.generation) == (first.slot, first.generation + 1)
    assert (again.slot, again.generation) == (arm.slot, arm.generation + 1)
    assert runtime.slots() == (1, 1)


def test_every_session_slot_can_be_leased_and_then_none() -> None:
    runtime = Runtime(stepping=True, max_sessions=3)

    leases = [runtime.lease_session(str(number)) for number in range(3)]

    assert sorted(lease.slot for lease in leases) == [0, 1, 2]
    with pytest.raises(NoSlot, match="all 3 session slots are in use"):
        runtime.lease_session("3")
    assert runtime.lease_session("2").slot == leases[2].slot


def test_every_device_slot_can_be_leased_and_then_none() -> None:
    runtime = Runtime(stepping=True)

    leases = [runtime.lease_device(str(number)) for number in range(MAX_DEVICES)]

    assert sorted(lease.slot for lease in leases) == list(range(MAX_DEVICES))
    with pytest.raises(NoSlot, match="all 16 device slots are in use"):
        runtime.lease_device("one more")


def test_a_released_slot_serves_the_next_name_under_a_new_generation() -> None:
    runtime = Runtime(stepping=True, max_sessions=1)
    old = runtime.lease_session("1")

    runtime.release_session(old)
    new = runtime.lease_session("2")

    assert new.slot == old.slot
    assert new.generation > old.generation


def test_releasing_an_ended_lease_changes_nothing() -> None:
    runtime = Runtime(stepping=True)
    session, device = runtime.lease_session("1"), runtime.lease_device("arm")
    new_session, new_device = runtime.lease_session("1"), runtime.lease_device("arm")

    runtime.release_session(session)
    runtime.release_device(device)
    runtime.release_session(Lease(new_session.slot, new_session.generation, "somebody else"))

    assert runtime.slots() == (1, 1)
    runtime.release_session(new_session)
    runtime.release_session(new_session)
    runtime.release_device(new_device)
    assert runtime.slots() == (0, 0)


def test_threads_that_lease_at_once_get_slots_of_their_own() -> None:
    runtime = Runtime(stepping=True, max_sessions=256)
    gate = threading.Barrier(8)
    leases: list[Lease] = []

    def lease(first: int) -> None:
        gate.wait()
        leases.extend(runtime.lease_session(str(number)) for number in range(first, 256, 8))

    threads = [threading.Thread(target=lease, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(lease.slot for lease in leases) == list(range(256))


@pytest.mark.parametrize("sessions", [0, -1, 257])
def test_an_arena_has_1_to_256_sessions(sessions: int) -> None:
    with pytest.raises(ValueError, match="max_sessions must be 1 to 256"):
        Runtime(stepping=True, max_sessions=sessions)


# ---------------------------------------------------------------- parameters


def test_parameters_of_another_layout_are_refused() -> None:
    runtime = Runtime(stepping=True)
    device = runtime.lease_device("arm")

    with pytest.raises(TypeError, match="DEVICE_PARAMS"):
        runtime.publish_device(device, np.zeros((), dtype=DEVICE_STATE))
    with pytest.raises(ValueError, match="bytes"):
        runtime.publish_device(device, np.zeros(2, dtype=DEVICE_PARAMS))


def test_only_the_newest_lease_may_write_a_device() -> None:
    runtime = Runtime(stepping=True)
    old = runtime.lease_device("arm")
    new = runtime.lease_device("arm")

    assert not runtime.publish_device(old, arm_params())
    assert not runtime.stop_device(old, stopped=True)
    assert runtime.publish_device(new, arm_params())
    assert runtime.stop_device(new, stopped=True)
    runtime.release_device(new)
    assert not runtime.publish_device(new, arm_params())
    assert not runtime.stop_device(new, stopped=False)


def test_device_with_a_new_name_has_no_old_parameters_or_latch() -> None:
    rig = SteppedArm()
    rig.runtime.stop_device(rig.device, stopped=True)
    rig.runtime.release_device(rig.device)

    device = rig.runtime.lease_device("another")
    rig.runtime.step()
    state = rig.runtime.reader(device).snapshot()

    assert device.slot == rig.device.slot
    assert state["flags"] == 0
    assert not np.any(state["position"])


@pytest.mark.parametrize("frequency", [0.0, 0.99, 32001.0, -1.0, math.nan, math.inf])
def test_a_frequency_is_1_to_32000_hz(frequency: float) -> None:
    with pytest.raises(ValueError, match="the loop frequency must be 1 to 32000 Hz"):
        Runtime(stepping=True).publish_loop(frequency=frequency, command_timeout=0.05)


@pytest.mark.parametrize("timeout", [0.0, -0.05, math.nan])
def test_command_timeout_must_be_positive(timeout: float) -> None:
    with pytest.raises(ValueError, match="the command time-out must be above 0 s"):
        Runtime(stepping=True).publish_loop(frequency=4000, command_timeout=timeout)


def test_stepping_loop_refuses_start_and_realtime_loop_refuses_step() -> None:
    with pytest.raises(RuntimeError, match="driven by step"):
        Runtime(stepping=True).start()
    with pytest.raises(RuntimeError, match=r"needs Runtime\(stepping=True\)"):
        Runtime(realtime=False).step()


# ---------------------------------------------------------------- readers


def test_a_reader_fills_the_array_that_it_is_given() -> None:
    rig = SteppedArm()
    out = np.zeros((), dtype=DEVICE_STATE)

    assert rig.reader.snapshot(out) is out
    assert out == rig.reader.snapshot()
    assert out["tick"] > 0


def test_a_snapshot_is_a_copy() -> None:
    rig = SteppedArm()
    before = rig.reader.snapshot()
    tick = int(before["tick"])

    rig.step(10)

    assert before["tick"] == tick
    assert rig.reader.snapshot()["tick"] == tick + 10


@pytest.mark.parametrize("out", [np.zeros(2, dtype=DEVICE_STATE), np.zeros((), dtype=np.float64)])
def test_an_array_of_another_size_is_refused(out: NDArray[np.void]) -> None:
    with pytest.raises(ValueError, match="the array must have"):
        SteppedArm().reader.snapshot(out)


def test_read_only_buffer_is_refused_unchanged() -> None:
    out = np.zeros((), dtype=DEVICE_STATE)
    out.flags.writeable = False

    with pytest.raises((ValueError, BufferError)):
        SteppedArm().reader.snapshot(out)


def test_readers_and_writers_keep_their_arena() -> None:
    rig = SteppedArm()
    reader, writer = rig.reader, rig.writer
    tick = int(reader.snapshot()["tick"])
    del rig
    gc.collect()

    assert reader.snapshot()["tick"] == tick
    assert writer.publish()


def test_unreferenced_arena_is_freed() -> None:
    Runtime(stepping=True)
    before = resident_bytes()
    for _ in range(40):
        Runtime(stepping=True)
    gc.collect()

    assert resident_bytes() - before < 20e6


# ---------------------------------------------------------------- writers


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("index", [0, 1, 2])
@pytest.mark.parametrize("command", ["force", "torque", "position", "angle"])
def test_non_finite_command_is_refused_and_changes_nothing(command: str, index: int, bad: float) -> None:
    rig = SteppedArm()
    values = [0.0, 0.0, 0.0]
    values[index] = bad

    with pytest.raises(ValueError, match="commands must be finite numbers"):
        getattr(rig.writer, command)(*values)

    assert rig.writer.commands == 0


def test_a_writer_knows_which_commands_are_set_and_when_they_were_stamped() -> None:
    rig = SteppedArm()
    writer = rig.writer
    assert (writer.commands, writer.command_ns) == (0, 0)

    writer.force(1.0, 0.0, 0.0)
    writer.position(0.0, 0.0, 0.0)
    writer.torque(0.0, 0.0, 0.0)
    writer.angle(0.0, 0.0, 0.0)
    writer.publish()

    assert writer.commands == 15
    assert writer.command_ns == rig.runtime.now_ns()
    stamped = writer.command_ns
    rig.step(4)
    writer.publish(refresh=False)
    assert writer.command_ns == stamped
    writer.begin()
    assert writer.commands == 0


def test_singular_view_is_refused_and_changes_nothing() -> None:
    writer = SteppedArm().writer
    writer.set_workspace((1.0, 2.0, 3.0), IDENTITY, (2.0, 2.0, 2.0))

    for position, rotation, scale in (
        ((0.0, math.nan, 0.0), IDENTITY, ONES),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), ONES),
        ((0.0, 0.0, 0.0), (1.1, 0.0, 0.0, 0.0), ONES),
        ((0.0, 0.0, 0.0), IDENTITY, (1.0, 0.0, 1.0)),
        ((0.0, 0.0, 0.0), IDENTITY, (1.0, -1.0, 1.0)),
        ((0.0, 0.0), IDENTITY, ONES),
        ((0.0, 0.0, 0.0), (1.0,), ONES),
    ):
        with pytest.raises(ValueError, match="a transform needs"):
            writer.set_workspace(position, rotation, scale)
        with pytest.raises(ValueError, match="a transform needs"):
            writer.set_mount(position, rotation, scale)

    assert writer.workspace == ((1.0, 2.0, 3.0), IDENTITY, (2.0, 2.0, 2.0))


def test_basis_and_mount_release_a_held_position_and_the_workspace_does_not() -> None:
    writer = SteppedArm().writer

    writer.force(1.0, 0.0, 0.0)
    writer.position(0.0, 0.0, 0.0)
    writer.set_workspace((1.0, 0.0, 0.0), IDENTITY, ONES)
    assert writer.commands == 3
    writer.set_mount((1.0, 0.0, 0.0), IDENTITY, ONES)
    assert writer.commands == 1
    writer.position(0.0, 0.0, 0.0)
    writer.set_basis((1, 0, 2), (1, 1, 1))
    assert writer.commands == 1


def test_writer_ends_with_its_session() -> None:
    rig = SteppedArm()
    rig.runtime.release_session(rig.session)

    assert not rig.writer.publish()


def test_writer_ends_with_its_device() -> None:
    rig = SteppedArm()
    rig.runtime.release_device(rig.device)

    assert not rig.writer.publish()


@pytest.mark.parametrize("again", ["session", "device"])
def test_writer_ends_when_its_slot_is_leased_again(again: str) -> None:
    rig = SteppedArm()
    if again == "session":
        rig.runtime.lease_session("1")
    else:
        rig.runtime.lease_device("arm")

    assert not rig.writer.publish()


def test_a_revoked_writer_stays_revoked() -> None:
    rig = SteppedArm()
    rig.writer.revoke()
    rig.writer.revoke()

    assert rig.writer.revoked
    assert not rig.writer.publish()


def test_two_runtimes_in_one_process_are_independent() -> None:
    one, two = SteppedArm(), SteppedArm(still_arm_params())

    one.force(1.0, 0.0, 0.0)

    assert one.step()["force"][0] == 1.0
    assert two.step()["force"][0] == 0.0
