"""Safety monitors: counters of the loop become events, settings become parameters of the loop."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actors.device.messages import DeviceRecord, FodStage, SafetyState
from actors.device.params import SafetyLimits, device_params
from actors.device.safety import COUNTED, GRIP_HOOK, GRIP_TIMEOUT, MAX_SPEED, SAFE_TRAJECTORY, limits_of, safety_events
from actors.event.catalog import EVENT_KINDS, level_of
from actors.event.messages import Emit
from fastpath.arena.runtime import Runtime
from tests.support.actors.doubles import settings_view, simulated_records

NOTHING = SafetyState()


@pytest.fixture
def arm() -> DeviceRecord:
    (record,) = simulated_records(Runtime(stepping=True, realtime=False), "arm")
    return record


def types(events: list[Emit]) -> list[object]:
    return [event.data["safety_type"] for event in events]


@pytest.mark.parametrize(("counter", "safety_type", "_says"), COUNTED)
def test_counter_increase_is_one_event(arm: DeviceRecord, counter: str, safety_type: str, _says: str) -> None:
    before, after = SafetyState(**{counter: 4}), SafetyState(**{counter: 7})  # type: ignore[arg-type]

    (event,) = safety_events(arm, before, after)

    assert event.kind == "device-safety-triggered"
    request = {"request": f"POST /arm/{arm.device_id}/resume"} if safety_type == "ebrake_waiting" else {}
    assert event.data == {"device_id": arm.device_id, "device_family": "arm", "safety_type": safety_type, **request}
    assert event.message.startswith(f"arm {arm.device_id} ")
    assert set(event.data) == EVENT_KINDS[event.kind].keys(event.data)


@pytest.mark.parametrize(
    ("before", "after", "level"),
    [
        (FodStage.IDLE, FodStage.GUARD, "warning"),
        (FodStage.IDLE, FodStage.HARD, "warning"),
        (FodStage.GUARD, FodStage.HARD, "warning"),
        (FodStage.HARD, FodStage.GUARD, "warning"),
        (FodStage.GUARD, FodStage.IDLE, "info"),
        (FodStage.HARD, FodStage.IDLE, "info"),
    ],
)
def test_stage_change_names_old_and_new_stage(arm: DeviceRecord, before: FodStage, after: FodStage, level: str) -> None:
    (event,) = safety_events(arm, replace(NOTHING, fod_stage=before), replace(NOTHING, fod_stage=after))

    assert event.data["safety_type"] == "fod_stage_changed"
    assert (event.data["from"], event.data["to"]) == (before, after)
    assert level_of(event.kind, event.data, event.level) == level
    assert set(event.data) == EVENT_KINDS[event.kind].keys(event.data)


def test_brake_event_follows_its_cause_and_precedes_its_release(arm: DeviceRecord) -> None:
    seen = SafetyState(ebrakes=1, ebrake_releases=1, stalls=1, fod_stage=FodStage.HARD)

    assert types(list(safety_events(arm, NOTHING, seen))) == [
        "fod_stage_changed",
        "stall_detected",
        "ebrake_triggered",
        "ebrake_released",
    ]


def test_unchanged_counter_is_no_event(arm: DeviceRecord) -> None:
    seen = SafetyState(ebrakes=3, fod_stage=FodStage.GUARD)

    assert list(safety_events(arm, seen, seen)) == []


def test_limits_hold_only_while_their_feature_is_on(arm: DeviceRecord) -> None:
    values: dict[str, object] = {MAX_SPEED: 0.25, GRIP_TIMEOUT: 0.5}

    assert limits_of(settings_view(values)) == SafetyLimits(0.0, 0.0)
    limits = limits_of(settings_view({**values, SAFE_TRAJECTORY: True, GRIP_HOOK: True}))
    assert limits == SafetyLimits(0.25, 0.5)

    params = device_params(arm, 0, 1.0, limits)
    assert (float(params["safe_speed"]), float(params["grip_timeout"])) == (0.25, 0.5)
