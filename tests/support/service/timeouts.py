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

TIMEOUT_S: Final = 60.0
SILENCE_LIMIT_NS: Final = 30_000_000_000
_ASK: Final = cast("dict[str, Any]", Bridge.ask.__kwdefaults__)
ASK_S: Final[float] = _ASK["timeout_s"]


@contextmanager
def long_timeouts() -> Generator[None]:
    """Raise the time limits of asks and of session configuration, so that a busy machine fails no test."""
    with timeouts(TIMEOUT_S, TIMEOUT_S):
        yield


@contextmanager
def shipped_timeouts() -> Generator[None]:
    """Use the shipped time limits of asks and of session configuration."""
    with timeouts(CONFIGURE_S, ASK_S):
        yield


@contextmanager
def timeouts(configure_s: float, ask_s: float) -> Generator[None]:
    """Patch the time limits, s: of a session's configuration and of every other ask."""
    with patch("transport.ws.session.CONFIGURE_S", configure_s), patch.dict(_ASK, timeout_s=ask_s):
        yield


@contextmanager
def long_silence_limits(gone_ns: int = SILENCE_LIMIT_NS, silent_ns: int = SILENCE_LIMIT_NS) -> Generator[None]:
    """Patch how long a silent board counts as present, ns: long by default, so that a busy machine loses no board."""
    with (
        patch("actors.control.silence_watch.GONE_NS", gone_ns),
        patch("transport.link.protocols.openlink.host_fsm.SILENT_NS", silent_ns),
    ):
        yield


@contextmanager
def shipped_silence_limits() -> Generator[None]:
    """Use the shipped limits after which a silent board counts as gone."""
    with long_silence_limits(GONE_NS, SILENT_NS):
        yield
