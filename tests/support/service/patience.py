"""Time limits of a service inside a test: long on a busy machine, the shipped ones where a test blocks something."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final, cast
from unittest.mock import patch

from actors.control.silence_watch import GONE_NS
from transport.bridge import Bridge
from transport.link.protocols.openlink.host_fsm import SILENT_NS
from transport.ws.session import CONFIGURE_S

PATIENCE_S: Final = 60.0
PATIENCE_NS: Final = 30_000_000_000
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


@contextmanager
def boards_may_pause(gone_ns: int = PATIENCE_NS, silent_ns: int = PATIENCE_NS) -> Generator[None]:
    """A board that has to wait for the machine, or whose service has, is not taken for one that went."""
    with (
        patch("actors.control.silence_watch.GONE_NS", gone_ns),
        patch("transport.link.protocols.openlink.host_fsm.SILENT_NS", silent_ns),
    ):
        yield


@contextmanager
def silence_counts() -> Generator[None]:
    """A board that says nothing has gone when it has for users."""
    with boards_may_pause(GONE_NS, SILENT_NS):
        yield
