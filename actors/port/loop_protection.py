"""Rules of the connection loop: reopenings counted over a sliding window, the port blocked above a threshold. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from actors.port.messages import BLOCK_ON_LOOP, LOOP_THRESHOLD, Window
from actors.settings.messages import SettingsView

NS_PER_S: Final = 1_000_000_000
MOST_COUNTED: Final = 100


@dataclass(frozen=True, slots=True)
class Rule:
    """The limit of reopenings."""

    threshold: int  # reopenings within the window that make a connection loop
    window_s: float  # s
    block: bool  # whether the port is blocked then

    @classmethod
    def of(cls, settings: SettingsView) -> Rule:
        """Return the rule of these settings."""
        return cls(
            settings.integer(LOOP_THRESHOLD),
            settings.number("devices/detection/loop_window"),
            settings.flag(BLOCK_ON_LOOP),
        )


@dataclass(frozen=True, slots=True)
class ReopeningResult:
    """The effect of one reopening."""

    window: Window
    began: bool = False  # this reopening reached the threshold
    block: bool = False  # the port must be blocked


def count_reopening(window: Window, now_ns: int, rule: Rule) -> ReopeningResult:
    """Count a reopening if the port had dropped, on the first of "listed again" and "open"; the first opening counts none."""
    before = drop_old(window, now_ns, rule)
    if not window.dropped:
        return ReopeningResult(before)
    after = Window((*before.reopened_ns, now_ns)[-MOST_COUNTED:])
    looping = len(after.reopened_ns) >= rule.threshold
    return ReopeningResult(after, looping and len(before.reopened_ns) < rule.threshold, looping and rule.block)


def mark_dropped(window: Window) -> Window:
    """Return the window after the port was unplugged or its link ended: the next opening counts."""
    return Window(window.reopened_ns, dropped=True)


def drop_old(window: Window, now_ns: int, rule: Rule) -> Window:
    """Drop reopenings older than the window, and those in the future, which come from another clock."""
    oldest = now_ns - round(rule.window_s * NS_PER_S)
    return Window(tuple(at for at in window.reopened_ns if oldest < at <= now_ns), window.dropped)
