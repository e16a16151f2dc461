"""How long the edge of a service inside waits for an actor: as long as a busy machine needs, and as in earnest where an actor is held."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final, cast
from unittest.mock import patch

from transport.bridge import Bridge
from transport.ws.session import CONFIGURE_S

PATIENCE_S: Final = 60.0
_ASK: Final = cast("dict[str, Any]", Bridge.ask.__kwdefaults__)
ASK_S: Final[float] = _ASK["timeout_s"]


@contextmanager
def patient() -> Generator[None]:
    """Nothing is late for the machine's sake."""
    with waiting(PATIENCE_S, PATIENCE_S):
        yield


@contextmanager
def in_earnest() -> Generator[None]:
    """What does not answer is late when it is late for users."""
    with waiting(CONFIGURE_S, ASK_S):
        yield


@contextmanager
def waiting(configure_s: float, ask_s: float) -> Generator[None]:
    """So long for a session's configuration, so long for everything else."""
    with patch("transport.ws.session.CONFIGURE_S", configure_s), patch.dict(_ASK, timeout_s=ask_s):
        yield
