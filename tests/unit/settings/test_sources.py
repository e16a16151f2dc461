"""Overrides from the command line and the environment, and their order."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import InvalidInput
from actors.settings.key_lookup import variable
from actors.settings.messages import value_as_json
from actors.settings.schema import Setting
from actors.settings.sources import COMMAND_LINE, ENVIRONMENT, Override, read_overrides
from transport.settings_catalog import SETTINGS_CATALOG


def test_no_argument_overrides_nothing() -> None:
    assert read_overrides(SETTINGS_CATALOG) == {}
    assert (
        read_overrides(SETTINGS_CATALOG, (), {"PATH": "/bin", "HAPTIC": "1", "hapticd_control__frequency": "x"}) == {}
    )


def test_command_line_precedes_the_environment_and_its_last_value_counts() -> None:
    overrides = read_overrides(
        SETTINGS_CATALOG,
        ["control/frequency=1000", "control/frequency=2000"],
        {"HAPTICD_CONTROL__FREQUENCY": "3000", "HAPTICD_CONTROL__SPIN": "off"},
    )

    assert overrides == {
        "control/frequency": Override(2000, COMMAND_LINE),
        "control/spin": Override("off", ENVIRONMENT),
    }


def test_first_equals_sign_separates_key_and_value() -> None:
    overrides = read_overrides(SETTINGS_CATALOG, ["presets/freeform_profiles=a=b,c"])

    assert overrides["presets/freeform_profiles"].value == ("a=b", "c")


def test_edge_may_add_aliases_of_keys() -> None:
    overrides = read_overrides(
        SETTINGS_CATALOG,
        ["tempo=500"],
        {"HAPTICD_DEVICES__FAMILYX__FILTERS__FORCE_GATE__GAIN": "0.5"},
        alias=lambda key: {"tempo": "control/frequency"}.get(key, key.replace("family*", "haptic*")),
    )

    assert {key: override.value for key, override in overrides.items()} == {
        "control/frequency": 500,
        "devices/haptic*/filters/force_gate/gain": 0.5,
    }


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("control/frequency", '--set: write KEY=VALUE, not "control/frequency".'),
        ("control/frequncy=1", '--set: There is no setting "control/frequncy": did you mean control/frequency'),
        ("control/frequency=1", "--set control/frequency: give a whole number from 100 to 32000 Hz, not 1."),
        ("control/frequency=", "--set control/frequency: give a whole number from 100 to 32000 Hz, not an empty text."),
        ("=1", '--set: There is no setting ""'),
    ],
)
def test_a_bad_option_is_named(option: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_overrides(SETTINGS_CATALOG, [option])

    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("HAPTICD_CONTROL__FREQUNCY", "1", 'HAPTICD_CONTROL__FREQUNCY: There is no setting "control/frequncy"'),
        (
            "HAPTICD_CONTROL__FREQUENCY",
            "fast",
            'HAPTICD_CONTROL__FREQUENCY: give a whole number from 100 to 32000 Hz, not "fast".',
        ),
        ("HAPTICD_CONTROL__SPIN", "", "HAPTICD_CONTROL__SPIN: give auto or off, not an empty text."),
        ("HAPTICD_CONTROL", "1", 'HAPTICD_CONTROL: There is no setting "control"'),
    ],
)
def test_a_bad_variable_is_named(name: str, text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_overrides(SETTINGS_CATALOG, (), {name: text})

    assert str(caught.value).startswith(said)


def test_token_can_be_disabled_on_the_command_line_only() -> None:
    key = "communication/auth/required"

    assert read_overrides(SETTINGS_CATALOG, [f"{key}=false"])[key].value is False
    assert read_overrides(SETTINGS_CATALOG, (), {variable(key): "true"})[key].value is True
    with pytest.raises(InvalidInput, match=f"start the service with --set {key}=false"):
        read_overrides(SETTINGS_CATALOG, (), {variable(key): "false"})


@given(st.sampled_from(list(SETTINGS_CATALOG)))
def test_default_as_text_equals_the_default(setting: Setting) -> None:
    default = value_as_json(setting.default)
    text = default if isinstance(default, str) else json.dumps(default)

    found = read_overrides(SETTINGS_CATALOG, [f"{setting.key}={text}"], {variable(setting.key): text})

    assert found == {setting.key: Override(setting.default, COMMAND_LINE)}
