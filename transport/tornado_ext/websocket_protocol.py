"""WebSocket protocol and handler of Tornado with public hooks where Tornado has private methods."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, cast

from tornado.iostream import IOStream
from tornado.websocket import WebSocketHandler, WebSocketProtocol, WebSocketProtocol13


class HookedProtocol(WebSocketProtocol13):
    """Server side of one WebSocket; a subclass reads the messages, watches the connection and may send before it is aborted."""

    def __init__(self, handler: WebSocketHandler, params: Any) -> None:
        """`params` are what `HookedHandler.make_protocol` was given."""
        # A server does not mask its frames.
        super().__init__(handler, mask_outgoing=False, params=params)

    # ------------------------------------------------------------ hooks

    async def receive(self) -> None:
        """Read messages and hand each to `handle_message`, until the connection has ended; then Tornado calls the handler's `on_close`."""
        raise NotImplementedError

    def watch(self) -> Coroutine[Any, Any, None]:
        """Return a coroutine that runs beside `receive` until `close` cancels it; not called when the ping interval is 0."""
        raise NotImplementedError

    def before_abort(self) -> None:
        """Send a last frame, if `can_send`, before the stream is closed; also called when it is closed already."""

    # ------------------------------------------------------------ for the subclass

    def handle_message(self, opcode: int, payload: bytes) -> asyncio.Future[None] | None:
        """Handle a whole message or control frame. Return a future when the handler's `on_message` returned an awaitable."""
        return self._handle_message(opcode, payload)

    def abort(self) -> None:
        """Call `before_abort`, then close the stream."""
        self._abort()

    def read(self, most: int) -> asyncio.Future[bytes]:
        """Return the next bytes, 1 to `most`; the future is done already when they have been received."""
        return cast("asyncio.Future[bytes]", self.stream.read_bytes(most, partial=True))

    def set_read_size(self, size: int) -> None:
        """Ask the kernel for at most `size` bytes at a time."""
        self.stream.read_chunk_size = size

    @property
    def max_message_size(self) -> int:
        """The handler's `max_message_size`, bytes."""
        return int(self.params.max_message_size)

    @property
    def client_closed(self) -> bool:
        """Whether the client has sent its close frame, or the connection was aborted."""
        return self.client_terminated

    @property
    def disconnected(self) -> bool:
        """Whether the stream is closed."""
        return self.stream.closed()

    @property
    def can_send(self) -> bool:
        """Whether the handshake is over and neither side has closed."""
        return cast("IOStream | None", self.stream) is not None and not self.is_closing()

    # ------------------------------------------------------------ called by Tornado

    def start_pinging(self) -> None:
        """Run `watch` from now on."""
        if self._ping_coroutine is None and self.ping_interval > 0:
            self._ping_coroutine = asyncio.create_task(self.watch())

    async def _receive_frame_loop(self) -> None:
        try:
            await self.receive()
        finally:
            self.handler.on_ws_connection_close(self.close_code, self.close_reason)

    def _abort(self) -> None:
        self.before_abort()
        super()._abort()


class HookedHandler(WebSocketHandler):
    """WebSocket handler whose subclass makes the protocol."""

    def make_protocol(self, params: Any) -> WebSocketProtocol:
        """Return the protocol of this connection; `params` are Tornado's settings of it."""
        raise NotImplementedError

    def get_websocket_protocol(self) -> WebSocketProtocol | None:
        """Return the protocol; None when the client asks for a version that Tornado does not speak."""
        protocol = super().get_websocket_protocol()
        return self.make_protocol(protocol.params) if isinstance(protocol, WebSocketProtocol13) else None

    @property
    def websocket_stream(self) -> IOStream | None:
        """The stream under the WebSocket; None before the handshake and after the end."""
        connection = self.ws_connection
        return None if connection is None else connection.stream

    @property
    def sending_stream(self) -> IOStream | None:
        """The stream while a frame may be sent on it; None once either side has closed."""
        connection = self.ws_connection
        return None if connection is None or connection.is_closing() else connection.stream
