"""Settings as HTTP shows them: value, pending change, constraint."""

from __future__ import annotations

from typing import Any

import pytest

from actors.kit.errors import NoSuchSetting
from actors.settings.effective import load_settings
from actors.settings.messages import Constraint, SettingsView, SettingView, value_as_json
from actors.settings.sources import Override
from transport.settings_catalog import SETTINGS_CATALOG

GATE = "filters/force_gate/gain"


def view(raw: dict[str, object] | None = None, **overrides: Override) -> SettingsView:
    book, faults = load_settings(SETTINGS_CATALOG, raw or {}, overrides)
    assert faults == ()
    return book.view()


def test_a_record_is_shown_as_the_interface_says() -> None:
    record = SettingView(
        "control/frequency", 8000, 4000, 4000, "INT", Constraint(100, 32000), "Rate.", "Hz", True, False, "environment"
    )

    assert list(record.as_json().items()) == [
        ("key", "control/frequency"),
        ("value", 8000),
        ("effective", 4000),
        ("default", 4000),
        ("type_hint", "INT"),
        ("unit", "Hz"),
        ("metadata", {"constraint": {"range": {"min": 100, "max": 32000}}, "locked": True, "advanced": False}),
        ("overridden_by", "environment"),
        ("description", "Rate."),
    ]


def test_empty_fields_are_omitted_and_a_pending_change_is_shown() -> None:
    shown = view().record("serialization/vocabulary").as_json()

    assert "unit" not in shown
    assert "overridden_by" not in shown
    assert "restart_required" not in shown
    assert shown["metadata"] == {
        "constraint": {"choices": ["auto", "neutral", "inverse"]},
        "locked": False,
        "advanced": False,
    }
    waiting = SettingView("k", 1, 0, 0, "INT", Constraint(), "D.", restart_required=True)
    assert waiting.as_json()["restart_required"] is True


@pytest.mark.parametrize(
    ("constraint", "shown"),
    [
        (Constraint(), {}),
        (Constraint(0, 7, ("auto", "none")), {"range": {"min": 0, "max": 7}, "choices": ["auto", "none"]}),
        (Constraint(nullable=True), {"nullable": True}),
    ],
)
def test_constraint_shows_the_limits(constraint: Constraint, shown: dict[str, object]) -> None:
    assert constraint.as_json() == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (True, True),
        ((), []),
        (("a", "b"), ["a", "b"]),
        ((1.0, 0.5, 0.0), {"x": 1.0, "y": 0.5, "z": 0.0}),
    ],
)
def test_values_are_shown_as_json(value: Any, shown: object) -> None:
    assert value_as_json(value) == shown


def test_most_specific_value_of_a_device_counts() -> None:
    family = view({f"devices/haptic*/{GATE}": 0.5})
    kind = view({f"devices/haptic*/{GATE}": 0.5, f"devices/arm/{GATE}": 0.6})
    exact = view({f"devices/haptic*/{GATE}": 0.5, f"devices/arm/{GATE}": 0.6, f"devices/049D/{GATE}": 0.7})

    assert view().device("049D", "arm", GATE) == 0.3
    assert family.device("049D", "arm", GATE) == 0.5
    assert kind.device("049D", "arm", GATE) == 0.6
    assert kind.device("049D", "compact", GATE) == 0.5
    assert exact.device("049D", "arm", GATE) == 0.7
    assert exact.device("049E", "arm", GATE) == 0.6


def test_more_specific_key_counts_from_any_source() -> None:
    book, _ = load_settings(
        SETTINGS_CATALOG,
        {f"devices/arm/{GATE}": 0.6},
        {
            f"devices/haptic*/{GATE}": Override(0.9, "command line"),
            f"devices/grip/{GATE}": Override(0.1, "environment"),
        },
    )

    assert book.view().device("049D", "arm", GATE) == 0.6
    assert book.view().device("1605", "grip", GATE) == 0.1
    assert book.view().device("1605", "pen", GATE) == 0.9


def test_area_without_a_device_is_no_setting() -> None:
    with pytest.raises(NoSuchSetting):
        view().device("049D", "arm", "filters/none")


def test_unset_key_shows_its_family_s_value() -> None:
    record = view({f"devices/haptic*/{GATE}": 0.5}).record(f"devices/pen/{GATE}")

    assert (record.key, record.value, record.effective, record.default) == (f"devices/pen/{GATE}", 0.5, 0.5, 0.3)


@pytest.mark.parametrize("key", ["", "control", "control/frequncy", f"devices/*/{GATE}", "devices/arm/auto_pairing"])
def test_unknown_setting_has_no_record(key: str) -> None:
    with pytest.raises(NoSuchSetting):
        view().record(key)


def test_listing_omits_advanced_settings_by_default() -> None:
    default = view()
    plain, every = default.listed(), default.listed(advanced=True)

    assert [record.key for record in every] == [setting.key for setting in SETTINGS_CATALOG]
    named = ("serialization/explicit_fields", "serialization/force_complete_transforms")
    assert plain == tuple(record for record in every if record.key in named or not record.advanced)
    assert len(plain) < len(every)
    assert view({"misc/hidden_settings": True}).listed() == view({"misc/hidden_settings": True}).listed(advanced=True)


def test_listing_prefix_matches_whole_segments() -> None:
    under = [record.key for record in view().listed("features/grip_hook")]

    assert under == ["features/grip_hook/enabled", "features/grip_hook/timeout"]
    assert [record.key for record in view().listed("features/grip_hook/")] == under
    assert view().listed("features/grip") == ()
    assert view().listed("no/such") == ()


def test_listing_includes_set_specific_keys() -> None:
    keys = [record.key for record in view({f"devices/049D/{GATE}": 0.5}).listed("devices/049D")]

    assert keys == [f"devices/049D/{GATE}"]


def test_values_come_with_their_type() -> None:
    settings = view()

    assert settings.flag("devices/auto_pairing") is True
    assert settings.integer("control/frequency") == 4000
    assert settings.number("control/frequency") == 4000.0
    assert settings.number("sessions/command_timeout") == 0.05
    assert settings.text("control/spin") == "auto"
    assert settings.texts("presets/freeform_profiles") == ("*freeform*",)
    assert settings.value("devices/simulated") is None


@pytest.mark.parametrize(
    ("getter", "key"),
    [
        ("flag", "control/frequency"),
        ("integer", "devices/auto_pairing"),
        ("integer", "communication/http/port"),
        ("number", "devices/auto_pairing"),
        ("number", "control/spin"),
        ("text", "control/frequency"),
        ("texts", "control/spin"),
        ("texts", "devices/simulated"),
    ],
)
def test_reading_as_another_type_is_a_programming_error(getter: str, key: str) -> None:
    with pytest.raises(TypeError, match=key):
        getattr(view(), getter)(key)


def test_a_view_cannot_be_changed() -> None:
    records: Any = view().records

    with pytest.raises(TypeError):
        records["control/frequency"] = None
