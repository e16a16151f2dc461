"""Simulated devices: names in the setting, and identities that stay the same across starts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.device.messages import DeviceIdentity, SimulatedSpec
from actors.device.simulated_identity import MOST_DEVICES, WHEN_NOTHING_REAL, identities, parse
from actors.kit.errors import InvalidInput
from actors.settings.catalog import SIMULATED
from actors.values.identity import Connection, Kind

WORDS = {
    "arm": SimulatedSpec(Kind.ARM, Connection.SIMULATED),
    "compact": SimulatedSpec(Kind.COMPACT, Connection.SIMULATED),
    "grip": SimulatedSpec(Kind.GRIP, Connection.WIRELESS),
    "grip:wired": SimulatedSpec(Kind.GRIP, Connection.WIRED),
    "grip:wireless": SimulatedSpec(Kind.GRIP, Connection.WIRELESS),
    "pen": SimulatedSpec(Kind.PEN, Connection.SIMULATED),
}
words = st.sampled_from(list(WORDS))


def made(*names: str) -> tuple[DeviceIdentity, ...]:
    return identities(parse(name) for name in names)


def ids(*names: str) -> list[str]:
    return [identity.device_id for identity in made(*names)]


@pytest.mark.parametrize(("word", "spec"), WORDS.items())
def test_each_word_is_a_device(word: str, spec: SimulatedSpec) -> None:
    assert parse(word) == spec
    assert parse(f"  {word} ") == spec


def test_the_words_are_those_of_the_setting() -> None:
    assert set(WORDS) == set(SIMULATED)
    assert set(WHEN_NOTHING_REAL) <= set(WORDS)


@pytest.mark.parametrize(
    "word",
    [
        "",
        " ",
        "Arm",
        "arms",
        "arm,grip",
        "inverse3",
        "arm:",
        "grip:",
        "arm:wired",
        "pen:wired",
        "grip:Wired",
        "grip:usb",
        "grip:wired:wired",
        "grip: wired",
        ":wired",
        "*",
    ],
)
def test_unknown_word_is_refused_with_the_allowed_ones(word: str) -> None:
    with pytest.raises(InvalidInput, match="no device to simulate") as raised:
        parse(word)

    assert "grip:wired" in raised.value.reason


# ---------------------------------------------------------------- identities


@given(st.lists(words, max_size=MOST_DEVICES))
def test_ids_are_four_hex_digits_and_differ(names: list[str]) -> None:
    found = ids(*names)

    assert all(re.fullmatch("[0-9A-F]{4}", device_id) for device_id in found)
    assert len(set(found)) == len(found) == len(names)


@given(st.lists(words, max_size=MOST_DEVICES))
def test_identities_are_the_same_from_start_to_start(names: list[str]) -> None:
    assert made(*names) == made(*names)


@given(st.lists(words, min_size=1, max_size=MOST_DEVICES))
def test_added_device_changes_no_earlier_identity(names: list[str]) -> None:
    assert made(*names)[:-1] == made(*names[:-1])


@given(st.lists(words, max_size=MOST_DEVICES))
def test_ports_and_numbers_follow_the_order(names: list[str]) -> None:
    found = made(*names)

    assert [identity.port for identity in found] == [f"sim{index}" for index in range(len(names))]
    assert [identity.number for identity in found] == list(range(len(names)))


def test_the_first_of_each_kind_keeps_its_id_whatever_stands_around_it() -> None:
    alone = {name: ids(name)[0] for name in ("arm", "compact", "grip", "grip:wired", "pen")}

    assert len(set(alone.values())) == 5
    assert ids(*alone) == list(alone.values())
    assert ids(*reversed(alone)) == list(reversed(alone.values()))


def test_numbering_continues_after_existing_devices() -> None:
    assert [identity.number for identity in identities([parse("arm"), parse("pen")], 5)] == [5, 6]


def test_identity_has_the_values_of_its_kind() -> None:
    for identity in made("arm", "compact", "grip", "grip:wired", "pen"):
        data = identity.kind.spec
        assert identity.simulated
        assert (identity.firmware, identity.hardware_version, identity.reach) == (
            data.firmware,
            data.hardware_version,
            data.reach,
        )
        assert re.fullmatch("[0-9A-F]{32}", identity.uuid)


def test_uuids_differ() -> None:
    found = made(*["arm"] * MOST_DEVICES)

    assert len({identity.uuid for identity in found}) == MOST_DEVICES


def test_an_id_may_be_given() -> None:
    (identity,) = identities([SimulatedSpec(Kind.ARM, Connection.SIMULATED, "049D")])

    assert identity.device_id == "049D"
    assert identity.uuid == identities([SimulatedSpec(Kind.PEN, Connection.SIMULATED, "049D")])[0].uuid


def test_an_id_that_is_given_twice_is_refused() -> None:
    spec = SimulatedSpec(Kind.ARM, Connection.SIMULATED, "049D")

    with pytest.raises(InvalidInput, match='"049D"'):
        identities([spec, spec])


def test_generated_id_avoids_given_ones() -> None:
    (own,) = ids("arm")

    given_first = identities([SimulatedSpec(Kind.PEN, Connection.SIMULATED, own), parse("arm")])

    assert given_first[0].device_id == own
    assert given_first[1].device_id != own


def test_sixteen_devices_are_the_most() -> None:
    assert len(made(*["arm"] * MOST_DEVICES)) == MOST_DEVICES == 16

    with pytest.raises(InvalidInput, match="at most 16"):
        made(*["arm"] * (MOST_DEVICES + 1))


def test_none_means_no_device() -> None:
    assert made() == ()
