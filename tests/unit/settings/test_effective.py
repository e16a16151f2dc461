"""Effective settings from defaults, stored values, overrides and locks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import InvalidInput, NoSuchSetting
from actors.settings.effective import EffectiveSettings, changes, load_settings
from actors.settings.messages import value_as_json
from actors.settings.sources import COMMAND_LINE, ENVIRONMENT, Override
from transport.settings_catalog import SETTINGS_CATALOG

RATE = "control/frequency"
PORT = "communication/websocket/port"
GATE = "devices/haptic*/filters/force_gate/gain"
ARM_GATE = "devices/arm/filters/force_gate/gain"
AUTH = "communication/auth/required"


def opened(raw: dict[str, object] | None = None, overrides: dict[str, Override] | None = None) -> EffectiveSettings:
    book, faults = load_settings(SETTINGS_CATALOG, raw or {}, overrides or {})
    assert faults == ()
    return book


def test_without_anything_stored_every_setting_has_its_default() -> None:
    for record in opened().view().records.values():
        assert record.value == record.effective == record.default
        assert record.overridden_by is None
        assert not record.restart_required


def test_stored_value_applies_at_once() -> None:
    record = opened().setting(RATE, 8000).view().record(RATE)

    assert (record.value, record.effective, record.default) == (8000, 8000, 4000)
    assert not record.restart_required


def test_locked_value_is_stored_and_applies_at_the_next_start() -> None:
    book = opened().setting(PORT, 12000)
    record = book.view().record(PORT)

    assert (record.value, record.effective) == (12000, 10001)
    assert record.restart_required

    record = opened(dict(book.raw)).view().record(PORT)

    assert (record.value, record.effective) == (12000, 12000)
    assert not record.restart_required


def test_locked_value_set_back_has_no_pending_change() -> None:
    record = opened().setting(PORT, 12000).setting(PORT, 10001).view().record(PORT)

    assert (record.value, record.effective, record.restart_required) == (10001, 10001, False)


@pytest.mark.parametrize("key", [RATE, PORT])
def test_an_overridden_value_is_stored_for_a_start_without_the_override(key: str) -> None:
    book = opened({key: 9000}, {key: Override(7000, COMMAND_LINE)})
    record = book.view().record(key)

    assert (record.value, record.effective, record.overridden_by) == (9000, 7000, "command line")

    book = book.setting(key, 9500)
    record = book.view().record(key)

    assert (record.value, record.effective, record.overridden_by) == (9500, 7000, "command line")
    assert not record.restart_required
    assert opened(dict(book.raw)).view().record(key).effective == 9500


def test_the_source_is_named() -> None:
    assert opened(None, {RATE: Override(100, ENVIRONMENT)}).view().record(RATE).overridden_by == "environment"


def test_a_reset_forgets_the_stored_value() -> None:
    book = opened({RATE: 8000}).resetting(RATE)

    assert book.view().record(RATE).value == 4000
    assert dict(book.raw) == {}
    assert book.resetting(RATE).raw == book.raw


def test_several_values_are_stored_together_or_not_at_all() -> None:
    book = opened()

    assert dict(book.settings({RATE: 1000, GATE: 1}).raw) == {RATE: 1000, GATE: 1.0}
    with pytest.raises(InvalidInput, match=GATE.replace("*", r"\*")):
        book.settings({RATE: 1000, GATE: 2})
    with pytest.raises(NoSuchSetting):
        book.settings({RATE: 1000, "control/speed": 2})
    assert dict(book.settings({}).raw) == {}


def test_settings_book_is_immutable() -> None:
    book = opened({RATE: 8000})
    book.setting(RATE, 1000)
    book.resetting(RATE)

    assert dict(book.raw) == {RATE: 8000}
    assert book.view().record(RATE).value == 8000


def test_per_kind_and_per_device_keys_are_stored_and_listed_last() -> None:
    book = opened({ARM_GATE: 0.6}).setting("devices/049D/filters/force_gate/gain", 0.7).setting(GATE, 0.5)
    keys = list(book.view().records)

    assert keys[-2:] == ["devices/049D/filters/force_gate/gain", ARM_GATE]
    assert len(keys) == len(SETTINGS_CATALOG) + 2
    assert book.resetting(ARM_GATE).view().record(ARM_GATE).value == 0.5


def test_overridden_key_without_a_value_has_its_family_s() -> None:
    record = opened({GATE: 0.5}, {ARM_GATE: Override(0.9, COMMAND_LINE)}).view().record(ARM_GATE)

    assert (record.value, record.effective, record.default) == (0.5, 0.9, 0.3)


def test_token_can_be_disabled_by_the_file_but_not_by_a_request() -> None:
    with pytest.raises(InvalidInput, match=r"start the service with --set communication/auth/required=false"):
        opened().setting(AUTH, value=False)
    with pytest.raises(InvalidInput):
        opened().settings({RATE: 1000, AUTH: False})

    book = opened({AUTH: False})

    assert book.view().flag(AUTH) is False
    assert book.setting(RATE, 1000).view().flag(AUTH) is False
    assert book.setting(AUTH, value=True).view().flag(AUTH) is True


def test_unknown_keys_are_reported_and_kept() -> None:
    book, faults = load_settings(SETTINGS_CATALOG, {"control/frequncy": 1, "future/thing": {"x": [1]}}, {})

    assert len(faults) == 2
    assert faults[0].startswith('There is no setting "control/frequncy": did you mean control/frequency')
    assert faults[0].endswith("It is kept as it is.")
    assert dict(book.setting(RATE, 1000).raw) == {"control/frequncy": 1, "future/thing": {"x": [1]}, RATE: 1000}
    assert "future/thing" not in book.view().records


def test_invalid_stored_value_is_reported_and_kept_until_set() -> None:
    book, faults = load_settings(SETTINGS_CATALOG, {RATE: 10**9, GATE: 0.5}, {})

    assert faults == (
        "control/frequency: give a whole number from 100 to 32000 Hz, not 1000000000. Until then its default is used.",
    )
    assert book.view().record(RATE).value == 4000
    assert book.view().record(GATE).value == 0.5
    assert dict(book.setting(GATE, 0.6).raw) == {RATE: 10**9, GATE: 0.6}
    assert dict(book.setting(RATE, 1000).raw) == {RATE: 1000, GATE: 0.5}


def test_changes_list_effective_values() -> None:
    before = opened({GATE: 0.5}, {"control/spin": Override("off", COMMAND_LINE)})
    after = before.settings({GATE: 0.5, RATE: 1000, PORT: 12000, "control/spin": "auto", ARM_GATE: 0.5})

    assert changes(before.view(), after.view()) == {RATE: 1000}
    assert changes(after.view(), before.view()) == {RATE: 4000}


def test_added_or_removed_key_is_a_change() -> None:
    before = opened()
    after = before.setting(ARM_GATE, 0.9)

    assert changes(before.view(), after.view()) == {ARM_GATE: 0.9}
    assert changes(after.view(), before.view()) == {ARM_GATE: 0.3}


VALUES: dict[str, st.SearchStrategy[Any]] = {
    RATE: st.integers(100, 32000),
    PORT: st.integers(0, 65535),
    GATE: st.floats(0, 1),
    ARM_GATE: st.floats(0, 1),
    "devices/simulated": st.none() | st.lists(st.sampled_from(["arm", "grip", "pen"]), max_size=16),
    "presets/freeform_profiles": st.lists(st.text("ab*?", min_size=1), max_size=5),
    "control/cpu": st.sampled_from(["auto", "none", 0, 1023]),
}
STEPS = st.lists(
    st.one_of([st.tuples(st.just(key), st.none() | st.tuples(values)) for key, values in VALUES.items()]), max_size=20
)


@given(STEPS)
def test_a_restart_finds_exactly_what_was_stored(steps: list[tuple[str, tuple[Any] | None]]) -> None:
    book = opened()
    stored: dict[str, object] = {}
    for key, value in steps:
        if value is None:
            book = book.resetting(key)
            stored.pop(key, None)
        else:
            book = book.setting(key, value[0])
            stored[key] = value[0]

    again = opened(json.loads(json.dumps(dict(book.raw))))

    assert {key: value_as_json(value) for key, value in again.stored.items()} == stored
    assert {key: record.value for key, record in again.view().records.items()} == {
        key: record.value for key, record in book.view().records.items()
    }
    assert not any(record.restart_required for record in again.view().records.values())
