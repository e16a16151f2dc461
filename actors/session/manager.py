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
from actors.session import configure, defaults, scene
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
# Limit for one hanging session actor: requests that wait behind its stop time out after 0.25 s.
STOP_S: Final = 0.25


@dataclass(frozen=True, slots=True)
class SaveMemory(Message):
    """Told to the SessionManager by its timer: save the remembered sessions."""


class SessionManager(ServiceActor):
    """Actor of all sessions. Open sessions, table and memory outlive it; a restarted one adopts the open sessions."""

    def __init__(
        self,
        context: Context,
        runtime: Runtime,
        open_sessions: OpenSessions,
        table: Published[SessionTable],
        inventory: Published[Inventory],
        ids: SessionIdSource,
        settings: Published[SettingsView],
    ) -> None:
        super().__init__(MANAGER, context)
        self._runtime = runtime
        self._open_sessions = open_sessions
        self._table = table
        self._inventory = inventory
        self._ids = ids
        self._settings = settings
        self._children = Children(
            MANAGER,
            context,
            on_give_up=self._give_up,
            restart_limit=lambda: RestartLimit(restarts=3, window_s=10.0),
            stop_timeout_s=STOP_S,
        )

    def started(self) -> None:
        """Adopt the open sessions, and close those whose connection ended while no manager ran."""
        for entry in self._open_sessions.entries.values():
            self._spawn(entry)
            self._remember(entry)
        self._close_gone()
        self._publish()
        if self._open_sessions.memory.value.sessions:
            self._save()

    def stopped(self) -> None:
        """Stop the sessions' actors and save the memory."""
        self._children.stop_all()
        self._save()

    @handles(ChildFailed)
    def on_child_failed(self, message: ChildFailed) -> None:
        """Restart a crashed session actor within its restart limit."""
        self._children.failed(message)

    @handles(OpenSession)
    def open_session(self, message: OpenSession) -> SessionHandle:
        """Open a new session or resume a closed one; NoSlot when too many are open."""
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
        known = self._open_sessions.memory.value.sessions.get(session_id, Remembered())
        config = self._start_config(known)
        now = datetime.now(UTC).isoformat()
        entry = SessionEntry(session_id, lease, message.client, now, Published(config), message.lost, message.gone)
        self._open_sessions.entries[session_id] = entry
        self._remember(entry)
        self._save_soon()
        self._spawn(entry)
        self._publish()
        self._emit("session-opened", session_id, {"profile": config.profile}, f"session {session_id} opened")
        if message.resume is not None and resumed is None:
            self._emit(
                "session-warning",
                session_id,
                {"reason": "resume_refused"},
                f"no closed session {message.resume[:20]!r} is known: this is session {session_id}",
            )
        if (newer := configure.newer_version_warning(config.required_sdk_version)) is not None:
            self._emit("session-warning", session_id, {"reason": "sdk_version"}, newer)
        return SessionHandle(session_id, lease, actor_name(session_id), config, resumed is not None)

    @handles(CloseSession)
    def close_session(self, message: CloseSession) -> None:
        """Stop the actor, free the slot, remember profile and version. Ignore the close of an earlier connection."""
        entry = self._open_sessions.entries.get(message.session_id)
        if entry is not None and entry.lease == message.lease:
            self._close(entry)

    @handles(CloseGone)
    def close_gone(self, _message: CloseGone) -> None:
        """Close the sessions whose connection has ended."""
        self._close_gone()

    @handles(SessionDescribed)
    def on_described(self, message: SessionDescribed) -> None:
        """Update a session's configuration in the table; save the memory if profile or version changed."""
        entry = self._open_sessions.entries.get(message.session_id)
        if entry is not None and self._remember(entry):
            self._save()
        self._publish()

    @handles(SaveMemory)
    def on_save(self, _message: SaveMemory) -> None:
        """Save the memory, unless it was saved meanwhile."""
        if self._open_sessions.unsaved:
            self._save()

    def on_announce(self, message: Announce) -> None:
        """Send the memory to a new store, which may not have the last one."""
        if message.name == STORE:
            self._save()

    @handles(ConfigureDefaults)
    def configure_defaults(self, message: ConfigureDefaults) -> Applied:
        """Change the start values of new sessions and store them; open sessions keep theirs."""
        context = configure.ValidationContext(self._inventory.value, self._open_sessions.memory.value)
        before = self._open_sessions.defaults.value
        applied = configure.apply(before, message.changes, context)
        for event in unsupported_events(applied, context.inventory):
            self.tell(HUB, event)
        if applied.config != before:
            self._open_sessions.defaults.replace(applied.config)
            self.tell(STORE, SaveLedger(DEFAULTS_SECTION, defaults.as_json(applied.config)))
            self._publish()
        return applied

    def _start_config(self, known: Remembered) -> SessionConfig:
        """Return the start configuration of a session with this remembered profile and version; it has scenes only while they are on."""
        config = replace(
            self._open_sessions.defaults.value,
            profile=known.profile,
            required_sdk_version=known.required_sdk_version,
            sdk_from_profile=known.from_profile,
        )
        context = configure.ValidationContext(
            self._inventory.value,
            self._open_sessions.memory.value,
            freeform=self._settings.value.texts(configure.FREEFORM),
        )
        start = configure.apply(config, (), context).config
        return start if self._settings.value.flag(scene.SCENES_ENABLED) else configure.without_scenes(start)

    def _resumable(self, text: str | None) -> int | None:
        if text is None or not (text.isascii() and text.isdecimal() and len(text) < 19):
            return None
        session_id = int(text)
        if session_id in self._open_sessions.entries or session_id not in self._open_sessions.memory.value.sessions:
            return None
        return session_id

    def _close_gone(self) -> None:
        for entry in tuple(self._open_sessions.entries.values()):
            if entry.gone():
                self._close(entry)

    def _close(self, entry: SessionEntry) -> None:
        session_id = entry.session_id
        del self._open_sessions.entries[session_id]
        self._runtime.release_session(entry.lease)
        self._children.stop(actor_name(session_id))
        self._remember(entry)
        self._save_soon()
        profile = entry.config.value.profile
        self._publish()
        self._emit("session-closed", session_id, {"profile": profile}, f"session {session_id} closed")

    def _remember(self, entry: SessionEntry) -> bool:
        """Remember the entry's profile and version. Return True if they differ from those remembered before."""
        config = entry.config.value
        memory = self._open_sessions.memory.value
        now = Remembered(config.profile, config.required_sdk_version, config.sdk_from_profile)
        before = memory.sessions.get(entry.session_id, Remembered())
        self._open_sessions.memory.replace(memory.with_session(entry.session_id, now, before, self._declared()))
        return now != before

    def _declared(self) -> dict[str, str]:
        """Return profile name -> SDK version that an open session declared itself; the newest session wins."""
        configs = [entry.config.value for entry in self._open_sessions.entries.values()]
        return {
            config.profile: config.required_sdk_version
            for config in configs
            if config.required_sdk_version is not None and not config.sdk_from_profile
        }

    def _save(self) -> None:
        self.tell(STORE, SaveLedger(SECTION, self._open_sessions.memory.value.as_json()))
        self._open_sessions.unsaved = False

    def _save_soon(self) -> None:
        """Save once, SAVE_AFTER_S after the first change."""
        if not self._open_sessions.unsaved:
            self._open_sessions.unsaved = True
            self.context.timers.after(SAVE_AFTER_S, self.name, SaveMemory(), key=(self.name, SaveMemory))

    def _spawn(self, entry: SessionEntry) -> None:
        def start() -> pykka.ActorRef[SessionActor]:
            return SessionActor.start(self.context, entry, self._inventory, self._open_sessions, self._settings)

        self._children.spawn(actor_name(entry.session_id), start)

    def _give_up(self, name: str, error: Exception) -> None:
        """Make the edge close the connection; its close arrives as CloseSession."""
        session_id = int(name.partition("/")[2])
        self._emit("session-warning", session_id, {"reason": "actor_failed"}, f"session {session_id} failed: {error!r}")
        entry = self._open_sessions.entries.get(session_id)
        if entry is not None:
            entry.lost()

    def _publish(self) -> None:
        records = tuple(entry.record() for entry in self._open_sessions.entries.values())
        self._table.replace(SessionTable(records, self._open_sessions.defaults.value))
        self.context.metrics.sessions_open.set(len(self._open_sessions.entries))

    def _emit(self, kind: str, session_id: int, data: dict[str, object], message: str) -> None:
        self.tell(HUB, Emit(kind, {"session_id": session_id, **data}, message))
