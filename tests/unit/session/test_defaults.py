"""Defaults of new sessions, to the ledger and back; unreadable values are left out."""

from __future__ import annotations

import itertools
import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.session import defaults
from actors.session.messages import Damping, DeviceConfig, SessionConfig
from actors.settings.immutable_json import freeze
from actors.values.spatial import Basis, Transform

BASES = [
    Basis.parse("".join(sign + axis for sign, axis in zip(signs, axes, strict=True)))
    for axes in itertools.permutations("XYZ")
    for signs in itertools.product(("", "-"), repeat=3)
]
numbers = st.floats(-1e6, 1e6)
triples = st.tuples(numbers, numbers, numbers)
bases = st.sampled_from(BASES)
devices = st.builds(
    DeviceConfig,
    st.none() | bases,
    st.none() | st.sampled_from(["defaults", "arm_front", "custom", "compact_zup"]),
    st.builds(Transform, triples, st.tuples(numbers, numbers, numbers, numbers), triples),
    st.builds(Damping, st.floats(0, 20), st.tuples(*[st.floats(0, 20)] * 3)),
    st.none() | st.floats(0, 1),
    st.builds(Transform, triples, st.tuples(numbers, numbers, numbers, numbers), triples),
)
configs = st.builds(
    SessionConfig,
    basis=bases,
    devices=st.dictionaries(st.text(min_size=1, max_size=8), devices, max_size=4).map(MappingProxyType),
)
ONE = SessionConfig(
    basis=Basis.parse("YZX"),
    devices=MappingProxyType(
        {"049D": DeviceConfig(Basis.parse("XZ-Y"), "custom", Transform((1, 2, 3)), Damping(1), 0.5)}
    ),
)


@given(configs)
def test_defaults_round_trip(config: SessionConfig) -> None:
    text = json.dumps(defaults.as_json(config))

    assert defaults.from_json(freeze(json.loads(text))) == config


def test_ledger_without_workspace_is_read() -> None:
    kept = defaults.as_json(ONE)
    devices_kept = kept["devices"]
    assert isinstance(devices_kept, dict)
    del devices_kept["049D"]["workspace"]

    assert defaults.from_json(kept) == ONE


def test_profile_and_version_are_never_kept() -> None:
    assert defaults.from_json(defaults.as_json(SessionConfig("mine", "3.5", freeform=True))) == SessionConfig()


@pytest.mark.parametrize(
    "value", [None, 1, "x", [], {}, {"basis": "XX"}, {"basis": None}, {"devices": []}, {"more": 1}]
)
def test_invalid_section_gives_fresh_defaults(value: object) -> None:
    assert defaults.from_json(value) == SessionConfig()


@pytest.mark.parametrize(
    "change",
    [
        {"basis": "XX"},
        {"mount": None},
        {"mount": [[0, 0, 0], [1, 0, 0, 0]]},
        {"mount": [[0, 0], [1, 0, 0, 0], [1, 1, 1]]},
        {"mount": [[0, 0, "far"], [1, 0, 0, 0], [1, 1, 1]]},
        {"damping": [1, 2, 3]},
        {"damping": None},
        {"workspace": None},
        {"workspace": [[0, 0], [1, 0, 0, 0], [1, 1, 1]]},
        {"force_gate": "half"},
    ],
)
def test_unreadable_device_is_skipped(change: dict[str, object]) -> None:
    kept = defaults.as_json(ONE)
    whole = kept["devices"]
    assert isinstance(whole, dict)
    whole["BAD"] = {**whole["049D"], **change}

    assert defaults.from_json(kept) == ONE


@pytest.mark.parametrize("key", ["basis", "preset", "mount", "damping", "force_gate"])
def test_incomplete_device_is_skipped(key: str) -> None:
    kept = defaults.as_json(ONE)
    whole = kept["devices"]
    assert isinstance(whole, dict)
    del whole["049D"][key]

    assert defaults.from_json(kept) == SessionConfig(basis=ONE.basis)


@given(st.recursive(st.none() | st.integers() | st.text(max_size=4), lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["basis", "devices", "049D", "mount", "damping", "preset", "force_gate"]), inner), max_leaves=12))  # fmt: skip
def test_any_json_is_read(value: object) -> None:
    assert isinstance(defaults.from_json(value), SessionConfig)
