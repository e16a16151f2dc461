"""The code of `device_tick` follows its list of steps, and the documentation quotes that list exactly."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[4]
SOURCE = (ROOT / "fastpath" / "tick" / "device_tick.pxd").read_text(encoding="utf-8")
LIST = re.search(r"^(     1  read .*?\n)\n", SOURCE, re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^ +# (\d+ .*)$", re.MULTILINE)


def numbers_in(function: str) -> list[int]:
    """Numbers of the steps in the comments of one function, as they stand; `4 to 13` calls a function that has them."""
    body = SOURCE.split(f" {function}(", 1)[1].split("\n\n\n", 1)[0]
    return [
        int(number) for mark in MARK.findall(body) if " to " not in mark for number in re.findall(r"\b\d+(?= )", mark)
    ]


def told() -> str:
    assert LIST is not None
    return dedent(LIST[1]).rstrip("\n")


def test_the_code_takes_the_steps_in_the_order_of_the_list() -> None:
    listed = [int(number) for number in re.findall(r"^ ?(\d+)  ", told(), re.MULTILINE)]
    tick, output = numbers_in("device_tick"), numbers_in("output")

    assert listed == list(range(1, 16))
    assert tick == sorted(tick)
    assert output == sorted(output)
    assert sorted({*tick, *output}) == listed


@pytest.mark.parametrize("page", ["architecture.md", "force-path.md", "realtime.md"])
def test_a_page_quotes_the_list_word_for_word(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    quotes = [dedent(quote) for quote in re.findall(r"^ *```text\n(.*?)\n *```$", text, re.MULTILINE | re.DOTALL)]

    assert [quote for quote in quotes if "read" in quote.split("\n", 1)[0]] == [told()]
