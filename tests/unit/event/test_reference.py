"""docs/events.md is current and complete, and its examples are real events."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from actors.event.catalog import EVENT_KINDS, SAFETY_LEVELS
from actors.event.reference import page

PAGE = Path(__file__).parents[3] / "docs" / "events.md"


def test_the_page_in_docs_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "docs/events.md is old: make docs writes it again"


def test_the_module_prints_the_page() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "actors.event.reference"], check=True, capture_output=True, cwd=PAGE.parents[1]
    )

    assert printed.stdout.decode() == page()


@pytest.mark.parametrize("kind", EVENT_KINDS)
def test_example_has_exactly_the_fields_of_its_kind(kind: str) -> None:
    row = EVENT_KINDS[kind]

    assert set(row.example.data) == row.keys(row.example.data)
    assert not row.reasons or row.example.data["reason"] in row.reasons


def test_the_page_shows_each_example_as_it_is_sent() -> None:
    shown = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", page(), re.DOTALL)]

    assert [event["name"] for event in shown] == list(EVENT_KINDS)
    for event in shown:
        assert list(event) == ["name", "category", "level", "time", "data", "message"]
        assert event["level"] in EVENT_KINDS[event["name"]].levels


def test_the_page_names_every_safety_type_and_every_reason() -> None:
    text = page()

    for word in (*SAFETY_LEVELS, *(reason for row in EVENT_KINDS.values() for reason in row.reasons)):
        assert f"`{word}`" in text
