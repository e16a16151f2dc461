"""Rule for the wait before an unusable port is tried again; after a lost link it is one detection period."""

from __future__ import annotations

from typing import Final

from actors.values.hardware import PortFault

# Somebody may have changed rights, closed a program or named a file: looking costs one refused open.
FAULT_S: Final = 10.0


def after_fault(reason: PortFault) -> float | None:
    """Seconds after a port could not be used; None: not before it was unplugged."""
    return None if reason is PortFault.NO_DRIVER else FAULT_S
