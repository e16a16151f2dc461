"""The WebSocket protocol of a session: its connection goes to the streaming thread and comes back between two reads."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from transport.ws.protocol import Channel, Protocol

if TYPE_CHECKING:
    from tornado.iostream import IOStream

    from fastpath.stream.streaming import StreamSession
    from transport.bridge import Bridge
    from transport.ws.incoming import Incoming
    from transport.ws.native import NativeStream
    from transport.ws.turns import Turns


class StreamedChannel(Channel):
    """A channel whose connection may be the streaming thread's."""

    bridge: Bridge
    stream_session: StreamSession | None

    @property
    def is_open(self) -> bool:
        """Whether its commands count."""
        raise NotImplementedError

    def unread(self, seconds: float) -> None:
        """Handle a client that has read none of its frames for so long."""
        raise NotImplementedError


class SessionProtocol(Protocol):
    """Protocol of a session: its connection is the streaming thread's whenever nothing is left to be read here."""

    def __init__(self, handler: StreamedChannel, params: Any, turns: Turns) -> None:
        super().__init__(handler, params, turns)
        self._channel = handler
        self._native: NativeStream | None = None

    def before_read(self, incoming: Incoming) -> None:
        """Let the streaming thread go on from here, if it has a plan for this session."""
        channel, streams = self._channel, self._channel.bridge.streams
        if streams is None or channel.stream_session is None or not self.can_send:
            return
        if self._native is None:
            self._native = streams.adopt(self.stream, channel.stream_session, channel.unread)
            if self._native is not None:
                self.stream = cast("IOStream", self._native)
        if self._native is not None and channel.is_open:
            incoming.release(self._native.give)

    def last_heard(self) -> float:
        """Return when anything was heard of the client, by the event loop's clock."""
        native = self._native
        if native is None:
            return super().last_heard()
        return max(super().last_heard(), asyncio.get_running_loop().time() - native.session.heard_s)

    def close(self, code: int | None = None, reason: str | None = None) -> None:
        """Close the connection; the streaming thread answers nothing any more."""
        if self._native is not None:
            self._native.retake()
        super().close(code, reason)
