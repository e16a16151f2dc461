"""The kinds of events: category, levels, fields and an example of each. The hub and the reference page derive from these rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from actors.event.messages import Category, Level

ExtraFields = Mapping[str, tuple[str, ...]]


def no_fields() -> ExtraFields:
    """Return an empty mapping."""
    return MappingProxyType({})


class Example(NamedTuple):
    """An event of the kind as the reference page shows it."""

    data: Mapping[str, Any]
    message: str


@dataclass(frozen=True, slots=True)
class EventKind:
    """One row of the catalogue."""

    category: Category
    levels: tuple[Level, ...]  # that it may have, the default first
    data: tuple[str, ...]  # fields of every event of the kind
    summary: str
    example: Example
    reasons: ExtraFields = field(
        default_factory=no_fields
    )  # values of the field `reason` with their extra fields; empty: any value
    safety_types: ExtraFields = field(
        default_factory=no_fields
    )  # values of the field `safety_type` that have extra fields

    def keys(self, data: Mapping[str, Any]) -> set[str]:
        """Return the names of all fields of an event with these data."""
        extra = self.reasons.get(str(data.get("reason")), ()) + self.safety_types.get(str(data.get("safety_type")), ())
        return {*self.data, *extra}


DEVICE: Final = ("device_id", "device_family")
PLACE: Final = ("type", "connection", "port", "firmware")

# Devices of the examples.
ARM: Final = {"device_id": "049D", "device_family": "arm"}
GRIP: Final = {"device_id": "1605", "device_family": "grip"}
ARM_PLACE: Final = {"type": "arm", "connection": "serial", "port": "ttyACM0", "firmware": "7.5"}

WARNINGS: Final[ExtraFields] = MappingProxyType(
    {
        "command_timeout": ("interval", "force_lost", "setting"),
        "resume_refused": (),
        "sdk_version": (),
        "events_dropped": ("lost",),
        "actor_failed": (),
    }
)
CALIBRATION_FAILURES: Final[ExtraFields] = MappingProxyType(
    dict.fromkeys(("pen_not_connected", "pen_asleep", "pen_lost", "blocked", "oscillating_hall"), ())
)

EVENT_KINDS: Final[Mapping[str, EventKind]] = MappingProxyType(
    {
        "device-connected": EventKind(
            "device",
            ("info",),
            (*DEVICE, *PLACE),
            "A device is there and settles.",
            Example({**ARM, **ARM_PLACE}, "arm 049D connected on ttyACM0"),
        ),
        "device-disconnected": EventKind(
            "device",
            ("warning",),
            (*DEVICE, *PLACE),
            "A device has gone.",
            Example({**ARM, **ARM_PLACE}, "arm 049D on ttyACM0 is gone: it was unplugged"),
        ),
        "device-busy": EventKind(
            "device",
            ("warning",),
            (*DEVICE, "session_id", "held_by"),
            "A position was refused: another session holds.",
            Example({**ARM, "session_id": 8, "held_by": 7}, "session 7 holds 049D; session 8 was refused its position"),
        ),
        "device-sleep": EventKind(
            "device",
            ("info",),
            (*DEVICE, "awake"),
            "A device fell asleep or woke up.",
            Example({**GRIP, "awake": False}, "grip 1605 sleeps"),
        ),
        "device-connection-loop": EventKind(
            "device",
            ("warning",),
            (*DEVICE, "port", "loops", "window_s"),
            "A device connects again and again.",
            Example(
                {**ARM, "port": "ttyACM0", "loops": 5, "window_s": 10}, "arm 049D connected 5 times in 10 s on ttyACM0"
            ),
        ),
        "device-protocol-unsupported": EventKind(
            "device",
            ("warning",),
            (*DEVICE, "feature", "firmware", "required"),
            "A firmware is too old for a feature.",
            Example(
                {**ARM, "feature": "damping", "firmware": "7.4", "required": "7.5"},
                "damping needs firmware 7.5 or newer and the device has 7.4: update its firmware.",
            ),
        ),
        "device-pairing-changed": EventKind(
            "device",
            ("info",),
            (*DEVICE, "paired_with", "origin", "dropped"),
            "A pair was made or dissolved.",
            Example(
                {**ARM, "paired_with": "1605", "origin": "automatic", "dropped": None}, "arm 049D is paired with 1605"
            ),
        ),
        "grip-attachment-changed": EventKind(
            "device",
            ("info",),
            (*DEVICE, "attached"),
            "A grip was taken or let go.",
            Example({**GRIP, "attached": True}, "grip 1605 is held"),
        ),
        "device-safety-triggered": EventKind(
            "device",
            ("error", "warning", "notice", "info"),
            (*DEVICE, "safety_type"),
            "A safety monitor acted.",
            Example({**ARM, "safety_type": "stopped"}, "arm 049D was stopped by 127.0.0.1"),
            safety_types=MappingProxyType(
                {
                    "fod_stage_changed": ("from", "to"),
                    "device_stale": ("silent_ms",),
                    "ebrake_waiting": ("request",),
                }
            ),
        ),
        "device-calibration-failed": EventKind(
            "device",
            ("warning",),
            (*DEVICE, "reason"),
            "A calibration did not succeed.",
            Example(
                {"device_id": "05C0", "device_family": "compact", "reason": "oscillating_hall"},
                "compact 05C0 could not be calibrated: its hall sensor oscillates",
            ),
            reasons=CALIBRATION_FAILURES,
        ),
        "device-battery-low": EventKind(
            "device",
            ("warning",),
            (*DEVICE, "battery_level"),
            "A wireless grip has 20 % left.",
            Example({**GRIP, "battery_level": 0.2}, "grip 1605 has 20% of its charge left: charge it"),
        ),
        "device-battery-critical": EventKind(
            "device",
            ("error",),
            (*DEVICE, "battery_level"),
            "A wireless grip has 5 % left.",
            Example({**GRIP, "battery_level": 0.05}, "grip 1605 has 5% of its charge left: charge it"),
        ),
        "device-force-interrupted": EventKind(
            "device",
            ("warning",),
            (*DEVICE, "interrupted_s", "force_lost", "gaps", "longest_ms", "window_s", "cause"),
            (
                "Gaps of the control loop left the motors without force; at once, then at most once a minute. `cause`:"
                " ticks_left_out, stolen_time, no_realtime_permission, busy_core or unknown."
            ),
            Example(
                {
                    **ARM,
                    "interrupted_s": 1.2,
                    "force_lost": 0.04,
                    "gaps": 31,
                    "longest_ms": 84.0,
                    "window_s": 60.0,
                    "cause": "no_realtime_permission",
                },
                (
                    "arm 049D was without its force for 1.200 s of 60 s (4.0% of the time with force): 31 gaps of the control loop,"
                    " the longest 84 ms; likely cause: no realtime permission: hapticd doctor says how to grant it"
                ),
            ),
        ),
        "port-blocked": EventKind(
            "device",
            ("error",),
            ("port", "state", "reason"),
            "A port is not opened any more until it is reset.",
            Example(
                {"port": "ttyACM0", "state": "blocked", "reason": "connection_loop"},
                "port ttyACM0 is blocked: check the cable, then POST /ports/ttyACM0/reset",
            ),
        ),
        "port-state-changed": EventKind(
            "device",
            ("notice", "warning"),
            ("port", "state", "reason"),
            "A port was reset or cannot be used.",
            Example({"port": "ttyACM0", "state": "active", "reason": "reset"}, "port ttyACM0 may be opened again"),
        ),
        "session-opened": EventKind(
            "session",
            ("info",),
            ("session_id", "profile"),
            "A client has connected.",
            Example({"session_id": 7, "profile": "default"}, "session 7 opened"),
        ),
        "session-closed": EventKind(
            "session",
            ("info",),
            ("session_id", "profile"),
            "A client has gone.",
            Example({"session_id": 7, "profile": "drawing"}, "session 7 closed"),
        ),
        "session-updated": EventKind(
            "session",
            ("info",),
            ("session_id", "scopes"),
            "Configuration of a session really changed.",
            Example(
                {"session_id": 7, "scopes": ["config.mount", "config.preset"]},
                "session 7 changed config.mount, config.preset",
            ),
        ),
        "session-warning": EventKind(
            "session",
            ("warning",),
            ("session_id", "reason"),
            "A client should change something.",
            Example(
                {
                    "session_id": 7,
                    "reason": "command_timeout",
                    "interval": 0.1,
                    "force_lost": 0.4,
                    "setting": "sessions/command_timeout",
                },
                (
                    "session 7 sends a command every 0.100 s, which is more than sessions/command_timeout (0.05 s): its commands fade"
                    " before the next ones come, and 40% of its force is lost; send faster or raise sessions/command_timeout"
                ),
            ),
            reasons=WARNINGS,
        ),
        "control-rate-low": EventKind(
            "system",
            ("warning",),
            ("target_hz", "measured_hz"),
            "The loop is below 90 % of its rate.",
            Example(
                {"target_hz": 4000.0, "measured_hz": 3450.0},
                "the control loop runs at 3450 Hz of 4000 Hz: lower control/frequency or give the loop a processor",
            ),
        ),
        "control-rate-critical": EventKind(
            "system",
            ("error",),
            ("target_hz", "measured_hz"),
            "The loop is below 50 % of its rate.",
            Example(
                {"target_hz": 4000.0, "measured_hz": 1200.0},
                "the control loop runs at 1200 Hz of 4000 Hz: lower control/frequency or give the loop a processor",
            ),
        ),
        "failsafe-changed": EventKind(
            "system",
            ("error", "notice"),
            ("running", "reason", "ports", "restarts"),
            "The process that ends forces when the service is killed was lost, or another one took its place.",
            Example(
                {"running": False, "reason": "it ended with -9", "ports": 1, "restarts": 0},
                (
                    "the failsafe process is lost (it ended with -9): until another one runs, a service that is killed leaves"
                    " the last force on 1 open ports"
                ),
            ),
        ),
        "main-loop-statistics": EventKind(
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
            Example(
                {
                    "frequency": 3999.5,
                    "ticks": 39995,
                    "missed": 5,
                    "lateness_p50_us": 1.5,
                    "lateness_p99_us": 12.0,
                    "lateness_max_us": 256.0,
                    "tick_cost_us": 2.5,
                    "devices": 2,
                    "sessions": 1,
                },
                "39995 ticks at 4000 Hz, 5 missed in 10.0 s",
            ),
        ),
        "invalid-io-channel": EventKind(
            "input",
            ("warning",),
            ("session_id", "received_data", "path", "reason", "suppressed"),
            "A message had a faulty part.",
            Example(
                {
                    "session_id": 7,
                    "received_data": '{"arm": [{"device_id": "049D", "commands": {"set_cursor_force": {"vector": {"x": "much"}}}}]}',
                    "path": "arm[0].commands.set_cursor_force.vector.x",
                    "reason": "a number is needed, not a string",
                    "suppressed": 0,
                },
                "session 7: arm[0].commands.set_cursor_force.vector.x: a number is needed, not a string",
            ),
        ),
        "command-deprecated": EventKind(
            "input",
            ("notice",),
            ("command", "session_id", "replacement", "suppressed"),
            "An old form was used.",
            Example(
                {
                    "command": "set_cursor_force",
                    "session_id": 7,
                    "replacement": "vector",
                    "suppressed": 31,
                },
                "session 7 uses the old form of set_cursor_force: use vector",
            ),
        ),
        "http-route-deprecated": EventKind(
            "input",
            ("notice",),
            ("route", "replacement"),
            "An old route was used.",
            Example(
                {"route": "POST /torque_scaling", "replacement": "POST /{device}/{id}/config/torque_scaling"},
                "POST /torque_scaling is deprecated: use POST /{device}/{id}/config/torque_scaling.",
            ),
        ),
    }
)

SAFETY_LEVELS: Final[Mapping[str, tuple[Level, ...]]] = MappingProxyType(
    {
        "ebrake_triggered": ("error",),
        "ebrake_released": ("notice",),
        "ebrake_waiting": ("warning",),
        "kinetic_energy_limit": ("error",),
        "power_limit": ("error",),
        "contact_energy_limit": ("error",),
        "stiffness_warning": ("warning",),
        "stop_braking": ("notice",),
        "enable_released": ("notice",),
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
    """Return the level of an event: the one that its data imply, else `requested` if allowed, else the default.

    KeyError for an unknown kind.
    """
    levels = EVENT_KINDS[kind].levels
    if kind == "device-safety-triggered":
        levels = SAFETY_LEVELS.get(str(data.get("safety_type")), levels)
    elif kind == "port-state-changed":
        levels = ("warning",) if data.get("state") == "unusable" else ("notice",)
    return requested if requested is not None and requested in levels else levels[0]
