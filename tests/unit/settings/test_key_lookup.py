"""Find settings by key: per-kind and per-device keys, suggestions for unknown ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import NoSuchSetting
from actors.settings.key_lookup import KINDS, variable
from transport.settings_catalog import SETTINGS_CATALOG

GATE = "devices/haptic*/filters/force_gate/gain"


def other_words(key: str) -> str:
    """A stand-in for the edge's table: some input words for ours."""
    who = key.split("/")[1]
    return key.replace(who, {"family*": "haptic*", "family": "arm"}.get(who, who), 1)


@pytest.mark.parametrize("who", [*KINDS, "049D", "a", "12345678", "A-b_c.d"])
def test_a_family_key_exists_for_each_kind_and_each_id(who: str) -> None:
    setting = SETTINGS_CATALOG.find(f"devices/{who}/filters/force_gate/gain")

    assert setting.key == f"devices/{who}/filters/force_gate/gain"
    assert setting.constraint == SETTINGS_CATALOG.find(GATE).constraint


@pytest.mark.parametrize(
    "key",
    [
        "",
        "/",
        "control",
        "control/",
        "control/frequency/",
        "/control/frequency",
        "Control/Frequency",
        "devices/haptic*/filters",
        "devices/*/filters/force_gate/gain",
        "devices/ar*/filters/force_gate/gain",
        "devices/?/filters/force_gate/gain",
        "devices/123456789/filters/force_gate/gain",
        "devices//filters/force_gate/gain",
        "devices/a b/filters/force_gate/gain",
        "devices/a\x00/filters/force_gate/gain",
        "devices/arm/auto_pairing",
        "devices/arm/filters/force_gate/gain\n",
    ],
)
def test_unknown_key_is_not_found(key: str) -> None:
    with pytest.raises(NoSuchSetting):
        SETTINGS_CATALOG.find(key)


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("control/frequncy", "control/frequency"),
        ("frequency", "control/frequency"),
        ("communication/websocket/ports", "communication/websocket/port"),
        ("features/clutch", "features/clutch/enabled"),
        ("vocabulary", "serialization/vocabulary"),
    ],
)
def test_the_error_names_the_nearest_keys(key: str, near: str) -> None:
    with pytest.raises(NoSuchSetting) as caught:
        SETTINGS_CATALOG.find(key)

    assert str(caught.value).startswith(f'There is no setting "{key}": did you mean ')
    assert near in str(caught.value)
    assert str(caught.value).endswith("?")


def test_error_for_a_distant_key_says_where_keys_are_listed() -> None:
    with pytest.raises(NoSuchSetting, match=r'^There is no setting "qqqq": GET /settings\?advanced=true lists'):
        SETTINGS_CATALOG.find("qqqq")


@given(st.text(max_size=500))
def test_error_is_one_short_line_for_any_key(key: str) -> None:
    with pytest.raises(NoSuchSetting) as caught:
        SETTINGS_CATALOG.find(f"~{key}")

    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("key", [setting.key for setting in SETTINGS_CATALOG])
def test_every_key_round_trips_through_its_variable(key: str) -> None:
    assert SETTINGS_CATALOG.key_of_variable(variable(key)) == key


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("HAPTICD_CONTROL__FREQUENCY", "control/frequency"),
        ("HAPTICD_DEVICES__HAPTICX__FILTERS__FORCE_GATE__GAIN", GATE),
        ("HAPTICD_DEVICES__ARM__FILTERS__FORCE_GATE__GAIN", "devices/arm/filters/force_gate/gain"),
        ("HAPTICD_DEVICES__049D__FILTERS__FORCE_GATE__GAIN", "devices/049D/filters/force_gate/gain"),
        ("HAPTICD_DEVICES__049d__FILTERS__FORCE_GATE__GAIN", "devices/049d/filters/force_gate/gain"),
        ("HAPTICD_DEVICES__SIX__FILTERS__FORCE_GATE__GAIN", "devices/SIX/filters/force_gate/gain"),
        ("HAPTICD_DEVICES__FAMILYX__FILTERS__FORCE_GATE__GAIN", GATE),
        ("HAPTICD_DEVICES__FAMILY__FILTERS__FORCE_GATE__GAIN", "devices/arm/filters/force_gate/gain"),
        ("HAPTICD_NO__SUCH_KEY", "no/such_key"),
        ("HAPTICD_", ""),
    ],
)
def test_a_variable_names_a_key(name: str, key: str) -> None:
    assert SETTINGS_CATALOG.key_of_variable(name, other_words) == key
