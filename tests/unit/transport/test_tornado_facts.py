"""Undocumented behaviour of Tornado that transport/tornado_ext relies on; a failure here means that a new Tornado needs changes there.

No port is opened: the connections are socketpairs that the server is handed as accepted connections.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
import tornado
from tornado.http1connection import HTTP1Connection
from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream
from tornado.tcpserver import TCPServer
from tornado.web import Application, RequestHandler, stream_request_body
from tornado.websocket import WebSocketHandler, WebSocketProtocol, WebSocketProtocol13

from transport.tornado_ext.log_lines import MALFORMED, text_of
from transport.tornado_ext.managed_server import ManagedServer
from transport.tornado_ext.streams import stream_of
from transport.tornado_ext.websocket_protocol import HookedHandler, HookedProtocol
from transport.ws.session import text_header

TIMEOUT_S: Final = 5.0
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
REQUEST: Final = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
HANDSHAKE: Final = (
    b"GET /channel HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


class Server(ManagedServer):
    """Writes down which hook is called."""

    malformed_response = b"our 400"
    stopped: list[socket.socket]

    def initialize(self, application: Application) -> None:  # type: ignore[override] # pyright: ignore[reportIncompatibleMethodOverride]
        super().initialize(application)
        self.log: list[str] = []
        self.streams: list[IOStream] = []
        self.stopped = []

    def accept_on(self, listening: socket.socket) -> Callable[[], None]:
        return lambda: self.stopped.append(listening) if listening.fileno() >= 0 else None

    def connection_opened(self, stream: IOStream) -> None:
        self.streams.append(stream)
        self.log.append("opened")

    def request_awaited(self, stream: IOStream) -> None:
        assert stream is self.streams[-1]
        self.log.append("awaited")

    def connection_ended(self, stream: IOStream) -> None:
        assert stream is self.streams[-1]
        self.log.append("ended")


class Page(RequestHandler):
    def get(self) -> None:
        assert stream_of(self.request.connection) is not None
        self.write("page")


@stream_request_body
class Early(RequestHandler):
    """Answers before it has the body."""

    def prepare(self) -> None:
        self.set_header("Content-Length", "5")
        self.write("early")
        self.flush()

    def data_received(self, chunk: bytes) -> None:
        """The body counts for nothing."""

    def post(self) -> None:
        """Everything is sent already."""


class Channel(HookedHandler):
    """Writes down what Tornado calls; `on_open` and `answer` are the test's."""

    def initialize(self, client: Client) -> None:
        self.client = client
        client.channel = self

    async def get(self, *args: Any, **kwargs: Any) -> None:
        await super().get(*args, **kwargs)
        self.client.log.append("get returned")

    def make_protocol(self, params: Any) -> WebSocketProtocol:
        return Protocol(self, params)

    def open(self, *args: str, **kwargs: str) -> Awaitable[None] | None:
        del args, kwargs
        self.client.log.append("open")
        return self.client.on_open()

    def on_message(self, message: str | bytes) -> Awaitable[None] | None:
        self.client.messages.append(message)
        return self.client.answer()

    def on_close(self) -> None:
        self.client.log.append("on_close")


class Protocol(HookedProtocol):
    """Receives until the test says that it is enough."""

    def __init__(self, handler: Channel, params: Any) -> None:
        super().__init__(handler, params)
        self.client = handler.client
        self.enough = asyncio.Event()

    async def receive(self) -> None:
        self.client.log.append("receive")
        await self.enough.wait()

    def watch(self) -> Coroutine[Any, Any, None]:
        self.client.log.append("watch")
        return self._watch()

    async def _watch(self) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.client.log.append("watch cancelled")

    def before_abort(self) -> None:
        self.client.log.append(f"before_abort {self.can_send} {type(sys.exception()).__name__}")


def no_log(handler: RequestHandler) -> None:
    """Log no request."""
    del handler


def nothing() -> Awaitable[None] | None:
    """Return what a plain function returns."""
    return None


@dataclass(slots=True)
class Client:
    """One connection: the client's end, the server, and what was called."""

    server: Server = field(init=False)
    reader: asyncio.StreamReader = field(init=False)
    writer: asyncio.StreamWriter = field(init=False)
    channel: Channel = field(init=False)
    log: list[str] = field(default_factory=list[str])
    messages: list[str | bytes] = field(default_factory=list["str | bytes"])
    on_open: Callable[[], Awaitable[None] | None] = nothing
    answer: Callable[[], Awaitable[None] | None] = nothing

    @property
    def protocol(self) -> Protocol:
        protocol = self.channel.ws_connection
        assert isinstance(protocol, Protocol)
        return protocol

    async def read(self, size: int) -> bytes:
        return await self.reader.readexactly(size)

    async def until(self, entry: str) -> None:
        """Turn the event loop until the log has an entry."""
        while entry not in self.log and entry not in self.server.log:  # noqa: ASYNC110 - Tornado sets no event
            await asyncio.sleep(0)

    async def handshake(self) -> None:
        self.writer.write(HANDSHAKE)
        head = await self.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 ")


@asynccontextmanager
async def connected(client: Client | None = None) -> AsyncGenerator[Client, None]:
    client = client or Client()
    routes: list[Any] = [("/", Page), ("/early", Early), ("/channel", Channel, {"client": client})]
    client.server = Server(Application(routes, websocket_ping_interval=30, log_function=no_log))
    ours, theirs = socket.socketpair()
    ours.settimeout(0)
    client.server.serve(ours, ("127.0.0.1", 1))
    client.reader, client.writer = await asyncio.open_connection(sock=theirs)
    async with asyncio.timeout(TIMEOUT_S):
        yield client
    client.writer.close()
    for stream in client.server.streams:
        stream.close()
    await client.server.close_all_connections()
    await asyncio.sleep(0)


def run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scenario())


# ------------------------------------------------------------ names and signatures


@pytest.mark.parametrize(
    ("cls", "method", "parameters"),
    [
        (TCPServer, "add_sockets", "self sockets"),
        (TCPServer, "_handle_connection", "self connection address"),
        (HTTPServer, "handle_stream", "self stream address"),
        (HTTPServer, "start_request", "self server_conn request_conn"),
        (HTTPServer, "on_close", "self server_conn"),
        (WebSocketHandler, "get", "self args kwargs"),
        (WebSocketHandler, "get_websocket_protocol", "self"),
        (WebSocketHandler, "on_ws_connection_close", "self close_code close_reason"),
        (WebSocketProtocol13, "__init__", "self handler mask_outgoing params"),
        (WebSocketProtocol13, "start_pinging", "self"),
        (WebSocketProtocol13, "close", "self code reason"),
        (WebSocketProtocol13, "_handle_message", "self opcode data"),
        (WebSocketProtocol13, "_receive_frame_loop", "self"),
        (WebSocketProtocol, "_abort", "self"),
    ],
)
def test_method_has_the_parameters_relied_on(cls: type, method: str, parameters: str) -> None:
    assert list(inspect.signature(getattr(cls, method)).parameters) == parameters.split()


def test_coroutines_and_plain_methods_are_what_they_are_overridden_with() -> None:
    assert inspect.iscoroutinefunction(WebSocketHandler.get)
    assert inspect.iscoroutinefunction(WebSocketProtocol13._receive_frame_loop)
    assert not inspect.iscoroutinefunction(WebSocketProtocol13._handle_message)
    assert not inspect.iscoroutinefunction(WebSocketProtocol13.start_pinging)


@pytest.mark.parametrize(
    ("cls", "base", "overridden"),
    [
        (ManagedServer, HTTPServer, {"add_sockets", "handle_stream", "start_request", "on_close"}),
        (HookedProtocol, WebSocketProtocol13, {"start_pinging", "_receive_frame_loop", "_abort"}),
        (HookedHandler, WebSocketHandler, {"get_websocket_protocol"}),
    ],
)
def test_hooks_hide_no_name_of_tornado(cls: type, base: type, overridden: set[str]) -> None:
    ours = {name for name in vars(cls) if not name.startswith(("__", "_abc_"))}

    assert {name for name in ours if hasattr(base, name)} == overridden


# ------------------------------------------------------------ managed_server, bare_400, streams


def test_stop_calls_the_function_of_each_listening_socket_and_closes_it() -> None:
    async def scenario() -> None:
        server = Server(Application())
        pair = socket.socketpair()
        server.add_sockets(pair)

        server.stop()

        # The function notes a socket only while it is open.
        assert server.stopped == list(pair)
        assert [each.fileno() for each in pair] == [-1, -1]

    run(scenario)


def test_hooks_follow_a_connection() -> None:
    async def scenario() -> None:
        async with connected() as client:
            assert client.server.log == ["opened", "awaited"]
            for _ in range(2):
                client.writer.write(REQUEST)
                assert (await client.reader.readuntil(b"\r\n\r\npage")).startswith(b"HTTP/1.1 200 ")
            client.writer.close()
            await client.until("ended")
            assert client.server.log == ["opened", *["awaited"] * 3, "ended"]

    run(scenario)


def test_request_that_cannot_be_parsed_gets_our_response() -> None:
    async def scenario() -> None:
        async with connected() as client:
            client.writer.write(b"no request\r\n\r\n")
            assert await client.reader.read() == b"our 400"

    run(scenario)


def test_request_that_cannot_be_parsed_gets_our_response_after_an_earlier_answer() -> None:
    async def scenario() -> None:
        async with connected() as client:
            client.writer.write(REQUEST)
            await client.reader.readuntil(b"\r\n\r\npage")
            client.writer.write(b"no request\r\n\r\n")
            assert await client.reader.read() == b"our 400"

    run(scenario)


def test_answered_request_gets_no_second_response() -> None:
    async def scenario() -> None:
        async with connected() as client:
            client.writer.write(b"POST /early HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n")
            await client.reader.readuntil(b"\r\n\r\nearly")
            client.writer.write(b"no length of a chunk\r\n")
            assert await client.reader.read() == b""

    run(scenario)


def test_stream_of_a_connection_is_its_own_until_it_is_detached() -> None:
    async def scenario() -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            stream = IOStream(ours)
            connection = HTTP1Connection(stream, is_client=False)
            assert stream_of(connection) is stream
            assert connection.detach() is stream
            assert stream_of(connection) is None
            assert stream_of(None) is None
            stream.close()
            assert stream.socket is None

    run(scenario)


# ------------------------------------------------------------ log_lines

MARK: Final = "mark-of-a-client"
CHUNKED: Final = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"


# Tornado 6.5 lets these pass, or names another fault.
SINCE_6_6: Final = pytest.mark.skipif(tornado.version_info < (6, 6), reason="Tornado 6.5 reads it in another way")


@pytest.mark.parametrize(
    ("request_text", "fault"),
    [
        (f"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {MARK}\r\n\r\n", "Only integer Content-Length is allowed"),
        (
            f"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: {MARK}\r\n\r\n",
            "Multiple unequal Content-Lengths",
        ),
        (f"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {2**70}\r\n\r\n", "Content-Length too long"),
        (f"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: {MARK}\r\n\r\n", "Unsupported Transfer-Encoding"),
        (
            f"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: {MARK}\r\nContent-Length: 1\r\n\r\n",
            "Message with both Transfer-Encoding and Content-Length",
        ),
        (f"{CHUNKED}{MARK}\r\n", "invalid chunk size"),
        pytest.param(f"{CHUNKED}1\r\nx{MARK}\r\n", "improperly terminated chunk", marks=SINCE_6_6),
        (f"{CHUNKED}0\r\n{MARK}", "improperly terminated chunked request"),
        (f"GET / HTTP/1.1\r\nHost: {MARK}, other\r\n\r\n", "Invalid Host header"),
        (f"GET / HTTP/1.1\r\nHost: a\r\nHost: {MARK}\r\n\r\n", "Multiple host headers not allowed"),
        (f"GET /?{MARK} HTTP/1.1\r\n\r\n", "Missing Host header"),
        (f"GET / HTTP/1.1\r\nHost: h\r\n{MARK}(: x\r\n\r\n", "Invalid header name"),
        (f"GET / HTTP/1.1\r\nHost: h\r\nCookie: {MARK}\x01\r\n\r\n", "Invalid header value"),
        pytest.param(
            f"GET / HTTP/1.1\r\nHost: h\r\n {MARK}\r\n\r\n", "header line cannot start with whitespace", marks=SINCE_6_6
        ),
        (f"GET / HTTP/1.1\r\nHost: h\r\n{MARK}\r\n\r\n", "no colon in header line"),
        (f"{MARK} {MARK}\r\nHost: h\r\n\r\n", "Malformed HTTP request line"),
        (f"GET /{MARK} HTTP/2.5\r\nHost: h\r\n\r\n", "Unexpected HTTP version"),
        pytest.param(f"GET /?{'a&' * 2000}{MARK} HTTP/1.1\r\nHost: h\r\n\r\n", "Invalid query string", marks=SINCE_6_6),
    ],
)
def test_line_of_a_malformed_request_tells_the_fault_and_not_what_was_sent(
    request_text: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with connected() as client:
            client.writer.write(request_text.encode())
            assert await client.reader.read() == b"our 400"

    with caplog.at_level(logging.INFO, "tornado.general"):
        run(scenario)

    (record,) = [record for record in caplog.records if record.name == "tornado.general"]
    assert record.msg == MALFORMED
    text = text_of(record)
    assert f" cannot be read and gets 400: {fault}" in text
    assert MARK not in text
    # A socketpair has no IP address: Tornado names what it was handed.
    assert vars(record)["client"] == "('127.0.0.1', 1)"


# ------------------------------------------------------------ websocket_protocol


def test_handshake_runs_watch_then_open_then_receive_and_ends_the_http_connection() -> None:
    async def scenario() -> None:
        async with connected() as client:
            await client.handshake()
            await client.until("receive")
            assert client.log == ["watch", "open", "receive"]
            await client.until("ended")
            (stream,) = client.server.streams
            assert client.channel.websocket_stream is stream
            assert client.channel.sending_stream is stream
            assert "write" not in vars(stream)
            assert client.protocol.can_send

    run(scenario)


def test_open_that_waits_holds_up_receive() -> None:
    async def scenario() -> None:
        opened = asyncio.Event()
        async with connected(Client(on_open=opened.wait)) as client:  # type: ignore[arg-type]
            await client.handshake()
            await client.until("open")
            await asyncio.sleep(0)
            assert "receive" not in client.log
            opened.set()
            await client.until("receive")

    run(scenario)


def test_end_of_receive_calls_on_close_once_and_ends_get() -> None:
    async def scenario() -> None:
        async with connected() as client:
            await client.handshake()
            await client.until("receive")
            protocol = client.protocol
            assert protocol.can_send
            client.log.clear()
            protocol.enough.set()
            await client.until("get returned")
            await client.until("watch cancelled")
            assert client.log.count("on_close") == 1
            assert client.log.index("on_close") < client.log.index("get returned")
            assert client.channel.websocket_stream is None
            client.channel.on_connection_close()
            assert client.log.count("on_close") == 1
            assert protocol.disconnected

    run(scenario)


def test_failed_open_aborts_and_calls_no_on_close() -> None:
    def fail() -> Awaitable[None] | None:
        raise ValueError("no open")

    async def scenario() -> None:
        async with connected(Client(on_open=fail)) as client:
            await client.handshake()
            await client.until("get returned")
            assert client.log[2] == "before_abort True ValueError"
            assert not {"receive", "on_close"} & set(client.log)
            assert client.server.streams[0].closed()

    run(scenario)


def test_whole_messages_go_to_on_message() -> None:
    async def scenario() -> None:
        async with connected() as client:
            await client.handshake()
            await client.until("receive")
            assert client.protocol.handle_message(TEXT, "größe".encode()) is None
            assert client.protocol.handle_message(BINARY, b"\xff") is None
            assert client.messages == ["größe", b"\xff"]

    run(scenario)


def test_message_that_waits_gives_a_future() -> None:
    async def scenario() -> None:
        done = asyncio.Event()

        async def wait() -> None:
            await done.wait()

        async with connected(Client(answer=wait)) as client:
            await client.handshake()
            await client.until("receive")
            handled = client.protocol.handle_message(TEXT, b"")
            assert handled is not None
            assert not handled.done()
            done.set()
            await handled

    run(scenario)


@pytest.mark.parametrize(
    ("opcode", "payload", "error"), [(TEXT, b"\xff", "UnicodeDecodeError"), (BINARY, b"", "ValueError")]
)
def test_message_that_fails_aborts_while_its_error_is_handled(opcode: int, payload: bytes, error: str) -> None:
    def fail() -> Awaitable[None] | None:
        raise ValueError("no answer")

    async def scenario() -> None:
        async with connected(Client(answer=fail)) as client:
            await client.handshake()
            await client.until("receive")
            assert client.protocol.handle_message(opcode, payload) is None
            assert client.log[3] == f"before_abort True {error}"
            assert client.protocol.disconnected
            assert client.protocol.client_closed

    run(scenario)


def test_close_frame_of_the_client_is_echoed_and_ends_the_connection() -> None:
    async def scenario() -> None:
        async with connected() as client:
            await client.handshake()
            await client.until("receive")
            protocol = client.protocol
            protocol.handle_message(CLOSE, b"\x03\xe8bye")
            assert (protocol.close_code, protocol.close_reason) == (1000, "bye")
            assert protocol.client_closed
            assert protocol.disconnected
            assert await client.reader.read() == b"\x88\x02\x03\xe8"

    run(scenario)


def test_ping_is_answered_and_pong_is_not() -> None:
    async def scenario() -> None:
        async with connected() as client:
            await client.handshake()
            await client.until("receive")
            client.protocol.handle_message(PONG, b"late")
            client.protocol.handle_message(PING, b"here?")
            assert await client.read(7) == b"\x8a\x05here?"

    run(scenario)


def test_close_cancels_the_watch_and_waits_for_the_client() -> None:
    async def scenario() -> None:
        async with connected() as client:
            await client.handshake()
            await client.until("receive")
            client.protocol.close(1008, "enough")
            await client.until("watch cancelled")
            assert await client.read(10) == b"\x88\x08\x03\xf0enough"
            assert not client.protocol.can_send
            assert not client.protocol.client_closed
            assert not client.protocol.disconnected
            assert client.channel.sending_stream is None
            assert client.channel.websocket_stream is not None

    run(scenario)


def test_abort_lets_a_last_frame_be_sent() -> None:
    async def scenario() -> None:
        async with connected() as client:
            await client.handshake()
            await client.until("receive")
            client.protocol.abort()
            assert client.log[3] == "before_abort True NoneType"
            assert client.protocol.disconnected
            assert client.protocol.client_closed

    run(scenario)


def test_read_is_done_at_once_for_bytes_that_have_come() -> None:
    async def scenario() -> None:
        async with connected() as client:
            await client.handshake()
            await client.until("receive")
            client.protocol.set_read_size(4)
            reading = client.protocol.read(4)
            assert not reading.done()
            client.writer.write(b"123456")
            assert await reading == b"1234"
            reading = client.protocol.read(4)
            assert reading.done()
            assert reading.result() == b"56"

    run(scenario)


@pytest.mark.parametrize("size", [0, 125, 126, 65535, 65536])
def test_write_message_sends_what_a_channel_writes_to_the_stream(size: int) -> None:
    async def scenario() -> None:
        async with connected() as client:
            await client.handshake()
            await client.until("receive")
            expected = text_header(size) + b"x" * size
            sent = client.channel.write_message("x" * size)
            assert await client.read(len(expected)) == expected
            await sent

    run(scenario)
