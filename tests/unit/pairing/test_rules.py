"""Pairing rules: connected, removed, swapped and manually paired devices, with invariants."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import Conflict, HapticError, InvalidInput, NoSuchDevice
from actors.pairing.messages import Origin
from actors.pairing.rules import (
    MOST_AWAY,
    Pair,
    PairChange,
    PairingDevice,
    Pairs,
    paired_manually,
    unpaired,
    update_pairs,
)
from actors.values.kinds.base import PairSide

AUTO, MANUAL = Origin.AUTOMATIC, Origin.MANUAL


def half(word: str, life: int = 0) -> PairingDevice:
    """`A…` has motors, `G…` is held, `D…` stands on a desk; a `+` behind is attached, an `r` before is real."""
    real, name = word.startswith("r"), word.strip("r+")
    attached, by_hand = word.endswith("+"), name.startswith("D")
    return PairingDevice(
        name,
        PairSide.MOVER if name.startswith("A") else PairSide.HANDLE,
        simulated=not real,
        attached=attached,
        generation=life,
        by_hand=by_hand,
    )


class Bench:
    """Devices that come and go, and what is paired."""

    def __init__(self, *, automatic: bool = True) -> None:
        self.pairs = Pairs()
        self.automatic = automatic
        self.halves: list[PairingDevice] = []
        self.changes: list[PairChange] = []
        self.looks = 0

    def here(self, *words: str, also: Iterable[str] = ()) -> list[tuple[str, str]]:
        """The pairs once exactly these are here, in this order; who came back has another life."""
        self.looks += 1
        lives = {one.device_id: one.generation for one in self.halves}
        self.halves = [half(word, lives.get(half(word).device_id, self.looks)) for word in words]
        self.pairs, changes = update_pairs(self.pairs, self.halves, automatic=self.automatic, also=also)
        self.changes = list(changes)
        return self.listed

    def manually(self, one: str, other: str) -> list[tuple[str, str]]:
        self.pairs, changes = paired_manually(self.pairs, self.halves, one, other)
        self.changes = list(changes)
        return self.listed

    def apart(self, one: str) -> list[tuple[str, str]]:
        self.pairs, changes = unpaired(self.pairs, self.halves, one)
        self.changes = list(changes)
        return self.listed

    @property
    def listed(self) -> list[tuple[str, str]]:
        return sorted((pair.mover, pair.handle) for pair in self.pairs.pairs)

    def origin(self, device_id: str) -> Origin | None:
        pair = self.pairs.of(device_id)
        return None if pair is None else pair.origin


# ---------------------------------------------------------------- by themselves


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], []),
        (["A1"], []),
        (["G1", "G2"], []),
        (["A1", "A2"], []),
        (["A1", "G1"], [("A1", "G1")]),
        (["G1", "A1"], [("A1", "G1")]),
        (["A1", "G1", "G2"], [("A1", "G1")]),
        (["A1", "G1", "G2+"], [("A1", "G2")]),
        (["A1", "G1", "G2+", "G3+"], [("A1", "G2")]),
        (["A1", "A2", "G1", "G2"], [("A1", "G1"), ("A2", "G2")]),
        (["A1", "A2", "G1", "G2+"], [("A1", "G2"), ("A2", "G1")]),
        (["A1", "A2", "G1"], [("A1", "G1")]),
        (["rA1", "G1"], []),
        (["A1", "rG1"], []),
        (["rA1", "rG1"], [("A1", "G1")]),
        (["rA1", "rG2", "A3", "G4"], [("A1", "G2"), ("A3", "G4")]),
        (["rA1", "G1+", "rG2"], [("A1", "G2")]),
    ],
)
def test_free_arm_gets_the_attached_handle_else_the_first(words: list[str], expected: list[tuple[str, str]]) -> None:
    assert Bench().here(*words) == expected


def test_desk_device_replaces_none_and_is_paired_manually_only() -> None:
    bench = Bench()
    assert bench.here("A1", "D1+", also=["D1"]) == []
    assert bench.here("A1", "D1+", "G1") == [("A1", "G1")]
    assert bench.here("A1", "D2+") == [("A1", "G1")]

    assert bench.manually("A1", "D2") == [("A1", "D2")]
    assert bench.origin("A1") is MANUAL


def test_new_pair_is_reported_once() -> None:
    bench = Bench()
    bench.here("A1", "G1")
    assert bench.changes == [PairChange("A1", "G1", AUTO)]

    assert bench.here("A1", "G1") == [("A1", "G1")]
    assert bench.changes == []


@pytest.mark.parametrize(("first", "second"), [("A1", "G1"), ("G1", "A1")])
def test_either_half_may_come_first(first: str, second: str) -> None:
    bench = Bench()

    assert bench.here(first) == []
    assert bench.here(first, second) == [("A1", "G1")]


def test_disabled_automatic_pairing_keeps_pairs_and_makes_none() -> None:
    bench = Bench()
    bench.here("A1", "G1")
    bench.automatic = False

    assert bench.here("A1", "G1", "A2", "G2") == [("A1", "G1")]
    assert bench.here("A1", "A2", "G2") == [("A1", "G1")]


def test_appeared_devices_are_paired() -> None:
    bench = Bench(automatic=False)
    bench.here("A1", "G1", "G2")
    bench.automatic = True

    assert bench.here("A1", "G1", "G2") == []
    assert bench.here("A1", "G1", "G2+", also=["G2"]) == [("A1", "G2")]


def test_attached_handle_does_not_take_a_paired_arm() -> None:
    bench = Bench()
    bench.here("A1", "G1", "G2")

    assert bench.here("A1", "G1", "G2+", also=["G2"]) == [("A1", "G1")]


# ---------------------------------------------------------------- swaps


@pytest.mark.parametrize("left", ["A1", "G1"])
def test_a_pair_stays_while_one_half_is_away(left: str) -> None:
    bench = Bench()
    bench.here("A1", "G1")

    assert bench.here(left) == [("A1", "G1")]
    assert bench.here("A1", "G1") == [("A1", "G1")]
    assert bench.changes == []


def test_both_halves_may_be_away() -> None:
    bench = Bench()
    bench.here("A1", "G1")

    assert bench.here() == [("A1", "G1")]
    assert bench.here("A2", "G2") == [("A1", "G1"), ("A2", "G2")]
    assert bench.here("A1", "A2", "G1", "G2") == [("A1", "G1"), ("A2", "G2")]


def test_swapped_handle_replaces_the_absent_one_which_returns_free() -> None:
    bench = Bench()
    bench.here("A1", "G1")
    bench.here("A1")

    assert bench.here("A1", "G2") == [("A1", "G2")]
    assert bench.changes == [PairChange("A1", "G2", AUTO, dropped="G1")]
    assert bench.here("A1", "G1", "G2") == [("A1", "G2")]
    assert bench.changes == []


def test_swapped_arm_replaces_the_absent_one() -> None:
    bench = Bench()
    bench.here("A1", "G1")
    bench.here("G1")

    assert bench.here("A2", "G1") == [("A2", "G1")]
    assert bench.changes == [PairChange("A2", "G1", AUTO, dropped="A1")]


def test_swap_between_two_updates_counts_as_a_swap() -> None:
    bench = Bench()
    bench.here("A1", "G1")

    assert bench.here("A1", "G2") == [("A1", "G2")]


def test_free_handle_replaces_a_leaving_one() -> None:
    bench = Bench()
    bench.here("A1", "G1")
    bench.here("A1", "G1", "G2")

    assert bench.here("A1", "G2") == [("A1", "G2")]
    assert bench.changes == [PairChange("A1", "G2", AUTO, dropped="G1")]
    assert bench.here("A1", "G1", "G2") == [("A1", "G2")]
    assert bench.changes == []


def test_free_arm_replaces_a_leaving_one() -> None:
    bench = Bench()
    bench.here("A1", "G1")
    bench.here("A1", "A2", "G1")

    assert bench.here("A2", "G1") == [("A2", "G1")]
    assert bench.changes == [PairChange("A2", "G1", AUTO, dropped="A1")]


def test_attached_free_handle_replaces_a_leaving_one_first() -> None:
    bench = Bench()
    bench.here("A1", "G1")
    bench.here("A1", "G1", "G2", "G3+")

    assert bench.here("A1", "G2", "G3+") == [("A1", "G3")]


@pytest.mark.parametrize("free", ["rG2", "D2"])
def test_never_auto_paired_handle_does_not_replace_a_leaving_one(free: str) -> None:
    bench = Bench()
    bench.here("A1", "G1")
    bench.here("A1", "G1", free)

    assert bench.here("A1", free) == [("A1", "G1")]


def test_handle_of_a_dissolved_pair_does_not_replace_a_leaving_one() -> None:
    bench = Bench()
    bench.here("A1", "G2")
    bench.apart("A1")
    bench.here("A1", "G2", "G1")

    assert bench.here("A1", "G2") == [("A1", "G1")]


def test_free_handle_does_not_replace_a_half_of_a_manual_pair() -> None:
    bench = Bench()
    bench.here("A1", "G1", "G2")
    bench.manually("A1", "G1")

    assert bench.here("A1", "G2") == [("A1", "G1")]


def test_disabled_automatic_pairing_keeps_a_free_handle_free() -> None:
    bench = Bench()
    bench.here("A1", "G1")
    bench.automatic = False
    bench.here("A1", "G1", "G2")

    assert bench.here("A1", "G2") == [("A1", "G1")]


def test_device_connected_while_disabled_is_paired_only_when_it_reappears() -> None:
    bench = Bench()
    bench.here("A1", "G1")
    bench.automatic = False
    bench.here("A1", "G2")
    bench.automatic = True

    assert bench.here("A1", "G2") == [("A1", "G1")]
    assert bench.here("A1", "G2+", also=["G2"]) == [("A1", "G2")]


def test_half_returning_between_two_updates_keeps_its_pair() -> None:
    bench = Bench()
    bench.here("A1", "G1", "G2")
    back = [half("A1", 1), half("G1", 7), half("G2", 1)]

    bench.pairs, changes = update_pairs(bench.pairs, back, automatic=True)

    assert (bench.listed, changes) == ([("A1", "G1")], ())


def test_real_device_does_not_replace_a_simulated_one() -> None:
    bench = Bench()
    bench.here("A1", "G1")

    assert bench.here("A1", "rG2") == [("A1", "G1")]


def test_only_the_absent_half_of_the_swapped_pair_is_replaced() -> None:
    bench = Bench()
    bench.here("A1", "A2", "G1", "G2")

    assert bench.here("A1", "A2", "G1", "G3") == [("A1", "G1"), ("A2", "G3")]
    assert bench.changes == [PairChange("A2", "G3", AUTO, dropped="G2")]


def test_device_returning_as_another_kind_loses_its_pair() -> None:
    bench = Bench()
    bench.here("A1", "G1")

    bench.pairs, _ = update_pairs(bench.pairs, [PairingDevice("A1", PairSide.HANDLE, simulated=True)], automatic=True)

    assert bench.listed == []


# ---------------------------------------------------------------- by hand


def test_manual_pair_dissolves_the_automatic_pairs_of_both() -> None:
    bench = Bench()
    bench.here("A1", "A2", "G1", "G2")

    assert bench.manually("A1", "G2") == [("A1", "G2")]
    assert bench.changes == [PairChange("A2", None, AUTO, "G2"), PairChange("A1", "G2", MANUAL, dropped="G1")]
    assert bench.here("A1", "A2", "G1", "G2") == [("A1", "G2")]


def test_handle_of_an_absent_arm_leaves_it() -> None:
    bench = Bench()
    bench.here("A1", "G1")
    bench.automatic = False
    bench.here("G1", "A2")

    assert bench.manually("A2", "G1") == [("A2", "G1")]
    assert bench.changes == [PairChange("A2", "G1", MANUAL, dropped="A1")]


def test_either_half_may_be_named_first() -> None:
    bench = Bench(automatic=False)
    bench.here("A1", "G1")

    assert bench.manually("G1", "A1") == [("A1", "G1")]
    assert bench.changes == [PairChange("A1", "G1", MANUAL)]


def test_automatic_pair_becomes_manual_and_repeating_changes_nothing() -> None:
    bench = Bench()
    bench.here("A1", "G1")

    bench.manually("A1", "G1")
    assert bench.origin("A1") is MANUAL
    assert bench.changes == [PairChange("A1", "G1", MANUAL)]
    bench.manually("G1", "A1")
    assert bench.changes == []


def test_a_real_and_a_simulated_device_may_be_paired_by_hand() -> None:
    bench = Bench()
    bench.here("rA1", "G1")

    assert bench.manually("A1", "G1") == [("A1", "G1")]


@pytest.mark.parametrize("words", [["A1", "G2"], ["A2", "G1"], ["A1"], ["G1"], ["A1", "G1", "A2", "G2"], ["A2", "G2"]])
def test_swaps_never_change_a_manual_pair(words: list[str]) -> None:
    bench = Bench()
    bench.here("A1", "G1")
    bench.manually("A1", "G1")

    assert ("A1", "G1") in bench.here(*words)
    assert bench.origin("A1") is MANUAL


@pytest.mark.parametrize(("one", "other"), [("A1", "G2"), ("A2", "G1"), ("G1", "A2"), ("G2", "A1")])
def test_half_of_a_manual_pair_is_refused_as_taken(one: str, other: str) -> None:
    bench = Bench()
    bench.here("A1", "A2", "G1", "G2")
    bench.manually("A1", "G1")

    with pytest.raises(Conflict, match="is paired by hand with"):
        bench.manually(one, other)
    assert bench.origin("A1") is MANUAL


@pytest.mark.parametrize(
    ("one", "other", "error"),
    [
        ("A1", "A1", InvalidInput),
        ("A1", "A2", InvalidInput),
        ("G1", "G2", InvalidInput),
        ("A1", "X", NoSuchDevice),
        ("X", "G1", NoSuchDevice),
        ("A1", "", NoSuchDevice),
    ],
)
def test_impossible_pair_is_refused_and_changes_nothing(one: str, other: str, error: type[HapticError]) -> None:
    bench = Bench()
    before = bench.here("A1", "A2", "G1", "G2")

    with pytest.raises(error):
        bench.manually(one, other)
    assert bench.listed == before


# ---------------------------------------------------------------- apart


@pytest.mark.parametrize("named", ["A1", "G1"])
@pytest.mark.parametrize("by_hand", [True, False])
def test_a_dissolved_pair_is_not_made_again_until_one_half_reconnects(named: str, by_hand: bool) -> None:
    bench = Bench()
    bench.here("A1", "G1")
    if by_hand:
        bench.manually("A1", "G1")

    assert bench.apart(named) == []
    assert bench.changes == [PairChange("A1", None, MANUAL if by_hand else AUTO, "G1")]
    assert bench.here("A1", "G1") == []
    assert bench.here("A1", "G1+", also=["G1"]) == []
    assert bench.here("A1") == []
    assert bench.here("A1", "G1") == [("A1", "G1")]


def test_half_of_a_dissolved_pair_is_paired_with_a_new_device() -> None:
    bench = Bench()
    bench.here("A1", "G1")
    bench.apart("A1")

    assert bench.here("A1", "G1", "G2") == [("A1", "G2")]


def test_dissolved_pair_can_be_made_manually() -> None:
    bench = Bench()
    bench.here("A1", "G1")
    bench.apart("A1")

    assert bench.manually("A1", "G1") == [("A1", "G1")]


def test_present_half_dissolves_the_pair_and_is_reported() -> None:
    bench = Bench()
    bench.here("A1", "G1")
    bench.here("G1")

    assert bench.apart("G1") == []
    assert bench.changes == [PairChange("G1", None, AUTO, "A1")]


def test_unpaired_device_stays_unpaired_and_an_absent_one_is_refused() -> None:
    bench = Bench(automatic=False)
    bench.here("A1")

    assert bench.apart("A1") == []
    assert bench.changes == []
    with pytest.raises(NoSuchDevice):
        bench.apart("G1")


def test_pairs_with_both_halves_absent_are_dropped_over_the_limit() -> None:
    many = tuple(Pair(f"A{index}", f"G{index}", AUTO) for index in range(MOST_AWAY + 5))

    pairs, _ = update_pairs(Pairs(many), [half("A0")], automatic=True)

    assert pairs.pairs == (many[0], *many[5:])


# ---------------------------------------------------------------- laws

NAMES = ("A1", "A2", "A3", "G1", "G2", "G3", "rA4", "rG4")
ACTS = st.one_of(
    st.tuples(st.just("here"), st.lists(st.sampled_from(NAMES), unique=True)),
    st.tuples(st.just("manually"), st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))),
    st.tuples(st.just("apart"), st.sampled_from(NAMES)),
)


def play(bench: Bench, act: tuple[str, Any]) -> None:
    kind, what = act
    try:
        if kind == "here":
            bench.here(*what)
        elif kind == "manually":
            bench.manually(*(name.strip("r") for name in what))
        else:
            bench.apart(what.strip("r"))
    except HapticError:
        bench.changes = []


@given(st.lists(ACTS, max_size=12))
def test_invariant_every_device_has_at_most_one_partner_of_the_other_side(acts: list[tuple[str, Any]]) -> None:
    bench = Bench()
    for act in acts:
        by_hand = {pair for pair in bench.pairs.pairs if pair.origin is MANUAL}
        play(bench, act)
        ids = [device_id for pair in bench.pairs.pairs for device_id in (pair.mover, pair.handle)]
        assert len(ids) == len(set(ids))
        for pair in bench.pairs.pairs:
            assert pair.mover.startswith("A")
            assert pair.handle.startswith("G")
            assert pair.origin is MANUAL or (pair.mover == "A4") is (pair.handle == "G4")
        if act[0] == "here":
            assert by_hand <= set(bench.pairs.pairs)


@given(st.lists(ACTS, max_size=8), st.lists(st.sampled_from(NAMES), unique=True))
def test_repeated_update_changes_nothing(acts: list[tuple[str, Any]], last: list[str]) -> None:
    bench = Bench()
    for act in acts:
        play(bench, act)
    before = bench.here(*last)

    assert bench.here(*last) == before
    assert bench.changes == []


@given(st.lists(st.sampled_from(NAMES), unique=True))
def test_no_pairable_device_is_left_free_at_start(words: list[str]) -> None:
    bench = Bench()
    bench.here(*words)
    free = [one for one in bench.halves if bench.pairs.of(one.device_id) is None]

    assert not any(
        a.side is PairSide.MOVER and b.side is PairSide.HANDLE and a.simulated is b.simulated
        for a in free
        for b in free
    )
