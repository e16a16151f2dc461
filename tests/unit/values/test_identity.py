"""Names of device kinds, and comparison of firmware versions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.values.identity import Connection, Firmware, Kind
from actors.values.interface import INTERFACE

versions = st.tuples(st.integers(0, 99), st.integers(0, 99))


@given(versions, versions)
def test_firmware_compares_as_numbers(first: tuple[int, int], second: tuple[int, int]) -> None:
    assert (Firmware(*first) < Firmware(*second)) == (first < second)
    assert (Firmware(*first) == Firmware(*second)) == (first == second)


def test_minor_version_ten_is_newer_than_five() -> None:
    assert Firmware(7, 10) > Firmware(7, 5) > Firmware(7, 4) > Firmware(6, 99)


def test_firmware_is_written_with_a_dot() -> None:
    assert str(Firmware(7, 10)) == "7.10"


@pytest.mark.parametrize(
    ("kind", "motors"), [(Kind.ARM, True), (Kind.COMPACT, True), (Kind.GRIP, False), (Kind.PEN, False)]
)
def test_arms_and_compacts_have_motors(kind: Kind, motors: bool) -> None:
    assert kind.has_motors is motors


def test_kind_names_are_the_neutral_words() -> None:
    assert [str(kind) for kind in Kind] == ["arm", "compact", "grip", "pen"]
    assert [str(connection) for connection in Connection] == ["serial", "usb", "simulated", "wired", "wireless"]
    assert INTERFACE == "3.5.3"
