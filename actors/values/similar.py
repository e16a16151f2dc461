"""The known word that a mistyped one probably means: for sentences about unknown words."""

from __future__ import annotations

from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

# More letters are compared with nothing: the time that a word takes grows with its square.
MOST_LETTERS: Final = 40
LEAST_SHARE: Final = 0.6
# A word may be the beginning of a longer one.
LEAST_BEGINNING: Final = 4


def similar(word: str, known: Iterable[str], most: int = 1, share: float = LEAST_SHARE) -> list[str]:
    """Return at most `most` of the known words that share so much of their letters with `word`, the most similar first."""
    return get_close_matches(word[:MOST_LETTERS].lower(), list(known), most, share)


@lru_cache(maxsize=256)
def nearest(word: str, known: tuple[str, ...]) -> str | None:
    """Return the known word that is most like `word`, in any case of letters; None when none is.

    Of two that are as much like it, the one that begins like it; without any, the only one that `word` is the beginning of.
    """
    by_lower = {each.lower(): each for each in known}
    lower = word.lower()

    def likeness(other: str) -> tuple[float, int]:
        return SequenceMatcher(None, lower, other).ratio(), sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(lower, other, strict=False))
        )

    found = similar(word, by_lower, len(by_lower) or 1)
    if found:
        return by_lower[max(found, key=likeness)]
    longer = [other for other in by_lower if len(lower) >= LEAST_BEGINNING and other.startswith(lower)]
    return by_lower[longer[0]] if len(longer) == 1 else None
