"""Each optional monitor on a stepped loop: nothing while it is off, and what it does when the bad thing happens."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from fastpath.arena.runtime import default_oscillation
from fastpath.layout.constants import SafetyBit, TripCause
from fastpath.port.port_cell import PortCell
from tests.support.loop.devices import ARM_CENTRE, arm_params, grip_params, keep
from tests.support.loop.monitored_arm import ATTACHED, EBRAKE, MonitoredArm, bare_arm, free, latched, pressing, size

OPTIONS: Final = (
    "kinetic_energy",
    "power",
    "contact_energy",
    "stiffness_warning",
    "brake_latch",
    "stop_brake",
    "enable_button",
)
COUNTED: Final = (
    "kinetic_trips",
    "power_trips",
    "contact_trips",
    "stiffness_warnings",
    "ebrake_waits",
    "stop_brakes",
    "enable_drops",
)
WAITING: Final = int(SafetyBit.SAFETY_WAITING)
DISABLED: Final = int(SafetyBit.SAFETY_DISABLED)
STIFF: Final = int(SafetyBit.SAFETY_STIFF)
BUTTON: Final = 2
CURSOR: Final = 3


def option(rig: MonitoredArm, **values: float) -> None:
    """Switch optional monitors on or off."""
    for name, value in values.items():
        rig.params["optional"][name] = value
    rig.change()


def counts(state: Any) -> dict[str, int]:
    """The counters of the optional monitors that are not 0."""
    return {name: int(state[name]) for name in COUNTED if int(state[name])}


def causes(rig: MonitoredArm) -> list[TripCause]:
    """The causes of the trip log, oldest first."""
    history = rig.reader.history()
    count = int(history["trips"])
    return [TripCause(int(history["trip"][number % 32]["cause"])) for number in range(max(0, count - 32), count)]


def pushed(rig: MonitoredArm, newtons: float, seconds: float) -> Any:
    """The state after the device's motors have pushed it along x for some time."""
    rig.writer.begin()
    rig.writer.force(newtons, 0.0, 0.0)
    return keep(rig.writer, rig, seconds)


# ---------------------------------------------------------------- all off


def test_output_has_the_same_bits_with_unreached_limits_as_without() -> None:
    plain, limited = MonitoredArm(bare_arm()), MonitoredArm(bare_arm())
    option(limited, kinetic_energy=10.0, power=1000.0, contact_energy=1000.0, brake_latch=1, stop_brake=1)
    plain.change()
    for rig in (plain, limited):
        rig.push(0.4, -0.3, 0.2)
    for newtons in (0.5, -3.0, 2.0):
        for rig in (plain, limited):
            rig.force(newtons, 1.0, -newtons)
        for _ in range(200):
            states = [rig.step() for rig in (plain, limited)]
            assert states[0]["force"].tobytes() == states[1]["force"].tobytes()
            assert states[0]["torque"].tobytes() == states[1]["torque"].tobytes()


def test_nothing_optional_acts_while_all_are_off() -> None:
    rig = MonitoredArm(bare_arm())
    rig.push(2.5, 0, 0)
    rig.step(20)
    state = pushed(rig, -5.0, 0.2)

    assert counts(state) == {}
    assert not int(state["safety"]) & (WAITING | DISABLED | STIFF)


# ---------------------------------------------------------------- kinetic energy


@pytest.mark.parametrize("mass", [0.2, 0.6])
def test_kinetic_energy_over_its_limit_brakes_at_the_speed_of_the_mass(mass: float) -> None:
    rig = MonitoredArm(bare_arm())
    rig.params["plant"]["mass"] = mass
    option(rig, kinetic_energy=0.4)
    limit = (2 * 0.4 / mass) ** 0.5

    rig.push(0.97 * limit, 0, 0)
    assert not int(rig.step(40)["safety"]) & EBRAKE
    rig.push(0.08 * limit, 0, 0)
    rig.seconds_until(latched(EBRAKE), 0.05)

    assert counts(rig.step()) == {"kinetic_trips": 1}
    assert causes(rig) == [TripCause.TRIP_KINETIC]
    trip = rig.reader.history()["trip"][0]
    assert float(trip["limit"]) == 0.4
    assert 0.4 < float(trip["value"]) < 0.45


def test_one_excess_is_one_trip_and_the_brake_releases() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, kinetic_energy=0.1)
    rig.push(1.5, 0, 0)
    rig.seconds_until(latched(EBRAKE), 0.05)
    rig.seconds_until(free(EBRAKE), 5)

    assert counts(rig.step()) == {"kinetic_trips": 1}


# ---------------------------------------------------------------- power


@pytest.mark.parametrize(("watts", "trips"), [(2.0, 1), (0.0, 0), (8.0, 0)])
def test_power_over_its_limit_brakes(watts: float, trips: int) -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, power=watts)
    rig.push(1.0, 0, 0)
    rig.step(40)
    rig.force(4.0, 0.0, 0.0)
    state = rig.step(rig.ticks(0.03))

    assert int(state["power_trips"]) == trips
    assert bool(int(state["safety"]) & EBRAKE) is bool(trips)
    if trips:
        assert float(rig.reader.history()["trip"][0]["value"]) == pytest.approx(2.0, rel=0.05)


def test_power_that_the_motors_absorb_does_not_trip() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, power=0.5)
    rig.push(1.2, 0, 0)
    rig.step(40)
    rig.force(-4.0, 0.0, 0.0)

    assert counts(rig.step(rig.ticks(0.03))) == {}


def port_arm(**options: float) -> tuple[MonitoredArm, PortCell]:
    """An arm at a port whose packets have its cursor and no joints."""
    rig = MonitoredArm(arm_params(slew=3000.0, slow_slew=500.0, source=1, silence=0.05))
    rig.params["mechanism"]["kind"] = CURSOR
    option(rig, **options)
    return rig, PortCell(rig.runtime, rig.device)


def test_power_of_a_device_without_joints_is_force_times_velocity() -> None:
    rig, cell = port_arm(power=1.0)
    x = ARM_CENTRE[0]
    state = rig.reader.snapshot()
    for tick in range(rig.ticks(0.1)):
        x += 0.6 / rig.frequency if tick > rig.ticks(0.05) else 0.0
        assert cell.put(position=(x, *ARM_CENTRE[1:]))
        if tick % 40 == 0:
            rig.force(3.0, 0.0, 0.0)
        state = rig.step()
        if int(state["power_trips"]):
            break

    assert counts(state) == {"power_trips": 1}


def jump_of_homing(option_name: str, **more: float) -> Any:
    """The state after homing has shifted the coordinates by 80 mm under a force."""
    rig, cell = port_arm(**{option_name: 0.05}, **more)
    state = rig.step()
    for tick in range(rig.ticks(0.1)):
        homed = tick > rig.ticks(0.05)
        assert cell.put(position=(ARM_CENTRE[0] + 0.08 * homed, *ARM_CENTRE[1:]), bits=512 * homed)
        if tick % 40 == 0:
            rig.force(4.0, 0.0, 0.0)
        state = rig.step()
    return state


@pytest.mark.parametrize("name", ["power", "contact_energy"])
def test_coordinates_shifted_by_homing_are_no_work(name: str) -> None:
    assert counts(jump_of_homing(name)) == {}


# ---------------------------------------------------------------- energy of a contact


@pytest.mark.parametrize(("joules", "trips"), [(0.1, 1), (0.0, 0), (5.0, 0)])
def test_net_work_in_one_contact_over_its_limit_brakes(joules: float, trips: int) -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, contact_energy=joules)
    state = pushed(rig, 1.5, 0.2)

    assert int(state["contact_trips"]) == trips
    if trips:
        # Work becomes kinetic energy: 0.1 J of 0.2 kg is 1 m/s.
        trip = rig.reader.history()["trip"][0]
        assert float(trip["value"]) == pytest.approx(0.1, rel=0.1)
        assert causes(rig) == [TripCause.TRIP_CONTACT]


def test_work_to_and_fro_is_no_net_work() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, contact_energy=0.1)
    rig.push(0.7, 0, 0)
    rig.step(8)
    centre = float(rig.step()["position"][0])
    state = rig.reader.snapshot()
    for _ in range(rig.ticks(1.0)):
        state = rig.reader.snapshot()
        rig.force(-150.0 * (float(state["position"][0]) - centre), 0.0, 0.0)
        state = rig.step()

    assert counts(state) == {}


def in_steps(pause_s: float, *, missed: bool) -> Any:
    """The state after four pushes that put out 0.05 J each, with a pause after each in which a hand brings the device back."""
    rig, cell = port_arm(contact_energy=0.12)
    # Four pushes in a row are near enough to an oscillation to lose force.
    oscillation = default_oscillation()
    oscillation["enabled"] = False
    rig.runtime.publish_loop(frequency=rig.frequency, command_timeout=0.05, oscillation=oscillation)
    rig.change(silence=10.0)
    state = rig.reader.snapshot()
    for _ in range(4):
        for tick in range(200):
            assert cell.put(position=(ARM_CENTRE[0] + 0.0125 * max(0, tick - 100) / 99, *ARM_CENTRE[1:]))
            if tick % 40 == 0:
                rig.force(4.0, 0.0, 0.0)
            rig.step()
        rig.writer.begin()
        assert rig.writer.publish()
        for tick in range(100):
            assert cell.put(position=(ARM_CENTRE[0] + 0.0125 * (99 - tick) / 99, *ARM_CENTRE[1:]))
            rig.step()
        assert cell.put(position=ARM_CENTRE)
        state = rig.step(missed=rig.ticks(pause_s)) if missed else rig.step(rig.ticks(pause_s))
    return state


@pytest.mark.parametrize(("pause_s", "trips"), [(0.4, 0), (0.2, 1)])
def test_contacts_apart_have_a_limit_each(pause_s: float, trips: int) -> None:
    assert int(in_steps(pause_s, missed=False)["contact_trips"]) == trips


@pytest.mark.parametrize(("pause_s", "trips"), [(0.3, 0), (0.1, 1)])
def test_long_gap_ends_a_contact_and_a_short_one_does_not(pause_s: float, trips: int) -> None:
    assert int(in_steps(pause_s, missed=True)["contact_trips"]) == trips


@pytest.mark.parametrize("missed_s", [0.03, 0.1, 0.24, 0.3, 2.0])
@pytest.mark.parametrize("name", ["power", "contact_energy"])
def test_motion_in_a_gap_is_no_work_of_the_motors(name: str, missed_s: float) -> None:
    """A hand carries the device 60 mm along the last force while the loop does not run: 0.24 J that no motor gave."""
    rig, cell = port_arm(**{name: 0.05})
    rig.params["silence"] = 10.0
    rig.change()
    for tick in range(400):
        assert cell.put(position=ARM_CENTRE)
        if tick % 40 == 0:
            rig.force(4.0, 0.0, 0.0)
        rig.step()
    assert cell.put(position=(ARM_CENTRE[0] + 0.06, *ARM_CENTRE[1:]))
    state = rig.step(missed=rig.ticks(missed_s))
    for _ in range(100):
        assert cell.put(position=(ARM_CENTRE[0] + 0.06, *ARM_CENTRE[1:]))
        state = rig.step()

    assert counts(state) == {}


def test_motion_in_a_gap_that_the_motors_bridged_is_work() -> None:
    """Up to 20 ms the motors hold their last order."""
    rig, cell = port_arm(contact_energy=0.05)
    for tick in range(400):
        assert cell.put(position=ARM_CENTRE)
        if tick % 40 == 0:
            rig.force(4.0, 0.0, 0.0)
        rig.step()
    assert cell.put(position=(ARM_CENTRE[0] + 0.02, *ARM_CENTRE[1:]))

    assert counts(rig.step(missed=rig.ticks(0.015))) == {"contact_trips": 1}


def test_motion_in_a_silence_is_no_work_of_the_motors() -> None:
    rig, cell = port_arm(contact_energy=0.05, power=0.05)
    state = rig.reader.snapshot()
    for x, ticks in ((0.0, 400), (0.06, 100)):
        for tick in range(ticks):
            assert cell.put(position=(ARM_CENTRE[0] + x, *ARM_CENTRE[1:]))
            if tick % 40 == 0:
                rig.force(4.0, 0.0, 0.0)
            state = rig.step()
        rig.step(rig.ticks(0.1))

    assert counts(state) == {}


# ---------------------------------------------------------------- latched brake


def thrown(rig: MonitoredArm) -> None:
    rig.push(3.5, 0, 0)
    rig.seconds_until(latched(EBRAKE), 0.02)
    rig.step()


def test_latched_brake_waits_for_a_request() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, brake_latch=1)
    assert rig.runtime.resume_device(rig.device) is False
    thrown(rig)

    state = rig.step(rig.ticks(10))
    assert int(state["safety"]) & EBRAKE
    assert int(state["safety"]) & WAITING
    assert counts(state) == {"ebrake_waits": 1}
    assert rig.runtime.resume_device(rig.device) is True
    assert not int(rig.step(2)["safety"]) & (EBRAKE | WAITING)
    assert rig.runtime.resume_device(rig.device) is False


def test_unlatched_brake_waits_for_nobody() -> None:
    rig = MonitoredArm(bare_arm())
    thrown(rig)

    assert rig.runtime.resume_device(rig.device) is False
    assert not int(rig.step(rig.ticks(4))["safety"]) & (EBRAKE | WAITING)


def test_early_request_ends_the_brake_after_the_usual_rest() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, brake_latch=1)
    thrown(rig)
    assert rig.runtime.resume_device(rig.device) is True

    assert int(rig.step(2)["safety"]) & EBRAKE
    assert 1.0 <= rig.seconds_until(free(EBRAKE), 4) <= 1.5


def test_bump_does_not_swallow_a_request() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, brake_latch=1)
    thrown(rig)
    rig.step(rig.ticks(1))
    assert rig.runtime.resume_device(rig.device) is True
    rig.step()
    rig.push(0.5, 0, 0)
    assert int(rig.step(rig.ticks(1))["safety"]) & EBRAKE

    rig.seconds_until(free(EBRAKE), 4)


def test_request_while_the_device_is_still_fast_is_kept() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, brake_latch=1)
    thrown(rig)
    assert float(np.linalg.norm(rig.reader.snapshot()["velocity"])) > 3
    assert rig.runtime.resume_device(rig.device) is True

    rig.seconds_until(free(EBRAKE), 4)
    assert counts(rig.step()) == {"ebrake_waits": 1}


def test_trip_after_a_request_waits_for_the_next_request() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, brake_latch=1)
    thrown(rig)
    rig.step(rig.ticks(1))
    assert rig.runtime.resume_device(rig.device) is True
    rig.step(4)
    thrown(rig)

    state = rig.step(rig.ticks(6))
    assert int(state["safety"]) & WAITING
    assert counts(state) == {"ebrake_waits": 2}
    assert rig.runtime.resume_device(rig.device) is True
    assert not int(rig.step(2)["safety"]) & EBRAKE


def test_limit_passed_under_the_brake_is_a_trip_only_after_a_request() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, brake_latch=1, kinetic_energy=0.1)
    rig.push(1.5, 0, 0)
    rig.seconds_until(latched(EBRAKE), 0.05)
    rig.step(rig.ticks(1))
    rig.push(-1.5, 0, 0)
    rig.step(rig.ticks(1))
    assert causes(rig) == [TripCause.TRIP_KINETIC]

    assert rig.runtime.resume_device(rig.device) is True
    rig.step()
    rig.push(1.5, 0, 0)
    assert int(rig.step(rig.ticks(1))["safety"]) & WAITING
    assert causes(rig) == [TripCause.TRIP_KINETIC] * 2


def test_speed_passed_under_the_brake_after_a_request_asks_for_another_without_a_trip() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, brake_latch=1)
    thrown(rig)
    rig.step(rig.ticks(1))
    assert rig.runtime.resume_device(rig.device) is True
    rig.step()
    rig.push(-3.5, 0, 0)

    state = rig.step(rig.ticks(1))
    assert int(state["safety"]) & WAITING
    assert counts(state) == {"ebrake_waits": 2}
    assert causes(rig) == [TripCause.TRIP_RUNAWAY]


def test_old_request_does_not_release_a_later_brake() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, brake_latch=1)
    thrown(rig)
    rig.step(rig.ticks(4))
    assert rig.runtime.resume_device(rig.device) is True
    rig.step(4)
    thrown(rig)

    assert int(rig.step(rig.ticks(6))["safety"]) & WAITING


def test_switched_off_latch_lets_the_brake_end_by_itself() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, brake_latch=1)
    thrown(rig)
    rig.step(rig.ticks(5))
    option(rig, brake_latch=0)

    assert not int(rig.step(4)["safety"]) & (EBRAKE | WAITING)


def test_new_lease_neither_waits_nor_takes_the_request_of_the_last_one() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, brake_latch=1)
    thrown(rig)
    assert rig.runtime.resume_device(rig.device) is True
    rig.runtime.release_device(rig.device)
    rig.runtime.step(2)
    rig.device = rig.runtime.lease_device("arm")
    rig.reader = rig.runtime.reader(rig.device)
    assert rig.runtime.resume_device(rig.device) is False
    rig.change()

    assert not int(rig.step(2)["safety"]) & (EBRAKE | WAITING)
    assert causes(rig) == []
    thrown(rig)
    assert int(rig.step(rig.ticks(4))["safety"]) & WAITING


def test_stopped_device_with_a_resumed_brake_stays_without_force() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, brake_latch=1)
    thrown(rig)
    rig.runtime.stop_device(rig.device, True)
    assert rig.runtime.resume_device(rig.device) is True
    pressing(rig, 0, 4, 0)

    assert all(size(rig.step()) == 0 for _ in range(rig.ticks(1)))


# ---------------------------------------------------------------- a stop that brakes


def moving(speed: float, **options: float) -> MonitoredArm:
    rig = MonitoredArm(bare_arm())
    option(rig, **options)
    rig.push(speed, 0, 0)
    rig.step(rig.ticks(0.02))
    return rig


def test_stop_is_zero_at_once_without_the_option() -> None:
    rig = moving(1.0)
    pressing(rig, 0, 4, 0)
    rig.step(20)
    rig.runtime.stop_device(rig.device, True)

    assert all(size(rig.step()) == 0 for _ in range(400))


def test_stop_brakes_against_the_motion_then_puts_out_zero() -> None:
    rig = moving(1.0, stop_brake=1)
    pressing(rig, 0, 4, 0)
    rig.step(20)
    rig.runtime.stop_device(rig.device, True)
    braked = 0
    state = rig.reader.snapshot()
    for _ in range(rig.ticks(0.5)):
        pressing(rig, 0, 4, 0)
        state = rig.step()
        assert float(state["force"] @ state["velocity"]) <= 0
        braked += size(state) > 0

    assert braked > 200
    assert counts(state) == {"stop_brakes": 1}
    assert causes(rig)[-1] == TripCause.TRIP_STOP
    assert float(np.linalg.norm(state["velocity"])) < 0.06
    assert all(size(rig.step()) == 0 for _ in range(400))


def test_stop_of_a_resting_device_is_zero_at_once() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, stop_brake=1)
    pressing(rig, 0, 2, 0)
    rig.step(4)
    rig.runtime.stop_device(rig.device, True)

    assert size(rig.step()) == 0
    assert counts(rig.step()) == {}


def test_stop_brakes_no_longer_than_half_a_second() -> None:
    rig = moving(0.3, stop_brake=1)
    rig.order(external=(1.5, 0.0, 0.0))
    rig.runtime.stop_device(rig.device, True)
    assert size(rig.step(rig.ticks(0.5) - 4)) > 1
    rig.step(5)

    assert float(rig.reader.snapshot()["velocity"][0]) > 0.1
    assert all(size(rig.step()) == 0 for _ in range(40))


@pytest.mark.parametrize("missed_s", [0.1, 0.6, 2.0])
def test_gap_under_a_braking_stop_counts_as_time(missed_s: float) -> None:
    rig = moving(1.0, stop_brake=1)
    rig.order(external=(6.0, 0.0, 0.0))
    rig.runtime.stop_device(rig.device, True)
    rig.step(4)
    rig.step(missed=rig.ticks(missed_s))
    rig.step(max(0, rig.ticks(0.5 - missed_s)))

    assert size(rig.step()) == 0


def test_device_that_was_pushed_under_a_stop_gets_no_force() -> None:
    rig = MonitoredArm(bare_arm())
    option(rig, stop_brake=1)
    rig.runtime.stop_device(rig.device, True)
    rig.step(4)
    rig.push(1.0, 0, 0)

    assert all(size(rig.step()) == 0 for _ in range(400))


def test_device_that_accepts_no_commands_is_not_braked_by_a_stop() -> None:
    rig = moving(1.0, stop_brake=1)
    rig.change(accepts_commands=0)
    rig.runtime.stop_device(rig.device, True)

    assert all(size(rig.step()) == 0 for _ in range(400))


def test_released_braking_stop_begins_with_a_new_filter() -> None:
    rig = moving(0.5, stop_brake=1)
    late = [float(rig.reader.snapshot()["position"][0])] * rig.ticks(0.008)
    centre = late[0]
    for _ in range(rig.ticks(1.0)):
        rig.force(-2500.0 * (late.pop(0) - centre), 0.0, 0.0)
        state = rig.step()
        late.append(float(state["position"][0]))
        if int(state["oscillation_stage"]) < 8:
            break
    assert int(rig.reader.snapshot()["oscillation_stage"]) < 8
    rig.runtime.stop_device(rig.device, True)
    state = rig.step(2)
    assert int(state["oscillation_stage"]) == 8
    rig.runtime.stop_device(rig.device, False)
    state = rig.step()

    assert (int(state["oscillation_stage"]), float(state["severity"])) == (8, 0.0)


# ---------------------------------------------------------------- enabling button


def with_grip() -> MonitoredArm:
    rig = MonitoredArm(bare_arm(), grip=True)
    rig.order(lock_stiffness=20_000.0)
    return rig


def press(rig: MonitoredArm, buttons: int, *, attached: bool = True) -> None:
    flags = 61 | (ATTACHED if attached else 0)
    assert rig.runtime.publish_device(rig.grip, grip_params(flags=flags, buttons=buttons))


def settled(rig: MonitoredArm, seconds: float = 0.06) -> float:
    """N along y once the ramp is over, under 1 N of command."""
    rig.writer.begin()
    rig.writer.force(0.0, 1.0, 0.0)
    return float(keep(rig.writer, rig, seconds)["force"][1])


def test_force_needs_the_held_button() -> None:
    rig = with_grip()
    assert settled(rig) == pytest.approx(1.0)
    option(rig, enable_button=BUTTON)
    assert settled(rig) == 0
    press(rig, BUTTON)
    assert settled(rig) == pytest.approx(1.0)
    press(rig, 5)
    assert settled(rig) == 0
    state = rig.step()
    assert int(state["safety"]) & DISABLED
    assert counts(state) == {"enable_drops": 2}
    assert causes(rig) == [TripCause.TRIP_ENABLE] * 2
    option(rig, enable_button=0)
    assert settled(rig) == pytest.approx(1.0)


def test_released_button_ramps_the_force_down_in_50_ms() -> None:
    rig = with_grip()
    press(rig, BUTTON)
    option(rig, enable_button=BUTTON)
    settled(rig)
    press(rig, 0)
    seen = [settled(rig, 0.01) for _ in range(5)]
    assert seen == pytest.approx([0.8, 0.6, 0.4, 0.2, 0.0], abs=0.01)


def test_detached_grip_holds_no_button() -> None:
    rig = with_grip()
    press(rig, BUTTON)
    option(rig, enable_button=BUTTON)
    settled(rig)
    press(rig, BUTTON, attached=False)

    assert settled(rig) == 0


def test_hung_grip_holds_no_button() -> None:
    rig = with_grip()
    press(rig, BUTTON)
    option(rig, enable_button=BUTTON)
    assert settled(rig) == pytest.approx(1.0)
    hung = grip_params(flags=61 | ATTACHED, buttons=BUTTON)
    hung["simulation"]["frozen"] = 1
    assert rig.runtime.publish_device(rig.grip, hung)

    assert settled(rig, 0.2) == 0


def test_silent_grip_at_a_port_holds_no_button() -> None:
    rig = with_grip()
    cell = PortCell(rig.runtime, rig.grip)
    assert rig.runtime.publish_device(rig.grip, grip_params(flags=61 | ATTACHED, source=1, silence=0.06))
    option(rig, enable_button=BUTTON)
    force = 0.0
    for _ in range(20):
        assert cell.put(buttons=BUTTON)
        force = settled(rig, 0.01)
    assert force == pytest.approx(1.0)

    assert settled(rig, 0.3) == 0


def test_unpaired_arm_and_removed_grip_are_not_enabled() -> None:
    rig = with_grip()
    press(rig, BUTTON)
    option(rig, enable_button=BUTTON)
    settled(rig)
    rig.runtime.release_device(rig.grip)
    assert settled(rig, 0.2) == 0
    rig.change(grip_slot=-1)
    assert settled(rig, 0.2) == 0


def test_own_button_of_a_device_enables_it() -> None:
    rig, cell = port_arm(enable_button=BUTTON)
    state = rig.reader.snapshot()
    for held in (0, BUTTON, 0):
        for tick in range(rig.ticks(0.1)):
            assert cell.put(position=ARM_CENTRE, buttons=held)
            if tick % 40 == 0:
                rig.force(0.0, 1.0, 0.0)
            state = rig.step()
        assert float(state["force"][1]) == pytest.approx(1.0 if held else 0.0)


def test_output_of_a_new_device_begins_at_zero_until_its_button_is_held() -> None:
    params = bare_arm()
    params["optional"]["enable_button"] = BUTTON
    rig = MonitoredArm(params)
    pressing(rig, 0, 2, 0)

    assert all(size(rig.step()) == 0 for _ in range(100))


# ---------------------------------------------------------------- stiffness


def wall(rig: MonitoredArm, stiffness: float, *, every: int, seconds: float = 2.0, flat: bool = False) -> Any:
    """The state after a client has rendered a spring about the centre each `every` ticks, on a device that a hand moves slowly."""
    state = rig.reader.snapshot()
    for tick in range(rig.ticks(seconds)):
        if tick % every == 0:
            x = float(rig.reader.snapshot()["position"][0]) - ARM_CENTRE[0]
            rig.force(1.0 if flat else -stiffness * x, 0.0, 0.0)
        state = rig.step()
    return state


def carried(**options: float) -> MonitoredArm:
    """An arm that goes to and fro by 2 mm at 2 Hz, whatever the motors do."""
    params = arm_params(
        hand={
            "path": 1,
            "radius": 0.002,
            "period": 0.5,
            "mass": 50.0,
            "grip_stiffness": 1e6,
            "grip_damping": 2e3,
            "arm_stiffness": 1e6,
            "arm_damping": 2e4,
            "centre": ARM_CENTRE,
        },
        slew=3000.0,
        slow_slew=500.0,
    )
    rig = MonitoredArm(params)
    option(rig, **options)
    return rig


@pytest.mark.parametrize(
    ("stiffness", "every", "warns"),
    [(1500.0, 40, 1), (300.0, 40, 0), (1500.0, 4, 0), (300.0, 160, 1)],
)
def test_stiffness_that_the_clients_rate_cannot_render_is_warned_of(stiffness: float, every: int, warns: int) -> None:
    rig = carried(stiffness_warning=1)
    state = wall(rig, stiffness, every=every)

    assert int(state["stiffness_warnings"]) == warns
    assert bool(int(state["safety"]) & STIFF) is bool(warns)
    assert not int(state["safety"]) & EBRAKE


def test_no_warning_while_the_option_is_off() -> None:
    assert counts(wall(carried(), 1500.0, every=40)) == {}


def test_warning_counts_the_force_scale() -> None:
    rig = carried(stiffness_warning=1)
    rig.change(force_scale=0.1)
    assert counts(wall(rig, 1500.0, every=40)) == {}
    rig.change(force_scale=2.0)
    assert int(wall(rig, 800.0, every=40)["stiffness_warnings"]) == 1


def test_constant_force_and_force_steps_have_no_stiffness() -> None:
    rig = carried(stiffness_warning=1)
    assert counts(wall(rig, 0.0, every=40, flat=True)) == {}
    state = rig.reader.snapshot()
    for tick in range(rig.ticks(2)):
        if tick % 40 == 0:
            rig.force(2.0 * (tick // 700 % 2), 0.0, 0.0)
        state = rig.step()
    assert int(state["stiffness_warnings"]) == 0


def test_warning_comes_at_most_once_in_ten_seconds() -> None:
    rig = carried(stiffness_warning=1)

    assert int(wall(rig, 1500.0, every=40, seconds=9)["stiffness_warnings"]) == 1
    assert int(wall(rig, 1500.0, every=40, seconds=3)["stiffness_warnings"]) == 2


def test_held_position_is_no_stiffness_of_a_client() -> None:
    rig = carried(stiffness_warning=1)
    rig.writer.begin()
    rig.writer.position(*ARM_CENTRE)

    assert counts(keep(rig.writer, rig, 1.5)) == {}


def test_late_packet_of_a_stiff_but_fast_contact_does_not_warn() -> None:
    """One sample of 18 ms age among samples of 1 ms is no property of the contact."""
    rig, cell = port_arm(stiffness_warning=1)
    state = rig.reader.snapshot()
    for tick in range(rig.ticks(2.0)):
        x = 0.002 * np.sin(2 * np.pi * 2 * tick / rig.frequency)
        late = rig.ticks(1.0) < tick < rig.ticks(1.018)
        if tick % 4 == 0 and not late:
            assert cell.put(position=(ARM_CENTRE[0] + x, *ARM_CENTRE[1:]))
        if tick % 4 == 0:
            rig.force(-1000.0 * x, 0.0, 0.0)
        state = rig.step()

    assert counts(state) == {}
