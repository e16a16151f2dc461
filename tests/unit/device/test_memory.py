"""What is remembered of absent devices: their place in the order, and configurations across restarts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.device.memory import MOST_REMEMBERED, DeviceMemory
from actors.device.messages import DeviceWide
from actors.device.simulated_identity import identities, parse
from actors.settings.immutable_json import freeze
from actors.values.identity import Firmware

(ARM,) = identities([parse("arm")])
LEFT = DeviceWide("left", gravity_scale=0.5, home_return=True)

wides = st.builds(
    DeviceWide,
    st.sampled_from(["left", "right"]),
    st.booleans(),
    st.booleans(),
    st.floats(0, 1.5),
    st.booleans(),
)


def test_device_keeps_its_index_and_new_ones_follow() -> None:
    memory = DeviceMemory().seen("A", 0).seen("B", 1).seen("A", 0)

    assert [memory.number(name) for name in ("A", "B", "C")] == [0, 1, 2]


@given(st.dictionaries(st.text("ABC", min_size=1, max_size=4), wides, max_size=5))
def test_configurations_survive_the_ledger(wide: dict[str, DeviceWide]) -> None:
    memory = DeviceMemory()
    for device_id, one in wide.items():
        memory = memory.configured(device_id, one)

    again = DeviceMemory.from_json(freeze(memory.as_json()))

    for device_id, one in wide.items():
        assert again.wide_of(replace(ARM, device_id=device_id)) == one


def test_default_configuration_is_not_stored() -> None:
    assert DeviceMemory().configured("A", LEFT).configured("A", DeviceWide()).as_json() == {}


def test_indexes_are_not_stored() -> None:
    assert DeviceMemory.from_json(freeze(DeviceMemory().seen("A", 3).as_json())).numbers == {}


def test_old_firmware_drops_a_stored_home_return() -> None:
    memory = DeviceMemory().configured(ARM.device_id, LEFT)

    assert memory.wide_of(ARM).home_return
    assert not memory.wide_of(replace(ARM, firmware=Firmware(7, 3))).home_return


def test_over_capacity_drops_the_least_recently_seen() -> None:
    memory = DeviceMemory()
    for index in range(MOST_REMEMBERED + 1):
        memory = memory.seen(str(index), index).configured(str(index), LEFT)

    assert len(memory.numbers) == len(memory.wide) == MOST_REMEMBERED
    assert "0" not in memory.numbers
    assert memory.number("new") == MOST_REMEMBERED + 1


@pytest.mark.parametrize(
    "entry",
    [
        None,
        7,
        [],
        {"A": 3},
        {"A": {"handedness": "both"}},
        {"A": {"gravity_scale": 9}},
        {"A": {"gravity_scale": True, "torque_scaling": 1, "home_return": "yes", "more": 1}},
    ],
)
def test_unreadable_configuration_is_the_default(entry: object) -> None:
    assert DeviceMemory.from_json(freeze(entry)) == DeviceMemory()
