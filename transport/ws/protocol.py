"""The WebSocket protocol of the service's channels: own parser and watch; closes with the code of the violated rule (RFC 6455, 7.4.1)."""

from __future__ import annotations

import asyncio
import logging
import sys
from base64 import b64decode
from collections.abc import Coroutine
from typing import Any, Final

from tornado.iostream import StreamClosedError

from transport.tornado_ext.websocket_protocol import HookedHandler, HookedProtocol
from transport.wire.envelope import failure
from transport.ws.incoming import BROKEN_RULES, CONTINUATION, NO_UTF8, PING, Broken, Incoming
from transport.ws.turns import Turns

INSTANCE: Final = "X-Hapticd-Instance"
VERSIONS_SPOKEN: Final = ("7", "8", "13")
KEY_BYTES: Final = 16
POLICY: Final = 1008
FAILED: Final = 1011
CHUNK: Final = 8 * 1024
# A connection that alone has something to be read lets the event loop look for others after so many bytes; a frame counts as
# FRAME_BYTES more than it has.
TURN_BYTES: Final = 16 * 1024
FRAME_BYTES: Final = 1024
# A frame that was waited for and is longer takes its turn as well: reading it costs more than answering ten short ones.
PROMPT_BYTES: Final = 4 * 1024

logger = logging.getLogger(__name__)


class Protocol(HookedProtocol):
    """Reads what is there at once instead of each field of a frame by itself: docs/decisions/0017.

    Closes with 1002, 1007, 1009 or 1011 where Tornado only closes the stream.
    """

    def __init__(self, handler: Channel, params: Any, turns: Turns) -> None:
        """`params` are Tornado's; `turns` are those of all connections."""
        super().__init__(handler, params)
        self._turns = turns
        self._heard = 0.0

    def watch(self) -> Coroutine[Any, Any, None]:
        """Return the watch for a client that sends nothing; the silence begins now."""
        self._heard = asyncio.get_running_loop().time()
        return self._watch()

    async def _watch(self) -> None:
        """Ping whoever has been silent for the interval; whoever stays silent for the time-out after that is gone. Anything that comes counts."""
        clock = asyncio.get_running_loop().time
        while True:
            asked = clock()
            silent_s = asked - self.last_heard()
            if silent_s < self.ping_interval:
                await asyncio.sleep(self.ping_interval - silent_s)
                continue
            self.write_ping(b"")
            await asyncio.sleep(self.ping_timeout)
            if self.last_heard() < asked:
                self.close(POLICY, "nothing was heard, and a ping was not answered")
                return

    async def receive(self) -> None:
        """Until either side says goodbye; what a message returns is awaited before the next is looked at.

        The first frame of what was waited for is handled at once, unless it is long; each one behind it takes its turn. While
        no other connection has anything to be read, a connection keeps its turn for TURN_BYTES.
        """
        incoming = Incoming(self.max_message_size)
        self.set_read_size(CHUNK)
        clock = asyncio.get_running_loop().time
        turns, taken = self._turns, 0
        try:
            while not self.client_closed:
                self.before_read(incoming)
                reading = self.read(CHUNK)
                waited = not reading.done()
                data = await reading
                self._heard = clock()
                taken = 0 if waited else taken + FRAME_BYTES + len(data)
                if not waited and (turns.shared(self) or taken > TURN_BYTES):
                    taken = 0
                    await asyncio.sleep(0)
                first = True
                for opcode, payload in incoming.take(data):
                    shared, taken = turns.shared(self), taken + FRAME_BYTES + len(payload)
                    if (shared or taken > TURN_BYTES) and not (first and len(payload) <= PROMPT_BYTES):
                        taken = 0
                        await turns.next()
                        if self.disconnected:
                            self.abort()
                            return
                    first = False
                    if opcode != CONTINUATION:
                        handled = self.handle_message(opcode, payload)
                        if handled is not None:
                            await handled
        except (StreamClosedError, Broken):
            self.abort()

    def handle_message(self, opcode: int, payload: bytes) -> asyncio.Future[None] | None:
        """Handle a whole message or control frame; behind the service's close frame no ping is answered."""
        return None if opcode == PING and not self.can_send else super().handle_message(opcode, payload)

    def last_heard(self) -> float:
        """Return when anything was heard of the client, by the event loop's clock."""
        return self._heard

    def before_read(self, incoming: Incoming) -> None:
        """Between two reads; `incoming` may hold the bytes of a frame that is not whole."""

    def before_abort(self) -> None:
        """Send a close frame that names what is being handled."""
        if self.can_send:
            self.close(*_words(sys.exception()))


class Channel(HookedHandler):
    """What the channels have in common."""

    turns: Turns

    def set_default_headers(self) -> None:
        """Set the headers that every answer of the service has."""
        self.set_header("Server", "hapticd")
        self.set_header("Content-Type", "application/json")
        self.set_header("Cache-Control", "no-store")

    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Shake hands, or say what is wrong with the hand."""
        if self.understood():
            await super().get(*args, **kwargs)

    def understood(self) -> bool:
        """Whether the handshake is one of RFC 6455; one that is not has been answered 400 or 426."""
        headers = self.request.headers
        if headers.get("Sec-WebSocket-Version", "") not in VERSIONS_SPOKEN:
            self.set_header("Sec-WebSocket-Version", "13")
            self.refuse(
                426, "This service speaks version 13 of the WebSocket protocol: send Sec-WebSocket-Version: 13."
            )
        elif not headers.get("Sec-WebSocket-Key"):
            self.refuse(400, "The handshake has no Sec-WebSocket-Key: send one, as RFC 6455 says.")
        elif not _is_key(headers["Sec-WebSocket-Key"]):
            self.refuse(
                400, "The Sec-WebSocket-Key is not the base64 text of 16 bytes: send one that is, as RFC 6455 says."
            )
        else:
            return True
        return False

    def refuse(self, status: int, sentence: str) -> None:
        """Answer without a WebSocket."""
        self.set_status(status)
        self.finish(failure(sentence))

    def make_protocol(self, params: Any) -> Protocol:
        """Return the protocol of this connection."""
        return Protocol(self, params, self.turns)

    def check_origin(self, origin: str) -> bool:
        """Accept every origin: the access policy has checked it before the handshake."""
        del origin
        return True

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        """Log an exception, without Tornado's text of the request, which has the query."""
        if typ is not None and value is not None:
            client = self.request.remote_ip
            logger.error(
                "a WebSocket of %s failed and is closed", client, exc_info=(typ, value, tb), extra={"client": client}
            )


def _is_key(text: str) -> bool:
    """Whether a Sec-WebSocket-Key is the base64 text of 16 bytes."""
    try:
        return len(b64decode(text, validate=True)) == KEY_BYTES
    except ValueError:
        return False


def _words(error: BaseException | None) -> tuple[int, str]:
    """Code and reason for what is being handled while the connection is aborted."""
    if isinstance(error, Broken):
        return error.code, error.reason
    if error is None or isinstance(error, StreamClosedError):
        return BROKEN_RULES, "the WebSocket protocol was broken"
    return (
        (NO_UTF8, "a TEXT message was not UTF-8")
        if isinstance(error, UnicodeDecodeError)
        else (FAILED, "the service failed at this message")
    )
