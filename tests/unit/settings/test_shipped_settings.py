"""Each shipped setting as clients see it: type, default, unit, constraint, lock, environment variable."""

from __future__ import annotations

from typing import Any, Final

import pytest

from actors.kit.errors import InvalidInput
from actors.settings.sources import read_overrides
from tests.support.actors.doubles import settings_view
from transport.settings_catalog import SETTINGS_CATALOG

SPINS: Final = ["auto", "off"]
WORDS: Final = ["auto", "neutral", "inverse"]
DEVICES: Final = ["arm", "compact", "grip", "grip:wired", "grip:wireless", "pen"]
PORT: Final = (0, 65535)

# Key: type hint, default, unit, range or choices (None: free), locked.
SHIPPED: Final[dict[str, tuple[str, object, str | None, object, bool]]] = {
    "communication/bind_address": ("STRING", "localhost", None, None, True),
    "communication/bind_all_interfaces": ("BOOL", False, None, None, True),
    "communication/http/port": ("INT", None, None, PORT, True),
    "communication/websocket/port": ("INT", 10001, None, PORT, True),
    "communication/websocket/legacy_port": ("INT", 10000, None, PORT, True),
    "communication/events/port": ("INT", 10020, None, PORT, True),
    "communication/allowed_origins": ("ARR_STRING", [], None, None, False),
    "communication/allowed_hosts": ("ARR_STRING", [], None, None, False),
    "communication/auth/required": ("BOOL", True, None, None, False),
    "communication/max_sessions": ("INT", 64, None, (1, 256), True),
    "communication/streaming/native": ("BOOL", True, None, None, True),
    "communication/streaming/threads": ("INT", 1, None, (1, 8), True),
    "communication/streaming/longest_turn": ("FLOAT", 1, "s", (0.1, 10), False),
    "communication/stop_storage_wait": ("FLOAT", 0.08, "s", (0, 2), False),
    "communication/local/enabled": ("BOOL", True, None, None, True),
    "communication/serial/enabled": ("BOOL", True, None, None, False),
    "communication/usb/enabled": ("BOOL", True, None, None, False),
    "control/frequency": ("INT", 4000, "Hz", (100, 32000), False),
    "control/spin": ("STRING", "auto", None, SPINS, True),
    "control/realtime_priority": ("INT", 80, None, None, True),
    "control/cpu": ("GENERIC", "auto", None, None, True),
    "control/statistics_period": ("FLOAT", 10, "s", None, False),
    "sessions/command_timeout": ("FLOAT", 0.05, "s", (0.02, 0.5), False),
    "scene/timeout": ("FLOAT", 0.5, "s", (0.1, 5), False),
    "devices/simulated": ("ARR_STRING", None, None, DEVICES, True),
    "devices/auto_pairing": ("BOOL", True, None, None, False),
    "devices/grip/attach_debounce": ("FLOAT", 0.2, "s", None, False),
    "devices/grip/detach_debounce": ("FLOAT", 0.1, "s", None, False),
    "devices/haptic*/filters/force_scale/gain": ("FLOAT", 1, None, (0, 2), False),
    "devices/haptic*/filters/force_gate/gain": ("FLOAT", 0.3, None, (0, 1), False),
    "devices/detection/period": ("INT", 1000, "ms", (100, 10000), False),
    "devices/detection/timeout": ("INT", 2000, "ms", None, False),
    "devices/detection/max_number_retry": ("INT", 3, None, (1, 10), False),
    "devices/detection/block_on_loop": ("BOOL", True, None, None, False),
    "devices/detection/loop_threshold": ("INT", 5, None, None, False),
    "devices/detection/loop_window": ("FLOAT", 10, "s", None, False),
    "devices/detection/blocked_ports": ("ARR_STRING", [], None, None, False),
    "devices/detection/advanced/allowed_vendor_id_filter": ("ARR_STRING", [], None, None, False),
    "devices/detection/advanced/port_name_substring_filter": ("ARR_STRING", [], None, None, False),
    "serialization/vocabulary": ("STRING", "auto", None, WORDS, False),
    "serialization/explicit_fields": ("BOOL", False, None, None, False),
    "serialization/force_complete_transforms": ("BOOL", False, None, None, False),
    "serialization/status_safety": ("BOOL", False, None, None, False),
    "serialization/timestamps": ("BOOL", False, None, None, False),
    "features/grip_hook/enabled": ("BOOL", False, None, None, False),
    "features/grip_hook/timeout": ("FLOAT", 0.1, "s", None, False),
    "features/screensaver/enabled": ("BOOL", False, None, None, False),
    "features/screensaver/timeout": ("FLOAT", 600, "s", None, False),
    "features/safe_trajectory/enabled": ("BOOL", False, None, None, False),
    "features/safe_trajectory/max_vel": ("FLOAT", 0.5, "m/s", None, False),
    "features/kinetic_energy_limit": ("FLOAT", 0, "J", (0, 10), False),
    "features/power_limit": ("FLOAT", 0, "W", (0, 100), False),
    "features/contact_energy_limit": ("FLOAT", 0, "J", (0, 100), False),
    "features/stiffness_warning": ("BOOL", False, None, None, False),
    "features/brake_latch": ("BOOL", False, None, None, False),
    "features/stop_brake": ("BOOL", False, None, None, False),
    "features/enable_button": ("STRING", "off", None, ["off", "a", "b", "c", "any"], False),
    "features/clutch/enabled": ("BOOL", False, None, None, False),
    "features/session_force_scale/enabled": ("BOOL", False, None, None, False),
    "features/workspace_zoom/enabled": ("BOOL", False, None, None, False),
    "features/hfx/enabled": ("BOOL", False, None, None, False),
    "features/contact/enabled": ("BOOL", False, None, None, False),
    "features/scene/enabled": ("BOOL", False, None, None, False),
    "presets/freeform_profiles": ("ARR_STRING", ["*freeform*"], None, None, False),
    "simulation/settle_time": ("FLOAT", 0.2, "s", None, False),
    "simulation/seed": ("INT", 0, None, None, False),
    "simulation/stepped": ("BOOL", False, None, None, True),
    "filters/oscillation/enabled": ("BOOL", True, None, None, False),
    "filters/oscillation/power": ("FLOAT", 15, "mW", (5, 100), False),
    "filters/oscillation/votes": ("INT", 5, None, (3, 8), False),
    "filters/oscillation/floor_gain": ("FLOAT", 0.12, None, (0.05, 0.5), False),
    "filters/oscillation/window": ("FLOAT", 0.1, "s", (0.05, 0.5), False),
    "devices/settle_time": ("FLOAT", 5, "s", (0, 30), False),
    "devices/detection/serial_ports": ("ARR_STRING", [], None, None, False),
    "devices/falcon/firmware_image": ("STRING", None, None, None, False),
    "devices/falcon/counts_per_Nm": ("FLOAT", 10000, None, (-100000, 100000), False),
    "devices/hapi/ports": ("ARR_STRING", [], None, None, False),
    "features/modules/enabled": ("ARR_STRING", [], None, None, False),
    "misc/log_level": ("STRING", "info", None, ["debug", "info", "warning", "error"], False),
    "misc/log_format": ("STRING", "text", None, ["text", "json"], True),
    "misc/hidden_settings": ("BOOL", False, None, None, False),
}
VARIABLES: Final = (
    ("HAPTICD_CONTROL__FREQUENCY", "8000", "control/frequency", 8000),
    ("HAPTICD_CONTROL__CPU", "none", "control/cpu", "none"),
    ("HAPTICD_COMMUNICATION__WEBSOCKET__LEGACY_PORT", "0", "communication/websocket/legacy_port", 0),
    ("HAPTICD_COMMUNICATION__AUTH__REQUIRED", "true", "communication/auth/required", True),
    ("HAPTICD_DEVICES__SIMULATED", "arm,grip:wired", "devices/simulated", ("arm", "grip:wired")),
    ("HAPTICD_DEVICES__SIMULATED", "null", "devices/simulated", None),
    ("HAPTICD_DEVICES__SIMULATED", "[]", "devices/simulated", ()),
    (
        "HAPTICD_DEVICES__HAPTICX__FILTERS__FORCE_SCALE__GAIN",
        "0.5",
        "devices/haptic*/filters/force_scale/gain",
        0.5,
    ),
    ("HAPTICD_DEVICES__ARM__FILTERS__FORCE_GATE__GAIN", "1", "devices/arm/filters/force_gate/gain", 1.0),
    ("HAPTICD_DEVICES__049D__FILTERS__FORCE_GATE__GAIN", "0", "devices/049D/filters/force_gate/gain", 0.0),
)


def shown(key: str) -> Any:
    """The record of a key as JSON, when nobody has set anything."""
    return settings_view().record(key).as_json()


def test_every_setting_is_listed() -> None:
    assert {setting.key for setting in SETTINGS_CATALOG} == set(SHIPPED)


@pytest.mark.parametrize("key", list(SHIPPED))
def test_record_shows_the_shipped_values(key: str) -> None:
    hint, default, unit, limits, locked = SHIPPED[key]
    record = shown(key)

    assert record["type_hint"] == hint
    if hint in {"BOOL", "INT", "FLOAT"} and default is not None:
        assert type(SETTINGS_CATALOG.find(key).default) is {"BOOL": bool, "INT": int, "FLOAT": float}[hint]
    assert record["value"] == record["effective"] == record["default"] == default
    assert record.get("unit") == unit
    assert record["metadata"]["locked"] is locked
    constraint = record["metadata"]["constraint"]
    if isinstance(limits, tuple):
        assert constraint["range"] == {"min": limits[0], "max": limits[1]}
    elif limits is not None:
        assert constraint["choices"] == limits


def test_processor_setting_is_a_word_or_a_number() -> None:
    assert shown("control/cpu")["metadata"]["constraint"]["choices"] == ["auto", "none"]
    assert shown("control/cpu")["metadata"]["constraint"]["range"]["min"] == 0


@pytest.mark.parametrize(
    ("key", "inside", "outside"),
    [
        (key, limits[edge], limits[edge] + step)
        for key, (hint, _, _, limits, _) in SHIPPED.items()
        if isinstance(limits, tuple)
        for edge, step in ((0, -1 if hint == "INT" else -1e-9), (1, 1 if hint == "INT" else 1e-9))
    ],
)
def test_range_limits_are_accepted_and_values_beyond_refused(key: str, inside: float, outside: float) -> None:
    assert SETTINGS_CATALOG.find(key).parse(inside) == inside
    with pytest.raises(InvalidInput):
        SETTINGS_CATALOG.find(key).parse(outside)


@pytest.mark.parametrize(("name", "text", "key", "value"), VARIABLES)
def test_a_variable_sets_the_key_that_it_spells(name: str, text: str, key: str, value: object) -> None:
    overrides = read_overrides(SETTINGS_CATALOG, environ={name: text, "PATH": "/bin", "HAPTIC": "x"})

    assert {key: override.value for key, override in overrides.items()} == {key: value}
    assert overrides[key].source == "environment"
