"""Beat for the service manager's watchdog: sent from the timekeeper's thread while control loop and main thread both turn."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from actors.control.counters import read_counters

if TYPE_CHECKING:
    from actors.control.counters import LoopStateSource

# Share of a period without a beat, from which the log says who stands still: before the manager ends the service.
TOLD_AFTER: Final = 0.75

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Turns:
    """How often each has turned."""

    loop: int  # ticks of the control loop, those that it left out included
    main: int  # turns of the event loop


class ProgressBeat:
    """A watch of the timekeeper: beats every half a period, if loop and main thread have turned since the last beat."""

    def __init__(
        self,
        period_s: float,
        send: Callable[[], bool],
        runtime: LoopStateSource,
        main_turns: Callable[[], int],
        now_ns: Callable[[], int],
    ) -> None:
        """`period_s` is the watchdog's; `send` returns whether the beat was taken; `main_turns` is called from the timekeeper's thread."""
        self._period_ns = round(period_s * 1e9)
        self._send = send
        self._runtime = runtime
        self._main_turns = main_turns
        self._now_ns = now_ns
        self._sent_ns = now_ns()
        self._sent = Turns(0, 0)
        self._told = True  # until the first beat: before it the service starts

    def poll(self) -> None:
        """Send the beat when it is due and both have turned; log once who stands still."""
        now_ns = self._now_ns()
        since_ns = now_ns - self._sent_ns
        if 2 * since_ns < self._period_ns:
            return
        turns = self._turns()
        if turns.loop != self._sent.loop and turns.main != self._sent.main and self._send():
            self._sent, self._sent_ns, self._told = turns, now_ns, False
        elif not self._told and since_ns >= TOLD_AFTER * self._period_ns:
            self._told = True
            logger.error("no beat for the watchdog of the service manager: %s", self._cause(turns))

    def _turns(self) -> Turns:
        counters = read_counters(self._runtime)
        return Turns(counters.ticks + counters.missed, self._main_turns())

    def _cause(self, turns: Turns) -> str:
        if turns.loop == self._sent.loop:
            return "the control loop stands still"
        if turns.main == self._sent.main:
            return "the main thread stands still"
        return "its socket takes none"
