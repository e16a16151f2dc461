"""The closed list of the kinds of events; the hub takes category and level from here, the reference page is written from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from actors.event.messages import Category, Level


@dataclass(frozen=True, slots=True)
class Row:
    """One kind: `levels` are those that it may have, the first by default; `data` are its fields.

    `reasons`: the values of the field `reason`, each with the fields that come on top then; none: not a closed list.
    `types`: the same of the field `safety_type`, for those with fields on top.
    """

    category: Category
    levels: tuple[Level, ...]
    data: tuple[str, ...]
    says: str
    reasons: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    types: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def keys(self, data: Mapping[str, Any]) -> set[str]:
        """The fields of an event with these data."""
        on_top = self.reasons.get(str(data.get("reason")), ()) + self.types.get(str(data.get("safety_type")), ())
        return {*self.data, *on_top}


DEVICE: Final = ("device_id", "device_family")
PLACE: Final = ("type", "connection", "port", "firmware")

WARNINGS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "command_timeout": ("interval", "force_lost", "setting"),
        "resume_refused": (),
        "sdk_version": (),
        "events_dropped": ("lost",),
        "actor_failed": (),
        "vocabulary": ("cause", "vocabulary", "setting"),
    }
)
CALIBRATION_FAILURES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    dict.fromkeys(("pen_not_connected", "pen_asleep", "pen_lost", "blocked", "oscillating_hall"), ())
)

CATALOG: Final[Mapping[str, Row]] = MappingProxyType(
    {
        "device-connected": Row("device", ("info",), (*DEVICE, *PLACE), "A device is there and settles."),
        "device-disconnected": Row("device", ("warning",), (*DEVICE, *PLACE), "A device has gone."),
        "device-busy": Row(
            "device", ("warning",), (*DEVICE, "session_id", "held_by"), "A position was refused: another session holds."
        ),
        "device-sleep": Row("device", ("info",), (*DEVICE, "awake"), "A device fell asleep or woke up."),
        "device-connection-loop": Row(
            "device", ("warning",), (*DEVICE, "port", "loops", "window_s"), "A device connects again and again."
        ),
        "device-protocol-unsupported": Row(
            "device", ("warning",), (*DEVICE, "feature", "firmware", "required"), "A firmware is too old for a feature."
        ),
        "device-pairing-changed": Row(
            "device", ("info",), (*DEVICE, "paired_with", "origin", "dropped"), "A pair was made or dissolved."
        ),
        "grip-attachment-changed": Row("device", ("info",), (*DEVICE, "attached"), "A grip was taken or let go."),
        "device-safety-triggered": Row(
            "device",
            ("error", "warning", "notice", "info"),
            (*DEVICE, "safety_type"),
            "A safety monitor acted.",
            types=MappingProxyType({"fod_stage_changed": ("from", "to"), "device_stale": ("silent_ms",)}),
        ),
        "device-calibration-failed": Row(
            "device", ("warning",), (*DEVICE, "reason"), "A calibration did not succeed.", CALIBRATION_FAILURES
        ),
        "device-battery-low": Row("device", ("warning",), (*DEVICE, "battery_level"), "A wireless grip has 20 % left."),
        "device-battery-critical": Row(
            "device", ("error",), (*DEVICE, "battery_level"), "A wireless grip has 5 % left."
        ),
        "port-blocked": Row(
            "device", ("error",), ("port", "state", "reason"), "A port is not opened any more until it is reset."
        ),
        "port-state-changed": Row(
            "device", ("notice", "warning"), ("port", "state", "reason"), "A port was reset or cannot be used."
        ),
        "session-opened": Row("session", ("info",), ("session_id", "profile"), "A client has connected."),
        "session-closed": Row("session", ("info",), ("session_id", "profile"), "A client has gone."),
        "session-updated": Row(
            "session", ("info",), ("session_id", "scopes"), "Configuration of a session really changed."
        ),
        "session-warning": Row(
            "session", ("warning",), ("session_id", "reason"), "A client should change something.", WARNINGS
        ),
        "control-rate-low": Row(
            "system", ("warning",), ("target_hz", "measured_hz"), "The loop is below 90 % of its rate."
        ),
        "control-rate-critical": Row(
            "system", ("error",), ("target_hz", "measured_hz"), "The loop is below 50 % of its rate."
        ),
        "main-loop-statistics": Row(
            "system",
            ("info",),
            (
                "frequency",
                "ticks",
                "missed",
                "lateness_p50_us",
                "lateness_p99_us",
                "lateness_max_us",
                "tick_cost_us",
                "devices",
                "sessions",
            ),
            "How the loop did in the last control/statistics_period.",
        ),
        "invalid-io-channel": Row(
            "input",
            ("warning",),
            ("session_id", "received_data", "path", "reason", "suppressed"),
            "A message had a faulty part.",
        ),
        "command-deprecated": Row(
            "input", ("notice",), ("command", "session_id", "replacement", "suppressed"), "An old form was used."
        ),
        "http-route-deprecated": Row("input", ("notice",), ("route", "replacement"), "An old route was used."),
    }
)

SAFETY_LEVELS: Final[Mapping[str, tuple[Level, ...]]] = MappingProxyType(
    {
        "ebrake_triggered": ("error",),
        "ebrake_released": ("notice",),
        "fod_stage_changed": ("warning", "info"),
        "stall_detected": ("warning",),
        "stability_ceiling": ("warning",),
        "thermal_derating": ("warning",),
        "device_stale": ("warning",),
        "oscillation_detected": ("notice",),
        "grip_dropped": ("notice",),
        "stopped": ("error",),
        "released": ("notice",),
    }
)


def level_of(kind: str, data: Mapping[str, Any], requested: Level | None = None) -> Level:
    """The level of an event: what its data say, else `requested` where the kind may have it, else the kind's first; KeyError for an unknown kind."""
    levels = CATALOG[kind].levels
    if kind == "device-safety-triggered":
        levels = SAFETY_LEVELS.get(str(data.get("safety_type")), levels)
    elif kind == "port-state-changed":
        levels = ("warning",) if data.get("state") == "unusable" else ("notice",)
    return requested if requested is not None and requested in levels else levels[0]
