"""Bridge between the handlers and the actors: snapshots, `ask`, and the open session channels."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from actors.kit.ask import ask_async
from actors.kit.errors import NoSlot
from actors.session.api import MANAGER
from transport.session.edge_state import EdgeState
from transport.wire.deprecation_notices import DeprecationNotices
from transport.ws.turns import Turns

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from actors.kit.message import Request
    from actors.modules.registry import ModuleRegistry
    from actors.session.api import OpenSession, SessionHandle
    from actors.system import System
    from transport.link.failsafe import FailsafeProcess
    from transport.session.devices import SessionDevices
    from transport.ws.native import NativeStreams

R = TypeVar("R")
LOOKS: Final = 200
PAUSE_S: Final = 0.005
SLOT_S: Final = 0.05
INSTANCE_BYTES: Final = 8


class Channel(Protocol):
    """One open session channel as HTTP handlers see it; main thread only."""

    session_id: int

    @property
    def frames_sent(self) -> int:
        """Frames that the client was sent."""
        ...

    @property
    def commands_received(self) -> int:
        """Messages that came from the client."""
        ...

    @property
    def devices(self) -> SessionDevices | None:
        """The session's devices; None once it is closed."""
        ...

    @property
    def descriptor(self) -> int:
        """The connection's socket, -1 when it has none any more."""
        ...

    def hung_up(self) -> None:
        """Handle a client that has closed its side of the connection."""
        ...

    def disconnect(self, code: int, reason: str) -> None:
        """Close the connection with a WebSocket close code; its forces are released at once."""
        ...


class Bridge(EdgeState):
    """Shared by all handlers; main thread only. `listening` and `stopping` decide the answer of `/readyz`."""

    def __init__(self, system: System, modules: ModuleRegistry | None = None) -> None:
        """`modules` None: the built-in ones."""
        super().__init__(system, modules)
        # Of this run of the service: another one after each start.
        self.instance = secrets.token_hex(INSTANCE_BYTES)
        self.channels: dict[int, Channel] = {}
        # Ids of the devices that vibrate so that people know which one it is.
        self.identifying: set[str] = set()
        self.turns = Turns()
        self.notices = DeprecationNotices()
        self.streams: NativeStreams | None = None
        self.failsafe: FailsafeProcess | None = None
        self.listening = False
        self.stopping = False

    @property
    def answers(self) -> bool:
        """Whether requests and sessions are answered: the service has started and does not stop."""
        return self.listening and not self.stopping

    def giving_way(self, *, stop: bool = False) -> AbstractContextManager[None]:
        """Have the streaming threads make way for a write to the disk; `stop`: and rest most of the time."""
        return nullcontext() if self.streams is None else self.streams.giving_way(stop=stop)

    async def ask(self, name: str, request: Request[R], *, timeout_s: float = 2.0) -> R:
        """Ask the actor `name` and return its reply; Busy after `timeout_s`, NoSuchActor, or what its handler raised."""
        return await ask_async(self.system.context.directory, name, request, timeout_s=timeout_s)

    async def open_session(self, request: OpenSession) -> SessionHandle:
        """Open a session. Ask a second time if all slots are taken: a freed slot is usable after the loop's next tick. NoSlot, Busy."""
        try:
            return await self.ask(MANAGER, request)
        except NoSlot:
            if len(self.channels) >= self.settings.integer("communication/max_sessions"):
                raise
        await asyncio.sleep(SLOT_S)
        return await self.ask(MANAGER, request)

    async def profile_shown(self, session_id: int, profile: str) -> None:
        """Wait until the session table, which selectors read, shows the session's new profile; at most one second."""
        for _ in range(LOOKS):
            if [one.config.profile for one in self.sessions.sessions if one.session_id == session_id] in (
                [profile],
                [],
            ):
                return
            await asyncio.sleep(PAUSE_S)

    def scale_output(self, session_id: int, gain: float) -> None:
        """Scale a session's output by `gain` (0 to 1); no effect when it is not open."""
        channel = self.channels.get(session_id)
        devices = None if channel is None else channel.devices
        if devices is not None:
            devices.scale_output(gain)
