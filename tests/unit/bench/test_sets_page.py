"""The page of the test set: its tables come from a file of results and stand between marks."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.haptics.page_tables import TEST_SET, left_loud, marks, placed, taken_often, text, with_figures
from bench.haptics.sets import RESULT
from tests.unit.test_force_path_page import PAGE


def results() -> NDArray[np.void]:
    """One contact found, one missed; 200 runs of a press, three of them taken wrongly."""
    rows = np.zeros(202, dtype=RESULT)
    rows["mode"] = "filter"
    rows["kind"], rows["name"] = "rightful", "press"
    rows["kind"][:2], rows["name"][:2] = "contact", "wall"
    rows["frequency"][:2], rows["unfiltered"][:2], rows["last_unfiltered"][:2] = 20, 100, 100
    rows["last"][:2], rows["entries"][:2] = (1, 100), (1, 0)
    rows["onset"][:2], rows["found"][:2] = 100, (160, np.nan)
    rows["entries"][2:5], rows["error_after"][2:5], rows["error_seconds"][2:5] = 1, (0.4, 0.5, 0.3), (0.5, 2, 3)
    rows["error"][2:5] = 0.2
    return rows


TABLE: Final = list(text(results()))


def test_missed_contacts_stand_with_their_interval() -> None:
    assert "| all, 2 to 260 Hz | 2 | 50.0 % (9.5 to 90.5) | 50.0 % | 0.0 % |" in TABLE


def test_times_and_decibels_are_of_what_was_found() -> None:
    assert "| all, 2 to 260 Hz | 60 | 60 | 60 |" in TABLE


def test_classes_above_one_percent_stand_apart() -> None:
    assert "| press | 200 | 1.5 % (0.5 to 4.3) | 40 % | 33 % | 20 % |" in TABLE
    assert TABLE[-1].startswith("At most 1% each (95 % intervals end below ")
    assert "press," not in TABLE[-1].split()


def test_loud_contacts_are_split_by_when_they_were_found_and_whether_they_are_fed() -> None:
    rows = np.concatenate([results()[:2]] * 3)
    rows["last"] = (100, 100, 100, 100, 100, 1)
    rows["entries"] = (1, 1, 1, 0, 1, 1)
    rows["found"] = (160, 160, 2000, np.nan, 160, 2500)
    rows["still_fed"] = (True, False, True, True, False, True)

    assert list(left_loud(rows))[2:] == [
        "| wall | 2,300 | 1 | 1 | 1 | 2 |",
        "| all | 2,300 | 1 | 1 | 1 | 2 |",
    ]


def test_classes_above_one_percent_are_counted_apart_from_all_others() -> None:
    rows = results()
    rows["name"][100:] = "tapping"

    table = list(taken_often(rows))

    assert table[2:-1] == ["| press | 3 of 98 |"]
    assert table[-1].endswith(" others | 0 of 102 |")


def test_lines_replace_what_stood_between_the_marks() -> None:
    begin, end = marks("this")
    other = "\n".join(marks("other"))
    page = f"{other}\n{begin}\nold\n{end}\nafter\n"

    assert placed(page, "this", ["new"]) == f"{other}\n{begin}\n\nnew\n\n{end}\nafter\n"


def test_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="needs the lines"):
        placed("nothing", TEST_SET, [])


def test_every_table_has_its_marks_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")

    written = with_figures(page, results())

    assert with_figures(written, results()) == written != page
