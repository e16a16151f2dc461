"""Each safety monitor trips on its simulated fault: one event, status.safety, /metrics, release; virtual time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service.polling import eventually
from tests.support.service.safety_desk import ARM, FREE, STRAIN, TURN_S, SafetyDesk, far_out, push


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[SafetyDesk]:
    with SafetyDesk(tmp_path) as opened:
        yield opened


def test_a_throw_trips_the_brake_which_ignores_commands_until_the_device_has_rested(desk: SafetyDesk) -> None:
    desk.make("arm", ARM, hand={"path": "rest"})
    desk.service.wait(0.5)
    assert desk.safety == FREE
    desk.make("arm", ARM, fault="throw")
    desk.service.wait(0.02)

    assert desk.safety == {**FREE, "ebrake": True}
    event = desk.hears("ebrake_triggered")
    assert (event["category"], event["level"]) == ("device", "error")
    assert desk.metric("hapticd_ebrakes_total") == 1

    desk.streams(0.6, push(y=4))
    assert abs(desk.frame()["state"]["current_cursor_force"]["y"]) < 0.1
    desk.service.wait(2.6)
    assert desk.hears("ebrake_released")["level"] == "notice"
    assert desk.safety == FREE
    assert desk.heard() == ["ebrake_triggered", "ebrake_released"]
    desk.make("arm", ARM, fault="none")
    desk.streams(0.1, push(y=2))
    assert desk.frame(push(y=2))["state"]["current_cursor_force"]["y"] == pytest.approx(2)


def test_a_stalled_device_that_is_pushed_hard_is_told_once_and_forgotten_when_the_push_ends(desk: SafetyDesk) -> None:
    far_out(desk)
    desk.streams(1.8, STRAIN)
    assert desk.safety == FREE
    desk.streams(0.6, STRAIN)

    assert desk.safety == {**FREE, "stalled": True}
    assert desk.hears("stall_detected")["level"] == "warning"
    assert desk.metric("hapticd_stalls_total") == 1

    desk.service.wait(0.2)
    assert desk.safety == FREE
    assert desk.heard() == ["stall_detected"]


def test_what_pushes_an_arm_whose_grip_is_let_go_is_guarded_against_and_then_braked(desk: SafetyDesk) -> None:
    desk.make("arm", ARM, hand={"path": "rest"}, fault="foreign_object")
    desk.service.wait(0.5)
    assert desk.safety == FREE, "whoever holds the grip may push"
    desk.make("arm", ARM, fault="none")
    desk.service.wait(0.5)
    desk.take(attached=False)
    desk.service.wait(0.7)
    desk.events.events.clear()

    desk.make("arm", ARM, fault="foreign_object")
    for _ in range(100):
        desk.service.step()
        if desk.service.state(ARM)["safety"]:
            break
    assert desk.safety == {**FREE, "fod_stage": "guard"}
    told = desk.hears("fod_stage_changed")
    assert (told["level"], told["data"]["from"], told["data"]["to"]) == ("warning", "idle", "guard")
    desk.service.wait(0.05)
    assert desk.safety == {**FREE, "fod_stage": "hard", "ebrake": True}
    desk.events.hears("device-safety-triggered", safety_type="fod_stage_changed", to="hard")
    assert desk.hears("ebrake_triggered")["level"] == "error"

    desk.take(attached=True)
    desk.service.wait(4)
    assert desk.safety == FREE
    ended = desk.events.hears("device-safety-triggered", safety_type="fod_stage_changed", to="idle")
    assert ended["level"] == "info"
    desk.hears("ebrake_released")
    assert desk.metric("hapticd_foreign_object_stages_total") >= 3


@pytest.mark.promise(142, "The oscillation filter gives the force back in eight stages")
def test_a_shaken_device_loses_its_force_and_gets_it_back_in_eight_stages(desk: SafetyDesk) -> None:
    desk.make("arm", ARM, hand={"path": "rest"})
    desk.service.wait(0.5)
    for tick in range(400):
        desk.frame(push(x=4 * math.sin(math.tau * 15 * tick * 0.002)))
        desk.service.step(2)

    safety = desk.safety
    assert {**safety, "oscillation_stage": 8} == FREE
    assert safety["oscillation_stage"] < 8
    assert desk.metric("hapticd_oscillation_severity") > 0.3
    assert desk.events.hears("device-safety-triggered", safety_type="oscillation_detected")["level"] == "notice"

    stages = [desk.safety["oscillation_stage"]]
    for _ in range(300):
        desk.service.wait(0.01)
        stages.append(desk.safety["oscillation_stage"])
    assert stages == sorted(stages)
    assert set(stages) == set(range(stages[0], 9))
    assert stages[0] <= 1
    assert desk.safety == FREE
    assert desk.metric("hapticd_oscillations_total") >= 1
    assert desk.metric("hapticd_oscillation_severity") < 0.01
    assert set(desk.heard()) <= {"oscillation_detected", "stability_ceiling"}


def test_a_contact_that_oscillates_again_and_again_keeps_its_force_reduced_until_it_ends(desk: SafetyDesk) -> None:
    desk.make("arm", ARM, hand={"path": "rest"})
    desk.service.wait(0.5)
    for _ in range(4):
        for tick in range(200):
            desk.frame(push(x=1 + 4 * math.sin(math.tau * 15 * tick * 0.002)))
            desk.service.step(2)
        desk.streams(0.5, push(x=1))

    told = desk.events.hears("device-safety-triggered", safety_type="stability_ceiling")
    assert told["level"] == "warning"
    assert desk.metric("hapticd_stability_ceilings_total") >= 1
    desk.streams(3, push(x=1))
    assert desk.safety["oscillation_stage"] < 8

    desk.service.wait(3)
    assert desk.safety == FREE


def test_a_grip_that_is_let_go_takes_the_force_away_as_soon_as_the_stopper_is_switched_on(desk: SafetyDesk) -> None:
    desk.make("arm", ARM, hand={"path": "rest"})
    desk.take(attached=False)
    desk.streams(0.2, push(y=0.5))
    assert desk.heard() == []
    key = "features/grip_hook/enabled"
    assert desk.ask("POST", f"/settings/{key}", {"value": True}).status == 200

    def dropped() -> bool:
        desk.streams(TURN_S, push(y=0.5))
        return float(desk.service.state(ARM)["grip_drops"]) == 1

    eventually(dropped, "the output is taken away", tries=400, pause_s=0.002)
    desk.streams(0.06, push(y=0.5))
    assert desk.frame(push(y=0.5))["state"]["current_cursor_force"] == {"x": 0, "y": 0, "z": 0}
    assert desk.hears("grip_dropped")["level"] == "notice"
    assert desk.metric("hapticd_grip_drops_total") == 1

    desk.take(attached=True)

    def back() -> bool:
        desk.streams(TURN_S, push(y=0.5))
        return not desk.service.state(ARM)["safety"]

    eventually(back, "the output is back", tries=400, pause_s=0.002)
    desk.streams(0.06, push(y=0.5))
    assert desk.frame(push(y=0.5))["state"]["current_cursor_force"]["y"] == pytest.approx(0.5)
    assert desk.heard() == ["grip_dropped"]


def test_hot_motors_are_told_and_limited_until_they_have_cooled_down(tmp_path: Path) -> None:
    # So few ticks that minutes pass in a second.
    with SafetyDesk(tmp_path, control__frequency=100, sessions__command_timeout=0.5) as desk:
        far_out(desk)
        assert desk.metric("hapticd_motor_temperature_celsius") == pytest.approx(25, abs=1)
        desk.streams(400, STRAIN, every=0.4)

        assert desk.hears("thermal_derating")["level"] == "warning"
        assert desk.metric("hapticd_thermal_deratings_total") == 1
        assert desk.metric("hapticd_motor_derating") < 1
        assert desk.metric("hapticd_motor_temperature_celsius") > 80

        desk.service.wait(60)
        assert desk.metric("hapticd_motor_derating") == 1
    assert desk.heard() == ["stall_detected", "thermal_derating"]


def test_the_speed_of_held_positions_is_limited_as_soon_as_the_feature_is_on(desk: SafetyDesk) -> None:
    desk.make("arm", ARM, hand={"path": "rest", "stiffness": 10})
    settings = {"features/safe_trajectory/max_vel": 0.05, "features/safe_trajectory/enabled": True}
    far = {"set_cursor_position": {"position": {"x": 0.1, "y": -0.12, "z": 0.135}}}
    desk.service.wait(1)
    for key, value in settings.items():
        assert desk.ask("POST", f"/settings/{key}", {"value": value}).status == 200
    # The device answers in turn: it has heard of the settings then.
    desk.make("arm", ARM, fault="none")
    begun = float(desk.service.state(ARM)["position"][0])

    desk.streams(0.4, far)

    way = float(desk.service.state(ARM)["position"][0]) - begun
    assert 0.003 < way <= 0.4 * 0.05 + 0.002


def test_the_screensaver_says_that_a_device_sleeps_and_wakes_and_keeps_it_obedient(tmp_path: Path) -> None:
    quiet = {"features__screensaver__enabled": "true", "features__screensaver__timeout": "10"}
    with SafetyDesk(tmp_path, **quiet) as desk:
        desk.make("arm", ARM, hand={"path": "rest"})
        desk.service.wait(9)
        assert desk.events.heard("device-sleep", device_id=ARM) == []
        desk.service.wait(3)
        assert desk.events.hears("device-sleep", device_id=ARM)["data"]["awake"] is False

        desk.streams(0.06, push(y=0.5))
        assert desk.frame(push(y=0.5))["state"]["current_cursor_force"]["y"] == pytest.approx(0.5, abs=0.01)
        desk.events.hears("device-sleep", device_id=ARM, awake=True)
    assert len(desk.events.heard("device-sleep", device_id=ARM)) == 2
