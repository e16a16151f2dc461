"""Tell everybody that the failsafe process was lost or runs again: log, event, metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.event.api import HUB, Emit
from transport.link.failsafe import FailsafeChange, FailsafeProcess, log

if TYPE_CHECKING:
    from actors.system import System


def follow(failsafe: FailsafeProcess, system: System) -> None:
    """Emit an event for each change from now on."""

    def tell(change: FailsafeChange) -> None:
        log(change)
        data = {
            "running": change.running,
            "reason": change.reason,
            "ports": change.ports,
            "restarts": change.restarts,
        }
        emit = Emit("failsafe-changed", data, change.sentence, level="notice" if change.running else "error")
        system.context.directory.tell(HUB, emit)

    failsafe.on_change = tell
    system.metrics.failsafe_restarts.elsewhere = lambda: failsafe.restarts
