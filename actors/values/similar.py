"""The known word that a mistyped one probably means: for sentences about unknown words."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

# More letters are compared with nothing: the time that a word takes grows with its square.
MOST_LETTERS: Final = 40
LEAST_SHARE: Final = 0.6


def similar(word: str, known: Iterable[str], most: int = 1, share: float = LEAST_SHARE) -> list[str]:
    """Return at most `most` of the known words that share so much of their letters with `word`, the most similar first."""
    return get_close_matches(word[:MOST_LETTERS].lower(), list(known), most, share)


@lru_cache(maxsize=256)
def nearest(word: str, known: tuple[str, ...]) -> str | None:
    """Return the known word that is most like `word`, in any case of letters; None when none is."""
    by_lower = {each.lower(): each for each in known}
    found = similar(word, by_lower)
    return by_lower[found[0]] if found else None
