"""One session's actor: it decides what its client's configuration comes to. Forces never pass through here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.event.messages import HUB, Emit
from actors.kit.actor import Context, ServiceActor, handles
from actors.session import configure
from actors.session.messages import MANAGER, Applied, ConfigureSession, SessionDescribed

if TYPE_CHECKING:
    from actors.device.messages import Inventory
    from actors.kit.published import Published
    from actors.session.book import SessionEntry
    from actors.session.profile import SessionMemory


def actor_name(session_id: int) -> str:
    """The directory name of a session's actor."""
    return f"session/{session_id}"


class SessionActor(ServiceActor):
    """Starts from the session's entry, which outlives it: a restarted actor has what was configured."""

    def __init__(
        self, context: Context, entry: SessionEntry, inventory: Published[Inventory], memory: Published[SessionMemory]
    ) -> None:
        super().__init__(actor_name(entry.session_id), context)
        self._entry = entry
        self._inventory = inventory
        self._memory = memory

    @handles(ConfigureSession)
    def configure(self, message: ConfigureSession) -> Applied:
        """Make or refuse each change; say what changed."""
        around = configure.Surroundings(self._inventory.value, self._memory.value)
        applied = configure.apply(self._entry.config.value, message.changes, around)
        if applied.scopes:
            self._entry.config.replace(applied.config)
            session_id = self._entry.session_id
            self.tell(MANAGER, SessionDescribed(session_id, applied.config))
            self.tell(
                HUB,
                Emit(
                    "session-updated",
                    {"session_id": session_id, "scopes": list(applied.scopes)},
                    f"session {session_id} changed {', '.join(applied.scopes)}",
                ),
            )
        for change in message.changes:
            if (reason := configure.too_new(change)) is not None:
                data = {"session_id": self._entry.session_id, "reason": "sdk_version"}
                self.tell(HUB, Emit("session-warning", data, reason))
        return applied
