"""What is made of immutable values, kept until one of them is replaced: cached texts of HTTP bodies and frames."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from operator import is_
from typing import Generic, TypeVar

V = TypeVar("V")


class Remembered(Generic[V]):
    """Values by key, each with the immutable objects that it was made of; one thread only.

    Snapshots are replaced, never changed, so a value is current exactly while its parts are the same objects: no time passes
    between a change and the first value that shows it.
    """

    def __init__(self, most: int) -> None:
        """`most` values are kept; beyond that the oldest is dropped."""
        self._most = most
        self._held: dict[Hashable, tuple[tuple[object, ...], V]] = {}

    def __len__(self) -> int:
        """Number of values that are kept."""
        return len(self._held)

    def get(self, key: Hashable, parts: tuple[object, ...], make: Callable[[], V]) -> V:
        """Return the value of `key`, made by `make` unless the last one was made of these very parts, in their order."""
        held = self._held.get(key)
        if held is not None and len(held[0]) == len(parts) and all(map(is_, held[0], parts)):
            return held[1]
        value = make()
        self._held.pop(key, None)
        if len(self._held) >= self._most:
            del self._held[next(iter(self._held))]
        self._held[key] = (parts, value)
        return value
