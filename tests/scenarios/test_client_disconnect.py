"""A client disconnects with thousands of unread messages: its forces end at once, those messages command nothing."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any, Final

import pytest

from tests.support.clients.raw_websocket import ABORT, RawWebSocket, encode_message
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

PUSH_N: Final = 10.0
# Longer than a time-out with its ramp: whatever is pushed then is new.
SILENCE_TICKS: Final = 1_000
WATCH_TICKS: Final = 1_200
MESSAGES: Final = 2_000


def pushed(service: RunningService) -> tuple[int, float]:
    """The tick of the arm's state and the force that was put out, N."""
    _, devices = service.request("GET", "/devices")
    (arm,) = devices["arm"]
    return devices["tick"], abs(arm["state"]["current_cursor_force"]["z"])


def ticks_on(service: RunningService, ticks: int) -> list[float]:
    """The forces that are seen while the loop runs some ticks."""
    first, force = pushed(service)
    seen = [force]

    def over() -> bool:
        now, force = pushed(service)
        seen.append(force)
        return now >= first + ticks

    eventually(over, "the loop ticks on", pause_s=0.001, tries=60_000)
    return seen


def stuffed(peer: RawWebSocket, text: bytes) -> None:
    """Send without reading until nothing more goes in."""
    peer.socket.settimeout(0.5)
    try:
        while True:
            peer.socket.sendall(text * 50)
    except TimeoutError:
        pass


def has_stopped(service: RunningService) -> bool:
    """Whether the one session has answered some messages, not all, and none while the loop runs some ticks."""

    def answered() -> int:
        (session,) = service.request("GET", "/sessions")[1]["sessions"]
        return int(session["frames_sent"]) - 1

    before = answered()
    ticks_on(service, SILENCE_TICKS)
    return 0 < before == answered() < MESSAGES


def aborts(peer: RawWebSocket) -> None:
    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
    peer.drop()


@pytest.mark.parametrize("leave", [RawWebSocket.drop, aborts], ids=["close", "reset"])
def test_unread_messages_of_a_disconnected_client_command_nothing(leave: Callable[[RawWebSocket], Any]) -> None:
    with RunningService(simulate="arm", settings={"serialization/timestamps": True}) as service:
        _, devices = service.request("GET", "/devices")
        device_id = devices["arm"][0]["device_id"]
        push = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": PUSH_N}}}
        peer = RawWebSocket(service.ws, receive_buffer=4096)
        stuffed(peer, encode_message({"arm": [{"device_id": device_id, "commands": push}]}))
        try:
            eventually(lambda: max(ticks_on(service, SILENCE_TICKS)) == 0, "what was read of it has timed out")
            leave(peer)

            assert max(ticks_on(service, WATCH_TICKS)) == 0
        finally:
            peer.drop()
        eventually(lambda: service.request("GET", "/sessions")[1]["session_count"] == 0, "the session is gone")


def test_session_ends_with_unread_messages() -> None:
    full = encode_message({"session": {"force_render_full_state": {}}})
    with RunningService(simulate="arm,grip,grip,grip", settings={"serialization/timestamps": True}) as service:
        peer = RawWebSocket(service.ws, receive_buffer=4096)
        try:
            # More answers than are kept for a client that takes none: the service stops reading with messages still waiting.
            peer.write(full * MESSAGES)
            eventually(lambda: has_stopped(service), "the service reads nothing more of it")
            peer.socket.shutdown(socket.SHUT_WR)
            eventually(lambda: service.request("GET", "/sessions")[1]["session_count"] == 0, "the session is gone")
        finally:
            peer.drop()
        assert "read nothing for" not in service.log
