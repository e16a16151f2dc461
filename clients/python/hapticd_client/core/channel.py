"""One WebSocket connection without I/O: bytes in, messages out, and errors as sentences. Over websockets' own protocol."""

from __future__ import annotations

import platform
from collections import deque
from collections.abc import Mapping
from typing import Final

import orjson
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHandshake, WebSocketException
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from hapticd_client.core.plain_frames import PlainFrames
from hapticd_client.core.version import VERSION
from hapticd_client.errors import HapticsError, NoService, ProtocolBroken, Refused, ServiceLost

INSTANCE: Final = "X-Hapticd-Instance"
MOST_BYTES: Final = 1024 * 1024
CLOSE_CODES: Final[Mapping[int, str]] = {
    1000: "an operator has disconnected this session",
    1001: "the service is stopping",
    1008: "the service has given up on this connection",
    1009: "a message was longer than 64 KiB",
    1011: "the session failed inside the service",
}


class Channel:
    """The client's side of one connection."""

    def __init__(self, url: str, shown: str, token: str | None) -> None:
        """`shown`: the address for sentences; `token`: bearer token of a service on another machine."""
        self._shown = shown
        self._protocol = ClientProtocol(parse_uri(url), max_size=MOST_BYTES)
        self._token = token
        self.messages: deque[bytes] = deque()
        self.opened = False
        self.instance: str | None = None
        self._broken: str | None = None
        # Of whole text frames, which are all that a healthy service sends; whatever else comes is left to websockets for good.
        self._plain: PlainFrames | None = None

    def hello(self) -> bytes:
        """Return the request of the handshake."""
        request = self._protocol.connect()
        request.headers["User-Agent"] = f"hapticd-client/{VERSION} Python/{platform.python_version()}"
        if self._token is not None:
            request.headers["Authorization"] = f"Bearer {self._token}"
        self._protocol.send_request(request)
        return self.outgoing()

    def encode(self, payload: bytes) -> bytes:
        """Return the bytes of a text message. ServiceLost."""
        if self._plain is not None:
            return self._plain.encode(payload)
        try:
            self._protocol.send_text(payload)
        except WebSocketException:
            raise self.ended() from None
        return self.outgoing()

    def outgoing(self) -> bytes:
        """Return what must be sent now: answers to pings, a close frame."""
        return b"".join(self._protocol.data_to_send())

    def goodbye(self) -> bytes:
        """Return the close frame; nothing when the connection is closing already."""
        if self._plain is not None:
            rest, self._plain = self._plain.rest, None
            if rest:
                self._protocol.receive_data(rest)
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(1000)
        return self.outgoing()

    @property
    def may_answer(self) -> bool:
        """Whether `outgoing` may have something: only text has come otherwise."""
        return self._plain is None

    @property
    def is_open(self) -> bool:
        """Whether messages may go either way."""
        return self._protocol.state is State.OPEN and self._broken is None

    @property
    def is_closing(self) -> bool:
        """Whether our close frame is out and the service's is awaited."""
        return self._protocol.state is State.CLOSING

    def take(self, data: bytes) -> None:
        """Take bytes of the service, b"" at the end; fills `messages`. NoService, Refused in the handshake."""
        ended = not data
        if self._plain is not None:
            rest = self._plain.take(data, self.messages)
            if rest is None:
                return
            self._plain, data = None, rest
        if data:
            self._protocol.receive_data(data)
        if ended:
            self._protocol.receive_eof()
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._take_frame(event)
            elif isinstance(event, Response):
                self._answered(event)
        if not self.opened and self._protocol.handshake_exc is not None:
            raise self._no_handshake(self._protocol.handshake_exc)
        if not self.opened and ended:
            raise self._stranger()

    def _take_frame(self, frame: Frame) -> None:
        if frame.opcode is Opcode.TEXT or frame.opcode is Opcode.BINARY:
            if not frame.fin:
                self._broken = "sent a fragmented message, which this interface has not"
            self.messages.append(bytes(frame.data))
        elif frame.opcode is Opcode.CONT:
            self._broken = "sent a fragmented message, which this interface has not"

    def _answered(self, response: Response) -> None:
        if self._protocol.handshake_exc is None:
            self.opened = True
            self._plain = PlainFrames(MOST_BYTES)
            self.instance = response.headers.get(INSTANCE)
            return
        raise self._refusal(response)

    def _refusal(self, response: Response) -> HapticsError:
        try:
            said = orjson.loads(response.body or b"")["error"]
        except (orjson.JSONDecodeError, LookupError, TypeError):
            return self._stranger()
        sentence = str(said)
        if response.status_code == 401:
            sentence += " Give the service's token with token= or HAPTICD_TOKEN."
        return Refused(sentence, response.status_code)

    def _no_handshake(self, error: Exception) -> HapticsError:
        del error
        return self._stranger()

    def _stranger(self) -> NoService:
        return NoService(f"What answers at {self._shown} is no session channel of hapticd: give the service's address.")

    def ended(self) -> ServiceLost:
        """Return the error that says how the connection ended."""
        if self._broken is not None:
            return ProtocolBroken(f"What answers at {self._shown} {self._broken}: is this hapticd?")
        received = self._protocol.close_rcvd
        if received is not None:
            why = CLOSE_CODES.get(received.code, f"close code {int(received.code)}")
            said = f": {received.reason}" if received.reason else ""
            return ServiceLost(
                f"The service at {self._shown} has closed the session ({why}{said}); forces are zero, connect again",
                int(received.code),
            )
        broken = self._protocol.parser_exc
        if broken is not None and not isinstance(broken, EOFError | InvalidHandshake):
            return ProtocolBroken(
                f"What answers at {self._shown} breaks the WebSocket protocol ({broken}): is this hapticd?"
            )
        return ServiceLost(f"The connection to {self._shown} has ended; forces are zero, connect again", None)
