"""What commands print: tables and lines for people, or one JSON document for programs.

Rich is imported for a terminal only, where words of states and levels are coloured unless NO_COLOR is set.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TextIO

from transport.cli.text import clean
from transport.cli.typed import as_typed

# Style of a cell or line that begins with a word.
TONES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ready": "green",
        "ok": "green",
        "active": "green",
        "not": "yellow",
        "asleep": "yellow",
        "brakes": "yellow",
        "held": "yellow",
        "hint": "yellow",
        "warning": "yellow",
        "unsure": "yellow",
        "unusable": "red",
        "blocked": "red",
        "stopped": "red",
        "wrong": "red",
        "missing": "red",
        "problem": "red",
        "error": "red",
        "critical": "bold red",
        "panic": "bold red",
    }
)


def tone_of(text: object) -> str:
    """Return the style of a cell or line by its first word; empty for one without."""
    word = str(text).split(maxsplit=1)[:1]
    return TONES.get(word[0].rstrip(":,").lower(), "") if word else ""


class Output:
    """Standard output of a command."""

    def __init__(self, *, as_json: bool, stream: TextIO | None = None) -> None:
        """`stream` None: standard output."""
        self.as_json = as_json
        self._stream = stream

    def document(self, value: Any) -> None:
        """Print one JSON document on one line, in ASCII; with --json only."""
        if self.as_json:
            self._write(json.dumps(value, ensure_ascii=True))

    def line(self, text: str = "", tone: str = "") -> None:
        """Print one line for people, on a terminal in a style of TONES; nothing with --json. `text` is clean already."""
        if self.as_json:
            return
        text = as_typed(text)
        if tone and self.is_terminal():
            from rich.console import Console
            from rich.text import Text

            Console(file=self._stream, highlight=False, emoji=False, soft_wrap=True).print(Text(text, style=tone))
        else:
            self._write(text)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]], none: str) -> None:
        """Print a table for people, or the sentence `none` without a row; nothing with --json."""
        if self.as_json:
            return
        cells = [[clean(cell) for cell in row] for row in rows]
        if not cells:
            self._write(none)
        elif self.is_terminal():
            self._rich_table(columns, cells)
        else:
            self._write("\n".join(plain_table(columns, cells)))

    def is_terminal(self) -> bool:
        """Return whether a person reads the output."""
        stream = self._stream or sys.stdout
        return stream is not None and stream.isatty()

    def _write(self, text: str) -> None:
        write_output(text, self._stream)

    def _rich_table(self, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in cells:
            # Text is printed as it is: a name such as [red] is no markup.
            table.add_row(*(Text(cell, style=tone_of(cell)) for cell in row))
        Console(file=self._stream, highlight=False, emoji=False).print(table)


def write_output(text: str, stream: TextIO | None = None) -> None:
    """Write a line, to standard output without `stream`; OSError, BrokenPipeError when the reader has gone."""
    where = stream or sys.stdout
    if where is not None:
        where.write(text + "\n")
        where.flush()


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table with aligned columns, for files and pipes."""
    widths = [max(len(line[place]) for line in (columns, *rows)) for place in range(len(columns))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (columns, *rows)
    ]
