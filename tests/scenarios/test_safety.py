"""Each safety monitor trips on its simulated fault: one event, status.safety, /metrics, release; virtual time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service.polling import eventually
from tests.support.service.safety_service import (
    ARM,
    FREE,
    STRAIN,
    TURN_S,
    SafetyService,
    force_command,
    stall_at_full_reach,
)


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[SafetyService]:
    with SafetyService(tmp_path) as opened:
        yield opened


def test_thrown_device_is_braked_until_it_is_slow(setup: SafetyService) -> None:
    setup.simulate("arm", ARM, hand={"path": "rest"})
    setup.service.wait(0.5)
    assert setup.safety == FREE
    setup.simulate("arm", ARM, fault="throw")
    setup.service.wait(0.02)

    assert setup.safety == {**FREE, "ebrake": True}
    event = setup.wait_for_event("ebrake_triggered")
    assert (event["category"], event["level"]) == ("device", "error")
    assert setup.metric("hapticd_ebrakes_total") == 1

    setup.stream(0.5, force_command(y=4))
    assert abs(setup.frame()["state"]["current_cursor_force"]["y"]) < 0.1
    setup.service.wait(2.6)
    assert setup.wait_for_event("ebrake_released")["level"] == "notice"
    assert setup.safety == FREE
    assert setup.received_events() == ["ebrake_triggered", "ebrake_released"]
    setup.simulate("arm", ARM, fault="none")
    setup.stream(0.2, force_command(y=2))
    assert setup.frame(force_command(y=2))["state"]["current_cursor_force"]["y"] == pytest.approx(2)


def test_stall_raises_one_event_and_ends_with_the_push(setup: SafetyService) -> None:
    stall_at_full_reach(setup)
    setup.stream(1.8, STRAIN)
    assert setup.safety == FREE
    setup.stream(0.6, STRAIN)

    assert setup.safety == {**FREE, "stalled": True}
    assert setup.wait_for_event("stall_detected")["level"] == "warning"
    assert setup.metric("hapticd_stalls_total") == 1

    setup.service.wait(0.2)
    assert setup.safety == FREE
    assert setup.received_events() == ["stall_detected"]


def test_pushed_unheld_arm_is_limited_then_braked(setup: SafetyService) -> None:
    setup.simulate("arm", ARM, hand={"path": "rest"}, fault="foreign_object")
    setup.service.wait(0.5)
    assert setup.safety == FREE, "whoever holds the grip may push"
    setup.simulate("arm", ARM, fault="none")
    setup.service.wait(0.5)
    setup.set_attached(attached=False)
    setup.service.wait(0.7)
    setup.events.events.clear()

    setup.simulate("arm", ARM, fault="foreign_object")
    for _ in range(100):
        setup.service.step()
        if setup.service.state(ARM)["safety"]:
            break
    assert setup.safety == {**FREE, "fod_stage": "guard"}
    told = setup.wait_for_event("fod_stage_changed")
    assert (told["level"], told["data"]["from"], told["data"]["to"]) == ("warning", "idle", "guard")
    setup.service.wait(0.05)
    assert setup.safety == {**FREE, "fod_stage": "hard", "ebrake": True}
    setup.events.wait_for_event("device-safety-triggered", safety_type="fod_stage_changed", to="hard")
    assert setup.wait_for_event("ebrake_triggered")["level"] == "error"

    setup.set_attached(attached=True)
    setup.service.wait(4)
    assert setup.safety == FREE
    ended = setup.events.wait_for_event("device-safety-triggered", safety_type="fod_stage_changed", to="idle")
    assert ended["level"] == "info"
    setup.wait_for_event("ebrake_released")
    assert setup.metric("hapticd_foreign_object_stages_total") >= 3


@pytest.mark.promise(142, "The oscillation filter gives the force back in eight stages")
def test_shaken_device_loses_force_and_recovers_in_eight_stages(setup: SafetyService) -> None:
    setup.simulate("arm", ARM, hand={"path": "rest"})
    setup.service.wait(0.5)
    for tick in range(400):
        setup.frame(force_command(x=6 * math.sin(math.tau * 30 * tick * 0.002)))
        setup.service.step(2)

    safety = setup.safety
    assert {**safety, "oscillation_stage": 8} == FREE
    assert safety["oscillation_stage"] < 8
    assert setup.metric("hapticd_oscillation_severity_ratio") > 0.3
    assert (
        setup.events.wait_for_event("device-safety-triggered", safety_type="oscillation_detected")["level"] == "notice"
    )

    stages = [setup.safety["oscillation_stage"]]
    for _ in range(300):
        setup.service.wait(0.01)
        stages.append(setup.safety["oscillation_stage"])
    assert stages == sorted(stages)
    assert set(stages) == set(range(stages[0], 9))
    assert stages[0] <= 1
    assert setup.safety == FREE
    assert setup.metric("hapticd_oscillations_total") >= 1
    assert setup.metric("hapticd_oscillation_severity_ratio") < 0.01
    assert set(setup.received_events()) <= {"oscillation_detected", "stability_ceiling"}


def test_repeated_oscillation_keeps_the_force_reduced_until_the_contact_ends(setup: SafetyService) -> None:
    setup.simulate("arm", ARM, hand={"path": "rest"})
    setup.service.wait(0.5)
    for _ in range(4):
        for tick in range(200):
            setup.frame(force_command(x=1 + 4 * math.sin(math.tau * 15 * tick * 0.002)))
            setup.service.step(2)
        setup.stream(0.5, force_command(x=1))

    told = setup.events.wait_for_event("device-safety-triggered", safety_type="stability_ceiling")
    assert told["level"] == "warning"
    assert setup.metric("hapticd_stability_ceilings_total") >= 1
    setup.stream(3, force_command(x=1))
    assert setup.safety["oscillation_stage"] < 8

    setup.service.wait(3)
    assert setup.safety == FREE


def test_released_grip_removes_force_once_the_stopper_is_on(setup: SafetyService) -> None:
    setup.simulate("arm", ARM, hand={"path": "rest"})
    setup.set_attached(attached=False)
    setup.stream(0.2, force_command(y=0.5))
    assert setup.received_events() == []
    key = "features/grip_hook/enabled"
    assert setup.ask("POST", f"/settings/{key}", {"value": True}).status == 200

    def dropped() -> bool:
        setup.stream(TURN_S, force_command(y=0.5))
        return float(setup.service.state(ARM)["grip_drops"]) == 1

    eventually(dropped, "the output is taken away", tries=400, pause_s=0.002)
    setup.stream(0.06, force_command(y=0.5))
    assert setup.frame(force_command(y=0.5))["state"]["current_cursor_force"] == {"x": 0, "y": 0, "z": 0}
    assert setup.wait_for_event("grip_dropped")["level"] == "notice"
    assert setup.metric("hapticd_grip_drops_total") == 1

    setup.set_attached(attached=True)

    def back() -> bool:
        setup.stream(TURN_S, force_command(y=0.5))
        return not setup.service.state(ARM)["safety"]

    eventually(back, "the output is back", tries=400, pause_s=0.002)
    setup.stream(0.06, force_command(y=0.5))
    assert setup.frame(force_command(y=0.5))["state"]["current_cursor_force"]["y"] == pytest.approx(0.5)
    assert setup.received_events() == ["grip_dropped"]


def test_hot_motors_raise_an_event_and_are_limited_until_cool(tmp_path: Path) -> None:
    # So few ticks that minutes pass in a second.
    with SafetyService(tmp_path, control__frequency=100, sessions__command_timeout=0.5) as setup:
        stall_at_full_reach(setup)
        assert setup.metric("hapticd_motor_temperature_celsius") == pytest.approx(25, abs=1)
        setup.stream(400, STRAIN, every=0.4)

        assert setup.wait_for_event("thermal_derating")["level"] == "warning"
        assert setup.metric("hapticd_thermal_deratings_total") == 1
        assert setup.metric("hapticd_motor_derating_ratio") < 1
        assert setup.metric("hapticd_motor_temperature_celsius") > 80

        setup.service.wait(60)
        assert setup.metric("hapticd_motor_derating_ratio") == 1
    assert setup.received_events() == ["stall_detected", "thermal_derating"]


def test_position_speed_limit_applies_once_enabled(setup: SafetyService) -> None:
    setup.simulate("arm", ARM, hand={"path": "rest", "stiffness": 10})
    settings = {"features/safe_trajectory/max_vel": 0.05, "features/safe_trajectory/enabled": True}
    far = {"set_cursor_position": {"position": {"x": 0.1, "y": -0.12, "z": 0.135}}}
    setup.service.wait(1)
    for key, value in settings.items():
        assert setup.ask("POST", f"/settings/{key}", {"value": value}).status == 200
    # The device answers in turn: it has heard of the settings then.
    setup.simulate("arm", ARM, fault="none")
    begun = float(setup.service.state(ARM)["position"][0])

    setup.stream(0.4, far)

    way = float(setup.service.state(ARM)["position"][0]) - begun
    assert 0.003 < way <= 0.4 * 0.05 + 0.002


def test_screensaver_reports_sleep_and_wake_up_and_commands_still_work(tmp_path: Path) -> None:
    quiet = {"features__screensaver__enabled": "true", "features__screensaver__timeout": "10"}
    with SafetyService(tmp_path, **quiet) as setup:
        setup.simulate("arm", ARM, hand={"path": "rest"})
        setup.service.wait(9)
        assert setup.events.received_events("device-sleep", device_id=ARM) == []
        setup.service.wait(3)
        assert setup.events.wait_for_event("device-sleep", device_id=ARM)["data"]["awake"] is False

        setup.stream(0.06, force_command(y=0.5))
        assert setup.frame(force_command(y=0.5))["state"]["current_cursor_force"]["y"] == pytest.approx(0.5, abs=0.01)
        setup.events.wait_for_event("device-sleep", device_id=ARM, awake=True)
    assert len(setup.events.received_events("device-sleep", device_id=ARM)) == 2
