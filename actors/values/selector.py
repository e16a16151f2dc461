"""Match wildcard patterns of selectors: `*` is any run of characters, `?` one character, all else is literal."""

from __future__ import annotations


def is_pattern(text: str, *, single: bool = True) -> bool:
    """Whether `text` holds a wildcard; `single` False: `?` is none."""
    return "*" in text or (single and "?" in text)


def matches(pattern: str, text: str, *, single: bool = True) -> bool:
    """Whether `pattern` covers the whole of `text`, case-sensitive; takes at most len(pattern) * len(text) steps.

    `single` False: `?` is literal. A regular expression would go back over every `*` and could be made to take for ever.
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
