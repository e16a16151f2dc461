"""Sentences for people name the program as they typed it: in a clone that is .venv/bin/hapticd, as no hapticd is on the PATH."""

from __future__ import annotations

import re
import sys
from typing import Final

from transport.cli.table import COMMANDS

NAME: Final = "hapticd"
# The name with a command behind it, so that "hapticd listens there" stays.
_CALLED: Final = re.compile(rf"(?<![\w./-])hapticd (?=(?:run|token|{'|'.join(COMMANDS)})\b)")


def as_typed(text: str, program: str | None = None) -> str:
    """Return the text with each command under the name that was typed, if that is a relative path; `program` None: of this process."""
    typed = sys.argv[0] if program is None else program
    relative = "/" in typed and not typed.startswith("/") and typed.rpartition("/")[2] == NAME
    return _CALLED.sub(lambda _: f"{typed} ", text) if relative else text
