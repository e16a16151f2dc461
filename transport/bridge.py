"""What every handler stands on: the running system's snapshots, the one way to ask an actor, and the open session channels."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from actors.kit.ask import ask_async
from actors.modules.registry import Registry
from transport.wire.deprecation_notices import DeprecationNotices
from transport.wire.hint_limit import HintLimit
from transport.wire.holders import PositionHolders
from transport.ws.turns import Turns

if TYPE_CHECKING:
    from actors.device.messages import Inventory
    from actors.kit.message import Request
    from actors.port.messages import PortTable
    from actors.session.messages import SessionTable
    from actors.settings.messages import SettingsView
    from actors.system import System
    from transport.ws.session_devices import SessionDevices

R = TypeVar("R")
LOOKS: Final = 200
PAUSE_S: Final = 0.005


class Channel(Protocol):
    """One open session channel, as the HTTP side sees it; main thread only."""

    session_id: int
    frames_sent: int
    commands_received: int

    @property
    def devices(self) -> SessionDevices | None:
        """The session's devices; None once it is closed."""
        ...

    @property
    def descriptor(self) -> int:
        """The connection's socket, -1 when it has none any more."""
        ...

    def hung_up(self) -> None:
        """The client has closed its side of the connection."""
        ...

    def disconnect(self, code: int, reason: str) -> None:
        """Close the connection with a WebSocket close code; its forces are released at once."""
        ...


class Bridge:
    """Main thread only; `listening` and `stopping` decide what `/readyz` says."""

    def __init__(self, system: System, modules: Registry | None = None) -> None:
        """`modules` None: those that come along."""
        self.system = system
        self.modules = modules or Registry()
        self.channels: dict[int, Channel] = {}
        self.holders = PositionHolders()
        self.turns = Turns()
        self.notices = DeprecationNotices()
        self.word_hints = HintLimit()
        self.slow_hints = HintLimit()
        self.listening = False
        self.stopping = False

    async def ask(self, name: str, request: Request[R], *, timeout_s: float = 2.0) -> R:
        """The reply of the actor `name`; Busy when it is late, NoSuchActor, or what its handler raised."""
        return await ask_async(self.system.context.directory, name, request, timeout_s=timeout_s)

    async def profile_shown(self, session_id: int, profile: str) -> None:
        """Return once the table of sessions, where selectors look, has the session under its new name; after a second at most."""
        for _ in range(LOOKS):
            if [one.config.profile for one in self.sessions.sessions if one.session_id == session_id] in (
                [profile],
                [],
            ):
                return
            await asyncio.sleep(PAUSE_S)

    def scale_output(self, session_id: int, gain: float) -> None:
        """Let through this share (0 to 1) of what a session puts out; nothing when it is not open."""
        channel = self.channels.get(session_id)
        devices = None if channel is None else channel.devices
        if devices is not None:
            devices.scale_output(gain)

    @property
    def inventory(self) -> Inventory:
        """Every device that is here."""
        return self.system.inventory.value

    @property
    def ports(self) -> PortTable:
        """Every port that was seen or is blocked."""
        return self.system.ports.value

    @property
    def sessions(self) -> SessionTable:
        """Every open session."""
        return self.system.sessions.value

    @property
    def settings(self) -> SettingsView:
        """Every setting."""
        return self.system.settings.value
