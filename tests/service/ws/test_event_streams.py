"""The event channel over a real socket with the real hub: filters, vocabulary, replay, slow readers, close."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine, Iterator
from typing import Any
from urllib.parse import quote

import pytest
from tornado.httpclient import HTTPClientError
from tornado.websocket import WebSocketClientConnection, websocket_connect

from actors.event.catalog import EVENT_KINDS
from actors.event.hub import EventHub
from actors.event.hub_state import HubState
from actors.event.messages import HUB, Emit, Subscribe
from actors.event.queue import MOST_WAITING, BoundedQueue
from actors.kit.errors import InvalidInput
from actors.settings.state_directory import StateDirectory
from fastpath.text.encoder import encode_json
from tests.service.edge_server import TIMEOUT_S, EdgeServer
from transport.wire.events import translation
from transport.wire.vocabulary import INVERSE, NEUTRAL
from transport.ws.events import EventChannels, event_routes, parse_event_filter

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


class EventRig(EdgeServer):
    """The events port over a running hub."""

    def open_port(self) -> None:
        self.start_actor(EventHub.start(self.context, encode_json, HubState()))
        self.channels = EventChannels(self.bridge)
        self.port = self.serve(event_routes(self.channels), self.channels.upgrade)

    def emit(self, kind: str, **data: object) -> None:
        assert self.context.directory.tell(HUB, Emit(kind, data, f"{kind} happened"))

    def subscribers(self) -> float:
        (sample,) = next(iter(self.context.metrics.event_subscribers.collect())).samples
        return float(sample.value)


@pytest.fixture
def rig(folder: StateDirectory) -> Iterator[EventRig]:
    with EventRig(folder) as running:
        running.open_port()
        yield running


def converse(rig: EventRig, query: str, talk: Callable[[WebSocketClientConnection], Coroutine[Any, Any, None]]) -> None:
    """Run `talk` with a subscriber that the hub knows."""

    async def work() -> None:
        before = rig.subscribers()
        connection = await websocket_connect(f"ws://127.0.0.1:{rig.port}/{query}", connect_timeout=TIMEOUT_S)
        try:
            await until(lambda: rig.subscribers() == before + 1)
            await talk(connection)
        finally:
            await hang_up(connection)
        await until(lambda: rig.subscribers() == before)

    asyncio.run(asyncio.wait_for(work(), 60))


async def hang_up(connection: WebSocketClientConnection) -> None:
    """Close, and read on until the socket is closed."""
    stream = None if connection.protocol is None else connection.protocol.stream
    connection.close()
    while stream is not None and not stream.closed():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(connection.read_message(), 0.01)


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(4000):
        if holds():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it never came to hold")


async def read(connection: WebSocketClientConnection) -> Any:
    message = await asyncio.wait_for(connection.read_message(), TIMEOUT_S)
    assert isinstance(message, str), message
    return json.loads(message)


# ---------------------------------------------------------------- what is heard


def test_an_event_is_one_text_message(rig: EventRig) -> None:
    async def talk(connection: WebSocketClientConnection) -> None:
        rig.emit("session-opened", session_id=7, profile="sim")
        event = await read(connection)
        assert list(event) == ["name", "category", "level", "time", "data", "message"]
        assert event["name"] == "session-opened"
        assert event["data"] == {"session_id": 7, "profile": "sim"}

    converse(rig, "", talk)


@pytest.mark.parametrize(
    ("query", "heard"),
    [
        ("", ["session-opened", "device-busy", "session-closed"]),
        ("?kinds=", ["session-opened", "device-busy", "session-closed"]),
        ("?kinds=session-closed", ["session-closed"]),
        ("?kinds=session-opened,session-closed", ["session-opened", "session-closed"]),
        ("?level=warning", ["device-busy"]),
        ("?level=info&kinds=device-busy", ["device-busy"]),
        ("?unknown=1&level=notice", ["device-busy"]),
    ],
)
def test_filters_select_the_events(rig: EventRig, query: str, heard: list[str]) -> None:
    async def talk(connection: WebSocketClientConnection) -> None:
        rig.emit("session-opened", session_id=7, profile="sim")
        rig.emit("device-busy", device_id="049D", device_family="arm", session_id=7, held_by=3)
        rig.emit("session-closed", session_id=7, profile="sim")
        assert [(await read(connection))["name"] for _ in heard] == heard

    converse(rig, query, talk)


def test_missed_events_are_replayed(rig: EventRig) -> None:
    times: list[str] = []

    async def first(connection: WebSocketClientConnection) -> None:
        for number in range(3):
            rig.emit("session-opened", session_id=number, profile="x")
            times.append((await read(connection))["time"])

    async def later(connection: WebSocketClientConnection) -> None:
        assert [(await read(connection))["data"]["session_id"] for _ in range(2)] == [1, 2]
        rig.emit("session-opened", session_id=3, profile="x")
        assert (await read(connection))["data"]["session_id"] == 3

    converse(rig, "", first)
    converse(rig, f"?since={quote(times[0])}", later)


@pytest.mark.parametrize(
    ("query", "family", "type_word"),
    [("", "arm", "arm"), ("?vocabulary=inverse", "inverse", "inverse3"), ("?vocabulary=neutral", "arm", "arm")],
)
def test_events_use_the_subscriber_s_vocabulary(rig: EventRig, query: str, family: str, type_word: str) -> None:
    async def talk(connection: WebSocketClientConnection) -> None:
        rig.emit("device-connected", device_id="049D", device_family="arm", type="arm", connection="simulated")
        data = (await read(connection))["data"]
        assert (data["device_family"], data["type"]) == (family, type_word)

    converse(rig, query, talk)


def test_vocabulary_setting_is_the_default(rig: EventRig) -> None:
    rig.state.commit(rig.state.current.settings({"serialization/vocabulary": "inverse"}))

    async def talk(connection: WebSocketClientConnection) -> None:
        rig.emit("device-busy", device_id="1605", device_family="pen", session_id=1, held_by=2)
        assert (await read(connection))["data"]["device_family"] == "verse_grip"

    converse(rig, "", talk)


def test_messages_of_a_subscriber_are_ignored(rig: EventRig) -> None:
    async def talk(connection: WebSocketClientConnection) -> None:
        for message in ("hello", "{", "", b"\x00\xff"):
            await connection.write_message(message, binary=isinstance(message, bytes))
        rig.emit("session-opened", session_id=7, profile="sim")
        assert (await read(connection))["name"] == "session-opened"

    converse(rig, "", talk)


def test_too_long_message_closes_with_1009(rig: EventRig) -> None:
    async def talk(connection: WebSocketClientConnection) -> None:
        await connection.write_message("x" * (64 * 1024 + 1))
        assert await asyncio.wait_for(connection.read_message(), TIMEOUT_S) is None
        assert connection.close_code in {1009, None}

    converse(rig, "", talk)


# ---------------------------------------------------------------- who does not read


def test_slow_subscriber_loses_the_oldest_with_notice_and_delays_no_other(rig: EventRig) -> None:
    padding = "x" * 20_000
    flood = 4 * MOST_WAITING

    def emit(number: int) -> None:
        rig.emit("session-opened", session_id=number, profile=padding)

    async def work() -> None:
        slow, slow_side = await asyncio.open_connection("127.0.0.1", rig.port, limit=2**16)
        lines = ["GET / HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in UPGRADE.items())]
        slow_side.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        assert (await slow.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")
        await until(lambda: rig.subscribers() == 1)
        quick = await websocket_connect(f"ws://127.0.0.1:{rig.port}/", connect_timeout=TIMEOUT_S)
        await until(lambda: rig.subscribers() == 2)

        # A quick reader hears everything in order while the slow one stands still.
        for start in range(0, flood, 100):
            for number in range(start, start + 100):
                emit(number)
            for number in range(start, start + 100):
                assert (await read(quick))["data"]["session_id"] == number

        assert await asyncio.to_thread(lost) > 0
        heard, warned = await drain(slow, flood - 1)
        assert warned == await asyncio.to_thread(lost)
        assert heard == sorted(heard)
        assert len(heard) + warned == flood
        assert heard[-1] == flood - 1
        slow_side.close()
        await slow_side.wait_closed()
        await hang_up(quick)

    def lost() -> int:
        (sample, *_rest) = next(iter(rig.context.metrics.events_dropped.collect())).samples
        return int(sample.value)

    asyncio.run(asyncio.wait_for(work(), 100))


async def drain(reader: asyncio.StreamReader, last: int) -> tuple[list[int], int]:
    """Session ids heard up to `last`, and how many were said to be lost."""
    heard: list[int] = []
    warned = 0
    while not heard or heard[-1] != last:
        head = await reader.readexactly(2)
        size = head[1]
        if size > 125:
            size = int.from_bytes(await reader.readexactly(2 if size == 126 else 8), "big")
        event = json.loads(await reader.readexactly(size))
        if event["name"] == "session-warning":
            assert event["data"]["reason"] == "events_dropped"
            warned += event["data"]["lost"]
        else:
            heard.append(event["data"]["session_id"])
    return heard, warned


# ---------------------------------------------------------------- coming and going


def test_disconnected_subscriber_is_removed(rig: EventRig) -> None:
    async def talk(connection: WebSocketClientConnection) -> None:
        connection.close()
        await until(lambda: rig.subscribers() == 0)
        assert rig.call(lambda: len(rig.channels.open)) == 0
        rig.emit("session-opened", session_id=7, profile="sim")

    converse(rig, "", talk)
    assert rig.subscribers() == 0


def test_stopping_service_closes_every_channel(rig: EventRig) -> None:
    async def talk(connection: WebSocketClientConnection) -> None:
        rig.call(rig.channels.close)
        assert await asyncio.wait_for(connection.read_message(), TIMEOUT_S) is None
        assert (connection.close_code, connection.close_reason) == (1001, "the service is stopping")

    converse(rig, "", talk)


# ---------------------------------------------------------------- what is refused

REFUSED = [
    ("kinds=nope", "kinds"),
    ("kinds=session-opened,nope", "nope"),
    ("kinds=SESSION-OPENED", "kinds"),
    ("level=loud", "level"),
    ("level=WARNING", "level"),
    ("since=yesterday", "since"),
    ("since=12", "since"),
    ("vocabulary=klingon", "?vocabulary="),
    ("kinds=%zz", "%25"),
    ("kinds=%FF", "UTF-8"),
]


@pytest.mark.parametrize(("query", "says"), REFUSED)
def test_invalid_filter_is_400_at_the_handshake(rig: EventRig, query: str, says: str) -> None:
    reply = rig.ask("GET", f"/?{query}", headers=UPGRADE)

    assert reply.status == 400
    assert says in reply.error
    assert rig.subscribers() == 0


def test_client_library_sees_the_refusal(rig: EventRig) -> None:
    async def work() -> None:
        with pytest.raises(HTTPClientError, match="400"):
            await websocket_connect(f"ws://127.0.0.1:{rig.port}/?level=loud", connect_timeout=TIMEOUT_S)

    asyncio.run(work())


@pytest.mark.parametrize(("query", "says"), [("", "as a WebSocket"), *((f"?{query}", says) for query, says in REFUSED)])
def test_plain_http_request_gets_the_reason(rig: EventRig, query: str, says: str) -> None:
    reply = rig.get(f"/{query}")

    assert (reply.status, says in reply.error) == (400, True)


def test_event_port_serves_nothing_else(rig: EventRig) -> None:
    assert rig.get("/version").status == 404
    assert rig.ask("POST", "/").status == 405
    assert rig.ask("GET", "/events", headers=UPGRADE).status == 404


def test_handshake_is_checked_by_the_access_policy(rig: EventRig) -> None:
    assert rig.ask("GET", "/", headers=UPGRADE | {"Origin": "https://evil.example"}).status == 403
    assert rig.ask("GET", "/", headers=UPGRADE | {"Host": "evil.example"}).status == 403
    assert rig.ask("GET", "/", headers=UPGRADE | {"Origin": "http://localhost:3000"}).status == 101


def test_no_channel_opens_while_the_service_stops(rig: EventRig) -> None:
    rig.bridge.stopping = True

    assert rig.ask("GET", "/", headers=UPGRADE).status == 503


# ---------------------------------------------------------------- rules


def test_query_without_fields_selects_everything() -> None:
    event_filter = parse_event_filter({}, "inverse")

    assert (event_filter.kinds, event_filter.level, event_filter.since, event_filter.vocabulary) == (
        None,
        "info",
        None,
        INVERSE,
    )


def test_every_kind_can_be_selected() -> None:
    assert parse_event_filter({"kinds": ",".join(EVENT_KINDS)}, "neutral").kinds == frozenset(EVENT_KINDS)


def test_unknown_vocabulary_is_refused() -> None:
    with pytest.raises(InvalidInput):
        parse_event_filter({"vocabulary": "x"}, "neutral")


def test_neutral_events_are_sent_unchanged() -> None:
    assert translation(NEUTRAL) is None
    assert translation(INVERSE) is translation(INVERSE)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ({}, {}),
        ({"type": "grip", "connection": "wired"}, {"type": "verse_grip", "connection": "wired"}),
        ({"type": "grip", "connection": "wireless"}, {"type": "wireless_verse_grip", "connection": "wireless"}),
        ({"type": "pen", "connection": "usb"}, {"type": "custom_verse_grip", "connection": "usb"}),
        ({"type": "compact", "connection": "usb"}, {"type": "minverse", "connection": "usb"}),
        ({"type": "arm"}, {"type": "arm"}),
        ({"type": "other", "connection": "usb"}, {"type": "other", "connection": "usb"}),
        ({"device_family": "grip"}, {"device_family": "verse_grip"}),
        ({"device_family": "compact", "x": 1}, {"device_family": "inverse", "x": 1}),
        ({"device_family": "unknown"}, {"device_family": "unknown"}),
        ({"reason": "a grip has no mount"}, {"reason": "a verse_grip has no mount"}),
        ({"reason": "pen_not_connected", "path": "grip[0]"}, {"reason": "pen_not_connected", "path": "grip[0]"}),
        ({"reason": 5, "received_data": "a grip"}, {"reason": 5, "received_data": "a grip"}),
    ],
)
def test_only_type_family_and_sentences_are_translated(data: dict[str, object], shown: dict[str, object]) -> None:
    translate = translation(INVERSE)
    assert translate is not None
    event = {"name": "device-connected", "data": data, "message": "arm 049D"}

    assert translate(event) == {"name": "device-connected", "data": shown, "message": "inverse3 049D"}
    assert event["data"] is data


def test_subscriber_without_a_hub_is_registered_at_the_next_one(rig: EventRig) -> None:
    async def talk() -> None:
        connection = await websocket_connect(f"ws://127.0.0.1:{rig.port}/", connect_timeout=TIMEOUT_S)
        await until(lambda: len(rig.channels.open) == 1)
        rig.start_actor(EventHub.start(rig.context, encode_json, HubState()))
        await until(lambda: rig.subscribers() == 1)
        rig.emit("session-opened", session_id=7, profile="sim")
        assert (await read(connection))["name"] == "session-opened"
        await hang_up(connection)

    rig.actors.pop().stop(timeout=TIMEOUT_S)
    asyncio.run(asyncio.wait_for(talk(), 60))


def test_subscriber_gone_without_a_hub_is_removed_at_the_next_event(rig: EventRig) -> None:
    queue = BoundedQueue("gone", lambda: None, lambda _lost: b"", rig.context.metrics.events_dropped)
    rig.context.directory.tell(HUB, Subscribe(queue))
    queue.close()

    rig.emit("session-opened", session_id=7, profile="sim")

    asyncio.run(until(lambda: rig.subscribers() == 0))
