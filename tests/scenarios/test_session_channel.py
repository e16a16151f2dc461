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

from tests.support.clients.exchange import exchange, knock
from tests.support.clients.listener import Listener
from tests.support.clients.peer import BINARY, PING, PONG, TEXT, Gone, Peer, encoded, message
from tests.support.service.inside import ServiceInside
from tests.support.service.polling import eventually
from tests.support.wire.words import Object
from transport.ws import session as channel

FORCE: Object = {"arm": [{"device_id": "A001", "commands": {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 1}}}}]}
POSITION: Object = {
    "arm": [{"device_id": "A001", "commands": {"set_cursor_position": {"position": {"x": 0, "y": -0.1, "z": 0.1}}}}]
}
RELEASED: Object = {"arm": [{"device_id": "A001", "commands": {}}]}
FULL: Object = {"session": {"force_render_full_state": {}}}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceInside]:
    with ServiceInside(tmp_path_factory.mktemp("state"), stepping=True) as running:
        yield running


@pytest.fixture(autouse=True)
def nobody_stays(service: ServiceInside) -> Iterator[None]:
    """Every test leaves the service without sessions and listeners, and every slot is free again."""
    yield
    service.sessions_gone()
    _subscribed(service, 0)


def opened(service: ServiceInside, query: dict[str, object] | None = None) -> tuple[Peer, Any]:
    """A session and its first frame."""
    peer = Peer(service.ws, query)
    return peer, peer.frame()


def channel_of(service: ServiceInside, session_id: int) -> Any:
    """The session's channel at the edge."""
    return service.bridge.channels[session_id]


# ---------------------------------------------------------------- frames


def test_the_service_speaks_first_and_then_only_when_spoken_to(service: ServiceInside) -> None:
    peer, first = opened(service)
    with peer:
        service.wait(1.0)
        peer.owes_nothing()
        for _ in range(3):
            assert peer.ask({})["session_id"] == first["session_id"]
        peer.owes_nothing()


def test_a_client_that_speaks_first_gets_the_full_frame_first(service: ServiceInside) -> None:
    with Peer(service.ws) as peer:
        peer.send(FORCE)

        first, second = peer.frame(), peer.frame()

    assert "config" in first["arm"][0]
    assert "config" not in second["arm"][0]


def test_frames_are_text_and_whole_whatever_came_in(service: ServiceInside) -> None:
    peer, _ = opened(service)
    with peer:
        payload = b'{"session": {"force_render_full_state": {}}}'
        peer.write(encoded(payload[:7], BINARY, final=False) + encoded(b"", 0, final=False))
        peer.write(encoded(b"still there?", PING) + encoded(payload[7:], 0))

        pong, frame = peer.next(), peer.next()

    assert (pong.opcode, pong.payload) == (PONG, b"still there?")
    assert (frame.opcode, frame.final) == (TEXT, True)
    assert b'"config"' in frame.payload


def test_a_new_vocabulary_holds_for_new_sessions(service: ServiceInside) -> None:
    before, _ = opened(service)
    with before:
        assert exchange(service.http, "POST", "/settings/serialization/vocabulary", "inverse").status == 200
        after, first = opened(service)
        with after:
            assert "arm" in before.ask({})
            assert "inverse3" in first
            assert "inverse3" in after.ask({})
        assert exchange(service.http, "DELETE", "/settings/serialization/vocabulary").status == 200


def test_settings_of_frames_show_in_the_next_frame(service: ServiceInside) -> None:
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
def test_a_version_or_vocabulary_that_does_not_exist_is_refused(service: ServiceInside, query: str, part: str) -> None:
    answer = knock(service.http, f"/?{query}")

    assert answer.status == 400
    assert part in answer.json["error"]


def test_the_query_chooses_version_and_vocabulary(service: ServiceInside) -> None:
    with Peer(service.ws_v30, {"version": "3.1", "vocabulary": "inverse"}) as peer:
        assert isinstance(peer.frame()["inverse3"], list)
    with Peer(service.ws, {"version": "3.0"}) as peer:
        assert isinstance(peer.frame()["arm"], dict)


def test_a_session_too_many_is_told_503_and_let_in_when_another_has_left(tmp_path: Path) -> None:
    with ServiceInside(tmp_path, stepping=True, settings={"communication/max_sessions": 2}) as small:
        first, _ = opened(small)
        second, _ = opened(small)

        refused = knock(small.http)

        assert refused.status == 503
        assert refused.headers["retry-after"] == "1"
        assert refused.json["ok"] is False
        first.close()
        small.step()
        third = eventually(lambda: _let_in(small), "the next one is let in", pause_s=0.01)
        for peer in (second, third):
            peer.close()
        small.sessions_gone()


def _let_in(service: ServiceInside) -> Peer | None:
    service.step()
    try:
        return Peer(service.ws)
    except AssertionError:
        return None


def test_a_client_comes_back_as_the_session_that_it_was(service: ServiceInside) -> None:
    before, first = opened(service)
    with before:
        before.ask({"session": {"configure": {"profile": {"name": "comes back"}, "required_sdk_version": "3.5"}}})
        before.close()
    service.sessions_gone()

    after, again = opened(service, {"session_id": first["session_id"]})

    with after:
        assert again["session_id"] == first["session_id"]
        record = exchange(service.http, "GET", f"/sessions/{first['session_id']}").json
        assert (record["profile"], record["required_sdk_version"]) == ({"name": "comes back"}, "3.5")


@pytest.mark.parametrize("asked", ["0", "-1", "999999", "one", "", "1.0", "9" * 40])
def test_an_id_that_nobody_had_gets_a_new_session_and_a_warning(service: ServiceInside, asked: str) -> None:
    with Listener(service.events, kinds="session-warning") as listener:
        _subscribed(service)
        peer, first = opened(service, {"session_id": asked})
        with peer:
            assert str(first["session_id"]) != asked
            listener.hears("session-warning", reason="resume_refused", session_id=first["session_id"])


def test_an_id_that_is_open_gets_a_new_session_and_a_warning(service: ServiceInside) -> None:
    with Listener(service.events, kinds="session-warning") as listener:
        _subscribed(service)
        one, first = opened(service)
        with one:
            other, second = opened(service, {"session_id": first["session_id"]})
            with other:
                assert second["session_id"] > first["session_id"]
                listener.hears("session-warning", reason="resume_refused", session_id=second["session_id"])


@pytest.mark.parametrize("leave", [Peer.close, Peer.drop, Peer.abort], ids=["goodbye", "end", "reset"])
def test_a_client_that_leaves_takes_its_force_with_it_before_any_actor_hears(
    service: ServiceInside, leave: Callable[[Peer], object]
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


def test_a_device_that_settles_takes_no_commands_yet(tmp_path: Path) -> None:
    with ServiceInside(tmp_path, stepping=True, settled=False) as early:
        eventually(lambda: early.system.inventory.value.devices, "the devices are listed", pause_s=0.005)
        peer, first = opened(early)
        with peer:
            assert first["arm"][0]["device_id"] == "A001"
            for wish in (FORCE, POSITION):
                (error,) = peer.ask(wish)["errors"]
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


def _subscribed(service: ServiceInside, listeners: int = 1) -> None:
    """Wait until the hub knows its subscribers, and none of an earlier test."""
    eventually(
        lambda: service.system.metrics.registry.get_sample_value("hapticd_event_subscribers") == listeners,
        f"the hub has {listeners} subscribers",
        pause_s=0.005,
    )


def test_ids_grow_and_sessions_come_back_over_a_restart(tmp_path: Path) -> None:
    with ServiceInside(tmp_path, stepping=True) as run:
        peer, first = opened(run)
        peer.ask({"session": {"configure": {"profile": {"name": "over a restart"}}}})
        peer.close()
        run.sessions_gone()
    with ServiceInside(tmp_path, stepping=True) as run:
        new, second = opened(run)
        back, third = opened(run, {"session_id": first["session_id"]})
        profile = exchange(run.http, "GET", f"/sessions/{first['session_id']}/profile").json

        assert second["session_id"] > first["session_id"]
        assert third["session_id"] == first["session_id"]
        assert profile == {"name": "over a restart"}
        new.close()
        back.close()
        run.sessions_gone()


def test_a_stopping_service_says_goodbye_with_1001(tmp_path: Path) -> None:
    with ServiceInside(tmp_path, stepping=True) as run:
        peer, _ = opened(run)
        peer.ask(FORCE)
    with peer:
        assert peer.end() == 1001


def test_a_session_that_is_disconnected_loses_its_force_before_it_answers(service: ServiceInside) -> None:
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


def test_a_flood_that_waits_does_not_keep_anybody_waiting(service: ServiceInside) -> None:
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
        flood.write(encoded("{}") * sent)
        calm.send({})
        go.set()
        calm.frame()
        holding.join()
        for _ in range(sent):
            flood.frame()
        flood.owes_nothing()

    assert answered_after[0] - before <= 32


def test_a_client_that_does_not_read_is_not_read_and_loses_nothing(service: ServiceInside) -> None:
    peer = Peer(service.ws, receive_buffer=4096)
    first = peer.frame()
    mine = channel_of(service, first["session_id"])
    service.keep_little(first["session_id"])
    total = 1_000

    def send() -> None:
        for number in range(total):
            move = {"set_transform": {"transform": {"position": {"x": number, "y": 0, "z": 0}}}}
            peer.send({"arm": [{"device_id": "A001", "commands": move}]})

    with peer:
        sending = threading.Thread(target=send)
        sending.start()
        eventually(lambda: service.waits_for(first["session_id"]), "the service waits for its client", pause_s=0.01)
        assert mine.commands_received < total
        for number in range(total):
            shown = peer.frame()["arm"][0]["state"]["transform"]
            assert shown == ({"position": {"x": number, "y": 0, "z": 0}} if number else {})
        sending.join()
        peer.owes_nothing()


def test_who_takes_no_frame_at_all_is_closed_with_1008_and_keeps_no_force(service: ServiceInside) -> None:
    peer = Peer(service.ws, receive_buffer=4096)
    first = peer.frame()
    mine = channel_of(service, first["session_id"])
    service.keep_little(first["session_id"])
    with peer, patch.object(channel, "DRAIN_S", 0.05):
        flood = threading.Thread(target=_flood, args=(peer, message(FORCE) * 200))
        flood.start()
        eventually(lambda: service.on_edge(lambda: all(_revoked(mine))), "its forces are gone", pause_s=0.01)
        service.step()
        assert service.state("A001")["force"][2] == 0
        assert peer.end() == 1008
        flood.join()


def test_who_takes_frames_slowly_is_served_slowly_and_stays(service: ServiceInside) -> None:
    peer = Peer(service.ws, receive_buffer=4096)
    first = peer.frame()
    service.keep_little(first["session_id"])
    total = 300
    with peer, patch.object(channel, "DRAIN_S", 1.0):
        peer.write(message(FORCE) * total)
        eventually(lambda: service.waits_for(first["session_id"]), "the service waits for its client", pause_s=0.01)
        for _ in range(40):
            peer.frame()
            time.sleep(0.05)
        for _ in range(total - 40):
            peer.frame()
        peer.owes_nothing()


def _flood(peer: Peer, data: bytes) -> None:
    try:
        while True:
            peer.write(data)
    except (Gone, OSError):
        return


def _revoked(mine: Any) -> Iterator[bool]:
    return (device.writer.revoked for device in mine._devices.by_id.values())


# ---------------------------------------------------------------- events


def faulty_events(service: ServiceInside) -> list[Any]:
    """Data of the events that six faulty messages make, five of them at one time and the last more than a second later."""
    peer, first = opened(service)
    with peer, Listener(service.events, kinds="invalid-io-channel") as listener:
        _subscribed(service)
        for number in range(5):
            peer.send_text(f"no JSON {number}")
            assert peer.frame()["errors"][0]["path"] == ""
        service.wait(1.1)
        peer.ask({"glove": [], "arm": 1})
        eventually(lambda: len(listener.heard("invalid-io-channel")) > 1, "two events", pause_s=0.01)
        return [event["data"] for event in listener.heard("invalid-io-channel", session_id=first["session_id"])]


def test_faulty_messages_make_one_event_a_second(service: ServiceInside) -> None:
    one, two = faulty_events(service)

    assert (one["received_data"], one["path"], one["suppressed"]) == ("no JSON 0", "", 0)
    assert (two["received_data"], two["path"]) == ('{"glove": [], "arm": 1}', "glove")


def test_an_event_of_faulty_messages_counts_those_that_it_stands_for(service: ServiceInside) -> None:
    _, last = faulty_events(service)

    assert last["suppressed"] == 4


def test_a_refused_position_makes_one_event_a_second(service: ServiceInside) -> None:
    holder, held = opened(service)
    other, refused = opened(service)
    with holder, other, Listener(service.events, kinds="device-busy") as listener:
        _subscribed(service)
        for _ in range(3):
            holder.ask(POSITION)
            assert other.ask(POSITION)["errors"][0]["path"] == "arm[0].commands.set_cursor_position"
        service.wait(1.1)
        holder.ask(POSITION)
        other.ask(POSITION)
        busy = eventually(lambda: listener.heard("device-busy")[1:] or None, "two events")
        holder.ask(RELEASED)

    assert len(busy) == 1
    assert listener.heard("device-busy")[0]["data"] == {
        "device_id": "A001",
        "device_family": "arm",
        "session_id": refused["session_id"],
        "held_by": held["session_id"],
    }


def test_commands_that_time_out_three_times_in_ten_seconds_make_a_warning(service: ServiceInside) -> None:
    peer, first = opened(service)
    with peer, Listener(service.events, kinds="session-warning") as listener:
        _subscribed(service)
        for _ in range(4):
            assert listener.heard("session-warning") == []
            peer.ask(FORCE)
            service.wait(0.08)
        warning = listener.hears("session-warning", session_id=first["session_id"])

    assert warning["data"]["reason"] == "command_timeout"
    assert warning["data"]["setting"] == "sessions/command_timeout"
    assert warning["data"]["interval"] == pytest.approx(0.08)


@pytest.mark.parametrize("milliseconds", [60, 100, 250])
def test_told_share_of_lost_force_is_what_the_loop_leaves_out(service: ServiceInside, milliseconds: int) -> None:
    ticks_per_ms = round(float(service.runtime.loop_state()["target_frequency"]) / 1000)
    applied: list[float] = []
    peer, first = opened(service)
    with peer, Listener(service.events, kinds="session-warning") as listener:
        _subscribed(service)
        for _ in range(4):
            peer.ask(FORCE)
            for _ in range(milliseconds):
                service.step(ticks_per_ms)
                applied.append(float(np.linalg.norm(service.state("A001")["force"])))
        warning = listener.hears("session-warning", session_id=first["session_id"])

    wanted = len(applied) * max(applied)
    assert warning["data"]["interval"] == pytest.approx(milliseconds / 1000)
    assert warning["data"]["force_lost"] == pytest.approx(1 - sum(applied) / wanted, abs=0.015)


def test_session_that_stays_slow_is_told_once(service: ServiceInside) -> None:
    peer, first = opened(service)
    with peer, Listener(service.events, kinds="session-warning") as listener:
        _subscribed(service)
        for _ in range(12):
            peer.ask(FORCE)
            service.wait(0.08)
        last, again = opened(service, {"session_id": 999_999})
        with last:
            listener.hears("session-warning", session_id=again["session_id"])

    assert len(listener.heard("session-warning", session_id=first["session_id"])) == 1
