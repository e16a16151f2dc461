"""Rule for the wait before an unusable port is tried again; after a lost link it is one detection period."""

from __future__ import annotations

from typing import Final

from actors.values.hardware import PortFault

# The user may have changed rights, closed a program or set a file; an attempt costs one refused open.
FAULT_S: Final = 10.0


def after_fault(reason: PortFault) -> float | None:
    """Return the wait (s) after a port was unusable; None: not until it is plugged in again."""
    return None if reason is PortFault.NO_DRIVER else FAULT_S
