"""One event of each kind as somebody might see it: what the reference page shows, and what a test holds to the catalogue."""

from __future__ import annotations

from typing import Final

from actors.event.messages import Emit

ARM: Final = {"device_id": "049D", "device_family": "arm"}
GRIP: Final = {"device_id": "1605", "device_family": "grip"}
ARM_PLACE: Final = {"type": "arm", "connection": "serial", "port": "ttyACM0", "firmware": "7.5"}

EXAMPLES: Final = (
    Emit("device-connected", {**ARM, **ARM_PLACE}, "arm 049D connected on ttyACM0"),
    Emit("device-disconnected", {**ARM, **ARM_PLACE}, "arm 049D on ttyACM0 is gone: it was unplugged"),
    Emit(
        "device-busy",
        {**ARM, "session_id": 8, "held_by": 7},
        "session 7 holds 049D; session 8 was refused its position",
    ),
    Emit("device-sleep", {**GRIP, "awake": False}, "grip 1605 sleeps"),
    Emit(
        "device-connection-loop",
        {**ARM, "port": "ttyACM0", "loops": 5, "window_s": 10},
        "arm 049D connected 5 times in 10 s on ttyACM0",
    ),
    Emit(
        "device-protocol-unsupported",
        {**ARM, "feature": "damping", "firmware": "7.4", "required": "7.5"},
        "damping needs firmware 7.5 or newer and the device has 7.4: update its firmware.",
    ),
    Emit(
        "device-pairing-changed",
        {**ARM, "paired_with": "1605", "origin": "automatic", "dropped": None},
        "arm 049D is paired with 1605",
    ),
    Emit("grip-attachment-changed", {**GRIP, "attached": True}, "grip 1605 is held"),
    Emit(
        "device-safety-triggered",
        {**ARM, "safety_type": "stopped"},
        "arm 049D was stopped by 127.0.0.1",
    ),
    Emit(
        "device-calibration-failed",
        {"device_id": "05C0", "device_family": "compact", "reason": "oscillating_hall"},
        "compact 05C0 could not be calibrated: its hall sensor oscillates",
    ),
    Emit("device-battery-low", {**GRIP, "battery_level": 0.2}, "grip 1605 has 20% of its charge left: charge it"),
    Emit("device-battery-critical", {**GRIP, "battery_level": 0.05}, "grip 1605 has 5% of its charge left: charge it"),
    Emit(
        "port-blocked",
        {"port": "ttyACM0", "state": "blocked", "reason": "connection_loop"},
        "port ttyACM0 is blocked: check the cable, then POST /ports/ttyACM0/reset",
    ),
    Emit(
        "port-state-changed",
        {"port": "ttyACM0", "state": "active", "reason": "reset"},
        "port ttyACM0 may be opened again",
    ),
    Emit("session-opened", {"session_id": 7, "profile": "default"}, "session 7 opened"),
    Emit("session-closed", {"session_id": 7, "profile": "drawing"}, "session 7 closed"),
    Emit(
        "session-updated",
        {"session_id": 7, "scopes": ["config.mount", "config.preset"]},
        "session 7 changed config.mount, config.preset",
    ),
    Emit(
        "session-warning",
        {
            "session_id": 7,
            "reason": "command_timeout",
            "interval": 0.1,
            "force_lost": 0.4,
            "setting": "sessions/command_timeout",
        },
        "session 7 sends a command every 0.100 s, which is more than sessions/command_timeout (0.05 s): its commands fade"
        " before the next ones come, and 40% of its force is lost; send faster or raise sessions/command_timeout",
    ),
    Emit(
        "control-rate-low",
        {"target_hz": 4000.0, "measured_hz": 3450.0},
        "the control loop runs at 3450 Hz of 4000 Hz: lower control/frequency or give the loop a processor",
    ),
    Emit(
        "control-rate-critical",
        {"target_hz": 4000.0, "measured_hz": 1200.0},
        "the control loop runs at 1200 Hz of 4000 Hz: lower control/frequency or give the loop a processor",
    ),
    Emit(
        "main-loop-statistics",
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
    Emit(
        "invalid-io-channel",
        {
            "session_id": 7,
            "received_data": '{"arm": [{"device_id": "049D", "commands": {"set_cursor_force": {"vector": {"x": "much"}}}}]}',
            "path": "arm[0].commands.set_cursor_force.vector.x",
            "reason": "a number is needed, not a string",
            "suppressed": 0,
        },
        "session 7: arm[0].commands.set_cursor_force.vector.x: a number is needed, not a string",
    ),
    Emit(
        "command-deprecated",
        {
            "command": "set_cursor_force",
            "session_id": 7,
            "replacement": "vector",
            "suppressed": 31,
        },
        "session 7 uses the old form of set_cursor_force: use vector",
    ),
    Emit(
        "http-route-deprecated",
        {"route": "POST /torque_scaling", "replacement": "POST /{device}/{id}/config/torque_scaling"},
        "POST /torque_scaling is deprecated: use POST /{device}/{id}/config/torque_scaling.",
    ),
)
