"""What the streaming thread answers by itself, what it leaves to the event loop, and what happens while that hangs."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pytest

from tests.service.ws.conftest import Connect
from tests.service.ws.message_helpers import ARM, UP, arm, force, metric, xyz
from tests.support.clients.exchange import exchange
from tests.support.clients.raw_websocket import (
    CLOSE,
    PING,
    PONG,
    ConnectionEnded,
    RawWebSocket,
    encode_frame,
    encode_message,
)
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from transport.wire.parsed_message import ParsedMessage
from transport.ws import session as channel

CLIENT: Final = """
import sys
from tests.support.clients.raw_websocket import RawWebSocket
with RawWebSocket(sys.argv[1]) as peer:
    device_id = peer.frame()["arm"][0]["device_id"]
    print("streams", flush=True)
    while True:
        peer.ask({"arm": [{"device_id": device_id, "commands": {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 1}}}}]})
"""


@pytest.fixture(scope="module", params=[1, 3], ids=["one thread", "three threads"])
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    settings = {
        "simulation/settle_time": 0.01,
        "communication/streaming/native": True,
        "communication/streaming/threads": request.param,
    }
    with InProcessService(tmp_path_factory.mktemp("state"), stepping=True, settings=settings) as running:
        yield running


def stock_messages(service: InProcessService, session_id: int) -> int:
    """Messages of a session that the event loop has read."""
    mine: Any = service.bridge.channels[session_id]
    return int(mine._commands_received)


def is_native(service: InProcessService, session_id: int) -> bool:
    mine: Any = service.bridge.channels[session_id]
    return bool(mine.stream_session.native)


def test_set_points_never_reach_the_event_loop(service: InProcessService, connect: Connect) -> None:
    client, first = connect({"vocabulary": "neutral"})
    session = first["session_id"]
    before = metric(service, "hapticd_commands_received_total")
    values: tuple[dict[str, Any], ...] = (
        UP,
        {"set_cursor_force": {"vector": xyz(0.25, 0, -0.5)}},
        {"probe_position": {}},
    )
    for value in values:
        client.ask(arm(commands=value))
    client.ask({})

    assert stock_messages(service, session) == 0
    assert service.bridge.channels[session].commands_received == 4
    assert service.bridge.channels[session].frames_sent == 5
    assert metric(service, "hapticd_commands_received_total") - before == 4


def test_sessions_of_all_threads_stream_side_by_side(service: InProcessService, connect: Connect) -> None:
    before = metric(service, "hapticd_commands_received_total")
    clients = [connect({"vocabulary": "neutral"}) for _ in range(7)]
    for _ in range(3):
        for client, _ in clients:
            client.send(arm(commands=UP))
        for client, first in clients:
            assert client.frame()["session_id"] == first["session_id"]

    assert [stock_messages(service, first["session_id"]) for _, first in clients] == [0] * 7
    assert metric(service, "hapticd_commands_received_total") - before == 21


def test_force_of_the_thread_is_at_the_device_in_the_next_tick(service: InProcessService, connect: Connect) -> None:
    client, _ = connect({"vocabulary": "neutral"})
    client.ask(arm(commands={"set_cursor_force": {"vector": xyz(0.25, 0, -0.5)}}))
    service.step(2)

    assert force(client.ask(arm(commands=UP))) == [0.25, 0, -0.5]
    client.ask(arm(commands={}))
    service.step(2)
    assert tuple(service.state(ARM)["force"]) == (0, 0, 0)


def test_module_that_is_switched_on_and_off_while_a_client_streams_takes_the_session_and_gives_it_back(
    service: InProcessService, connect: Connect
) -> None:
    client, first = connect({"vocabulary": "neutral"})
    session = first["session_id"]
    floor = {"shape": "plane", "point": xyz(0, 0, 0), "normal": xyz(0, 0, 1), "stiffness": 500, "damping": 5}
    client.ask(arm(commands=UP))
    before = stock_messages(service, session)
    try:
        for _ in range(3):
            assert exchange(service.http, "POST", "/settings", {"features/contact/enabled": True}).status == 200
            assert "errors" not in client.ask(arm(commands={"set_contact": floor}))
            assert "errors" not in client.ask(arm(commands=UP))
            assert not is_native(service, session)
            assert exchange(service.http, "POST", "/settings", {"features/contact/enabled": False}).status == 200
            (error,) = client.ask(arm(commands={"set_contact": floor}))["errors"]
            assert "features/contact/enabled" in error["reason"]
            client.ask(arm(commands=UP))
            asked = stock_messages(service, session)
            for _ in range(5):
                client.ask(arm(commands=UP))
            assert stock_messages(service, session) == asked
    finally:
        exchange(service.http, "DELETE", "/settings/features/contact/enabled")
    assert stock_messages(service, session) > before
    service.step(2)
    assert force(client.ask(arm(commands=UP))) == [0, 0, UP["set_cursor_force"]["vector"]["z"]]


@pytest.mark.parametrize("version", ["3.0", "3.1"])
@pytest.mark.parametrize("vocabulary", ["neutral", "inverse"])
def test_frame_of_the_thread_is_that_of_the_event_loop_byte_for_byte(
    service: InProcessService, connect: Connect, version: str, vocabulary: str
) -> None:
    client, first = connect({"vocabulary": vocabulary, "version": version})
    mine: Any = service.bridge.channels[first["session_id"]]
    client.ask({})
    client.send({})
    of_the_thread = client.text()

    assert stock_messages(service, first["session_id"]) == 0
    assert of_the_thread == service.on_edge(lambda: mine.devices.frame(ParsedMessage()))


@pytest.mark.parametrize(
    "message",
    [
        "nonsense",
        arm(configure={"preset": {"preset": "defaults"}}),
        arm(commands={"set_cursor_force": {"values": [0, 0, 1]}}),
        arm(commands={"set_cursor_position": {"position": xyz(0, -0.12, 0.13)}}),
        {"session": {"force_render_full_state": {}}},
        {"nobody": []},
    ],
    ids=["no JSON", "configuration", "deprecated", "first position", "full frame", "unknown group"],
)
def test_everything_else_is_answered_in_its_turn_by_the_event_loop(
    service: InProcessService, connect: Connect, message: object
) -> None:
    client, first = connect({"vocabulary": "neutral"})
    faulty = []
    for content in ({}, message, {}, {}):
        client.send_text(content if isinstance(content, str) else json.dumps(content))
        faulty.append("errors" in client.frame())

    client.check_nothing_unread()
    assert stock_messages(service, first["session_id"]) == 1
    assert faulty == [False, message in ("nonsense", {"nobody": []}), False, False]
    eventually(lambda: is_native(service, first["session_id"]), "the connection is the thread's again")


def test_order_holds_between_thread_and_event_loop(connect: Connect) -> None:
    client, _ = connect({"vocabulary": "neutral"})
    messages = [{}, {"first": []}, {}, arm(commands=UP), {"second": []}, {"third": []}, {}, {}]
    client.write(b"".join(encode_message(message) for message in messages))

    named = [frame.get("errors", [{"path": ""}])[0]["path"] for frame in (client.frame() for _ in messages)]
    assert named == ["", "first", "", "", "second", "third", "", ""]
    client.check_nothing_unread()


def test_position_that_is_held_goes_on_at_the_thread_and_stays_one_session_s(
    service: InProcessService, connect: Connect
) -> None:
    there = arm(commands={"set_cursor_position": {"position": xyz(0, -0.12, 0.13)}})
    one, first = connect({"vocabulary": "neutral"})
    other, _ = connect({"vocabulary": "neutral"})
    one.ask(there)
    for _ in range(3):
        assert "errors" not in one.ask(there)

    assert stock_messages(service, first["session_id"]) == 1
    assert "holds the position" in other.ask(there)["errors"][0]["reason"]
    service.wait(0.1)
    assert "errors" not in other.ask(there)
    assert "holds the position" in one.ask(there)["errors"][0]["reason"]


def test_changed_setting_is_in_the_next_frame(service: InProcessService, connect: Connect) -> None:
    client, first = connect({"vocabulary": "neutral"})
    client.ask({})
    key = "/settings/serialization/status_safety"
    try:
        assert exchange(service.http, "POST", key, {"value": True}).status == 200
        assert "safety" in client.ask({})["arm"][0]["status"]
    finally:
        exchange(service.http, "DELETE", key)
    assert "safety" not in client.ask({})["arm"][0]["status"]
    assert stock_messages(service, first["session_id"]) == 2


def test_change_that_is_told_after_it_was_seen_costs_one_message(service: InProcessService, connect: Connect) -> None:
    client, first = connect({"vocabulary": "neutral"})
    client.ask({})
    inventory = service.system.inventory

    # The session reads the new snapshot before its writer says that there is one.
    told, inventory._on_replaced = inventory._on_replaced, None
    assert told is not None
    inventory.replace(inventory.value)
    inventory._on_replaced = told
    service.on_edge(lambda: service.bridge.channels[first["session_id"]].devices)
    told()
    for _ in range(5):
        client.ask({})
    assert stock_messages(service, first["session_id"]) == 1


def test_ping_is_answered_between_two_frames(service: InProcessService, connect: Connect) -> None:
    client, first = connect({"vocabulary": "neutral"})
    client.write(encode_message({}) + encode_frame(b"ping", PING) + encode_message({}))

    assert [client.next().opcode for _ in range(3)] == [1, PONG, 1]
    assert stock_messages(service, first["session_id"]) == 0


def test_many_messages_at_once_are_answered_one_by_one(service: InProcessService, connect: Connect) -> None:
    client, first = connect({"vocabulary": "neutral"})
    client.write(b"".join(encode_message(arm(commands=UP)) for _ in range(300)))

    assert len([client.frame() for _ in range(300)]) == 300
    client.check_nothing_unread()
    assert stock_messages(service, first["session_id"]) == 0


def test_message_in_pieces_is_answered_once_whole(service: InProcessService, connect: Connect) -> None:
    client, first = connect({"vocabulary": "neutral"})
    data = encode_message(arm(commands=UP))
    for at in range(len(data)):
        client.write(data[at : at + 1])

    assert client.frame()["session_id"] == first["session_id"]
    assert stock_messages(service, first["session_id"]) == 0


def test_message_behind_an_urgent_byte_is_answered(service: InProcessService, connect: Connect) -> None:
    client, first = connect({"vocabulary": "neutral"})
    client.ask({})

    def send() -> None:
        client.send({})
        client.socket.send(b"u", socket.MSG_OOB)
        client.send({})

    while_the_thread_waits(service, first["session_id"], send)
    assert len([client.frame() for _ in range(2)]) == 2


def test_end_behind_a_message_is_seen_at_once(service: InProcessService, connect: Connect) -> None:
    client, first = connect({"vocabulary": "neutral"})
    client.ask({})

    def send() -> None:
        client.send({})
        client.socket.shutdown(socket.SHUT_WR)

    hangup_poll = service.listeners._hangup_poll
    service.on_edge(hangup_poll.stop)
    try:
        while_the_thread_waits(service, first["session_id"], send)
        service.wait_for_sessions()
    finally:
        service.on_edge(hangup_poll.start)


def while_the_thread_waits(service: InProcessService, session_id: int, send: Callable[[], None]) -> None:
    """Send while the thread finds the session's lock held, so that it is told once of everything that was sent."""
    mine: Any = service.bridge.channels[session_id]

    def hold() -> None:
        with mine.stream_session:
            send()

    service.on_edge(hold)


def test_close_frame_behind_messages_ends_the_session_after_their_frames(
    service: InProcessService, connect: Connect
) -> None:
    client, _ = connect({"vocabulary": "neutral"})
    client.write(encode_message(arm(commands=UP)) * 3 + encode_frame((1000).to_bytes(2, "big"), CLOSE))

    assert len([client.frame() for _ in range(3)]) == 3
    assert client.end() == 1000
    service.wait_for_sessions()
    service.step(2)
    assert tuple(service.state(ARM)["force"]) == (0, 0, 0)


def test_disconnected_session_is_answered_no_more(service: InProcessService, connect: Connect) -> None:
    client, first = connect({"vocabulary": "neutral"})
    client.ask(arm(commands=UP))

    service.on_edge(lambda: service.bridge.channels[first["session_id"]].disconnect(1001, "away"))
    client.write(encode_message(arm(commands=UP)) * 5)

    assert client.end() == 1001
    service.step(2)
    assert tuple(service.state(ARM)["force"]) == (0, 0, 0)


def test_ping_behind_the_close_frame_of_the_service_is_not_answered(
    service: InProcessService, connect: Connect
) -> None:
    client, first = connect({"vocabulary": "neutral"})
    client.ask({})

    service.on_edge(lambda: service.bridge.channels[first["session_id"]].disconnect(1001, "away"))
    client.write(encode_frame(b"late", PING))
    client.write(encode_frame((1001).to_bytes(2, "big"), CLOSE))

    assert opcodes_to_the_end(client) == [CLOSE]


def test_client_that_reads_no_frame_of_the_thread_is_closed_with_1008(service: InProcessService) -> None:
    with backlogged(service) as (client, session_id), patch.object(channel, "DRAIN_S", 0.05):
        mine: Any = service.bridge.channels[session_id]
        eventually(lambda: not mine.is_open, "it is closed", pause_s=0.01)
        assert stock_messages(service, session_id) == 0
        assert client.end() == 1008
    service.wait_for_sessions()


def test_ping_that_finds_no_room_before_the_end_is_not_logged(service: InProcessService) -> None:
    logged: list[dict[str, Any]] = []

    def watch(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        del loop
        logged.append(context)

    service.on_edge(lambda: asyncio.get_running_loop().set_exception_handler(watch))
    try:
        with backlogged(service) as (_, session_id):
            service.on_edge(lambda: ping(service, session_id))
        service.wait_for_sessions()
        service.on_edge(gc.collect)
    finally:
        service.on_edge(lambda: asyncio.get_running_loop().set_exception_handler(None))
    assert logged == []


def ping(service: InProcessService, session_id: int) -> None:
    """Have the event loop send a ping."""
    mine: Any = service.bridge.channels[session_id]
    mine.ws_connection.write_ping(b"")


@contextmanager
def backlogged(service: InProcessService) -> Generator[tuple[RawWebSocket, int]]:
    """A client that sends and does not read, once the thread reads nothing more of it; and its session's id."""
    client = RawWebSocket(service.ws, {"vocabulary": "neutral"}, receive_buffer=4096)
    session_id = int(client.frame()["session_id"])
    service.shrink_send_buffer(session_id)
    mine: Any = service.bridge.channels[session_id]
    flood = threading.Thread(target=write_without_end, args=(client, encode_message({}) * 1000))
    flood.start()
    try:
        eventually(lambda: mine.stream_session.unread_s > 0, "the thread waits for its client", pause_s=0.01)
        yield client, session_id
    finally:
        # Closing alone does not wake a thread that waits in a call on the socket.
        with suppress(OSError):
            client.socket.shutdown(socket.SHUT_RDWR)
        flood.join()
        client.drop()


def write_without_end(client: RawWebSocket, data: bytes) -> None:
    """Write until the connection has ended."""
    with suppress(ConnectionEnded, OSError):
        while True:
            client.write(data)


def opcodes_to_the_end(client: RawWebSocket) -> list[int]:
    """Opcodes of all frames until the service has closed the connection."""
    found: list[int] = []
    with suppress(ConnectionEnded):
        while True:
            found.append(client.next().opcode)
    return found


# ---------------------------------------------------------------- while the event loop hangs


def hold_event_loop(service: InProcessService, seconds: float) -> None:
    """Keep the event loop from turning."""
    service.on_edge(lambda: time.sleep(seconds))


def hold_interpreter(service: InProcessService, seconds: float) -> None:
    """Keep the interpreter's lock."""
    del service
    ctypes.PyDLL(None).usleep(round(seconds * 1e6))


@pytest.mark.parametrize("hold", [hold_event_loop, hold_interpreter])
def test_forces_fade_while_nobody_could_say_stop_and_come_back(
    tmp_path: Path, hold: Callable[[InProcessService, float], None]
) -> None:
    settings = {
        "communication/streaming/native": True,
        "communication/streaming/longest_turn": 0.3,
        "filters/oscillation/enabled": False,
    }
    with (
        InProcessService(tmp_path, settings=settings) as service,
        subprocess.Popen([sys.executable, "-c", CLIENT, service.ws], stdout=subprocess.PIPE) as client,
    ):
        try:
            assert client.stdout is not None
            assert client.stdout.readline() == b"streams\n"

            def pushes() -> bool:
                return bool(service.state(ARM)["force"][2] == 1)

            eventually(pushes, "the force is at the arm")
            fades = int(service.state(ARM)["faded"])
            hold(service, 0.15)
            assert int(service.state(ARM)["faded"]) == fades, (
                "a client that goes on keeps its force while the loop is late"
            )
            hold(service, 1.0)
            assert int(service.state(ARM)["faded"]) > fades
            eventually(pushes, "the force is back")
        finally:
            client.kill()


@pytest.mark.parametrize("reason", ["the event loop works", "a stop waits"])
def test_clients_are_answered_however_long_somebody_wants_the_processor(
    service: InProcessService, connect: Connect, reason: str
) -> None:
    peers = [connect({"vocabulary": "neutral"})[0] for _ in range(3)]
    streams: Any = service.bridge.streams
    streaming = streams._streaming
    stop = reason == "a stop waits"
    service.on_edge(lambda: streaming.give_way(turns=True, rest=True) if stop else streaming.work_begins())
    before = streaming.messages
    try:
        for _ in range(100):
            for peer in peers:
                assert peer.ask(arm(commands=UP))["arm"][0]["device_id"] == ARM
    finally:
        service.on_edge(lambda: (streaming.give_way(turns=False, rest=False), streaming.work_ends()))

    assert streaming.messages > before
