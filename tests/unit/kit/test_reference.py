"""docs/messages.md is current and lists every message with its fields."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from actors.kit.message import Announce, Message
from actors.kit.reference import messages
from actors.kit.reference import page as generated_page
from actors.settings.messages import SaveLedger, SetSetting, SettingChanged

PAGE = Path(__file__).parents[3] / "docs" / "messages.md"


@cache
def page() -> str:
    return generated_page()


def row(message: type[Message]) -> str:
    (line,) = [line for line in page().splitlines() if line.startswith(f"| `{message.__name__}` |")]
    return line


def test_the_page_in_docs_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "docs/messages.md is old: make docs writes it again"


def test_the_module_prints_the_page() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "actors.kit.reference"], check=True, capture_output=True, cwd=PAGE.parents[1]
    )

    assert printed.stdout.decode() == page()


def test_every_message_has_one_row_with_its_fields() -> None:
    rows = {line.split("`")[1]: line for line in page().splitlines() if line.startswith("| `")}

    assert len(rows) == len(messages()) > 30
    for message in messages():
        shown: Any = message
        line = rows[message.__name__]
        assert all(f"`{field.name}: " in line for field in fields(shown))
        assert line.replace("\\|", "").count("|") == 6


@pytest.mark.parametrize("message", messages(), ids=lambda message: message.__name__)
def test_a_message_says_what_it_is(message: type[Message]) -> None:
    assert (message.__doc__ or "").strip().endswith(".")


def test_a_row_says_kind_and_reply_and_who_makes_and_handles_it() -> None:
    assert "request, reply `SettingView`" in row(SetSetting)
    assert "`transport.http` → `SettingsStore`" in row(SetSetting)
    assert "request, reply `HapticError \\| None`" in row(SaveLedger)
    assert "| told |" in row(SettingChanged)
    assert "`FastpathActor`" in row(SettingChanged)
    assert "→ every actor" in row(Announce)
