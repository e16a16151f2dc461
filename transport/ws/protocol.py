"""Tornado's WebSocket protocol with last words: a connection that breaks the rules is told which (RFC 6455, 7.4.1) before it is cut."""

from __future__ import annotations

import sys
from typing import Final, cast

from tornado.iostream import IOStream, StreamClosedError
from tornado.websocket import WebSocketHandler, WebSocketProtocol, WebSocketProtocol13

BROKEN_RULES: Final = (1002, "the WebSocket protocol was broken")
NO_UTF8: Final = (1007, "a TEXT message was not UTF-8")
FAILED: Final = (1011, "the service failed at this message")


class Protocol(WebSocketProtocol13):
    """Says 1002, 1007 or 1011 where Tornado hangs up without a word, which it does in `_abort` only."""

    def _abort(self) -> None:
        if self._may_speak():
            self.close(*_words(sys.exception()))
        super()._abort()

    def _may_speak(self) -> bool:
        """Whether the handshake is over and nobody has said goodbye."""
        stream = cast("IOStream | None", self.stream)
        return stream is not None and not (stream.closed() or self.server_terminated or self.client_terminated)


class Channel(WebSocketHandler):
    """What the channels have in common."""

    def get_websocket_protocol(self) -> WebSocketProtocol | None:
        """Tornado's, with last words."""
        protocol = super().get_websocket_protocol()
        return Protocol(self, False, protocol.params) if isinstance(protocol, WebSocketProtocol13) else None  # noqa: FBT003 - Tornado's own way

    def check_origin(self, origin: str) -> bool:
        """The guard has judged the origin by our rules, before the handshake."""
        del origin
        return True


def _words(error: BaseException | None) -> tuple[int, str]:
    """Code and reason for what is being handled while the connection is aborted."""
    if error is None or isinstance(error, StreamClosedError):
        return BROKEN_RULES
    return NO_UTF8 if isinstance(error, UnicodeDecodeError) else FAILED
