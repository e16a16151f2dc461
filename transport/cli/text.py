"""Text from a service, made safe to print: no control characters, no direction marks, bounded length."""

from __future__ import annotations

import unicodedata
from typing import Final

MOST: Final = 1000
# Control and format characters (escape sequences, overrides of the writing direction), surrogates, line separators.
HARMFUL: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def clean(value: object, most: int = MOST) -> str:
    r"""Return the value as one printable line of at most `most` characters; harmful characters are shown as `\x1b` or `\u202e`."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else str(value)
    shown = "".join(_shown(character) for character in text[:most])
    return f"{shown[:most]}…" if len(text) > most or len(shown) > most else shown


def _shown(character: str) -> str:
    if unicodedata.category(character) not in HARMFUL:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
