"""Detect a session whose commands time out, from their arrival times. Pure."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

from fastpath.layout.constants import FADE_MILLISECONDS

STALLS: Final = 3
WINDOW_NS: Final = 10_000_000_000
QUIET_NS: Final = 60_000_000_000
FADE_NS: Final = FADE_MILLISECONDS * 1_000_000
NS_PER_S: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class SlowSession:
    """Measurement of a session whose commands time out repeatedly."""

    interval: float  # s, mean of the intervals after which the commands had timed out
    force_lost: float  # 0 to 1, share of the commanded force that was not put out meanwhile


class CommandGap:
    """Reports three time-outs within 10 s after which commands resumed; again only after a minute without any.

    A changed time-out allows one more report.
    """

    def __init__(self) -> None:
        self._last_ns = 0
        self._holding = False
        self._stalls: deque[tuple[int, int, int]] = deque(maxlen=STALLS)  # ns: when it came back, interval, force lost
        self._stalled_ns = 0
        self._reported_timeout_ns = 0

    def resume(self, last_ns: int, *, holding: bool) -> None:
        """Take up what was heard elsewhere: when the newest message with commands came, and whether some stay in force."""
        if last_ns > self._last_ns:
            self._last_ns, self._holding = last_ns, holding

    def note(self, now_ns: int, timeout_ns: int, *, holds: bool) -> SlowSession | None:
        """Record a message with commands (`holds`: some stay in force). Return a measurement when it is due."""
        interval = now_ns - self._last_ns
        stalled = self._holding and interval > timeout_ns
        self._last_ns, self._holding = now_ns, holds
        if not stalled or not holds:
            return None
        quiet, self._stalled_ns = now_ns - self._stalled_ns, now_ns
        if self._reported_timeout_ns == timeout_ns and quiet <= QUIET_NS:
            return None
        self._reported_timeout_ns = 0
        self._stalls.append((now_ns, interval, lost_ns(interval, timeout_ns)))
        if len(self._stalls) < STALLS or now_ns - self._stalls[0][0] > WINDOW_NS:
            return None
        return self._measure(now_ns, timeout_ns)

    def _measure(self, now_ns: int, timeout_ns: int) -> SlowSession:
        first_ns, first_interval, _ = self._stalls[0]
        intervals = sum(interval for _, interval, _ in self._stalls)
        lost = sum(lost for _, _, lost in self._stalls)
        self._stalls.clear()
        self._reported_timeout_ns = timeout_ns
        return SlowSession(intervals / STALLS / NS_PER_S, lost / (now_ns - first_ns + first_interval))


def lost_ns(interval_ns: int, timeout_ns: int) -> int:
    """Return the force lost between two commands, as ns of the full force; 0 up to the time-out.

    A command counts fully until the time-out and fades linearly to 0 in 20 ms: d²/2r while d ≤ r, then d - r/2, for
    d = interval - timeout and r = 20 ms. 100 ms with a time-out of 50 ms: 40 ms.
    """
    late = max(interval_ns - timeout_ns, 0)
    return late * late // (2 * FADE_NS) if late <= FADE_NS else late - FADE_NS // 2
