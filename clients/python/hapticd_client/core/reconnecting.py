"""Pauses between two attempts to reach a service that has gone. Pure."""

from __future__ import annotations

from typing import Final

FIRST_S: Final = 0.02
MOST_S: Final = 1.0


class Backoff:
    """Pauses that double, up to a second, until the time is over."""

    def __init__(self, most: float, now: float) -> None:
        """`most`: s in all."""
        self._until = now + most
        self._pause = FIRST_S

    def pause(self, now: float) -> float | None:
        """Return the seconds until the next attempt; None when the time is over."""
        left = self._until - now
        if left <= 0:
            return None
        pause, self._pause = min(self._pause, left), min(MOST_S, 2 * self._pause)
        return pause
