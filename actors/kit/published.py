"""Published: an immutable snapshot that one writer replaces and any thread reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Published(Generic[T]):
    """An immutable value; reads take no lock, only the owner calls `replace`."""

    __slots__ = ("_on_replaced", "_versioned")

    def __init__(self, value: T) -> None:
        """`value` has version 0."""
        self._versioned = (0, value)
        self._on_replaced: Callable[[], None] | None = None

    @property
    def value(self) -> T:
        """The newest value."""
        return self._versioned[1]

    @property
    def version(self) -> int:
        """Number of replacements."""
        return self._versioned[0]

    @property
    def versioned(self) -> tuple[int, T]:
        """Version and value of the same replacement."""
        return self._versioned

    def replace(self, value: T) -> None:
        """Replace the value for all readers."""
        self._versioned = (self._versioned[0] + 1, value)
        if self._on_replaced is not None:
            self._on_replaced()

    def tell(self, on_replaced: Callable[[], None]) -> None:
        """Call `on_replaced` after each replacement, on the owner's thread; it must not block or raise."""
        self._on_replaced = on_replaced
