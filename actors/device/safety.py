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
from actors.values.simulation import ANY_BUTTON, BUTTONS

if TYPE_CHECKING:
    from actors.device.messages import DeviceRecord, SafetyState
    from actors.settings.messages import SettingsView

SAFE_TRAJECTORY: Final = "features/safe_trajectory/enabled"
MAX_SPEED: Final = "features/safe_trajectory/max_vel"
GRIP_HOOK: Final = "features/grip_hook/enabled"
GRIP_TIMEOUT: Final = "features/grip_hook/timeout"
KINETIC_ENERGY: Final = "features/kinetic_energy_limit"
POWER: Final = "features/power_limit"
CONTACT_ENERGY: Final = "features/contact_energy_limit"
STIFFNESS_WARNING: Final = "features/stiffness_warning"
BRAKE_LATCH: Final = "features/brake_latch"
STOP_BRAKE: Final = "features/stop_brake"
ENABLE_BUTTON: Final = "features/enable_button"
ACTING_SETTINGS: Final = frozenset(
    {
        SAFE_TRAJECTORY,
        MAX_SPEED,
        GRIP_HOOK,
        GRIP_TIMEOUT,
        KINETIC_ENERGY,
        POWER,
        CONTACT_ENERGY,
        STIFFNESS_WARNING,
        BRAKE_LATCH,
        STOP_BRAKE,
        ENABLE_BUTTON,
    }
)

WAITING: Final = "ebrake_waiting"

# Counter, safety_type, text of the event; in the order of the events of one snapshot.
COUNTED: Final = (
    ("oscillations", "oscillation_detected", "oscillates: it is damped, and its force is reduced if that goes on"),
    ("ceilings", "stability_ceiling", "oscillates again and again: its force stays reduced during this contact"),
    ("grip_drops", "grip_dropped", "puts out no force: its grip was let go"),
    ("stalls", "stall_detected", "pushes hard and does not move: reduce the force or free the device"),
    ("deratings", "thermal_derating", "has hot motors: its force is limited until they cool down"),
    ("enable_drops", "enable_released", "puts out no force: its enabling button is not held"),
    (
        "stiffness_warnings",
        "stiffness_warning",
        "is rendered stiffer than it can damp: lower the stiffness or send faster",
    ),
    ("stop_brakes", "stop_braking", "was stopped in motion: it brakes before its force is zero"),
    ("kinetic_trips", "kinetic_energy_limit", "had more kinetic energy than features/kinetic_energy_limit"),
    ("power_trips", "power_limit", "put out more power than features/power_limit"),
    ("contact_trips", "contact_energy_limit", "put out more energy in a contact than features/contact_energy_limit"),
    ("ebrakes", "ebrake_triggered", "brakes: it ignores commands until it has been slower than 300 mm/s for 1 s"),
    ("ebrake_waits", WAITING, "waits for a request before it obeys again"),
    ("ebrake_releases", "ebrake_released", "is slow again: it obeys, and its force grows"),
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
    button = settings.text(ENABLE_BUTTON)
    return SafetyLimits(
        safe_speed=settings.number(MAX_SPEED) if settings.flag(SAFE_TRAJECTORY) else 0.0,
        grip_timeout=settings.number(GRIP_TIMEOUT) if settings.flag(GRIP_HOOK) else 0.0,
        kinetic_energy=settings.number(KINETIC_ENERGY),
        power=settings.number(POWER),
        contact_energy=settings.number(CONTACT_ENERGY),
        stiffness_warning=settings.flag(STIFFNESS_WARNING),
        brake_latch=settings.flag(BRAKE_LATCH),
        stop_brake=settings.flag(STOP_BRAKE),
        enable_buttons=sum(1 << bit for bit, name in enumerate(BUTTONS) if button in (name, ANY_BUTTON)),
    )


def safety_events(record: DeviceRecord, before: SafetyState, now: SafetyState) -> Iterator[Emit]:
    """Yield `device-safety-triggered` for each monitor that acted between two snapshots, releases last."""
    if now.fod_stage is not before.fod_stage:
        stages = {"from": str(before.fod_stage), "to": str(now.fod_stage)}
        worse = now.fod_stage is not FodStage.IDLE
        yield _event(record, "fod_stage_changed", FOD_TEXTS[now.fod_stage], stages, worse=worse)
    for counter, safety_type, text in COUNTED:
        if getattr(now, counter) > getattr(before, counter):
            yield _event(record, safety_type, text, _request(record) if safety_type == WAITING else {})


def _request(record: DeviceRecord) -> Mapping[str, object]:
    """Return the field that names the request which lets a waiting device obey again."""
    return {"request": f"POST /{record.kind}/{record.device_id}/resume"}


def _event(
    record: DeviceRecord, safety_type: str, text: str, more: Mapping[str, object], *, worse: bool = True
) -> Emit:
    about = {"device_id": record.device_id, "device_family": str(record.kind), "safety_type": safety_type}
    sentence = f"{record.kind} {record.device_id} {text}"
    return Emit("device-safety-triggered", {**about, **more}, sentence, None if worse else "info")
