"""Device selectors: exact ids first, an index counts in frame order, only `*` is special."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from actors.device.messages import DeviceRecord, Inventory
from actors.kit.errors import NoSuchDevice, UnsupportedArea
from tests.support.actors.doubles import inventory_of
from transport.http.call import Answer, Call
from transport.http.device_selector import Area, find
from transport.http.route import Route, RouteTable
from transport.wire.envelope import NoSuchRoute
from transport.wire.vocabulary import INVERSE, NEUTRAL, Vocabulary

PLAIN = inventory_of("grip", "arm", "compact", "pen", "grip:wired", "arm").devices
WIRELESS, ARM, COMPACT, PEN, WIRED, ARM2 = PLAIN
MOUNT = Area("mount")
BASIS = Area("basis")
IDS = st.text("AB01*?.:[", min_size=1, max_size=4)


def named(record: DeviceRecord, device_id: str) -> DeviceRecord:
    return replace(record, identity=replace(record.identity, device_id=device_id))


def ids(word: str, wanted: str, inventory: Inventory | None = None, vocabulary: Vocabulary = NEUTRAL) -> list[str]:
    found = find(word, wanted, inventory or Inventory(PLAIN), vocabulary)
    return [record.device_id for record in found.records]


def of(*records: DeviceRecord) -> list[str]:
    return [record.device_id for record in records]


# ---------------------------------------------------------------- what is meant


@pytest.mark.parametrize(
    "word", ["arm", "compact", "inverse3", "inverse3x", "minverse", "haptic*", "*", "inverse*", "a*"]
)
def test_exact_id_is_found_under_any_group_of_its_side(word: str) -> None:
    assert ids(word, COMPACT.device_id) == of(COMPACT)
    assert not find(word, COMPACT.device_id, Inventory(PLAIN), NEUTRAL).pattern


@pytest.mark.parametrize(
    "word", ["grip", "pen", "verse_grip", "wireless_verse_grip", "custom_verse_grip", "*verse_grip"]
)
def test_grip_id_is_found_under_any_handle_group_only(word: str) -> None:
    assert ids(word, WIRED.device_id) == of(WIRED)
    assert ids("arm", WIRED.device_id) == []


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("arm", (ARM, ARM2)),
        ("inverse3", (ARM, ARM2)),
        ("compact", (COMPACT,)),
        ("minverse", (COMPACT,)),
        ("grip", (WIRELESS, WIRED)),
        ("verse_grip", (WIRED,)),
        ("wireless_verse_grip", (WIRELESS,)),
        ("pen", (PEN,)),
        ("haptic*", (ARM, ARM2, COMPACT, WIRELESS, WIRED, PEN)),
        ("*", (ARM, ARM2, COMPACT, WIRELESS, WIRED, PEN)),
        ("inverse*", (ARM, ARM2, COMPACT)),
        ("*inverse", (ARM, ARM2, COMPACT)),
        ("*verse_grip", (WIRELESS, WIRED, PEN)),
    ],
)
def test_index_and_star_count_in_frame_order(word: str, wanted: tuple[DeviceRecord, ...]) -> None:
    assert ids(word, "*") == of(*wanted)
    assert [ids(word, str(at)) for at in range(len(wanted))] == [of(record) for record in wanted]
    assert ids(word, str(len(wanted))) == []


def test_an_index_follows_the_groups_of_the_vocabulary() -> None:
    mixed = Inventory((COMPACT, ARM))

    assert ids("haptic*", "0", mixed) == of(ARM)
    assert ids("haptic*", "0", mixed, INVERSE) == of(COMPACT)


@pytest.mark.parametrize("wanted", ["", "-1", "+1", "01", "1.0", "0x1", "9" * 400, "¹", " 0", "?", "????", ".*"])
def test_invalid_selector_matches_nothing(wanted: str) -> None:
    assert ids("arm", wanted) == []


def test_id_in_other_letters_is_found_unless_two_are_alike() -> None:
    mixed = named(ARM, "aB1")

    assert ids("arm", "Ab1", Inventory((mixed,))) == ["aB1"]
    assert ids("grip", "Ab1", Inventory((mixed,))) == []
    both = Inventory((mixed, named(ARM2, "Ab1")))
    assert ids("arm", "Ab1", both) == ["Ab1"]
    assert ids("arm", "AB1", both) == []


def test_numeric_id_precedes_the_index() -> None:
    assert ids("arm", "0", Inventory((ARM, named(ARM2, "0")))) == ["0"]


@given(mine=IDS, others=st.lists(IDS, max_size=4))
def test_exact_id_selects_its_device_alone(mine: str, others: list[str]) -> None:
    others = [other for other in dict.fromkeys(others) if other != mine]
    inventory = Inventory(tuple(named(ARM, name) for name in (*others, mine)))

    found = find("arm", mine, inventory, NEUTRAL)

    assert (of(*found.records), found.pattern) == ([mine], False)


@given(wanted=IDS, device_id=IDS)
def test_star_is_the_only_wildcard(wanted: str, device_id: str) -> None:
    assume("*" not in wanted and wanted != device_id and wanted not in {"0", "00"})

    assert ids("arm", wanted, Inventory((named(ARM, device_id),))) == []


@given(start=st.text("AB?.", max_size=3), rest=st.text("AB?.", max_size=3))
def test_a_star_stands_for_any_characters(start: str, rest: str) -> None:
    assume(start + rest)
    inventory = Inventory((named(ARM, start + rest), named(ARM2, "Z")))

    assert ids("arm", f"{start}*{rest}", inventory)[:1] == [start + rest]
    assert ids("arm", f"{start}*Z*{rest}", inventory)[:1] != [start + rest]


@given(at=st.integers(0, 20), count=st.integers(0, 6))
def test_index_below_the_count_finds_a_device(at: int, count: int) -> None:
    inventory = Inventory(tuple(named(ARM, f"D{number}") for number in range(count)))

    assert ids("arm", str(at), inventory) == ([f"D{at}"] if at < count else [])


# ---------------------------------------------------------------- areas, and one device


@pytest.mark.parametrize("wanted", [WIRED.device_id, "1", "*"])
def test_selected_grip_has_no_mount(wanted: str) -> None:
    found = find("grip", wanted, Inventory(PLAIN), NEUTRAL)

    with pytest.raises(UnsupportedArea, match="a grip has no mount: send it to an arm or a compact"):
        found.having(MOUNT)
    assert WIRED in found.having(BASIS).records


def test_named_pen_has_no_mount() -> None:
    with pytest.raises(UnsupportedArea, match="a pen has no mount"):
        find("pen", "0", Inventory(PLAIN), NEUTRAL).having(MOUNT)


def test_pattern_skips_devices_without_the_area() -> None:
    every = find("*", "*", Inventory(PLAIN), NEUTRAL)

    assert every.having(MOUNT).records == (ARM, ARM2, COMPACT)
    assert len(every.having(BASIS).records) == len(PLAIN)


@pytest.mark.parametrize(("word", "wanted"), [("grip", "Q*"), ("arm", "9"), ("arm", "nobody"), ("arm", "Q*")])
def test_pattern_without_a_fitting_device_is_not_found(word: str, wanted: str) -> None:
    with pytest.raises(NoSuchDevice, match=f'"{word}/'):
        find(word, wanted, Inventory(PLAIN), NEUTRAL).having(MOUNT)


def test_selector_without_a_match_is_an_error() -> None:
    assert find("arm", "*", Inventory(PLAIN), NEUTRAL).some() == (ARM, ARM2)
    with pytest.raises(NoSuchDevice):
        find("arm", "5", Inventory(PLAIN), NEUTRAL).some()


def test_selector_is_shown_short_and_printable() -> None:
    with pytest.raises(NoSuchDevice) as refused:
        find("arm", "\n" + "x" * 500, Inventory(PLAIN), NEUTRAL).some()

    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


# ---------------------------------------------------------------- which first segments are devices


def test_only_group_words_are_device_segments() -> None:
    async def handler(_call: Call) -> Answer:
        return Answer({})

    table = RouteTable([Route("GET", "/{device}/{id}", handler, "")])

    for word in ("arm", "haptic*", "*", "custom_verse_grip", "*arm"):
        assert table.find((word, "0"))[1] == {"device": word, "id": "0"}
    for word in ("nope", "", "ARM", "x*", "a?m"):
        with pytest.raises(NoSuchRoute):
            table.find((word, "0"))
