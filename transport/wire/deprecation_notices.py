"""Rate limit of deprecation notices: each form at most once in 30 s over all sessions; counts the suppressed ones."""

from __future__ import annotations

from typing import Final

EVERY_NS: Final = 30_000_000_000


class DeprecationNotices:
    """Main thread only; what is asked here for each message must not reach an actor each time."""

    def __init__(self) -> None:
        self._next_ns: dict[str, int] = {}
        self._held: dict[str, int] = {}

    def due(self, form: str, now_ns: int) -> int | None:
        """How many were held back since the last notice, when it is time for one; else None, and this one is held back."""
        if now_ns < self._next_ns.get(form, 0):
            self._held[form] = self._held.get(form, 0) + 1
            return None
        self._next_ns[form] = now_ns + EVERY_NS
        return self._held.pop(form, 0)
