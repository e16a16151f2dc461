"""Open sessions in memory, which outlive their actors; each entry has one writer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from actors.kit.published import Published
from actors.session.messages import Client, SessionConfig, SessionRecord
from actors.session.profile import SessionMemory
from fastpath.arena.runtime import Lease


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """One open session; only its SessionActor replaces `config`."""

    session_id: int
    lease: Lease
    client: Client
    connected_at: str  # ISO 8601, UTC
    config: Published[SessionConfig]
    lost: Callable[[], None]  # closes the connection; any thread
    gone: Callable[[], bool]  # returns whether the connection has ended; any thread

    def record(self) -> SessionRecord:
        """Return its row of the table."""
        return SessionRecord(self.session_id, self.client, self.connected_at, self.config.value)


@dataclass(slots=True)
class OpenSessions:
    """State of the SessionManager that outlives its restarts; only the manager writes it."""

    memory: Published[SessionMemory]
    # start values of new sessions
    defaults: Published[SessionConfig] = field(default_factory=lambda: Published(SessionConfig()))
    entries: dict[int, SessionEntry] = field(default_factory=dict[int, SessionEntry])  # by session id, oldest first
    unsaved: bool = False  # the ledger lacks the newest memory
