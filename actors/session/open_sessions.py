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
    """One open session; only its SessionActor replaces `config`. `connected_at` is ISO 8601 UTC; `gone`: no connection is left."""

    session_id: int
    lease: Lease
    client: Client
    connected_at: str
    config: Published[SessionConfig]
    lost: Callable[[], None]
    gone: Callable[[], bool]

    def record(self) -> SessionRecord:
        """As the table shows it."""
        return SessionRecord(self.session_id, self.client, self.connected_at, self.config.value)


@dataclass(slots=True)
class OpenSessions:
    """`entries` oldest first, `memory` and `defaults` are the SessionManager's to change, and stay when it restarts; `unsaved`: the disk lags."""

    memory: Published[SessionMemory]
    defaults: Published[SessionConfig] = field(default_factory=lambda: Published(SessionConfig()))
    entries: dict[int, SessionEntry] = field(default_factory=dict[int, SessionEntry])
    unsaved: bool = False
