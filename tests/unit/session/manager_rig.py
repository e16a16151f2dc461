"""A SessionManager as a plain object, with recorders of its messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from actors.event.messages import Emit
from actors.kit.errors import Busy
from actors.kit.published import Published
from actors.session import defaults
from actors.session.manager import DEFAULTS_SECTION, SECTION, SaveMemory, SessionManager
from actors.session.messages import (
    MANAGER,
    Client,
    CloseSession,
    OpenSession,
    SessionConfig,
    SessionDescribed,
    SessionHandle,
    SessionTable,
)
from actors.session.open_sessions import OpenSessions, SessionEntry
from actors.session.profile import SessionMemory
from actors.settings.immutable_json import freeze
from actors.settings.messages import SaveLedger
from fastpath.arena.runtime import Runtime
from tests.support.actors.actor_rig import ActorRig
from tests.support.actors.doubles import FakeActor, FakeChildren

CLIENT = Client("127.0.0.1", "3.1")


class Ids:
    """Ids from one block."""

    def __init__(self, first: int = 1, block: int = 10_000) -> None:
        self.next, self.end = first, first + block

    @property
    def running_low(self) -> bool:
        return self.end - self.next < 500

    def take(self) -> int:
        if self.next >= self.end:
            raise Busy
        self.next += 1
        return self.next - 1


class SessionManagerRig(ActorRig):
    """A manager without a thread and without children, and those whom it tells."""

    def __init__(self, *, most: int = 64, ids: Ids | None = None, memory: SessionMemory | None = None) -> None:
        super().__init__()
        self.runtime = Runtime(stepping=True, realtime=False, max_sessions=most)
        self.myself = FakeActor(self.context, MANAGER)
        self.open_sessions = OpenSessions(Published(memory or SessionMemory()))
        self.table = Published(SessionTable())
        self.ids = ids or Ids()
        self.lost: list[int] = []
        self.manager, self.children = self.again()

    def again(self) -> tuple[SessionManager, FakeChildren]:
        """Another manager with the same open sessions, as after a crash."""
        manager = SessionManager(
            self.context, self.runtime, self.open_sessions, self.table, self.inventory, self.ids, self.settings
        )
        children = FakeChildren()
        manager._children = cast("Any", children)
        return manager, children

    def open(
        self, resume: str | None = None, *, client: Client = CLIENT, gone: Callable[[], bool] = lambda: False
    ) -> SessionHandle:
        return self.manager.open_session(OpenSession(client, lambda: self.lost.append(1), resume, gone))

    def close(self, handle: SessionHandle) -> None:
        self.manager.close_session(CloseSession(handle.session_id, handle.lease))
        self.runtime.step()

    def declare(
        self, handle: SessionHandle, profile: str, version: str | None = None, *, from_profile: bool = False
    ) -> None:
        """Do as the session's actor does."""
        config = replace(
            self.entry(handle).config.value,
            profile=profile,
            required_sdk_version=version,
            sdk_from_profile=from_profile,
        )
        self.entry(handle).config.replace(config)
        self.manager.on_described(SessionDescribed(handle.session_id, config))

    def entry(self, handle: SessionHandle) -> SessionEntry:
        return self.open_sessions.entries[handle.session_id]

    @property
    def shown(self) -> list[tuple[int, str]]:
        return [(record.session_id, record.config.profile) for record in self.table.value.sessions]

    @property
    def events(self) -> list[tuple[str, object, object]]:
        return [
            (emit.kind, emit.data["session_id"], emit.data.get("profile", emit.data.get("reason")))
            for emit in self.hub.of(Emit)
        ]

    @property
    def saved(self) -> SessionMemory | None:
        """What the ledger would bring back."""
        saves = [save for save in self.store.of(SaveLedger) if save.section == SECTION]
        return SessionMemory.from_json(freeze(saves[-1].value)) if saves else None

    @property
    def kept(self) -> SessionConfig | None:
        """What new sessions would start with after a restart of the service."""
        saves = [save for save in self.store.of(SaveLedger) if save.section == DEFAULTS_SECTION]
        return defaults.from_json(freeze(saves[-1].value)) if saves else None

    def fire(self, seconds: float) -> None:
        """Let time pass, and hand the manager what falls due."""
        self.clock.advance(seconds)
        self.context.timers.fire_due()
        for message in self.myself.of(SaveMemory):
            self.manager.on_save(message)
        self.myself.told.clear()
