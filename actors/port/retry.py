"""How long a PortLink waits before it tries its port again, as a rule: soon after a loss, more and more rarely while nobody answers."""

from __future__ import annotations

from typing import Final

from actors.values.hardware import PortFault

LONGEST_SILENCE_S: Final = 30.0
# Somebody may have changed rights, closed a program or named a file: looking costs one refused open.
FAULT_S: Final = 10.0
MOST_DOUBLINGS: Final = 10


def after_silence(period_s: float, tries: int) -> float:
    """Seconds after the `tries`-th time that nobody answered, 1 or more."""
    return min(period_s * 2.0 ** min(tries, MOST_DOUBLINGS), LONGEST_SILENCE_S)


def after_fault(reason: PortFault) -> float | None:
    """Seconds after a port could not be used; None: not before it was unplugged."""
    return None if reason is PortFault.NO_DRIVER else FAULT_S
