"""Rules about the sources' text: vendor words only in the specs of kinds, no abbreviated command-line options."""

from __future__ import annotations

import ast
import re
from pathlib import PurePosixPath

KINDS = PurePosixPath("actors/values/kinds")
VENDOR_WORD = re.compile(r"inverse3x?|minverse|(?:[a-z]+[_\- ])*verse[_\- ]?grip|haply", re.IGNORECASE)


def vendor_words(path: PurePosixPath, text: str) -> list[str]:
    """One sentence for each line of a source, other than the specs of kinds, that holds a vendor's word."""
    if path.parent == KINDS:
        return []
    return [
        f"{path}:{number} says {found[0]!r}: only the specs in {KINDS} know the vendor's words, so use the neutral one."
        for number, line in enumerate(text.splitlines(), start=1)
        if (found := VENDOR_WORD.search(line))
    ]


def takes_parts_of_options(path: PurePosixPath, text: str) -> list[str]:
    """One sentence for each parser of a command line that would take the beginning of an option's name for the option."""
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return [
        f"{path}:{call.lineno} makes a parser without allow_abbrev=False: an option is its whole name."
        for call in calls
        if re.search(r"(^|\.)(add_parser|(Argument)?Parser)$", ast.unparse(call.func))
        and "allow_abbrev=False" not in [ast.unparse(given) for given in call.keywords]
    ]
