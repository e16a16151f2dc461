"""When a port that connects and drops again and again is a loop: counted over a sliding window, pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from actors.port.messages import BLOCK_ON_LOOP, LOOP_THRESHOLD, Window
from actors.settings.messages import SettingsView

NS_PER_S: Final = 1_000_000_000
MOST_COUNTED: Final = 100


@dataclass(frozen=True, slots=True)
class Rule:
    """`threshold` loops within `window_s` are too many; `block`: the port is closed then."""

    threshold: int
    window_s: float
    block: bool

    @classmethod
    def of(cls, settings: SettingsView) -> Rule:
        """As the settings have it now."""
        return cls(
            settings.integer(LOOP_THRESHOLD),
            settings.number("devices/detection/loop_window"),
            settings.flag(BLOCK_ON_LOOP),
        )


@dataclass(frozen=True, slots=True)
class ReopeningResult:
    """What an opening comes to: `began` when it is the one that makes a loop, `block` when the port must be closed."""

    window: Window
    began: bool = False
    block: bool = False


def back(window: Window, now_ns: int, rule: Rule) -> ReopeningResult:
    """The port is listed again or open: one loop more if it had dropped, whichever is seen first; its first time is none."""
    before = aged(window, now_ns, rule)
    if not window.dropped:
        return ReopeningResult(before)
    after = Window((*before.reopened_ns, now_ns)[-MOST_COUNTED:])
    looping = len(after.reopened_ns) >= rule.threshold
    return ReopeningResult(after, looping and len(before.reopened_ns) < rule.threshold, looping and rule.block)


def dropped(window: Window) -> Window:
    """The port is unplugged or its link is down: its coming back counts."""
    return Window(window.reopened_ns, dropped=True)


def aged(window: Window, now_ns: int, rule: Rule) -> Window:
    """Without what is as old as the window is long; a time that is yet to come is of another clock and does not count."""
    oldest = now_ns - round(rule.window_s * NS_PER_S)
    return Window(tuple(at for at in window.reopened_ns if oldest < at <= now_ns), window.dropped)
