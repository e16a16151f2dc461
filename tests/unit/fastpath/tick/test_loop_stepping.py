"""The real loop on its virtual clock: exact periods, ramps, spaces, states, and identical bits in each run."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fastpath.arena.runtime import Runtime
from fastpath.layout.constants import StatusFlag
from tests.support.loop.devices import (
    SteppedArm,
    arm_params,
    force_of,
    grip_params,
    still_arm_params,
)

Array = NDArray[Any]
RATES = [1_000.0, 4_000.0, 8_000.0, 32_000.0]
UNDEFINED, CARTESIAN, ANGULAR = 0, 1, 2
IDLE, FORCE, POSITION = 0, 1, 2
IDENTITY = (1.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("rate", RATES)
def test_step_is_one_tick_of_one_exact_period(rate: float) -> None:
    rig = SteppedArm(frequency=rate)
    before = rig.reader.snapshot()

    state = rig.step(7)

    assert state["tick"] == before["tick"] + 7
    assert state["time_ns"] == before["time_ns"] + 7 * round(1e9 / rate)
    assert state["time_ns"] == rig.runtime.now_ns()


def test_loop_state_shows_the_stepping_rate() -> None:
    rig = SteppedArm(frequency=8_000)
    seen = [float((rig.step(rig.ticks(0.25)), rig.runtime.loop_state()["frequency"])[1]) for _ in range(10)]

    assert all(shown == pytest.approx(8_000) or shown == 0 for shown in seen)
    assert seen[-1] == pytest.approx(8_000)


@pytest.mark.parametrize("rate", [1_000.0, 8_000.0, 32_000.0])
def test_rate_change_ramps_the_output_in_50_ms(rate: float) -> None:
    rig = SteppedArm(frequency=4_000)
    rig.force(4.0, 0.0, 0.0)
    assert force_of(rig.step()) == (4.0, 0.0, 0.0)

    rig.runtime.publish_loop(frequency=rate, command_timeout=0.05)
    rig.frequency = rate
    seen: list[float] = []
    for index in range(rig.ticks(0.06)):
        if index % rig.ticks(0.01) == 0:
            rig.force(4.0, 0.0, 0.0)
        seen.append(float(rig.step()["force"][0]))

    for index, force in enumerate(seen, start=1):
        assert force == pytest.approx(4.0 * min(1.0, index / rate / 0.050), rel=1e-6)


def test_publishing_the_same_rate_changes_nothing() -> None:
    rig = SteppedArm()
    rig.force(4.0, 0.0, 0.0)
    rig.step()

    rig.runtime.publish_loop(frequency=rig.frequency, command_timeout=0.1)

    assert force_of(rig.step()) == (4.0, 0.0, 0.0)


def test_torques_ramp_in_as_forces() -> None:
    rig = SteppedArm(frequency=4_000)
    rig.runtime.publish_loop(frequency=1_000, command_timeout=0.05)
    rig.writer.torque(100.0, 0.0, 0.0)
    rig.writer.publish()

    seen = [float(rig.step()["torque"][0]) for _ in range(50)]

    assert seen == pytest.approx([100.0 * tick / 50 for tick in range(1, 51)])


def test_loop_starts_with_the_output_ramp() -> None:
    runtime = Runtime(stepping=True)
    device, session = runtime.lease_device("arm"), runtime.lease_session("1")
    runtime.publish_device(device, still_arm_params())
    writer, reader = runtime.writer(session, device), runtime.reader(device)
    writer.force(4.0, 0.0, 0.0)
    writer.publish()

    runtime.step()

    assert reader.snapshot()["force"][0] == pytest.approx(4.0 / 200)


def test_force_is_converted_to_device_space() -> None:
    rig = SteppedArm()
    half = math.sqrt(0.5)
    rig.writer.set_basis((0, 2, 1), (1, -1, 1))
    rig.writer.set_workspace((1.0, 2.0, 3.0), (half, 0.0, 0.0, half), (5.0, 5.0, 5.0))

    rig.force(0.0, 3.0, 0.0)

    assert force_of(rig.step()) == pytest.approx((3.0, 0.0, 0.0))


def test_a_held_force_does_not_turn_with_the_view() -> None:
    rig = SteppedArm()
    rig.force(3.0, 0.0, 0.0)
    rig.step()

    rig.writer.set_basis((1, 0, 2), (1, 1, 1))
    rig.writer.publish(refresh=False)

    assert force_of(rig.step()) == (3.0, 0.0, 0.0)


def test_a_held_position_follows_the_workspace() -> None:
    rig = SteppedArm()
    rig.writer.position(0.0, 0.0, 0.0)
    rig.writer.publish()
    rig.step()

    rig.writer.set_workspace((1.0, 2.0, 3.0), IDENTITY, (2.0, 2.0, 2.0))
    rig.writer.publish()

    assert rig.step()["target"] == pytest.approx((-0.5, -1.0, -1.5))


@pytest.mark.parametrize(
    ("commands", "domain", "mode"),
    [
        ((), UNDEFINED, IDLE),
        (("force",), CARTESIAN, FORCE),
        (("position",), CARTESIAN, POSITION),
        (("torque",), ANGULAR, FORCE),
        (("angle",), ANGULAR, POSITION),
        (("force", "torque"), CARTESIAN, FORCE),
        (("force", "position"), CARTESIAN, POSITION),
        (("force", "angle"), ANGULAR, POSITION),
        (("torque", "position"), CARTESIAN, POSITION),
    ],
)
def test_domain_and_mode_name_what_is_commanded(commands: tuple[str, ...], domain: int, mode: int) -> None:
    rig = SteppedArm()
    for command in commands:
        getattr(rig.writer, command)(0.0, 0.0, 0.0)
    rig.writer.publish()

    state = rig.step()

    assert state["domain"] == domain
    assert state["mode"] == mode


def test_idle_device_keeps_its_domain_and_loses_its_mode() -> None:
    rig = SteppedArm()
    rig.writer.torque(0.0, 0.0, 0.0)
    rig.writer.publish()
    rig.step()
    rig.writer.begin()
    rig.writer.publish()

    state = rig.step()

    assert state["domain"] == ANGULAR
    assert state["mode"] == IDLE


def test_a_zero_force_is_a_command() -> None:
    rig = SteppedArm()
    rig.force(0.0, 0.0, 0.0)

    assert rig.step()["mode"] == FORCE


def test_the_state_names_the_sessions_that_command() -> None:
    rig = SteppedArm()
    leases = [rig.runtime.lease_session(str(number)) for number in range(2, 5)]
    rig.force(1.0, 0.0, 0.0, writer=rig.runtime.writer(leases[1], rig.device))

    assert rig.step()["live"][0] == 1 << leases[1].slot
    assert rig.step(rig.ticks(0.1))["live"][0] == 0


def test_flags_of_the_parameters_are_shown() -> None:
    flags = StatusFlag.FLAG_CALIBRATED | StatusFlag.FLAG_READY | StatusFlag.FLAG_STARTED
    rig = SteppedArm(still_arm_params(flags=flags))

    assert rig.reader.snapshot()["flags"] == flags | StatusFlag.FLAG_MEASURED


def story() -> bytes:
    """A second of an arm in a hand, a grip, two sessions and some silence, as bytes."""
    runtime = Runtime(stepping=True)
    arm, grip = runtime.lease_device("arm"), runtime.lease_device("grip")
    runtime.publish_device(arm, arm_params())
    runtime.publish_device(grip, grip_params())
    writers = [runtime.writer(runtime.lease_session(name), arm) for name in ("1", "2")]
    readers = [runtime.reader(device) for device in (arm, grip)]
    seen: list[bytes] = []
    for turn in range(100):
        writers[0].begin()
        writers[0].force(math.sin(turn), 0.1 * turn, -1.0)
        writers[0].publish()
        if turn % 30 < 10:
            writers[1].position(0.0, -0.1, 0.15)
            writers[1].publish()
        runtime.step(40, beat=turn < 50)
        seen.extend(reader.snapshot().tobytes() for reader in readers)
    return b"".join(seen)


def test_same_inputs_give_identical_bits() -> None:
    assert story() == story()


def test_another_seed_gives_another_motion() -> None:
    def sway(seed: int) -> Array:
        runtime = Runtime(stepping=True)
        grip = runtime.lease_device("grip")
        runtime.publish_device(grip, grip_params(seed=seed))
        runtime.step(4000)
        return np.asarray(runtime.reader(grip).snapshot()["orientation"])

    assert np.array_equal(sway(7), sway(7))
    assert not np.array_equal(sway(7), sway(8))


LEASES_WHILE_IT_STEPS = """
import threading
from fastpath.arena.runtime import Runtime

runtime = Runtime(stepping=True, realtime=False)
runtime.publish_loop(frequency=4000, command_timeout=30)
ticks = threading.Thread(target=lambda: [runtime.step(100) for _ in range(4000)])
ticks.start()
while ticks.is_alive():
    runtime.release_session(runtime.lease_session("comes and goes"))
print(int(runtime.loop_state()["ticks"]))
"""


def test_released_slots_leave_other_states_unchanged() -> None:
    # In a process of its own: a state that stays half written is waited for without end, and without letting others run.
    done = subprocess.run(
        [sys.executable, "-c", LEASES_WHILE_IT_STEPS], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout == "400000\n"
