"""Resolve `?session=`: open sessions (configured by their actors) or the start values of new ones (by the manager)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from actors.kit.errors import FirmwareTooOld, InvalidInput, NoSuchActor, NoSuchSession
from actors.session.api import (
    MANAGER,
    Applied,
    Change,
    ConfigureDefaults,
    ConfigureSession,
    SessionConfig,
    parse_selector,
    select,
)
from transport.http.durable import confirmed
from transport.session.unplaced_scenes import take_back

if TYPE_CHECKING:
    from transport.bridge import Bridge
    from transport.http.call import Call

FIELD: Final = "?session="


@dataclass(frozen=True, slots=True)
class OpenScope:
    """Scope of one open session."""

    bridge: Bridge
    session_id: int

    @property
    def names(self) -> Mapping[str, object]:
        """Return the members that identify this session in a result."""
        return {"session_id": self.session_id}

    async def configure(self, changes: tuple[Change, ...] = ()) -> SessionConfig:
        """Have the session's actor apply a change and publish the new view to the loop; raise its refusal."""
        try:
            applied = await self.bridge.ask(f"session/{self.session_id}", ConfigureSession(changes))
        except NoSuchActor:
            if any(one.session_id == self.session_id for one in self.bridge.sessions.sessions):
                raise
            raise NoSuchSession(self.session_id) from None
        channel = self.bridge.channels.get(self.session_id)
        devices = None if channel is None or not changes else channel.devices
        if devices is not None:
            unplaced = devices.configured(applied.config)
            if unplaced:
                await take_back(unplaced, partial(self.bridge.ask, f"session/{self.session_id}"), devices.configured)
                raise InvalidInput(unplaced[0].reason)
        return _made(applied)


@dataclass(frozen=True, slots=True)
class StartScope:
    """Scope of the start values of new sessions."""

    bridge: Bridge

    @property
    def names(self) -> Mapping[str, object]:
        """Return no members: there is only one set of start values."""
        return {}

    async def configure(self, changes: tuple[Change, ...] = ()) -> SessionConfig:
        """Change the start values; the change is on the disk when this returns."""
        applied = await self.bridge.ask(MANAGER, ConfigureDefaults(changes))
        if changes:
            await confirmed(self.bridge, "That holds")
        return _made(applied)


Scope: TypeAlias = OpenScope | StartScope


@dataclass(frozen=True, slots=True)
class Scopes:
    """The scopes of a request; `several`: its answer lists results."""

    found: tuple[Scope, ...]
    several: bool


def named_scopes(call: Call) -> Scopes:
    """Return the scopes that `?session=` names, at least one; without it the only open session. InvalidInput, NoSuchSession."""
    text = call.query.get("session")
    if text is None:
        return Scopes((_only_session(call.bridge),), several=False)
    selector = parse_selector(text)
    if selector.is_default:
        return Scopes((StartScope(call.bridge),), several=False)
    selected = select(selector, call.bridge.sessions)
    found = tuple(OpenScope(call.bridge, record.session_id) for record in selected.some())
    return Scopes(found, selected.many)


def cleared_scopes(call: Call) -> Scopes:
    """Return the scopes that `?session=` names; without it every open session, possibly none."""
    if "session" in call.query:
        return named_scopes(call)
    return Scopes(tuple(OpenScope(call.bridge, one.session_id) for one in call.bridge.sessions.sessions), several=True)


def _only_session(bridge: Bridge) -> OpenScope:
    """Return the only open session; InvalidInput when none or several are open."""
    sessions = bridge.sessions.sessions
    if len(sessions) != 1:
        raise InvalidInput(
            "say whose configuration this is: a session, or default for what new ones start with; "
            f"it may be left out while exactly one session is open, and there are {len(sessions)}.",
            FIELD,
        )
    return OpenScope(bridge, sessions[0].session_id)


def _made(applied: Applied) -> SessionConfig:
    for refused in applied.refused:
        if isinstance(refused.error, FirmwareTooOld):
            raise refused.error
        raise InvalidInput(refused.reason, refused.path)
    return applied.config
