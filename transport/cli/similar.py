"""Sentence about a word that is no command: the similar ones, or all. Imports no library."""

from __future__ import annotations

from collections.abc import Iterable

from transport.cli.text import clean
from transport.wire.similar import similar


def no_such_command(word: str, commands: Iterable[str], before: str = "") -> str:
    """Return the sentence, without a full stop; `before` stands in front of each command, such as "settings "."""
    if word == "help":
        return f'there is no command "help": did you mean hapticd {before}--help?'
    known = list(commands)
    meant = " or ".join(f"hapticd {before}{name}" for name in similar(word, known, 2))
    what = f"did you mean {meant}?" if meant else f"write one of {', '.join(known)}"
    return f'there is no command "{clean(word, 40)}": {what}'
