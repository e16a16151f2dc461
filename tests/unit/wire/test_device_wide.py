"""Device-wide values in `configure`: ignored when unchanged, otherwise refused with the route that sets them."""

from __future__ import annotations

import pytest

from tests.unit.wire.parser_samples import arm, read

SHOWN = [
    {"handedness": "right"},
    {"handedness": {"handedness": "right"}},
    {"torque_scaling": {"enabled": True}},
    {"torque_scaling": True},
    {"gravity_compensation": {"enabled": True, "scaling_factor": 1}},
    {"gravity_compensation": {"enabled": True, "scaling_factor": 1.0000001}},
    {"gravity_compensation": {"scaling_factor": 1}},
    {"home_return": {"enabled": False}},
    {"paired_with": None},
    {"type": "anything", "port": 7, "device_info": {}, "streaming_mode": "USB"},
]
OTHERS = [
    {"handedness": "left"},
    {"handedness": 5},
    {"handedness": {}},
    {"handedness": None},
    {"torque_scaling": {"enabled": False}},
    {"torque_scaling": {"enabled": 1}},
    {"torque_scaling": {"enabled": True, "more": 1}},
    {"gravity_compensation": {"enabled": True, "scaling_factor": 0.5}},
    {"gravity_compensation": {"enabled": True, "scaling_factor": True}},
    {"gravity_compensation": True},
    {"home_return": {"enabled": True}},
    {"home_return": []},
    {"paired_with": "1605"},
]


@pytest.mark.parametrize("configure", SHOWN)
def test_unchanged_value_is_ignored(configure: dict[str, object]) -> None:
    found = read(arm(configure=configure))

    assert (found.faults, found.changes) == ([], [])


@pytest.mark.parametrize("configure", OTHERS)
def test_changed_value_is_refused_with_its_route(configure: dict[str, object]) -> None:
    found = read(arm(configure=configure))

    (key,) = configure
    reason = f"the same for all sessions: set it with POST /arm/049D/config/{key}"
    assert (found.faults, found.changes) == ([(f"arm[0].configure.{key}", reason)], [])


@pytest.mark.parametrize("key", ["handedness", "torque_scaling", "gravity_compensation", "home_return"])
def test_device_without_motors_has_no_such_values(key: str) -> None:
    found = read({"grip": [{"device_id": "1605", "configure": {key: {"enabled": True}}}]})

    assert found.faults == [(f"grip[0].configure.{key}", f"a grip has no {key}: send it to an arm or a compact")]


def test_partner_of_a_grip_is_set_over_its_own_route() -> None:
    found = read({"pen": [{"device_id": "1700", "configure": {"paired_with": "049D"}}]})

    assert found.faults[0][1] == "the same for all sessions: set it with POST /pen/1700/config/paired_with"


def test_longest_reason_fits_into_an_error() -> None:
    assert len("the same for all sessions: set it with POST /compact/C0000001/config/gravity_compensation") <= 100
