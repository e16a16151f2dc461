"""Does a session keep its commands alive? As a rule over the times at which they came."""

from __future__ import annotations

from collections import deque
from typing import Final

STALLS: Final = 3
WINDOW_NS: Final = 10_000_000_000


class CommandPulse:
    """Three time-outs within 10 s from which the session came back are worth a warning."""

    def __init__(self) -> None:
        self._last_ns = 0
        self._held = False
        self._stalls: deque[int] = deque(maxlen=STALLS)

    def note(self, now_ns: int, timeout_ns: int, *, holds: bool) -> int | None:
        """A message with commands came, `holds` when it leaves some held; the measured interval (ns) when it is time to warn."""
        interval = now_ns - self._last_ns
        stalled = self._held and interval > timeout_ns
        self._last_ns, self._held = now_ns, holds
        if not stalled or not holds:
            return None
        self._stalls.append(now_ns)
        if len(self._stalls) < STALLS or now_ns - self._stalls[0] > WINDOW_NS:
            return None
        self._stalls.clear()
        return interval
