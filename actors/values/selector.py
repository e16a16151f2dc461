"""Match selectors: `*` of a pattern is any run of characters, `?` one character, all else is literal; names in any case."""

from __future__ import annotations

import unicodedata


def folded(text: str) -> str:
    """Return a name as it is compared: whatever its case and however its letters are composed."""
    return unicodedata.normalize("NFC", text).casefold()


def is_pattern(text: str, *, single: bool = True) -> bool:
    """Whether `text` has a wildcard; `single` False: `?` is literal."""
    return "*" in text or (single and "?" in text)


def matches(pattern: str, text: str, *, single: bool = True) -> bool:
    """Whether `pattern` matches the whole `text`, case-sensitive; at most len(pattern) * len(text) steps.

    `single` False: `?` is literal. A regular expression could be made to backtrack for ever.
    """
    at = seen = 0
    star = retry = -1
    while seen < len(text):
        wanted = pattern[at] if at < len(pattern) else ""
        if wanted == "*":
            star, retry = at, seen
            at += 1
        elif wanted and (wanted == text[seen] or (single and wanted == "?")):
            at += 1
            seen += 1
        elif star >= 0:
            retry += 1
            at, seen = star + 1, retry
        else:
            return False
    return not pattern[at:].strip("*")
