"""The session channel: one connection is one session; the service speaks first, then answers each message with one frame.

A message is read, takes effect in the contract's order (configuration, workspace, commands), and is answered at once with the
newest states; only a message that configures waits, for the SessionActor. `on_message` returns an awaitable when the next
message must not be read yet: while a configuration is under way, while too many replies wait to be sent, or when it is the
turn of others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tornado.ioloop import IOLoop
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from actors.kit.errors import Busy, HapticError, NoSlot
from actors.session.messages import (
    MANAGER,
    Client,
    CloseGone,
    CloseSession,
    ConfigureSession,
    OpenSession,
    SessionHandle,
)
from actors.values.spatial import Transform
from transport.wire import commands, frames
from transport.wire.pulse import CommandPulse
from transport.wire.vocabulary import NEUTRAL, Vocabulary, vocabulary_named
from transport.ws.devices import SessionDevice
from transport.ws.session_events import SessionEvents

if TYPE_CHECKING:
    from fastpath.wire import FrameEncoder
    from transport.bridge import Bridge

LONGEST_MESSAGE: Final = 64 * 1024
LONGEST_READ: Final = 256 * 1024
MOST_UNSENT_BYTES: Final = 64 * 1024
TURN_BYTES: Final = 16 * 1024
MESSAGE_BYTES: Final = 1024
DRAIN_S: Final = 10.0
CONFIGURE_S: Final = 0.25
NS_PER_S: Final = 1_000_000_000
VERSIONS: Final = ("3.0", "3.1")

POLICY: Final = 1008
TOO_BIG: Final = 1009
FAILED: Final = 1011

logger = logging.getLogger(__name__)


class SessionChannel(WebSocketHandler):
    """One client's session; main thread only."""

    bridge: Bridge
    version: str
    _events: SessionEvents

    def initialize(self, bridge: Bridge, version: str) -> None:
        """`version` is the frame version of the port."""
        self.bridge = bridge
        self.version = version
        self.session_id = 0
        self.frames_sent = 0
        self.commands_received = 0
        self.vocabulary: Vocabulary = NEUTRAL
        self._handle: SessionHandle | None = None
        self._gone = False
        self._devices: dict[str, SessionDevice] = {}
        self._workspaces: dict[str, Transform] = {}
        self._encoder: FrameEncoder | None = None
        self._built_for = (-1, -1)
        self._timeout_ns = 0
        self._pulse = CommandPulse()
        self._unsent = 0
        self._turn = 0
        self._leaving = False
        self._taken: asyncio.Event | None = None

    # ------------------------------------------------------------ opening and closing

    @property
    def max_message_size(self) -> int:
        """A message past this breaks the connection; one that is shorter, but too long, is read to its end and told 1009."""
        return LONGEST_READ

    def check_origin(self, origin: str) -> bool:
        """The guard has judged the origin by our rules, before the handshake."""
        del origin
        return True

    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Open the session, then the connection: too many sessions, or a service that is not ready, is a 503."""
        if not self._choose():
            return
        client = Client(self.request.remote_ip or "", self.version)
        resume = self.get_argument("session_id", None)
        request = OpenSession(client, _on_loop(self._lost), resume, lambda: self._gone)
        try:
            self._handle = await self.bridge.ask(MANAGER, request)
        except (NoSlot, Busy, HapticError) as error:
            self._gone = True
            self.bridge.system.context.directory.tell(MANAGER, CloseGone())
            self.set_header("Retry-After", "1")
            self._refuse(503, error.sentence)
            return
        self.session_id = self._handle.session_id
        self._events = SessionEvents(self.bridge.system, self.session_id)
        if self._gone:
            # The client left meanwhile: Tornado has called on_close and does so only once.
            self._close_session()
            return
        try:
            await super().get(*args, **kwargs)
        finally:
            if self.session_id not in self.bridge.channels:
                self._close_session()

    def _choose(self) -> bool:
        version = self.get_argument("version", self.version)
        name = self.get_argument("vocabulary", self.bridge.settings.text("serialization/vocabulary"))
        vocabulary = vocabulary_named(name)
        if version not in VERSIONS:
            self._refuse(400, f'There is no frame version "{version[:20]}": use 3.0 or 3.1.')
        elif vocabulary is None:
            self._refuse(400, f'There is no vocabulary "{name[:20]}": use neutral or inverse.')
        else:
            self.version, self.vocabulary = version, vocabulary
            return True
        return False

    def _refuse(self, status: int, sentence: str) -> None:
        self.set_status(status)
        self.finish({"ok": False, "error": sentence})

    def open(self, *_args: str, **_kwargs: str) -> None:
        """Send the first full frame unasked."""
        self.set_nodelay(True)
        self.bridge.channels[self.session_id] = self
        try:
            self._reply(commands.Read(full=frozenset(self.vocabulary.groups())))
        except BaseException:
            # Tornado calls no on_close for a connection whose open failed.
            self.on_close()
            raise

    def on_close(self) -> None:
        """Release every force at once, before any actor hears of it."""
        for device in self._devices.values():
            device.writer.revoke()
        self.bridge.holders.forget(self.session_id)
        if self.bridge.channels.get(self.session_id) is self:
            del self.bridge.channels[self.session_id]
        self._close_session()

    def _close_session(self) -> None:
        handle, self._handle = self._handle, None
        self._gone = True
        if handle is not None:
            self.bridge.system.context.directory.tell(MANAGER, CloseSession(handle.session_id, handle.lease))

    def disconnect(self, code: int, reason: str) -> None:
        """Close the connection; forces are released now, not when the client answers, and nothing that it sends counts."""
        self._leaving = True
        for device in self._devices.values():
            device.writer.revoke()
        self.close(code, reason)

    def _lost(self) -> None:
        self.disconnect(FAILED, "the session failed: reconnect")

    # ------------------------------------------------------------ messages

    def on_message(self, message: str | bytes) -> Awaitable[None] | None:
        """Answer one message with one frame; an awaitable when nothing may be read until it is done."""
        if self._handle is None or self._leaving:
            return None
        if len(message) > LONGEST_MESSAGE or (isinstance(message, str) and _utf8_bytes(message) > LONGEST_MESSAGE):
            self.disconnect(TOO_BIG, "a message may have 64 KiB")
            return None
        self.commands_received += 1
        self.bridge.system.metrics.commands_received.inc()
        self._follow()
        found = commands.read(message, self._devices, self.vocabulary)
        if found.changes:
            return self._configured(found, message)
        if found.faults:
            self._events.faulty(found.faults, message)
        self._apply(found)
        return self._reply(found) or self._give_way(len(message))

    def _give_way(self, size: int) -> Awaitable[None] | None:
        """Messages that came together are read without a pause; each counts so many bytes until others have their turn."""
        self._turn += MESSAGE_BYTES + size
        if self._turn < TURN_BYTES:
            return None
        self._turn = 0
        return asyncio.sleep(0)

    async def _configured(self, found: commands.Read, message: str | bytes) -> None:
        """Have the SessionActor decide, show the new view to the loop, then everything else of the message."""
        handle = self._handle
        if handle is None:
            return
        try:
            applied = await self.bridge.ask(handle.actor, ConfigureSession(tuple(found.changes)), timeout_s=CONFIGURE_S)
        except HapticError as error:
            if self._handle is None:
                return
            for change in found.changes:
                found.fault(change.path, f"not confirmed in time, send it again: {error.sentence}")
        else:
            if self._handle is None:
                return
            for refused in applied.refused:
                found.fault(refused.path, refused.reason)
            self._handle = handle = SessionHandle(
                handle.session_id, handle.lease, handle.actor, applied.config, handle.resumed
            )
            for device in self._devices.values():
                if device.view(applied.config):
                    device.writer.publish(refresh=False)
        if found.faults:
            self._events.faulty(found.faults, message)
        self._apply(found)
        drained = self._reply(found)
        if drained is not None:
            await drained

    def _follow(self) -> None:
        """Take up devices and settings that changed since the last message."""
        system = self.bridge.system
        now = (system.inventory.version, system.settings.version)
        if now == self._built_for or self._handle is None:
            return
        self._built_for = now
        before, self._devices = self._devices, {}
        for record in self.bridge.inventory.devices:
            device = before.get(record.device_id)
            if device is None or device.record.lease != record.lease:
                workspace = self._workspaces.get(record.device_id, Transform())
                device = SessionDevice(system.runtime, self._handle.lease, record, workspace)
                device.view(self._handle.config)
            device.follow(record)
            self._devices[record.device_id] = device
        settings = self.bridge.settings
        self._timeout_ns = int(settings.number("sessions/command_timeout") * NS_PER_S)
        groups = frames.grouped(
            (device.record for device in self._devices.values()),
            self.vocabulary,
            lambda record: self._devices[record.device_id].entry(),
        )
        self._encoder = frames.encoder(self.session_id, groups, self.version, settings)

    def _apply(self, found: commands.Read) -> None:
        """Workspace first, then commands; without a commands map nothing that is held is touched."""
        for device_id, change in found.workspaces:
            device = self._devices[device_id]
            device.move_workspace(change)
            self._workspaces[device_id] = device.workspace
            if not found.mapped:
                device.writer.publish(refresh=False)
        if not found.mapped:
            return
        now_ns = self.bridge.system.runtime.now_ns()
        moved = {device_id for device_id, _ in found.workspaces}
        commanded = {wish[0] for wish in found.wishes}
        held = [device for device in self._devices.values() if device.writer.commands]
        for device in held:
            device.writer.begin()
        for wish in found.wishes:
            self._wish(found, wish, now_ns)
        for device in self._devices.values():
            if device.device_id in commanded or device.device_id in moved or device in held:
                device.writer.publish()
        interval = self._pulse.note(now_ns, self._timeout_ns, holds=bool(found.wishes))
        if interval is not None:
            self._events.timed_out(interval)

    def _wish(self, found: commands.Read, wish: commands.Wish, now_ns: int) -> None:
        device_id, code, x, y, z, path = wish
        writer = self._devices[device_id].writer
        if code == commands.FORCE:
            writer.force(x, y, z)
        elif code == commands.TORQUE:
            writer.torque(x, y, z)
        else:
            holder = self.bridge.holders.claim(device_id, self.session_id, writer, now_ns, self._timeout_ns)
            if holder is not None:
                found.fault(path, f"session {holder} holds the position of {device_id}")
                self._events.busy(self._devices[device_id].record, holder)
            elif code == commands.POSITION:
                writer.position(x, y, z)
            else:
                writer.angle(x, y, z)

    # ------------------------------------------------------------ frames

    def _reply(self, found: commands.Read) -> Awaitable[None] | None:
        """Send one frame; an awaitable when the client does not take its frames and must be waited for."""
        self._follow()
        if self._encoder is None or self._handle is None:
            return None
        configs = None if found.full is None else self._configs(found.full)
        frame = self._encoder.encode(configs, found.faults or None)
        try:
            sent = self.write_message(frame)
        except WebSocketClosedError:
            return None
        self.frames_sent += 1
        self.bridge.system.metrics.frames_sent.inc()
        stream = self.ws_connection.stream if self.ws_connection is not None else None
        if stream is not None and not (stream.writing() or stream.closed()):
            return None
        self._unsent += len(frame)
        asyncio.ensure_future(sent).add_done_callback(partial(self._on_taken, len(frame)))
        return self._drained() if self._unsent > MOST_UNSENT_BYTES else None

    def _on_taken(self, size: int, sent: asyncio.Future[None]) -> None:
        """A frame that had to wait has left, or its connection has."""
        self._unsent -= size
        if self._taken is not None:
            self._taken.set()
        if not sent.cancelled():
            sent.exception()

    async def _drained(self) -> None:
        """Wait until the client has taken enough of its frames; one that takes none for 10 s is closed."""
        self._taken = asyncio.Event()
        while self._unsent > MOST_UNSENT_BYTES:
            try:
                await asyncio.wait_for(self._taken.wait(), DRAIN_S)
            except TimeoutError:
                logger.warning("session %d read nothing for %g s and is closed", self.session_id, DRAIN_S)
                self.disconnect(POLICY, "frames were not read for 10 s")
                break
            self._taken.clear()
        self._taken = None

    def _configs(self, groups: frozenset[str]) -> dict[str, bytes]:
        handle = self._handle
        if handle is None:
            return {}
        records = [
            device.record
            for device in self._devices.values()
            if self.vocabulary.group(device.kind, device.record.identity.connection) in groups
        ]
        return dict(frames.configs(records, handle.config, self.vocabulary, self.bridge.settings, self.version))


def _utf8_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _on_loop(step: Any) -> Any:
    """`step`, to be called on this thread's event loop from any thread."""
    loop = IOLoop.current()
    return lambda: loop.add_callback(step)
