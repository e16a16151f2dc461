"""Devices at ports in the loop: state from the newest packet, order into the device's cell, reaction to silence."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from fastpath.arena.runtime import Runtime
from fastpath.layout.constants import StatusFlag
from fastpath.port.port_cell import PortCell
from tests.support.loop.devices import arm_params, fill, grip_params
from tests.support.service.polling import eventually

FREQUENCY = 4000.0
SILENCE_S = 0.020
POSE = (20.0, 70.0, -100.0)
FLAG_READY = StatusFlag.FLAG_READY
FLAG_ATTACHED = StatusFlag.FLAG_ATTACHED
MECHANISM_CURSOR = 3
NOTHING = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class PortDevice:
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
def test_device_with_late_parameters_has_the_pose_of_its_first_packet(
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
    state = PortDevice().hold()

    assert tuple(state["position"]) == pytest.approx(cursor_of(POSE), abs=1e-12)
    assert tuple(state["joint"]) == POSE
    assert tuple(state["velocity"]) == pytest.approx((0, 0, 0), abs=1e-12)
    assert int(state["samples"]) == 100


def test_cursor_sent_by_the_device_is_used() -> None:
    params = arm_params()
    params["mechanism"]["kind"] = MECHANISM_CURSOR
    setup = PortDevice(params)
    setup.cell.put(position=(0.01, -0.02, 0.03), orientation=(0, 2, 0, 0), buttons=5, bits=33, faults=7)
    setup.runtime.step(1)

    state = setup.state()

    assert tuple(state["position"]) == (0.01, -0.02, 0.03)
    assert tuple(state["orientation"]) == (0, 1, 0, 0)
    assert (int(state["buttons"]), int(state["port_bits"]), int(state["port_faults"])) == (5, 33, 7)


@pytest.mark.parametrize("every", [1, 4, 7, 16])
def test_velocity_is_right_at_any_packet_rate(every: int) -> None:
    params = arm_params()
    params["mechanism"]["kind"] = MECHANISM_CURSOR
    setup = PortDevice(params)
    for tick in range(1600):
        if tick % every == 0:
            setup.cell.put(position=(0.2 * tick / FREQUENCY, 0, 0))
        setup.runtime.step(1)

    assert float(setup.state()["velocity"][0]) == pytest.approx(0.2, rel=0.01)


def test_packets_with_equal_time_give_a_finite_velocity() -> None:
    setup = PortDevice()
    setup.hold(10)
    for yaw in (20.0, 20.1, 20.2):
        setup.cell.put(joint=(yaw, 70.0, -100.0))
        setup.runtime.step(1)
    setup.cell.put(joint=(20.3, 70.0, -100.0))

    assert np.isfinite(setup.quiet(1)["velocity"]).all()


def test_a_force_becomes_an_order_of_torques() -> None:
    setup = PortDevice()
    setup.hold(200)
    for _ in range(100):
        setup.push(1.0, 0.5, -0.25)
        setup.hold(1)

    state, order = setup.state(), setup.cell.order()

    assert order is not None
    assert tuple(state["force"]) == pytest.approx((1.0, 0.5, -0.25))
    assert order == (int(state["time_ns"]), tuple(state["force"]), tuple(state["torque"]))
    assert any(order[2])


def test_a_left_handed_arm_s_motor_is_turned_back() -> None:
    setup = PortDevice(arm_params(left_handed=1))
    setup.hold(200)
    for _ in range(100):
        setup.push(1.0, 0.0, 0.0)
        setup.hold(1)

    state, order = setup.state(), setup.cell.order()

    assert order is not None
    assert float(state["joint"][0]) == -POSE[0]
    assert order[2][0] == -float(state["torque"][0]) != 0


def test_missing_packets_give_zero_force_and_a_frozen_state() -> None:
    setup = PortDevice()
    setup.hold(200)
    for _ in range(100):
        setup.push(1.0, 0.0, 0.0)
        setup.hold(1)
    last_ns = setup.runtime.now_ns() - 1_000_000
    assert float(setup.quiet(int(SILENCE_S * 1000) - 2)["force"][0]) == pytest.approx(1.0)

    first, second = setup.quiet(3), setup.quiet(50)

    for name in ("force", "torque", "velocity"):
        assert not first[name].any()
    assert abs(int(first["time_ns"]) - last_ns) < 1_000_000
    assert (int(second["tick"]), int(second["time_ns"])) == (int(first["tick"]), int(first["time_ns"]))
    assert int(second["silences"]) == 1


def test_order_of_a_silent_device_is_zero_and_ages() -> None:
    setup = PortDevice()
    setup.hold(200)
    for _ in range(100):
        setup.push(1.0, 0.0, 0.0)
        setup.hold(1)
    setup.quiet(int(SILENCE_S * 1000) + 1)
    order = setup.cell.order()
    ordered_ns = setup.runtime.now_ns()
    setup.quiet(25)

    assert order is not None
    assert order[1:] == NOTHING
    assert 0 <= ordered_ns - order[0] <= 2_000_000
    assert setup.cell.order() == order


def test_resumed_packets_start_at_rest_without_a_jump() -> None:
    setup = PortDevice()
    setup.hold(100)
    setup.quiet(500)

    again = setup.hold(1, (25.0, 70.0, -100.0))

    assert int(again["silences"]) == 1
    assert tuple(again["velocity"]) == (0, 0, 0)
    assert tuple(again["position"]) == pytest.approx(cursor_of((25.0, 70.0, -100.0)), abs=1e-12)


def test_device_that_never_sends_has_a_frozen_time() -> None:
    setup = PortDevice()

    first, later = setup.quiet(1), setup.quiet(600)

    assert int(first["generation"]) == setup.lease.generation
    assert int(later["time_ns"]) == int(first["time_ns"]) > 0
    assert not later["force"].any()


def test_the_stop_latch_orders_zero() -> None:
    setup = PortDevice()
    setup.hold(200)
    for _ in range(20):
        setup.push(1.0, 0.0, 0.0)
        setup.hold(1)
    setup.runtime.stop_device(setup.lease, stopped=True)
    setup.push(1.0, 0.0, 0.0)
    setup.hold(1)

    order = setup.cell.order()
    assert order is not None
    assert order[1:] == NOTHING


def test_ended_lease_neither_writes_nor_orders() -> None:
    setup = PortDevice()
    setup.hold(10)
    setup.runtime.release_device(setup.lease)
    setup.runtime.step(2)

    assert not setup.cell.put(joint=POSE)
    assert setup.cell.order() is None


def test_next_device_in_a_slot_sees_no_old_packets() -> None:
    setup = PortDevice()
    setup.hold(10)
    setup.runtime.release_device(setup.lease)
    setup.runtime.step(2)
    lease = setup.runtime.lease_device("other")
    assert lease.slot == setup.lease.slot
    setup.runtime.publish_device(lease, setup.params)

    setup.runtime.step(4)
    state = setup.runtime.reader(lease).snapshot()

    assert int(state["samples"]) == 0
    assert not state["position"].any()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_packet_with_a_non_finite_number_is_ignored(bad: float) -> None:
    setup = PortDevice()
    before = setup.hold(10)

    assert not setup.cell.put(joint=(bad, 0, 0))
    assert not setup.cell.put(joint=POSE, hall=bad)
    setup.runtime.step(1)

    assert int(setup.state()["samples"]) == int(before["samples"])


def test_handle_reports_orientation_buttons_hall_and_battery() -> None:
    setup = PortDevice(grip_params(flags=61 | FLAG_ATTACHED), "grip")
    setup.cell.put(orientation=(0, 0, 0, 1), buttons=2, hall=0.25, battery_level=0.5, battery_voltage=3.7)
    setup.runtime.step(1)

    state = setup.state()

    assert tuple(state["orientation"]) == (0, 0, 0, 1)
    assert int(state["buttons"]) == 2
    assert (float(state["hall"]), float(state["battery_level"]), float(state["battery_voltage"])) == (0.25, 0.5, 3.7)


def test_handle_at_rest_is_woken_by_a_button() -> None:
    setup = PortDevice(grip_params(), "grip")
    for _ in range(100):
        setup.cell.put(orientation=(1, 0, 0, 0))
        setup.runtime.step(40)
    assert float(setup.state()["still"]) == pytest.approx(1.0, abs=0.02)

    setup.cell.put(orientation=(1, 0, 0, 0), buttons=1)
    setup.runtime.step(1)

    assert float(setup.state()["still"]) == 0


def test_simulated_devices_beside_it_are_unchanged() -> None:
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


def test_homing_jump_gives_no_velocity() -> None:
    setup = PortDevice()
    setup.hold(20)
    setup.cell.put(joint=(50.0, 60.0, -80.0), bits=512)
    setup.runtime.step(1)

    state = setup.state()

    assert tuple(state["position"]) == pytest.approx(cursor_of((50.0, 60.0, -80.0)), abs=1e-12)
    assert tuple(state["velocity"]) == (0, 0, 0)


def test_silent_device_shows_its_actor_s_state_and_a_frozen_reading() -> None:
    setup = PortDevice(grip_params(flags=FLAG_ATTACHED | FLAG_READY))
    before = setup.hold()
    silent = setup.quiet(100)
    fill(setup.params, {"flags": FLAG_READY})
    assert setup.runtime.publish_device(setup.lease, setup.params)

    after = setup.quiet(1)

    assert int(silent["flags"]) & FLAG_ATTACHED
    assert int(after["flags"]) == FLAG_READY | StatusFlag.FLAG_MEASURED
    assert int(after["time_ns"]) == int(silent["time_ns"])
    assert tuple(after["orientation"]) == tuple(before["orientation"])


def test_device_without_a_packet_shows_its_actor_s_state_and_is_not_ready() -> None:
    setup = PortDevice(grip_params(flags=FLAG_ATTACHED | FLAG_READY))

    assert int(setup.quiet(1)["flags"]) == FLAG_ATTACHED


class Running:
    """A loop that runs, with an arm at a port whose packets may be old, and a command of 1 N that grows slowly."""

    SLEW = 50.0

    def __init__(self) -> None:
        self.runtime = Runtime(realtime=False)
        self.runtime.publish_loop(frequency=FREQUENCY, command_timeout=60.0)
        params = arm_params()
        fill(params, {"source": 1, "silence": 60.0, "slew": self.SLEW, "slow_slew": self.SLEW})
        self.lease = self.runtime.lease_device("arm")
        assert self.runtime.publish_device(self.lease, params)
        writer = self.runtime.writer(self.runtime.lease_session("1"), self.lease)
        writer.force(0.0, 0.0, 1.0)
        assert writer.publish()
        self.packets = PortCell(self.runtime, self.lease)
        self.runtime.start()

    def goes_on(self, seconds: float) -> None:
        """Let the loop run with new packets, and take no order."""
        end = self.runtime.now_ns() + round(seconds * 1e9)

        def ended() -> bool:
            self.runtime.beat()
            return self.packets.put(joint=POSE) and self.runtime.now_ns() > end

        eventually(ended, "the loop runs on", pause_s=0.001)

    def ordered(self, taker: PortCell) -> float:
        """The force that a taker of orders gets now (N)."""
        self.runtime.beat()
        assert self.packets.put(joint=POSE)
        found = taker.order()
        return 0.0 if found is None else math.hypot(*found[1])

    def whole(self, taker: PortCell) -> None:
        """Wait until a taker gets nearly all of the force."""
        eventually(lambda: self.ordered(taker) > 0.9, "the force is there", pause_s=0.001)


@pytest.fixture
def running() -> Iterator[Running]:
    made = Running()
    yield made
    made.runtime.stop()


def test_orders_that_are_taken_too_late_begin_from_zero(running: Running) -> None:
    """The loop runs on, its orders are whole and new, but nobody has taken one for more than 20 ms."""
    taker = PortCell(running.runtime, running.lease)
    running.whole(taker)
    running.goes_on(0.05)
    began = running.runtime.now_ns()

    assert running.ordered(taker) == 0.0
    first = eventually(lambda: running.ordered(taker), "the force begins again", pause_s=0.0005)
    assert first <= Running.SLEW * (1e-9 * (running.runtime.now_ns() - began) + 2 / FREQUENCY)
    running.whole(taker)


def test_first_order_that_is_taken_late_is_zero(running: Running) -> None:
    taker = PortCell(running.runtime, running.lease)
    running.goes_on(0.3)

    assert running.ordered(taker) == 0.0
    running.whole(taker)


def test_taker_on_its_way_out_does_not_keep_the_next_one_at_zero(running: Running) -> None:
    old = PortCell(running.runtime, running.lease)
    running.goes_on(0.05)
    new = PortCell(running.runtime, running.lease)
    assert running.ordered(old) == 0.0

    running.whole(new)
