"""What must be on the disk before it is answered: every route that changes something of the ledger ends here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.kit.errors import HapticError
from actors.settings.messages import STORE, ConfirmLedger

if TYPE_CHECKING:
    from transport.bridge import Bridge


async def confirmed(bridge: Bridge, done: str) -> None:
    """Return once the disk has it; an error says that what is `done` holds all the same."""
    try:
        await bridge.ask(STORE, ConfirmLedger())
    except HapticError as error:
        error.sentence = f"{done}, but a restart would forget it. {error.sentence}"
        raise
