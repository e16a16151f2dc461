"""The catalogue of event kinds matches the contract: kinds, categories, levels."""

from __future__ import annotations

from typing import get_args

import pytest

from actors.event.catalog import EVENT_KINDS, SAFETY_LEVELS, level_of
from actors.event.messages import LEVELS, Category, Level

KINDS = [
    "device-connected",
    "device-disconnected",
    "device-busy",
    "device-sleep",
    "device-connection-loop",
    "device-protocol-unsupported",
    "device-pairing-changed",
    "grip-attachment-changed",
    "device-safety-triggered",
    "device-calibration-failed",
    "device-battery-low",
    "device-battery-critical",
    "device-force-interrupted",
    "port-blocked",
    "port-state-changed",
    "session-opened",
    "session-closed",
    "session-updated",
    "session-warning",
    "control-rate-low",
    "control-rate-critical",
    "failsafe-changed",
    "main-loop-statistics",
    "invalid-io-channel",
    "command-deprecated",
    "http-route-deprecated",
]


def test_catalog_has_exactly_these_kinds_in_order() -> None:
    assert list(EVENT_KINDS) == KINDS


def test_categories_and_levels_are_the_contracts() -> None:
    assert get_args(Category) == ("system", "input", "session", "device", "module", "feature")
    assert get_args(Level) == LEVELS == ("info", "notice", "warning", "error", "critical", "panic")
    for row in EVENT_KINDS.values():
        assert row.category in get_args(Category)
        assert set(row.levels) <= set(LEVELS)
        assert row.data
        assert row.summary.endswith(".")


@pytest.mark.parametrize(
    ("kind", "category", "level"),
    [
        ("device-connected", "device", "info"),
        ("device-disconnected", "device", "warning"),
        ("device-busy", "device", "warning"),
        ("device-sleep", "device", "info"),
        ("device-connection-loop", "device", "warning"),
        ("device-protocol-unsupported", "device", "warning"),
        ("device-pairing-changed", "device", "info"),
        ("grip-attachment-changed", "device", "info"),
        ("device-calibration-failed", "device", "warning"),
        ("device-battery-low", "device", "warning"),
        ("device-battery-critical", "device", "error"),
        ("device-force-interrupted", "device", "warning"),
        ("port-blocked", "device", "error"),
        ("session-opened", "session", "info"),
        ("session-closed", "session", "info"),
        ("session-updated", "session", "info"),
        ("session-warning", "session", "warning"),
        ("control-rate-low", "system", "warning"),
        ("control-rate-critical", "system", "error"),
        ("failsafe-changed", "system", "error"),
        ("main-loop-statistics", "system", "info"),
        ("invalid-io-channel", "input", "warning"),
        ("command-deprecated", "input", "notice"),
        ("http-route-deprecated", "input", "notice"),
    ],
)
def test_a_kind_has_its_category_and_its_level(kind: str, category: str, level: str) -> None:
    assert EVENT_KINDS[kind].category == category
    assert level_of(kind, {}) == level
    assert level_of(kind, {}, "panic") == level


@pytest.mark.parametrize(
    ("safety_type", "level"),
    [
        ("ebrake_triggered", "error"),
        ("ebrake_released", "notice"),
        ("fod_stage_changed", "warning"),
        ("stall_detected", "warning"),
        ("stability_ceiling", "warning"),
        ("thermal_derating", "warning"),
        ("device_stale", "warning"),
        ("oscillation_detected", "notice"),
        ("grip_dropped", "notice"),
        ("stopped", "error"),
        ("released", "notice"),
    ],
)
def test_a_safety_event_has_the_level_of_its_type(safety_type: str, level: str) -> None:
    assert level_of("device-safety-triggered", {"safety_type": safety_type}) == level
    assert set(SAFETY_LEVELS[safety_type]) <= set(EVENT_KINDS["device-safety-triggered"].levels)


def test_foreign_object_stage_may_be_an_info_event() -> None:
    assert level_of("device-safety-triggered", {"safety_type": "fod_stage_changed"}, "info") == "info"
    assert level_of("device-safety-triggered", {"safety_type": "stopped"}, "info") == "error"


def test_a_port_that_becomes_unusable_is_a_warning() -> None:
    assert level_of("port-state-changed", {"state": "unusable", "reason": "in_use"}) == "warning"
    assert level_of("port-state-changed", {"state": "active", "reason": "reset"}) == "notice"


def test_the_data_of_a_device_name_it() -> None:
    for kind, row in EVENT_KINDS.items():
        if kind.startswith(("device-", "grip-")):
            assert row.data[:2] == ("device_id", "device_family")
