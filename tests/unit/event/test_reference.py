"""The page of the events is current, whole, and shows events as the hub sends them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from actors.event.catalog import CATALOG, SAFETY_LEVELS
from actors.event.examples import EXAMPLES
from actors.event.messages import Emit
from actors.event.reference import page

PAGE = Path(__file__).parents[3] / "docs" / "events.md"


def test_the_page_in_docs_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "docs/events.md is old: make docs writes it again"


def test_the_module_prints_the_page() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "actors.event.reference"], check=True, capture_output=True, cwd=PAGE.parents[1]
    )

    assert printed.stdout.decode() == page()


def test_each_kind_has_one_example() -> None:
    assert [example.kind for example in EXAMPLES] == list(CATALOG)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
def test_an_example_has_exactly_the_data_of_its_kind(example: Emit) -> None:
    row = CATALOG[example.kind]

    assert set(example.data) == row.keys(example.data)
    assert not row.reasons or example.data["reason"] in row.reasons


def test_the_page_shows_each_example_as_it_is_sent() -> None:
    shown = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", page(), re.DOTALL)]

    assert [event["name"] for event in shown] == list(CATALOG)
    for event in shown:
        assert list(event) == ["name", "category", "level", "time", "data", "message"]
        assert event["level"] in CATALOG[event["name"]].levels


def test_the_page_names_every_safety_type_and_every_reason() -> None:
    text = page()

    for word in (*SAFETY_LEVELS, *(reason for row in CATALOG.values() for reason in row.reasons)):
        assert f"`{word}`" in text
