"""The table of commands in docs/wire.md is current, and each command has its set-point in the loop."""

from __future__ import annotations

from actors.values.commands import SET_POINT_COMMANDS
from fastpath.layout.constants import COMMANDS, Command
from tests.support.suite.command_table import SECTION, table


def test_the_page_shows_the_rows_of_the_commands() -> None:
    text = SECTION.page.read_text(encoding="utf-8")

    assert SECTION.replaced(text, table()) == text, "the page is not current: run make docs"


def test_each_command_of_the_loop_has_one_row() -> None:
    assert sorted(row.code for row in SET_POINT_COMMANDS) == sorted(command.name for command in Command)
    assert sorted(Command) == list(range(COMMANDS))
