"""Output: tables without markup, JSON in ASCII, nothing else with --json."""

from __future__ import annotations

import io
import json

import pytest

from transport.cli.output import Output, plain_table


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_table_outside_a_terminal_is_aligned_and_not_cut() -> None:
    stream = io.StringIO()
    Output(as_json=False, stream=stream).table(("A", "LONG"), [("x" * 300, "1"), ("y", None)], "none")

    first, second, third = stream.getvalue().splitlines()
    assert first == "A" + " " * 301 + "LONG"
    assert second == "x" * 300 + "  1"
    assert third == "y" + " " * 301 + "-"


@pytest.mark.parametrize("width", ["1", "10", "40", "200"])
def test_table_on_a_terminal_of_any_width_shows_markup_as_text(width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    Output(as_json=False, stream=stream).table(("A",), [("[red]x",), ("\x1b]0;title\x07",)], "none")

    folded = "".join(stream.getvalue().split())
    assert "[red]x" in folded
    assert "\x1b]0;" not in stream.getvalue()


def test_no_color_leaves_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = Terminal()
    Output(as_json=False, stream=stream).table(("A",), [("x",)], "none")

    assert "\x1b[3" not in stream.getvalue()


def test_table_without_rows_is_a_sentence() -> None:
    stream = io.StringIO()
    Output(as_json=False, stream=stream).table(("A",), [], "no device")

    assert stream.getvalue() == "no device\n"


def test_json_output_is_one_document_in_ascii_and_nothing_else() -> None:
    stream = io.StringIO()
    output = Output(as_json=True, stream=stream)
    output.line("for people")
    output.table(("A",), [("x",)], "none")
    output.document({"name": "ä\x1b\u202e"})

    assert stream.getvalue() == '{"name": "\\u00e4\\u001b\\u202e"}\n'
    assert json.loads(stream.getvalue()) == {"name": "ä\x1b\u202e"}


def test_plain_table_ends_no_line_with_spaces() -> None:
    assert plain_table(("A", "B"), [("long", "")]) == ["A     B", "long"]
