"""Await the write to the disk before a change of the ledger is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.kit.errors import HapticError
from actors.settings.api import STORE, ConfirmLedger

if TYPE_CHECKING:
    from transport.bridge import Bridge


async def confirmed(bridge: Bridge, done: str, *, within_s: float = 2.0) -> None:
    """Return when the ledger is on the disk; Busy after `within_s`. An error says that `done` is in force nevertheless."""
    try:
        with bridge.giving_way():
            await bridge.ask(STORE, ConfirmLedger(), timeout_s=within_s)
    except HapticError as error:
        error.sentence = f"{done}, but a restart would forget it. {error.sentence}"
        raise
