"""The session channel over real sockets, in virtual time: opening, reconnecting, slow clients, warnings, closing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import exchange, websocket_status
from tests.support.clients.raw_websocket import (
    BINARY,
    PING,
    PONG,
    TEXT,
    ConnectionEnded,
    RawWebSocket,
    encode_frame,
    encode_message,
)
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from tests.support.wire.wire_variants import Object
from transport.ws import session as channel

FORCE: Object = {"arm": [{"device_id": "A001", "commands": {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 1}}}}]}
POSITION: Object = {
    "arm": [{"device_id": "A001", "commands": {"set_cursor_position": {"position": {"x": 0, "y": -0.1, "z": 0.1}}}}]
}
RELEASED: Object = {"arm": [{"device_id": "A001", "commands": {}}]}
FULL: Object = {"session": {"force_render_full_state": {}}}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    with InProcessService(tmp_path_factory.mktemp("state"), stepping=True) as running:
        yield running


@pytest.fixture(autouse=True)
def nobody_stays(service: InProcessService) -> Iterator[None]:
    """Every test leaves the service without sessions and listeners, and every slot is free again."""
    yield
    service.wait_for_sessions()
    _subscribed(service, 0)


def opened(service: InProcessService, query: dict[str, object] | None = None) -> tuple[RawWebSocket, Any]:
    """A session and its first frame."""
    peer = RawWebSocket(service.ws, query)
    return peer, peer.frame()


def channel_of(service: InProcessService, session_id: int) -> Any:
    """The session's channel at the edge."""
    return service.bridge.channels[session_id]


# ---------------------------------------------------------------- frames


def test_service_sends_the_first_frame_then_one_per_message(service: InProcessService) -> None:
    peer, first = opened(service)
    with peer:
        service.wait(1.0)
        peer.check_nothing_unread()
        for _ in range(3):
            assert peer.ask({})["session_id"] == first["session_id"]
        peer.check_nothing_unread()


def test_client_that_sends_first_gets_the_full_frame_first(service: InProcessService) -> None:
    with RawWebSocket(service.ws) as peer:
        peer.send(FORCE)

        first, second = peer.frame(), peer.frame()

    assert "config" in first["arm"][0]
    assert "config" not in second["arm"][0]


def test_frames_are_unfragmented_text_for_any_input_opcode(service: InProcessService) -> None:
    peer, _ = opened(service)
    with peer:
        payload = b'{"session": {"force_render_full_state": {}}}'
        peer.write(encode_frame(payload[:7], BINARY, final=False) + encode_frame(b"", 0, final=False))
        peer.write(encode_frame(b"still there?", PING) + encode_frame(payload[7:], 0))

        pong, frame = peer.next(), peer.next()

    assert (pong.opcode, pong.payload) == (PONG, b"still there?")
    assert (frame.opcode, frame.final) == (TEXT, True)
    assert b'"config"' in frame.payload


def test_changed_vocabulary_applies_to_new_sessions(service: InProcessService) -> None:
    before, _ = opened(service)
    with before:
        assert exchange(service.http, "POST", "/settings/serialization/vocabulary", "inverse").status == 200
        after, first = opened(service)
        with after:
            assert "arm" in before.ask({})
            assert "inverse3" in first
            assert "inverse3" in after.ask({})
        assert exchange(service.http, "DELETE", "/settings/serialization/vocabulary").status == 200


def test_frame_settings_apply_to_the_next_frame(service: InProcessService) -> None:
    peer, _ = opened(service)
    with peer:
        for key, shown in (("timestamps", "tick"), ("status_safety", "safety"), ("explicit_fields", "rotation")):
            assert shown not in str(peer.ask({}))
            assert exchange(service.http, "POST", f"/settings/serialization/{key}", body=True).status == 200
            assert shown in str(peer.ask({}))
            assert exchange(service.http, "DELETE", f"/settings/serialization/{key}").status == 200


# ---------------------------------------------------------------- opening, closing, coming back


@pytest.mark.parametrize(
    ("query", "part"), [("version=2.9", "3.0 or 3.1"), ("vocabulary=klingon", "neutral, inverse or auto")]
)
def test_unknown_version_or_vocabulary_is_refused(service: InProcessService, query: str, part: str) -> None:
    answer = websocket_status(service.http, f"/?{query}")

    assert answer.status == 400
    assert part in answer.json["error"]


def test_query_selects_version_and_vocabulary(service: InProcessService) -> None:
    with RawWebSocket(service.ws_v30, {"version": "3.1", "vocabulary": "inverse"}) as peer:
        assert isinstance(peer.frame()["inverse3"], list)
    with RawWebSocket(service.ws, {"version": "3.0"}) as peer:
        assert isinstance(peer.frame()["arm"], dict)


def test_session_over_the_limit_gets_503_until_another_closes(tmp_path: Path) -> None:
    with InProcessService(tmp_path, stepping=True, settings={"communication/max_sessions": 2}) as small:
        first, _ = opened(small)
        second, _ = opened(small)

        refused = websocket_status(small.http)

        assert refused.status == 503
        assert refused.headers["retry-after"] == "1"
        assert refused.json["ok"] is False
        first.close()
        small.step()
        third = eventually(lambda: _let_in(small), "the next one is let in", pause_s=0.01)
        for peer in (second, third):
            peer.close()
        small.wait_for_sessions()


def _let_in(service: InProcessService) -> RawWebSocket | None:
    service.step()
    try:
        return RawWebSocket(service.ws)
    except AssertionError:
        return None


def test_reconnecting_client_gets_its_session_back(service: InProcessService) -> None:
    before, first = opened(service)
    with before:
        before.ask({"session": {"configure": {"profile": {"name": "comes back"}, "required_sdk_version": "3.5"}}})
        before.close()
    service.wait_for_sessions()

    after, again = opened(service, {"session_id": first["session_id"]})

    with after:
        assert again["session_id"] == first["session_id"]
        record = exchange(service.http, "GET", f"/sessions/{first['session_id']}").json
        assert (record["profile"], record["required_sdk_version"]) == ({"name": "comes back"}, "3.5")


@pytest.mark.parametrize("asked", ["0", "-1", "999999", "one", "", "1.0", "9" * 40])
def test_unknown_id_gets_a_new_session_and_a_warning(service: InProcessService, asked: str) -> None:
    with EventClient(service.events, kinds="session-warning") as listener:
        _subscribed(service)
        peer, first = opened(service, {"session_id": asked})
        with peer:
            assert str(first["session_id"]) != asked
            listener.wait_for_event("session-warning", reason="resume_refused", session_id=first["session_id"])


def test_open_id_gets_a_new_session_and_a_warning(service: InProcessService) -> None:
    with EventClient(service.events, kinds="session-warning") as listener:
        _subscribed(service)
        one, first = opened(service)
        with one:
            other, second = opened(service, {"session_id": first["session_id"]})
            with other:
                assert second["session_id"] > first["session_id"]
                listener.wait_for_event("session-warning", reason="resume_refused", session_id=second["session_id"])


@pytest.mark.parametrize(
    "leave", [RawWebSocket.close, RawWebSocket.drop, RawWebSocket.abort], ids=["goodbye", "end", "reset"]
)
def test_client_disconnect_ends_its_force_before_any_actor_handles_it(
    service: InProcessService, leave: Callable[[RawWebSocket], object]
) -> None:
    peer, first = opened(service)
    mine = channel_of(service, first["session_id"])
    peer.ask(FORCE)
    service.step()
    assert service.state("A001")["force"][2] == 1

    with patch.object(mine, "_close_session"):
        leave(peer)
        eventually(
            lambda: service.on_edge(lambda: first["session_id"] not in service.bridge.channels),
            "the edge has seen it",
            pause_s=0.005,
        )
        service.step()
        assert service.state("A001")["force"][2] == 0
        assert service.state("A001")["mode"] == 0
    service.on_edge(mine._close_session)


def test_settling_device_refuses_commands(tmp_path: Path) -> None:
    with InProcessService(tmp_path, stepping=True, settled=False) as early:
        eventually(lambda: early.system.inventory.value.devices, "the devices are listed", pause_s=0.005)
        peer, first = opened(early)
        with peer:
            assert first["arm"][0]["device_id"] == "A001"
            for command in (FORCE, POSITION):
                (error,) = peer.ask(command)["errors"]
                assert error["path"].startswith("arm[0].commands.set_cursor_")
                assert "settling" in error["reason"]
            early.step()
            assert early.state("A001")["mode"] == 0

            early.settle()

            frame = peer.ask(FORCE)
            assert "errors" not in frame
            assert frame["arm"][0]["status"]["ready"] is True
            early.step()
            assert early.state("A001")["force"][2] == 1


def _subscribed(service: InProcessService, listeners: int = 1) -> None:
    """Wait until the hub knows its subscribers, and none of an earlier test."""
    eventually(
        lambda: service.system.metrics.registry.get_sample_value("hapticd_event_subscribers") == listeners,
        f"the hub has {listeners} subscribers",
        pause_s=0.005,
    )


def test_session_ids_increase_and_sessions_return_after_a_restart(tmp_path: Path) -> None:
    with InProcessService(tmp_path, stepping=True) as run:
        peer, first = opened(run)
        peer.ask({"session": {"configure": {"profile": {"name": "over a restart"}}}})
        peer.close()
        run.wait_for_sessions()
    with InProcessService(tmp_path, stepping=True) as run:
        new, second = opened(run)
        back, third = opened(run, {"session_id": first["session_id"]})
        profile = exchange(run.http, "GET", f"/sessions/{first['session_id']}/profile").json

        assert second["session_id"] > first["session_id"]
        assert third["session_id"] == first["session_id"]
        assert profile == {"name": "over a restart"}
        new.close()
        back.close()
        run.wait_for_sessions()


def test_stopping_service_closes_sessions_with_1001(tmp_path: Path) -> None:
    with InProcessService(tmp_path, stepping=True) as run:
        peer, _ = opened(run)
        peer.ask(FORCE)
    with peer:
        assert peer.end() == 1001


def test_disconnect_over_http_ends_the_force_before_it_answers(service: InProcessService) -> None:
    peer, first = opened(service)
    with peer:
        peer.ask(FORCE)
        service.step()
        assert service.state("A001")["force"][2] == 1

        exchange(service.http, "DELETE", f"/sessions/{first['session_id']}")
        service.step()
        assert service.state("A001")["force"][2] == 0

        peer.send(FORCE)
        assert peer.end() == 1000
        service.step()
        assert service.state("A001")["force"][2] == 0


# ---------------------------------------------------------------- whose turn it is


def test_queued_messages_of_one_client_delay_no_other_on_the_event_loop(tmp_path: Path) -> None:
    settings = {"communication/streaming/native": False}
    with InProcessService(tmp_path, stepping=True, settings=settings) as service:
        flood_beside_a_calm_client(service)


def flood_beside_a_calm_client(service: InProcessService) -> None:
    """Queue 1,000 messages of one client while the event loop is held, and look when another one's is answered."""
    flood, first = opened(service)
    calm, second = opened(service)
    flooding = channel_of(service, first["session_id"])
    answered_after: list[int] = []
    held, go = threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        assert go.wait(60)

    def answer(*parts: Any) -> Any:
        answered_after.append(flooding.frames_sent)
        return real(*parts)

    with flood, calm:
        calm_channel = channel_of(service, second["session_id"])
        real = calm_channel._reply
        service.on_edge(lambda: setattr(calm_channel, "_reply", answer))
        holding = threading.Thread(target=service.on_edge, args=(hold,))
        holding.start()
        assert held.wait(60)
        sent = 1000
        before = flooding.frames_sent
        flood.write(encode_frame("{}") * sent)
        calm.send({})
        go.set()
        calm.frame()
        holding.join()
        for _ in range(sent):
            flood.frame()
        flood.check_nothing_unread()

    assert answered_after[0] - before <= 32


def test_backlogged_client_is_not_read_and_loses_no_message(service: InProcessService) -> None:
    peer = RawWebSocket(service.ws, receive_buffer=4096)
    first = peer.frame()
    mine = channel_of(service, first["session_id"])
    service.shrink_send_buffer(first["session_id"])
    total = 1_000

    def send() -> None:
        for number in range(total):
            move = {"set_transform": {"transform": {"position": {"x": number, "y": 0, "z": 0}}}}
            peer.send({"arm": [{"device_id": "A001", "commands": move}]})

    with peer:
        sending = threading.Thread(target=send)
        sending.start()
        eventually(lambda: service.is_backlogged(first["session_id"]), "the service waits for its client", pause_s=0.01)
        assert mine.commands_received < total
        for number in range(total):
            shown = peer.frame()["arm"][0]["state"]["transform"]
            assert shown == ({"position": {"x": number, "y": 0, "z": 0}} if number else {})
        sending.join()
        peer.check_nothing_unread()


def test_client_that_reads_no_frame_is_closed_with_1008_and_its_force_ends(service: InProcessService) -> None:
    peer = RawWebSocket(service.ws, receive_buffer=4096)
    first = peer.frame()
    mine = channel_of(service, first["session_id"])
    service.shrink_send_buffer(first["session_id"])
    with peer, patch.object(channel, "DRAIN_S", 0.05):
        flood = threading.Thread(target=_flood, args=(peer, encode_message(FORCE) * 200))
        flood.start()
        eventually(lambda: service.on_edge(lambda: all(_revoked(mine))), "its forces are gone", pause_s=0.01)
        service.step()
        assert service.state("A001")["force"][2] == 0
        assert peer.end() == 1008
        flood.join()


def test_slowly_reading_client_stays_connected(service: InProcessService) -> None:
    peer = RawWebSocket(service.ws, receive_buffer=4096)
    first = peer.frame()
    service.shrink_send_buffer(first["session_id"])
    total = 300
    with peer, patch.object(channel, "DRAIN_S", 1.0):
        peer.write(encode_message(FORCE) * total)
        eventually(lambda: service.is_backlogged(first["session_id"]), "the service waits for its client", pause_s=0.01)
        for _ in range(40):
            peer.frame()
            time.sleep(0.05)
        for _ in range(total - 40):
            peer.frame()
        peer.check_nothing_unread()


def _flood(peer: RawWebSocket, data: bytes) -> None:
    try:
        while True:
            peer.write(data)
    except (ConnectionEnded, OSError):
        return


def _revoked(mine: Any) -> Iterator[bool]:
    return (device.writer.revoked for device in mine._devices.by_id.values())


# ---------------------------------------------------------------- events


def faulty_events(service: InProcessService) -> list[Any]:
    """Data of the events that six faulty messages make, five of them at one time and the last more than a second later."""
    peer, first = opened(service)
    with peer, EventClient(service.events, kinds="invalid-io-channel") as listener:
        _subscribed(service)
        for number in range(5):
            peer.send_text(f"no JSON {number}")
            assert peer.frame()["errors"][0]["path"] == ""
        service.wait(1.1)
        peer.ask({"glove": [], "arm": 1})
        eventually(lambda: len(listener.received_events("invalid-io-channel")) > 1, "two events", pause_s=0.01)
        return [
            event["data"] for event in listener.received_events("invalid-io-channel", session_id=first["session_id"])
        ]


def test_faulty_messages_raise_one_event_per_second(service: InProcessService) -> None:
    one, two = faulty_events(service)

    assert (one["received_data"], one["path"], one["suppressed"]) == ("no JSON 0", "", 0)
    assert (two["received_data"], two["path"]) == ('{"glove": [], "arm": 1}', "glove")


def test_faulty_message_event_counts_the_suppressed_ones(service: InProcessService) -> None:
    _, last = faulty_events(service)

    assert last["suppressed"] == 4


def test_refused_position_raises_one_event_per_second(service: InProcessService) -> None:
    holder, held = opened(service)
    other, refused = opened(service)
    with holder, other, EventClient(service.events, kinds="device-busy") as listener:
        _subscribed(service)
        for _ in range(3):
            holder.ask(POSITION)
            assert other.ask(POSITION)["errors"][0]["path"] == "arm[0].commands.set_cursor_position"
        service.wait(1.1)
        holder.ask(POSITION)
        other.ask(POSITION)
        busy = eventually(lambda: listener.received_events("device-busy")[1:] or None, "two events")
        holder.ask(RELEASED)

    assert len(busy) == 1
    assert listener.received_events("device-busy")[0]["data"] == {
        "device_id": "A001",
        "device_family": "arm",
        "session_id": refused["session_id"],
        "held_by": held["session_id"],
    }


def test_three_command_timeouts_in_ten_seconds_raise_a_warning(service: InProcessService) -> None:
    peer, first = opened(service)
    with peer, EventClient(service.events, kinds="session-warning") as listener:
        _subscribed(service)
        for _ in range(4):
            assert listener.received_events("session-warning") == []
            peer.ask(FORCE)
            service.wait(0.08)
        warning = listener.wait_for_event("session-warning", session_id=first["session_id"])

    assert warning["data"]["reason"] == "command_timeout"
    assert warning["data"]["setting"] == "sessions/command_timeout"
    assert warning["data"]["interval"] == pytest.approx(0.08)


@pytest.mark.parametrize("milliseconds", [60, 100, 250])
def test_reported_share_of_lost_force_equals_the_loop_s_reduction(service: InProcessService, milliseconds: int) -> None:
    ticks_per_ms = round(float(service.runtime.loop_state()["target_frequency"]) / 1000)
    applied: list[float] = []
    peer, first = opened(service)
    with peer, EventClient(service.events, kinds="session-warning") as listener:
        _subscribed(service)
        for _ in range(4):
            peer.ask(FORCE)
            for _ in range(milliseconds):
                service.step(ticks_per_ms)
                applied.append(float(np.linalg.norm(service.state("A001")["force"])))
        warning = listener.wait_for_event("session-warning", session_id=first["session_id"])

    wanted = len(applied) * max(applied)
    assert warning["data"]["interval"] == pytest.approx(milliseconds / 1000)
    assert warning["data"]["force_lost"] == pytest.approx(1 - sum(applied) / wanted, abs=0.015)


def test_session_that_stays_slow_raises_one_warning(service: InProcessService) -> None:
    peer, first = opened(service)
    with peer, EventClient(service.events, kinds="session-warning") as listener:
        _subscribed(service)
        for _ in range(12):
            peer.ask(FORCE)
            service.wait(0.08)
        last, again = opened(service, {"session_id": 999_999})
        with last:
            listener.wait_for_event("session-warning", session_id=again["session_id"])

    assert len(listener.received_events("session-warning", session_id=first["session_id"])) == 1
