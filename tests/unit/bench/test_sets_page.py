"""The page of the test set: its tables come from a file of results and stand between two marks."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.haptics.page_tables import BEGIN, END, placed, text
from bench.haptics.sets import RESULT


def results() -> NDArray[np.void]:
    """One contact found, one missed; 200 runs of a press, three of them taken wrongly."""
    rows = np.zeros(202, dtype=RESULT)
    rows["mode"] = "filter"
    rows["kind"], rows["name"] = "rightful", "press"
    rows["kind"][:2], rows["name"][:2] = "contact", "wall"
    rows["frequency"][:2], rows["unfiltered"][:2], rows["last_unfiltered"][:2] = 20, 100, 100
    rows["last"][:2], rows["entries"][:2] = (1, 100), (1, 0)
    rows["onset"][:2], rows["found"][:2] = 100, (160, np.nan)
    rows["entries"][2:5], rows["lost"][2:5] = 1, 0.4
    return rows


TABLE: Final = list(text(results()))


def test_missed_contacts_stand_with_their_interval() -> None:
    assert "| all, 2 to 260 Hz | 2 | 50.0 % (9.5 to 90.5) | 50.0 % | 0.0 % |" in TABLE


def test_times_and_decibels_are_of_what_was_found() -> None:
    assert "| all, 2 to 260 Hz | 60 | 60 | 60 |" in TABLE


def test_classes_above_one_percent_stand_apart() -> None:
    assert "| press | 200 | 1.5 % (0.5 to 4.3) | 40 % |" in TABLE
    assert TABLE[-1].startswith("At most 1% each (95 % intervals end below ")
    assert "press," not in TABLE[-1].split()


def test_lines_replace_what_stood_between_the_marks() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"

    assert placed(page, ["new"]) == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"


def test_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="needs the lines"):
        placed("nothing", [])
