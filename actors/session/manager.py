"""SessionManager: assigns ids and slots, starts one actor per session, and remembers ended sessions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import pykka

from actors.event.messages import HUB, Emit
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.children import Children, RestartLimit
from actors.kit.errors import NoSlot
from actors.kit.message import Announce, ChildFailed, Message
from actors.kit.published import Published
from actors.session import configure, defaults
from actors.session.actor import SessionActor, actor_name, unsupported_events
from actors.session.messages import (
    MANAGER,
    Applied,
    CloseGone,
    CloseSession,
    ConfigureDefaults,
    OpenSession,
    SessionConfig,
    SessionDescribed,
    SessionHandle,
    SessionTable,
)
from actors.session.open_sessions import OpenSessions, SessionEntry
from actors.session.profile import Remembered
from actors.settings.messages import STORE, ReserveSessionIds, SaveLedger, SessionIdSource
from fastpath.arena.runtime import NoSlot as ArenaFull

if TYPE_CHECKING:
    from actors.device.messages import Inventory
    from actors.settings.messages import SettingsView
    from fastpath.arena.runtime import Runtime

SECTION: Final = "sessions"
DEFAULTS_SECTION: Final = "defaults"
SAVE_AFTER_S: Final = 0.2
# What waits for a session is answered within 0.25 s or not at all; an actor that hangs must not hold up the others longer.
STOP_S: Final = 0.25


@dataclass(frozen=True, slots=True)
class SaveMemory(Message):
    """Sessions have come or ended: write what is remembered of them."""


class SessionManager(ServiceActor):
    """Book, table and memory outlive it; a restarted manager adopts the sessions that live."""

    def __init__(
        self,
        context: Context,
        runtime: Runtime,
        book: OpenSessions,
        table: Published[SessionTable],
        inventory: Published[Inventory],
        ids: SessionIdSource,
        settings: Published[SettingsView],
    ) -> None:
        super().__init__(MANAGER, context)
        self._runtime = runtime
        self._book = book
        self._table = table
        self._inventory = inventory
        self._ids = ids
        self._settings = settings
        self._children = Children(
            MANAGER,
            context,
            on_give_up=self._give_up,
            intensity=lambda: RestartLimit(restarts=3, window_s=10.0),
            stop_timeout_s=STOP_S,
        )

    def started(self) -> None:
        """Adopt the sessions that are open, and make up for what nobody could be told meanwhile."""
        for entry in self._book.entries.values():
            self._spawn(entry)
            self._note(entry)
        self._close_gone()
        self._show()
        if self._book.memory.value.sessions:
            self._save()

    def stopped(self) -> None:
        """Stop the sessions' actors and write what is remembered."""
        self._children.stop_all()
        self._save()

    @handles(ChildFailed)
    def on_child_failed(self, message: ChildFailed) -> None:
        """A session's actor died: start it again within its intensity."""
        self._children.failed(message)

    @handles(OpenSession)
    def open_session(self, message: OpenSession) -> SessionHandle:
        """A new session, or the one that the client had; NoSlot when too many are open."""
        resumed = self._resumable(message.resume)
        try:
            session_id = self._ids.take() if resumed is None else resumed
        finally:
            if self._ids.running_low:
                self.tell(STORE, ReserveSessionIds())
        try:
            lease = self._runtime.lease_session(str(session_id))
        except ArenaFull:
            raise NoSlot("session", self._runtime.max_sessions) from None
        known = self._book.memory.value.sessions.get(session_id, Remembered())
        config = self._start_config(known)
        now = datetime.now(UTC).isoformat()
        entry = SessionEntry(session_id, lease, message.client, now, Published(config), message.lost, message.gone)
        self._book.entries[session_id] = entry
        self._note(entry)
        self._save_soon()
        self._spawn(entry)
        self._show()
        self._emit("session-opened", session_id, {"profile": config.profile}, f"session {session_id} opened")
        if message.resume is not None and resumed is None:
            self._emit(
                "session-warning",
                session_id,
                {"reason": "resume_refused"},
                f"no closed session {message.resume[:20]!r} is known: this is session {session_id}",
            )
        if (newer := configure.newer_than_ours(config.required_sdk_version)) is not None:
            self._emit("session-warning", session_id, {"reason": "sdk_version"}, newer)
        return SessionHandle(session_id, lease, actor_name(session_id), config, resumed is not None)

    @handles(CloseSession)
    def close_session(self, message: CloseSession) -> None:
        """Stop the actor, give the slot back, remember profile and version; an old connection's close changes nothing."""
        entry = self._book.entries.get(message.session_id)
        if entry is not None and entry.lease == message.lease:
            self._close(entry)

    @handles(CloseGone)
    def close_gone(self, _message: CloseGone) -> None:
        """Close the sessions without a connection."""
        self._close_gone()

    @handles(SessionDescribed)
    def on_described(self, message: SessionDescribed) -> None:
        """Show a session's configuration in the table; remember what it declared."""
        entry = self._book.entries.get(message.session_id)
        if entry is not None and self._note(entry):
            self._save()
        self._show()

    @handles(SaveMemory)
    def on_save(self, _message: SaveMemory) -> None:
        """Write what is remembered, unless that was done meanwhile."""
        if self._book.unsaved:
            self._save()

    def on_announce(self, message: Announce) -> None:
        """A new store may not have what the last one was told."""
        if message.name == STORE:
            self._save()

    @handles(ConfigureDefaults)
    def configure_defaults(self, message: ConfigureDefaults) -> Applied:
        """Change what new sessions start with and tell it to the ledger; open sessions keep what they have."""
        around = configure.ValidationContext(self._inventory.value, self._book.memory.value)
        before = self._book.defaults.value
        applied = configure.apply(before, message.changes, around)
        for event in unsupported_events(applied, around.inventory):
            self.tell(HUB, event)
        if applied.config != before:
            self._book.defaults.replace(applied.config)
            self.tell(STORE, SaveLedger(DEFAULTS_SECTION, defaults.as_json(applied.config)))
            self._show()
        return applied

    def _start_config(self, known: Remembered) -> SessionConfig:
        """What a session starts with that was known like this."""
        config = replace(
            self._book.defaults.value,
            profile=known.profile,
            required_sdk_version=known.required_sdk_version,
            sdk_from_profile=known.from_profile,
        )
        around = configure.ValidationContext(
            self._inventory.value, self._book.memory.value, freeform=self._settings.value.texts(configure.FREEFORM)
        )
        return configure.apply(config, (), around).config

    def _resumable(self, text: str | None) -> int | None:
        if text is None or not (text.isascii() and text.isdecimal() and len(text) < 19):
            return None
        session_id = int(text)
        if session_id in self._book.entries or session_id not in self._book.memory.value.sessions:
            return None
        return session_id

    def _close_gone(self) -> None:
        for entry in tuple(self._book.entries.values()):
            if entry.gone():
                self._close(entry)

    def _close(self, entry: SessionEntry) -> None:
        session_id = entry.session_id
        del self._book.entries[session_id]
        self._runtime.release_session(entry.lease)
        self._children.stop(actor_name(session_id))
        self._note(entry)
        self._save_soon()
        profile = entry.config.value.profile
        self._show()
        self._emit("session-closed", session_id, {"profile": profile}, f"session {session_id} closed")

    def _note(self, entry: SessionEntry) -> bool:
        """Remember profile and version, as those of the newest session; True when they are others than before."""
        config = entry.config.value
        memory = self._book.memory.value
        now = Remembered(config.profile, config.required_sdk_version, config.sdk_from_profile)
        before = memory.sessions.get(entry.session_id, Remembered())
        self._book.memory.replace(memory.noting(entry.session_id, now, before, self._declared()))
        return now != before

    def _declared(self) -> dict[str, str]:
        """Profile name -> SDK version that an open session of that name declared itself, the newest session's."""
        configs = [entry.config.value for entry in self._book.entries.values()]
        return {
            config.profile: config.required_sdk_version
            for config in configs
            if config.required_sdk_version is not None and not config.sdk_from_profile
        }

    def _save(self) -> None:
        self.tell(STORE, SaveLedger(SECTION, self._book.memory.value.as_json()))
        self._book.unsaved = False

    def _save_soon(self) -> None:
        """Once for all that happens until then."""
        if not self._book.unsaved:
            self._book.unsaved = True
            self.context.timers.after(SAVE_AFTER_S, self.name, SaveMemory(), key=(self.name, SaveMemory))

    def _spawn(self, entry: SessionEntry) -> None:
        def start() -> pykka.ActorRef[SessionActor]:
            return SessionActor.start(self.context, entry, self._inventory, self._book, self._settings)

        self._children.spawn(actor_name(entry.session_id), start)

    def _give_up(self, name: str, error: Exception) -> None:
        """Have the edge close the connection; the close comes back as CloseSession."""
        session_id = int(name.partition("/")[2])
        self._emit("session-warning", session_id, {"reason": "actor_failed"}, f"session {session_id} failed: {error!r}")
        entry = self._book.entries.get(session_id)
        if entry is not None:
            entry.lost()

    def _show(self) -> None:
        records = tuple(entry.record() for entry in self._book.entries.values())
        self._table.replace(SessionTable(records, self._book.defaults.value))
        self.context.metrics.sessions_open.set(len(self._book.entries))

    def _emit(self, kind: str, session_id: int, data: dict[str, object], message: str) -> None:
        self.tell(HUB, Emit(kind, {"session_id": session_id, **data}, message))
