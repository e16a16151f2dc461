"""The pairing table: manual pairs to and from the ledger, also from a damaged one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.pairing.calibration import Calibration
from actors.pairing.messages import Origin, Pairing
from actors.pairing.pairing_table import PairingTable
from actors.pairing.rules import Pair, Pairs
from actors.settings.immutable_json import freeze

BOOK = PairingTable(
    Pairs((Pair("A1", "G1", Origin.MANUAL), Pair("A2", "G2", Origin.AUTOMATIC))), {"A1": Calibration(calibrated=True)}
)


def test_only_manual_pairs_are_stored() -> None:
    assert PairingTable.from_json(freeze(BOOK.as_json())).pairs.pairs == (Pair("A1", "G1", Origin.MANUAL),)


def test_a_handle_shares_the_calibration_of_its_other_half_and_is_locked_without_one() -> None:
    assert BOOK.calibration("G1") == BOOK.calibration("A1") == Calibration(calibrated=True)
    assert BOOK.calibration("G9") == BOOK.calibration("G2") == Calibration()


def test_pairing_returns_the_other_half() -> None:
    assert BOOK.pairing("G2") == Pairing("A2", Origin.AUTOMATIC)
    assert BOOK.pairing("A1") == Pairing("G1", Origin.MANUAL)
    assert BOOK.pairing("G9") == Pairing()


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"manual": None},
        {"manual": "A1"},
        {"manual": [["A1"], ["A1", 3], "AG", {"A": 1}, ["A1", "A1"], ["A1", "G1", "G2"]]},
    ],
)
def test_unreadable_rows_are_skipped(value: object) -> None:
    assert PairingTable.from_json(freeze(value)).pairs.pairs == ()


NAMES = st.sampled_from(["A1", "A2", "G1", "G2"])


@given(st.lists(st.tuples(NAMES, NAMES)))
def test_duplicate_device_in_the_ledger_is_dropped(entries: list[tuple[str, str]]) -> None:
    pairs = PairingTable.from_json(freeze({"manual": [list(entry) for entry in entries]})).pairs.pairs

    ids = [device_id for pair in pairs for device_id in (pair.mover, pair.handle)]
    assert len(ids) == len(set(ids))
