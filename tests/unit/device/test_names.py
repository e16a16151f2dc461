"""Names of devices: what is accepted, what is taken, and that they survive the ledger."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.device.memory import DeviceMemory
from actors.device.messages import DeviceWide
from actors.device.names import LONGEST_DEVICE_NAME, check_name, why_refused
from actors.kit.errors import Conflict, InvalidInput
from actors.settings.immutable_json import freeze


@pytest.mark.parametrize(
    "name", ["left arm", "A", "Björn's grip", "arm 1", "3D mouse", "x" * LONGEST_DEVICE_NAME, "左"]
)
def test_name_is_accepted(name: str) -> None:
    check_name(name, "46C6", ["46C6", "1605"], {})


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "1 to 32 characters"),
        ("x" * (LONGEST_DEVICE_NAME + 1), "1 to 32 characters"),
        (" left", "no space in front"),
        ("left ", "no space in front"),
        ("left  arm", "twice in a row"),
        ("left*", "a name has no"),
        ("a/b", "a name has no"),
        ("a\nb", "cannot be printed"),
        ("a\x00b", "cannot be printed"),
        ("007", "is an index"),
        ("ARM", "every device of that type"),
        ("Inverse3", "every device of that type"),
    ],
)
def test_refused_name_says_why(name: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        check_name(name, "46C6", [], {})


def test_id_and_name_of_another_device_are_taken_in_any_case() -> None:
    with pytest.raises(Conflict, match='"b001" is the id of another device'):
        check_name("b001", "A001", ["A001", "B001"], {})
    with pytest.raises(Conflict, match='Device B001 has the name "Left"'):
        check_name("left", "A001", ["A001", "B001"], {"B001": "Left"})


def test_device_may_have_its_own_id_or_its_own_name_again() -> None:
    check_name("A001", "A001", ["A001"], {})
    check_name("LEFT", "A001", ["A001"], {"A001": "left"})


@given(st.dictionaries(st.text("ABC", min_size=1, max_size=4), st.text(max_size=LONGEST_DEVICE_NAME + 2), max_size=5))
def test_accepted_names_survive_the_ledger_and_refused_ones_do_not(names: dict[str, str]) -> None:
    memory = DeviceMemory(names=names).configured("A", DeviceWide("left"))

    again = DeviceMemory.from_json(freeze(memory.as_json()))

    assert again.names == {device_id: name for device_id, name in names.items() if not why_refused(name)}
    assert again.wide == {"A": DeviceWide("left")}


@pytest.mark.parametrize("entry", [{"name": 7}, {"name": None}, {"name": "a*"}, "left", None, {"name": ["left"]}])
def test_broken_entry_of_the_ledger_is_no_name(entry: object) -> None:
    assert DeviceMemory.from_json(freeze({"A": entry})).names == {}


def test_taken_name_is_free_again() -> None:
    memory = DeviceMemory().named("A", "left").named("A", "")
    assert memory.name_of("A") == ""
    assert memory.as_json() == {}


def test_name_that_differs_in_case_or_in_how_its_letters_are_composed_is_taken() -> None:
    for name in ("bjo\u0308rn", "BJÖRN"):
        with pytest.raises(Conflict, match="has the name"):
            check_name(name, "46C6", ["46C6", "1605"], {"1605": "Björn"})
