"""Convert the loop's safety monitors to events, and the settings to their limits; used by DeviceActor.

The monitors act in the tick (`fastpath/tick/monitors.pxd`); the timekeeper compares their counters and tells the DeviceActor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from actors.device.messages import FodStage
from actors.device.params import SafetyLimits
from actors.event.messages import Emit

if TYPE_CHECKING:
    from actors.device.messages import DeviceRecord, SafetyState
    from actors.settings.messages import SettingsView

SAFE_TRAJECTORY: Final = "features/safe_trajectory/enabled"
MAX_SPEED: Final = "features/safe_trajectory/max_vel"
GRIP_HOOK: Final = "features/grip_hook/enabled"
GRIP_TIMEOUT: Final = "features/grip_hook/timeout"
ACTING_SETTINGS: Final = frozenset({SAFE_TRAJECTORY, MAX_SPEED, GRIP_HOOK, GRIP_TIMEOUT})

# Counter, safety_type, text of the event; in the order of the events of one snapshot.
COUNTED: Final = (
    ("oscillations", "oscillation_detected", "oscillates: its force is reduced until it is quiet"),
    ("ceilings", "stability_ceiling", "oscillates again and again: its force stays reduced during this contact"),
    ("grip_drops", "grip_dropped", "puts out no force: its grip was let go"),
    ("stalls", "stall_detected", "pushes hard and does not move: reduce the force or free the device"),
    ("deratings", "thermal_derating", "has hot motors: its force is limited until they cool down"),
    ("ebrakes", "ebrake_triggered", "brakes: it ignores commands until it has rested"),
    ("ebrake_releases", "ebrake_released", "has rested: it obeys again"),
)
FOD_TEXTS: Final = MappingProxyType(
    {
        FodStage.IDLE: "is free again: nothing but its motors moves it",
        FodStage.GUARD: "is pushed while nobody holds its grip: half force",
        FodStage.HARD: "is pushed hard while nobody holds its grip: it brakes",
    }
)


def limits_of(settings: SettingsView) -> SafetyLimits:
    """Return the limits by the settings."""
    return SafetyLimits(
        safe_speed=settings.number(MAX_SPEED) if settings.flag(SAFE_TRAJECTORY) else 0.0,
        grip_timeout=settings.number(GRIP_TIMEOUT) if settings.flag(GRIP_HOOK) else 0.0,
    )


def safety_events(record: DeviceRecord, before: SafetyState, now: SafetyState) -> Iterator[Emit]:
    """Yield `device-safety-triggered` for each monitor that acted between two snapshots, releases last."""
    if now.fod_stage is not before.fod_stage:
        stages = {"from": str(before.fod_stage), "to": str(now.fod_stage)}
        worse = now.fod_stage is not FodStage.IDLE
        yield _event(record, "fod_stage_changed", FOD_TEXTS[now.fod_stage], stages, worse=worse)
    for counter, safety_type, text in COUNTED:
        if getattr(now, counter) > getattr(before, counter):
            yield _event(record, safety_type, text, {})


def _event(
    record: DeviceRecord, safety_type: str, text: str, more: Mapping[str, object], *, worse: bool = True
) -> Emit:
    about = {"device_id": record.device_id, "device_family": str(record.kind), "safety_type": safety_type}
    sentence = f"{record.kind} {record.device_id} {text}"
    return Emit("device-safety-triggered", {**about, **more}, sentence, None if worse else "info")
