"""Build SessionEntry values of open sessions."""

from __future__ import annotations

from actors.kit.published import Published
from actors.session.messages import Client, SessionConfig
from actors.session.open_sessions import SessionEntry
from fastpath.arena.runtime import Lease

CONNECTED_AT = "2026-01-01T00:00:00+00:00"


def entry_of(session_id: int, config: SessionConfig | None = None) -> SessionEntry:
    """An open session whose client lives."""
    return SessionEntry(
        session_id,
        Lease(0, 1, str(session_id)),
        Client("127.0.0.1", "3.1"),
        CONNECTED_AT,
        Published(config or SessionConfig()),
        lambda: None,
        lambda: False,
    )
