"""Devices at ports in the loop: state from the newest packet, order into the device's cell, reaction to silence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from fastpath.arena.runtime import Runtime
from fastpath.layout.constants import StatusFlag
from fastpath.port.port_cell import PortCell
from tests.support.loop.devices import arm_params, fill, grip_params

FREQUENCY = 4000.0
SILENCE_S = 0.020
POSE = (20.0, 70.0, -100.0)
FLAG_READY = StatusFlag.FLAG_READY
FLAG_ATTACHED = StatusFlag.FLAG_ATTACHED
MECHANISM_CURSOR = 3
NOTHING = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class Desk:
    """One device at a port, and who plays the port: a packet each millisecond."""

    def __init__(self, params: NDArray[np.void] | None = None, name: str = "arm") -> None:
        self.runtime = Runtime(stepping=True)
        self.runtime.publish_loop(frequency=FREQUENCY, command_timeout=0.5)
        self.params = arm_params() if params is None else params
        fill(self.params, {"source": 1, "silence": SILENCE_S})
        self.lease = self.runtime.lease_device(name)
        assert self.runtime.publish_device(self.lease, self.params)
        self.cell = PortCell(self.runtime, self.lease)
        self.reader = self.runtime.reader(self.lease)
        self.writer = self.runtime.writer(self.runtime.lease_session("1"), self.lease)

    def state(self) -> NDArray[np.void]:
        return self.reader.snapshot()

    def quiet(self, milliseconds: int) -> NDArray[np.void]:
        """The state after so long without a packet."""
        self.runtime.step(milliseconds * 4)
        return self.state()

    def hold(self, milliseconds: int = 100, joint: tuple[float, float, float] = POSE) -> NDArray[np.void]:
        """The state after so long in one pose."""
        for _ in range(milliseconds):
            assert self.cell.put(joint=joint)
            self.runtime.step(4)
        return self.state()

    def push(self, *force: float) -> None:
        self.writer.begin()
        self.writer.force(*force)
        assert self.writer.publish()


def cursor_of(joint: tuple[float, float, float]) -> tuple[float, float, float]:
    """Forward kinematics of the tests' arm, by the formula of its page."""
    yaw, shoulder, elbow = (math.radians(angle) for angle in joint)
    r = 0.26 * math.cos(shoulder) + 0.26 * math.cos(shoulder + elbow)
    h = 0.26 * math.sin(shoulder) + 0.26 * math.sin(shoulder + elbow)
    return r * math.sin(yaw), 0.08 - r * math.cos(yaw), 0.135 + h


@pytest.mark.parametrize("joint", [(0.0, 0.0, 0.0), POSE])
def test_a_device_whose_parameters_come_after_some_ticks_has_the_pose_of_its_first_packet(
    joint: tuple[float, float, float],
) -> None:
    runtime = Runtime(stepping=True)
    runtime.publish_loop(frequency=FREQUENCY, command_timeout=0.5)
    params = arm_params()
    fill(params, {"source": 1, "silence": SILENCE_S})
    for _ in range(2):
        lease = runtime.lease_device("arm")
        runtime.step(4)
        assert runtime.publish_device(lease, params)
        runtime.step(4)
        assert PortCell(runtime, lease).put(joint=joint)
        runtime.step(4)

        position = runtime.reader(lease).snapshot()["position"]
        assert tuple(position) == pytest.approx(cursor_of(joint), abs=1e-12)
        runtime.release_device(lease)
        runtime.step(4)


def test_the_cursor_comes_from_the_joint_angles_of_the_newest_packet() -> None:
    state = Desk().hold()

    assert tuple(state["position"]) == pytest.approx(cursor_of(POSE), abs=1e-12)
    assert tuple(state["joint"]) == POSE
    assert tuple(state["velocity"]) == pytest.approx((0, 0, 0), abs=1e-12)
    assert int(state["samples"]) == 100


def test_a_device_that_tells_its_cursor_is_believed() -> None:
    params = arm_params()
    params["mechanism"]["kind"] = MECHANISM_CURSOR
    desk = Desk(params)
    desk.cell.put(position=(0.01, -0.02, 0.03), orientation=(0, 2, 0, 0), buttons=5, bits=33, faults=7)
    desk.runtime.step(1)

    state = desk.state()

    assert tuple(state["position"]) == (0.01, -0.02, 0.03)
    assert tuple(state["orientation"]) == (0, 1, 0, 0)
    assert (int(state["buttons"]), int(state["port_bits"]), int(state["port_faults"])) == (5, 33, 7)


@pytest.mark.parametrize("every", [1, 4, 7, 16])
def test_velocity_is_that_of_the_hand_at_any_rate_of_packets(every: int) -> None:
    params = arm_params()
    params["mechanism"]["kind"] = MECHANISM_CURSOR
    desk = Desk(params)
    for tick in range(1600):
        if tick % every == 0:
            desk.cell.put(position=(0.2 * tick / FREQUENCY, 0, 0))
        desk.runtime.step(1)

    assert float(desk.state()["velocity"][0]) == pytest.approx(0.2, rel=0.01)


def test_two_packets_at_one_moment_leave_a_finite_velocity() -> None:
    desk = Desk()
    desk.hold(10)
    for yaw in (20.0, 20.1, 20.2):
        desk.cell.put(joint=(yaw, 70.0, -100.0))
        desk.runtime.step(1)
    desk.cell.put(joint=(20.3, 70.0, -100.0))

    assert np.isfinite(desk.quiet(1)["velocity"]).all()


def test_a_force_becomes_an_order_of_torques() -> None:
    desk = Desk()
    desk.hold(200)
    for _ in range(100):
        desk.push(1.0, 0.5, -0.25)
        desk.hold(1)

    state, order = desk.state(), desk.cell.order()

    assert order is not None
    assert tuple(state["force"]) == pytest.approx((1.0, 0.5, -0.25))
    assert order == (int(state["time_ns"]), tuple(state["force"]), tuple(state["torque"]))
    assert any(order[2])


def test_a_left_handed_arm_s_motor_is_turned_back() -> None:
    desk = Desk(arm_params(left_handed=1))
    desk.hold(200)
    for _ in range(100):
        desk.push(1.0, 0.0, 0.0)
        desk.hold(1)

    state, order = desk.state(), desk.cell.order()

    assert order is not None
    assert float(state["joint"][0]) == -POSE[0]
    assert order[2][0] == -float(state["torque"][0]) != 0


def test_packets_that_stop_end_in_zero_force_and_a_state_that_stands_still() -> None:
    desk = Desk()
    desk.hold(200)
    for _ in range(100):
        desk.push(1.0, 0.0, 0.0)
        desk.hold(1)
    last_ns = desk.runtime.now_ns() - 1_000_000
    assert float(desk.quiet(int(SILENCE_S * 1000) - 2)["force"][0]) == pytest.approx(1.0)

    first, second = desk.quiet(3), desk.quiet(50)

    for name in ("force", "torque", "velocity"):
        assert not first[name].any()
    assert abs(int(first["time_ns"]) - last_ns) < 1_000_000
    assert (int(second["tick"]), int(second["time_ns"])) == (int(first["tick"]), int(first["time_ns"]))
    assert int(second["silences"]) == 1


def test_the_order_of_a_silent_device_is_zero_and_ages() -> None:
    desk = Desk()
    desk.hold(200)
    for _ in range(100):
        desk.push(1.0, 0.0, 0.0)
        desk.hold(1)
    desk.quiet(int(SILENCE_S * 1000) + 1)
    order = desk.cell.order()
    ordered_ns = desk.runtime.now_ns()
    desk.quiet(25)

    assert order is not None
    assert order[1:] == NOTHING
    assert 0 <= ordered_ns - order[0] <= 2_000_000
    assert desk.cell.order() == order


def test_packets_that_come_again_start_at_rest_and_without_a_jump() -> None:
    desk = Desk()
    desk.hold(100)
    desk.quiet(500)

    again = desk.hold(1, (25.0, 70.0, -100.0))

    assert int(again["silences"]) == 1
    assert tuple(again["velocity"]) == (0, 0, 0)
    assert tuple(again["position"]) == pytest.approx(cursor_of((25.0, 70.0, -100.0)), abs=1e-12)


def test_a_device_that_never_sends_is_shown_and_its_time_stands_still() -> None:
    desk = Desk()

    first, later = desk.quiet(1), desk.quiet(600)

    assert int(first["generation"]) == desk.lease.generation
    assert int(later["time_ns"]) == int(first["time_ns"]) > 0
    assert not later["force"].any()


def test_the_stop_latch_orders_zero() -> None:
    desk = Desk()
    desk.hold(200)
    for _ in range(20):
        desk.push(1.0, 0.0, 0.0)
        desk.hold(1)
    desk.runtime.stop_device(desk.lease, stopped=True)
    desk.push(1.0, 0.0, 0.0)
    desk.hold(1)

    order = desk.cell.order()
    assert order is not None
    assert order[1:] == NOTHING


def test_a_lease_that_is_over_neither_puts_nor_orders() -> None:
    desk = Desk()
    desk.hold(10)
    desk.runtime.release_device(desk.lease)
    desk.runtime.step(2)

    assert not desk.cell.put(joint=POSE)
    assert desk.cell.order() is None


def test_the_next_device_in_a_slot_does_not_see_the_packets_of_the_last() -> None:
    desk = Desk()
    desk.hold(10)
    desk.runtime.release_device(desk.lease)
    desk.runtime.step(2)
    lease = desk.runtime.lease_device("other")
    assert lease.slot == desk.lease.slot
    desk.runtime.publish_device(lease, desk.params)

    desk.runtime.step(4)
    state = desk.runtime.reader(lease).snapshot()

    assert int(state["samples"]) == 0
    assert not state["position"].any()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_packet_with_a_number_that_is_none_is_not_taken(bad: float) -> None:
    desk = Desk()
    before = desk.hold(10)

    assert not desk.cell.put(joint=(bad, 0, 0))
    assert not desk.cell.put(joint=POSE, hall=bad)
    desk.runtime.step(1)

    assert int(desk.state()["samples"]) == int(before["samples"])


def test_a_handle_tells_orientation_buttons_hall_and_battery() -> None:
    desk = Desk(grip_params(flags=61 | FLAG_ATTACHED), "grip")
    desk.cell.put(orientation=(0, 0, 0, 1), buttons=2, hall=0.25, battery_level=0.5, battery_voltage=3.7)
    desk.runtime.step(1)

    state = desk.state()

    assert tuple(state["orientation"]) == (0, 0, 0, 1)
    assert int(state["buttons"]) == 2
    assert (float(state["hall"]), float(state["battery_level"]), float(state["battery_voltage"])) == (0.25, 0.5, 3.7)


def test_a_handle_that_lies_still_rests_and_a_button_wakes_it() -> None:
    desk = Desk(grip_params(), "grip")
    for _ in range(100):
        desk.cell.put(orientation=(1, 0, 0, 0))
        desk.runtime.step(40)
    assert float(desk.state()["still"]) == pytest.approx(1.0, abs=0.02)

    desk.cell.put(orientation=(1, 0, 0, 0), buttons=1)
    desk.runtime.step(1)

    assert float(desk.state()["still"]) == 0


def test_simulated_devices_beside_it_draw_the_same_bits_as_alone() -> None:
    def cursor(*, beside: bool) -> tuple[float, ...]:
        runtime = Runtime(stepping=True)
        arm = runtime.lease_device("arm")
        runtime.publish_device(arm, arm_params())
        if beside:
            params = arm_params()
            fill(params, {"source": 1, "silence": SILENCE_S})
            runtime.publish_device(runtime.lease_device("real"), params)
        runtime.step(2000)
        return tuple(float(part) for part in runtime.reader(arm).snapshot()["position"])

    assert cursor(beside=True) == cursor(beside=False)


def test_a_device_that_finds_its_zero_has_not_moved() -> None:
    desk = Desk()
    desk.hold(20)
    desk.cell.put(joint=(50.0, 60.0, -80.0), bits=512)
    desk.runtime.step(1)

    state = desk.state()

    assert tuple(state["position"]) == pytest.approx(cursor_of((50.0, 60.0, -80.0)), abs=1e-12)
    assert tuple(state["velocity"]) == (0, 0, 0)


def test_what_its_actor_knows_of_a_silent_device_is_shown_and_its_reading_stands_still() -> None:
    desk = Desk(grip_params(flags=FLAG_ATTACHED | FLAG_READY))
    before = desk.hold()
    silent = desk.quiet(100)
    fill(desk.params, {"flags": FLAG_READY})
    assert desk.runtime.publish_device(desk.lease, desk.params)

    after = desk.quiet(1)

    assert int(silent["flags"]) & FLAG_ATTACHED
    assert int(after["flags"]) == FLAG_READY | StatusFlag.FLAG_MEASURED
    assert int(after["time_ns"]) == int(silent["time_ns"])
    assert tuple(after["orientation"]) == tuple(before["orientation"])


def test_a_device_that_has_not_sent_yet_is_shown_with_what_its_actor_knows_but_not_ready() -> None:
    desk = Desk(grip_params(flags=FLAG_ATTACHED | FLAG_READY))

    assert int(desk.quiet(1)["flags"]) == FLAG_ATTACHED
