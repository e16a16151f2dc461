"""The session channel: one connection is one session; the service sends a first frame, then one frame for each message.

A message is parsed, applied in the contract's order (configuration, workspace, commands) and answered at once with the newest
states; only a message with configuration waits, for the SessionActor. `on_message` returns an awaitable while the next message
must not be read: during a configuration, or while too many unsent replies wait.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tornado.ioloop import IOLoop
from tornado.iostream import StreamClosedError

from actors.kit.errors import Busy, HapticError, NoSlot, StateNotWritable
from actors.session.api import (
    MANAGER,
    ClearScene,
    Client,
    CloseGone,
    CloseSession,
    ConfigurationChanged,
    ConfigureSession,
    DeclareProfile,
    OpenSession,
    SessionHandle,
    SetScene,
)
from actors.settings.api import STORE, ConfirmLedger
from transport.http.request_target import RESUMED
from transport.session.command_gap import CommandGap
from transport.session.devices import SessionDevices
from transport.session.events import SessionEvents
from transport.session.unplaced_scenes import take_back
from transport.session.vocabulary import SessionVocabulary
from transport.wire import commands
from transport.wire.parsed_message import ParsedMessage
from transport.wire.vocabulary import AUTO, vocabulary_named
from transport.ws.protocol import INSTANCE
from transport.ws.session_protocol import SessionProtocol, StreamedChannel

if TYPE_CHECKING:
    from fastpath.stream.streaming import StreamSession
    from transport.bridge import Bridge
    from transport.session.unplaced_scenes import UnplacedScene

LONGEST_MESSAGE: Final = 64 * 1024
LONGEST_READ: Final = 256 * 1024
MOST_UNSENT_BYTES: Final = 64 * 1024
DRAIN_S: Final = 10.0
CONFIGURE_S: Final = 1.0
BACKLOG_S: Final = 0.2
FAULT_EVENT_S: Final = 1.0
NS_PER_S: Final = 1_000_000_000
VERSIONS: Final = ("3.0", "3.1")

POLICY: Final = 1008
TOO_BIG: Final = 1009
FAILED: Final = 1011

logger = logging.getLogger(__name__)


class SessionChannel(StreamedChannel):
    """One client's session; main thread only."""

    bridge: Bridge
    version: str
    _events: SessionEvents

    def initialize(self, bridge: Bridge, version: str, query: Mapping[str, str]) -> None:
        """`version` is the frame version of the port, `query` the URL's."""
        self.set_header(INSTANCE, bridge.instance)
        self.bridge = bridge
        self.turns = bridge.turns
        self.query = query
        self.version = version
        self.session_id = 0
        self._frames_sent = 0
        self._commands_received = 0
        self.stream_session: StreamSession | None = None
        self._words = SessionVocabulary(AUTO)
        self._handle: SessionHandle | None = None
        self._gone = False
        self._devices: SessionDevices | None = None
        self._command_gap = CommandGap()
        self._unsent = 0
        self._leaving = False
        self._hung_up = False
        self._frame_sent: asyncio.Event | None = None

    # ------------------------------------------------------------ opening and closing

    def make_protocol(self, params: Any) -> SessionProtocol:
        """Return the protocol of this connection."""
        return SessionProtocol(self, params, self.turns)

    @property
    def max_message_size(self) -> int:
        """Bytes past which the connection breaks; shorter messages past the limit are read and closed with 1009."""
        return LONGEST_READ

    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Open the session, then the connection; 503 if all slots are taken or the service is not ready."""
        if not (self.understood() and self._parse_query()):
            return
        client = Client(self.request.remote_ip or "", self.version)
        resume = self.query.get(RESUMED)
        request = OpenSession(client, _on_loop(self._lost), resume, lambda: self._gone)
        try:
            self._handle = await self.bridge.open_session(request)
        except (NoSlot, Busy, HapticError) as error:
            self._gone = True
            self.bridge.system.context.directory.tell(MANAGER, CloseGone())
            self.set_header("Retry-After", "1")
            self.refuse(503, error.sentence)
            return
        self._open_devices(self._handle)
        if self._gone:
            # The client left meanwhile: Tornado called on_close before the session was open.
            self._close_session()
            return
        try:
            await super().get(*args, **kwargs)
        finally:
            if self.session_id not in self.bridge.channels:
                self._close_session()

    def _open_devices(self, handle: SessionHandle) -> None:
        self.session_id = handle.session_id
        self._events = SessionEvents(self.bridge.system, handle.session_id)
        streams = self.bridge.streams
        self.stream_session = None if streams is None else streams.session()
        self._devices = SessionDevices(
            self.bridge,
            self._events,
            handle.session_id,
            handle.lease,
            handle.config,
            self._words.shown,
            self.version,
            self.stream_session,
            self._words.awaited,
        )

    def _parse_query(self) -> bool:
        version = self.query.get("version", self.version)
        name = self.query.get("vocabulary", self.bridge.settings.text("serialization/vocabulary"))
        if version not in VERSIONS:
            self.refuse(400, f'There is no frame version "{version[:20]}": use 3.0 or 3.1.')
        elif vocabulary_named(name) is None:
            self.refuse(400, f'There is no vocabulary "{name[:20]}": use neutral, inverse or auto.')
        else:
            self.version = version
            self._words = SessionVocabulary(name)
            return True
        return False

    def open(self, *_args: str, **_kwargs: str) -> None:
        """Send the first full frame."""
        self.set_nodelay(True)
        self.bridge.channels[self.session_id] = self
        try:
            if self._devices is not None:
                self._reply(ParsedMessage(full=frozenset(self._words.vocabulary.groups())), self._devices)
        except BaseException:
            # Tornado calls no on_close for a connection whose open failed.
            self.on_close()
            raise

    def on_close(self) -> None:
        """Release every force at once, before any actor is told."""
        if self._devices is not None:
            self._devices.release()
        self.bridge.holders.forget(self.session_id)
        if self.bridge.channels.get(self.session_id) is self:
            del self.bridge.channels[self.session_id]
        self._close_session()

    def _close_session(self) -> None:
        if self.stream_session is not None:
            self.stream_session.close()
        handle, self._handle = self._handle, None
        self._gone = True
        if handle is not None:
            self.bridge.system.context.directory.tell(MANAGER, CloseSession(handle.session_id, handle.lease))

    def disconnect(self, code: int, reason: str) -> None:
        """Close the connection; forces are released now, and further input is ignored."""
        self._leaving = True
        if self._devices is not None:
            self._devices.release()
        self.close(code, reason)

    def hung_up(self) -> None:
        """Release the forces of a client that closed its side; unread input is ignored.

        A close frame in it is answered if found within BACKLOG_S; then the connection is closed.
        """
        if self._hung_up:
            return
        self._hung_up = True
        if not self._leaving:
            self._leaving = True
            if self._devices is not None:
                self._devices.release()
        IOLoop.current().call_later(BACKLOG_S, self._drop)

    def _drop(self) -> None:
        stream = self.websocket_stream
        if stream is not None:
            stream.close()

    @property
    def descriptor(self) -> int:
        """The connection's socket; -1 once the connection is broken or closed."""
        stream = self.websocket_stream
        socket = None if stream is None or stream.closed() else stream.socket
        return -1 if socket is None else socket.fileno()

    def _lost(self) -> None:
        self.disconnect(FAILED, "the session failed: reconnect")

    # ------------------------------------------------------------ messages

    def on_message(self, message: str | bytes) -> Awaitable[None] | None:
        """Answer one message with one frame; returns an awaitable if no message may be read before it is done."""
        devices = self._devices
        if self._handle is None or self._leaving or devices is None or self.descriptor < 0:
            return None
        if len(message) > LONGEST_MESSAGE or (isinstance(message, str) and _utf8_bytes(message) > LONGEST_MESSAGE):
            self.disconnect(TOO_BIG, "a message may have 64 KiB")
            return None
        self._commands_received += 1
        self.bridge.system.runtime.hear(self._handle.lease)
        self.bridge.system.metrics.commands_received.inc()
        devices.update()
        parsed = commands.read(message, devices.by_id, self._words.vocabulary, devices.modules.active)
        if parsed.spoken & self._words.awaited:
            parsed = self._keep_to_one_vocabulary(parsed, message, devices)
        if parsed.changes:
            return self._configured(parsed, message, devices)
        return self._apply(parsed, message, devices)

    def _keep_to_one_vocabulary(
        self, parsed: ParsedMessage, message: str | bytes, devices: SessionDevices
    ) -> ParsedMessage:
        """Show only the client's vocabulary from now on. Return the message, as read in that vocabulary."""
        before = self._words.vocabulary
        self._words.heard(parsed.spoken)
        devices.use_vocabularies(self._words.shown, self._words.awaited)
        if self._words.vocabulary is before:
            return parsed
        return commands.read(message, devices.by_id, self._words.vocabulary, devices.modules.active)

    def _apply(self, parsed: ParsedMessage, message: str | bytes, devices: SessionDevices) -> Awaitable[None] | None:
        """Apply workspace and commands, send the reply, emit events: all that needs no actor."""
        moved = devices.apply(parsed)
        if parsed.mapped:
            timeout_ns, now_ns = devices.timeout_ns, self.bridge.system.runtime.now_ns()
            if self.stream_session is not None:
                last_ns, holding = self.stream_session.last_commands
                self._command_gap.resume(last_ns, holding=holding)
                self.stream_session.last_commands = (now_ns, bool(parsed.commands))
            slow = self._command_gap.note(now_ns, timeout_ns, holds=bool(parsed.commands))
            if slow is not None:
                self._events.timed_out(slow, timeout_ns / NS_PER_S, self.bridge.slow_hints)
        if parsed.faults:
            self._events.faulty(parsed.faults, message)
            parsed.faults = [(path, self._words.vocabulary.said(reason)) for path, reason in parsed.faults]
        if parsed.deprecated:
            self._events.deprecated(parsed.deprecated, self.bridge.notices)
        if moved:
            self._tell_workspaces(moved)
        return self._reply(parsed, devices)

    async def _configured(self, parsed: ParsedMessage, message: str | bytes, devices: SessionDevices) -> None:
        """Let the SessionActor decide, publish the new view, then apply the rest of the message."""
        if self._handle is None:
            return
        request = ConfigureSession(tuple(parsed.changes))
        try:
            applied = await self.bridge.ask(self._handle.actor, request, timeout_s=CONFIGURE_S)
        except HapticError as error:
            for change in parsed.changes:
                parsed.fault(change.path, f"not confirmed in time, send it again: {error.sentence}")
        else:
            for refused in applied.refused:
                parsed.fault(refused.path, refused.reason)
            if self.is_open:
                # Before the next await, during which a newer configuration may arrive.
                unplaced = devices.configured(applied.config)
                if unplaced:
                    await self._take_back(parsed, self._handle, unplaced, devices)
            declared = [change.path for change in parsed.changes if isinstance(change, DeclareProfile)]
            if declared:
                await self.bridge.profile_shown(self.session_id, applied.config.profile)
                await self._confirm_stored(parsed, declared[0])
        if self.is_open:
            devices.drop_absent(parsed)
            drained = self._apply(parsed, message, devices)
            if drained is not None:
                await drained

    async def _take_back(
        self,
        parsed: ParsedMessage,
        handle: SessionHandle,
        unplaced: tuple[UnplacedScene, ...],
        devices: SessionDevices,
    ) -> None:
        """Report scenes that have no place in the session's space; the session keeps those before."""
        paths = {
            change.device_id: change.path for change in parsed.changes if isinstance(change, (SetScene, ClearScene))
        }
        for one in unplaced:
            parsed.fault(paths.get(one.device_id, ""), one.reason)
        await take_back(unplaced, partial(self.bridge.ask, handle.actor, timeout_s=CONFIGURE_S), devices.configured)

    async def _confirm_stored(self, parsed: ParsedMessage, path: str) -> None:
        """Wait until the ledger is on the disk; report a failure in the frame at `path`."""
        try:
            await self.bridge.ask(STORE, ConfirmLedger(), timeout_s=CONFIGURE_S)
        except StateNotWritable as error:
            parsed.fault(path, f"applied, but not stored: {error.reason}")
        except HapticError as error:
            parsed.fault(path, f"applied, but perhaps not stored: {error.sentence}")

    def _reply(self, parsed: ParsedMessage, devices: SessionDevices) -> Awaitable[None] | None:
        """Send one frame; returns an awaitable if the client must first read earlier frames."""
        frame = devices.frame(parsed)
        stream = self.sending_stream
        if stream is None:
            return None
        try:
            # As write_message, without a task of the event loop for each frame: docs/decisions/0007.
            sent = stream.write(text_header(len(frame)) + frame)
        except StreamClosedError:
            return None
        self._frames_sent += 1
        self.bridge.system.metrics.frames_sent.inc()
        if not (stream.writing() or stream.closed()):
            return None
        self._unsent += len(frame)
        sent.add_done_callback(partial(self._on_taken, len(frame)))
        return self._drained() if self._unsent > MOST_UNSENT_BYTES else None

    def _on_taken(self, size: int, sent: asyncio.Future[None]) -> None:
        """Handle that an unsent frame was sent or its connection ended."""
        self._unsent -= size
        if self._frame_sent is not None:
            self._frame_sent.set()
        if not sent.cancelled():
            sent.exception()

    async def _drained(self) -> None:
        """Wait until the client has read enough frames; close it after 10 s without reading."""
        self._frame_sent = asyncio.Event()
        while self._unsent > MOST_UNSENT_BYTES:
            try:
                await asyncio.wait_for(self._frame_sent.wait(), DRAIN_S)
            except TimeoutError:
                self.unread(DRAIN_S)
                break
            self._frame_sent.clear()
        self._frame_sent = None

    def unread(self, seconds: float) -> None:
        """Close the connection of a client that has read none of its frames for DRAIN_S."""
        if seconds < DRAIN_S or self._leaving:
            return
        fields = {"session": self.session_id, "client": self.request.remote_ip}
        logger.warning("session %d read nothing for %g s and is closed", self.session_id, DRAIN_S, extra=fields)
        self.disconnect(POLICY, "frames were not read for 10 s")

    # ------------------------------------------------------------ used by HTTP

    @property
    def frames_sent(self) -> int:
        """Frames that the client was sent."""
        return self._frames_sent + (0 if self.stream_session is None else self.stream_session.frames)

    @property
    def commands_received(self) -> int:
        """Messages that came from the client."""
        return self._commands_received + (0 if self.stream_session is None else self.stream_session.messages)

    @property
    def is_open(self) -> bool:
        """Whether its commands count."""
        return self._handle is not None and not self._leaving

    @property
    def devices(self) -> SessionDevices | None:
        """The session's devices, None once it is closed."""
        if not self.is_open or self._devices is None:
            return None
        self._devices.update()
        return self._devices

    def _tell_workspaces(self, device_ids: tuple[str, ...]) -> None:
        """Tell the SessionActor that workspaces moved, which emits the event."""
        if self._handle is not None:
            changed = ConfigurationChanged(("config.transform",), device_ids)
            self.bridge.system.context.directory.tell(self._handle.actor, changed)


def text_header(size: int) -> bytes:
    """Return the header of an unmasked TEXT message of `size` bytes in one frame (RFC 6455, 5.2)."""
    if size < 126:
        return bytes((0x81, size))
    if size < 65536:
        return b"\x81\x7e" + size.to_bytes(2, "big")
    return b"\x81\x7f" + size.to_bytes(8, "big")


def _utf8_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _on_loop(step: Any) -> Any:
    """Return a function that runs `step` on this thread's event loop, from any thread."""
    loop = IOLoop.current()
    return lambda: loop.add_callback(step)
