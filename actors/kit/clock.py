"""The clock of the service in monotonic nanoseconds, and a manual clock for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


NS_PER_S = 1_000_000_000


class Clock:
    """Monotonic nanoseconds from one source."""

    def __init__(self, now: Callable[[], int]) -> None:
        """`now` returns nanoseconds and never goes back."""
        self._now = now

    def now_ns(self) -> int:
        """Nanoseconds since an arbitrary start."""
        return self._now()


class ManualClock(Clock):
    """A clock that a test moves."""

    def __init__(self, start_ns: int = 0) -> None:
        """The clock starts at `start_ns`."""
        super().__init__(lambda: self._at_ns)
        self._at_ns = start_ns

    def advance(self, seconds: float) -> None:
        """Move forward by `seconds`, rounded to nanoseconds."""
        self.move_to(self._at_ns + round(seconds * NS_PER_S))

    def move_to(self, at_ns: int) -> None:
        """Move forward to `at_ns`; ValueError when that is in the past."""
        if at_ns < self._at_ns:
            raise ValueError(f"the clock stands at {self._at_ns} ns: move it forward, not back to {at_ns} ns")
        self._at_ns = at_ns
