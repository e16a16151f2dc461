from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, permutations

import pytest

from actors.kit.errors import InvalidInput
from actors.settings.key_lookup import KINDS, Catalog, variable
from actors.settings.messages import FAMILY, Value
from actors.settings.schema import Setting, TypeHint
from transport.settings_catalog import SETTINGS_CATALOG

DECIDED: Mapping[str, Value] = {
    "communication/bind_address": "localhost",
    "communication/bind_all_interfaces": False,
    "communication/http/port": None,
    "communication/websocket/port": 10001,
    "communication/websocket/legacy_port": 10000,
    "communication/events/port": 10020,
    "communication/allowed_origins": (),
    "communication/allowed_hosts": (),
    "communication/auth/required": True,
    "communication/max_sessions": 64,
    "communication/serial/enabled": True,
    "communication/usb/enabled": True,
    "control/frequency": 4000,
    "control/spin": "auto",
    "control/realtime_priority": 80,
    "control/cpu": "auto",
    "control/statistics_period": 10.0,
    "sessions/command_timeout": 0.05,
    "devices/simulated": None,
    "devices/auto_pairing": True,
    "devices/grip/attach_debounce": 0.2,
    "devices/grip/detach_debounce": 0.1,
    "devices/haptic*/filters/force_scale/gain": 1.0,
    "devices/haptic*/filters/force_gate/gain": 0.3,
    "devices/detection/period": 1000,
    "devices/detection/timeout": 2000,
    "devices/detection/max_number_retry": 3,
    "devices/detection/block_on_loop": True,
    "devices/detection/loop_threshold": 5,
    "devices/detection/loop_window": 10.0,
    "devices/detection/blocked_ports": (),
    "devices/detection/advanced/allowed_vendor_id_filter": (),
    "devices/detection/advanced/port_name_substring_filter": (),
    "devices/falcon/firmware_image": None,
    "devices/falcon/counts_per_Nm": 10000.0,
    "devices/hapi/ports": (),
    "serialization/vocabulary": "auto",
    "serialization/explicit_fields": False,
    "serialization/force_complete_transforms": False,
    "serialization/status_safety": False,
    "serialization/timestamps": False,
    "features/grip_hook/enabled": False,
    "features/grip_hook/timeout": 0.1,
    "features/screensaver/enabled": False,
    "features/screensaver/timeout": 600.0,
    "features/safe_trajectory/enabled": False,
    "features/safe_trajectory/max_vel": 0.5,
    "filters/oscillation/enabled": True,
    "filters/oscillation/floor_gain": 0.12,
    "filters/oscillation/power": 15.0,
    "filters/oscillation/votes": 5,
    "filters/oscillation/window": 0.1,
    "features/clutch/enabled": False,
    "features/modules/enabled": (),
    "features/session_force_scale/enabled": False,
    "features/workspace_zoom/enabled": False,
    "features/hfx/enabled": False,
    "presets/freeform_profiles": ("*freeform*",),
    "devices/settle_time": 5.0,
    "devices/detection/serial_ports": (),
    "simulation/settle_time": 0.2,
    "simulation/seed": 0,
    "misc/log_level": "info",
    "misc/hidden_settings": False,
}
RANGES = {
    "control/frequency": (100, 32000),
    "sessions/command_timeout": (0.02, 0.5),
    "communication/max_sessions": (1, 256),
    "devices/haptic*/filters/force_scale/gain": (0, 2),
    "devices/haptic*/filters/force_gate/gain": (0, 1),
    "devices/detection/period": (100, 10000),
    "devices/detection/max_number_retry": (1, 10),
}
LOCKED = {
    "communication/bind_address",
    "communication/bind_all_interfaces",
    "communication/http/port",
    "communication/websocket/port",
    "communication/websocket/legacy_port",
    "communication/events/port",
    "communication/max_sessions",
    "control/spin",
    "control/realtime_priority",
    "control/cpu",
    "devices/simulated",
}


def test_every_key_is_there_with_its_default() -> None:
    assert {setting.key: setting.default for setting in SETTINGS_CATALOG} == DECIDED
    assert [type(setting.default) for setting in SETTINGS_CATALOG] == [
        type(DECIDED[setting.key]) for setting in SETTINGS_CATALOG
    ]


@pytest.mark.parametrize("key", list(RANGES))
def test_a_range_is_what_was_decided(key: str) -> None:
    constraint = SETTINGS_CATALOG.find(key).constraint

    assert (constraint.least, constraint.most) == RANGES[key]


def test_what_waits_for_the_next_start_is_locked_and_nothing_else() -> None:
    assert {setting.key for setting in SETTINGS_CATALOG if setting.locked} == LOCKED


def test_no_key_is_a_prefix_of_another() -> None:
    forms = [
        setting.key.replace(FAMILY, f"devices/{who}/", 1)
        for setting in SETTINGS_CATALOG
        for who in ("haptic*", *KINDS, "049D")
    ]

    assert [pair for pair in permutations(set(forms), 2) if pair[0].startswith(pair[1])] == []


def test_no_two_keys_share_a_variable_of_the_environment() -> None:
    assert [pair for pair in combinations(SETTINGS_CATALOG, 2) if variable(pair[0].key) == variable(pair[1].key)] == []


@pytest.mark.parametrize("setting", list(SETTINGS_CATALOG), ids=lambda setting: setting.key)
def test_a_row_is_complete(setting: Setting) -> None:
    numeric = setting.type_hint in (TypeHint.INT, TypeHint.FLOAT)

    assert setting.description.endswith(".")
    assert (setting.constraint.least is not None) == (numeric or setting.key == "control/cpu")
    assert setting.unit is None or numeric


@pytest.mark.parametrize("key", ["serialization/explicit_fields", "serialization/force_complete_transforms"])
def test_the_two_that_complete_the_output_are_advanced(key: str) -> None:
    assert SETTINGS_CATALOG.find(key).advanced


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("communication/bind_address", "localhost", "example.org"),
        ("communication/bind_address", "192.0.2.7", "192.0.2.700"),
        ("communication/bind_address", "::1", "[::1]"),
        ("communication/allowed_origins", ["https://example.org", "http://[::1]:8080"], ["example.org"]),
        ("communication/allowed_origins", ["app://desk"], ["null"]),
        ("communication/allowed_origins", [], ["https://example.org/page"]),
        ("communication/allowed_hosts", ["lab-pc.local", "::1", "[::1]", "192.0.2.7"], ["lab-pc:10001"]),
        ("communication/allowed_hosts", [], ["http://lab-pc"]),
        ("communication/http/port", None, "none"),
        ("communication/http/port", 0, 65536),
        ("devices/detection/advanced/allowed_vendor_id_filter", ["16D0", "0403"], ["0x16D0"]),
        ("devices/hapi/ports", ["ttyACM0=2diy-plastic", "/dev/pts/3=pantograph"], ["ttyACM0"]),
        ("devices/hapi/ports", ["COM3=2diy-metal"], ["ttyACM0=2diy"]),
        ("devices/simulated", ["arm", "compact", "grip", "grip:wired", "grip:wireless", "pen"], ["robot"]),
        ("devices/simulated", ["arm"] * 16, ["arm"] * 17),
        ("devices/simulated", None, ["arm:wired"]),
        ("control/cpu", 3, "3"),
        ("control/cpu", "none", -1),
    ],
)
def test_a_key_with_words_of_its_own(key: str, good: object, bad: object) -> None:
    SETTINGS_CATALOG.find(key).parse(good)
    with pytest.raises(InvalidInput, match=key.replace("*", r"\*")):
        SETTINGS_CATALOG.find(key).parse(bad)


def test_two_settings_with_one_key_are_a_fault_of_the_catalogue() -> None:
    with pytest.raises(ValueError, match="same key"):
        Catalog([*SETTINGS_CATALOG, *SETTINGS_CATALOG])
