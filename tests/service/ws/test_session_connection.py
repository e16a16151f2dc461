"""Sessions open and close: forces end first, profiles return, and slow actors are waited for."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from actors.kit.mailbox import mailbox_of
from actors.session.messages import MANAGER, SetBasis
from actors.values.spatial import Basis
from tests.service.ws.conftest import Connect
from tests.service.ws.message_helpers import ARM, INVERSE, NEUTRAL, UP, arm, force, metric, paths
from tests.support.clients.raw_websocket import ABORT, RawWebSocket, connect_tcp, handshake_request
from tests.support.service.actor_faults import blocked_actor, drain_actor
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from transport import bridge
from transport.http.session_scope import OpenScope
from transport.ws.session import SessionChannel

# ---------------------------------------------------------------- coming and going


@pytest.mark.parametrize(
    "go", [RawWebSocket.close, RawWebSocket.drop, RawWebSocket.abort], ids=["goodbye", "silently", "reset"]
)
def test_disconnect_releases_commands(
    service: InProcessService, connect: Connect, go: Callable[[RawWebSocket], object]
) -> None:
    leaving, _ = connect()
    leaving.ask(arm(commands=UP))
    service.step()
    assert service.state(ARM)["force"].tolist() == pytest.approx([0, 0, 1])

    go(leaving)

    def zero() -> bool:
        service.on_edge(lambda: None)
        return not service.bridge.channels

    eventually(zero, "the connection has gone", pause_s=0.005, tries=2_000)
    service.step()
    assert service.state(ARM)["force"].tolist() == [0, 0, 0]
    service.wait_for_sessions()


def test_disconnect_releases_commands_before_any_actor_handles_it(service: InProcessService, connect: Connect) -> None:
    leaving, _ = connect()
    leaving.ask(arm(commands=UP))
    service.step()
    with blocked_actor(service.system.context.directory, "sessions"):
        leaving.drop()
        eventually(lambda: not service.bridge.channels, "the connection has gone", pause_s=0.005)
        service.step()

        assert service.state(ARM)["force"].tolist() == [0, 0, 0]
        assert len(service.system.sessions.value.sessions) == 1


def test_resumed_session_keeps_its_profile_but_not_its_configuration(
    service: InProcessService, connect: Connect
) -> None:
    peer, first = connect()
    peer.ask(arm(configure={"basis": "XZ-Y"}))
    peer.ask({"session": {"configure": {"profile": {"name": "mine"}, "required_sdk_version": "3.5"}}})
    assert connect({"session_id": first["session_id"]})[1]["session_id"] != first["session_id"]
    peer.close()
    eventually(
        lambda: first["session_id"] not in [one.session_id for one in service.system.sessions.value.sessions],
        "the session is closed",
        pause_s=0.005,
    )

    _, again = connect({"session_id": first["session_id"]})

    assert again["session_id"] == first["session_id"]
    assert again["arm"][0]["config"]["basis"] == {"permutation": "XYZ"}
    (record,) = [one for one in service.system.sessions.value.sessions if one.session_id == first["session_id"]]
    assert (record.config.profile, record.config.required_sdk_version) == ("mine", "3.5")


def test_configuration_over_http_during_a_profile_change_is_kept(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def meanwhile(one: bridge.Bridge, session_id: int, _profile: str) -> None:
        await OpenScope(one, session_id).configure((SetBasis(None, Basis.parse("XZ-Y")),))

    peer, _ = connect()
    monkeypatch.setattr(bridge.Bridge, "profile_shown", meanwhile)

    frame = peer.ask({"session": {"configure": {"profile": {"name": "a"}}, "force_render_full_state": {}}})

    assert frame["arm"][0]["config"]["basis"] == {"permutation": "XZ-Y"}


@pytest.mark.parametrize("wanted", ["999999", "0", "-1", "x", "", "1e3", "9" * 500])
def test_unknown_session_gets_a_new_id(connect: Connect, wanted: str) -> None:
    _, before = connect()

    _, frame = connect({"session_id": wanted})

    assert frame["session_id"] > before["session_id"]


@pytest.mark.parametrize(
    ("query", "legacy", "groups"),
    [
        ({}, False, NEUTRAL + INVERSE),
        ({"version": "3.1"}, False, NEUTRAL + INVERSE),
        ({"version": "3.0"}, True, NEUTRAL + INVERSE),
        ({"vocabulary": "inverse"}, False, INVERSE),
        ({"vocabulary": "neutral"}, False, NEUTRAL),
        ({"vocabulary": "inverse", "version": "3.0"}, True, INVERSE),
    ],
)
@pytest.mark.parametrize("legacy_port", [False, True])
def test_version_and_vocabulary_are_chosen_by_port_and_query(
    service: InProcessService,
    connect: Connect,
    query: dict[str, object],
    legacy: bool,
    groups: list[str],
    legacy_port: bool,
) -> None:
    legacy = legacy or (legacy_port and "version" not in query)

    peer, first = connect(query, url=service.ws_v30 if legacy_port else service.ws)

    for frame in (first, peer.ask({}), peer.ask({"session": {"force_render_full_state": {}}})):
        assert list(frame)[1:] == groups
        assert isinstance(frame[groups[0]], dict if legacy else list)


@pytest.mark.parametrize("query", ["version=2", "version=", "vocabulary=latin", "vocabulary=Inverse", "version=3.1.0"])
def test_unknown_version_or_vocabulary_is_refused(service: InProcessService, query: str) -> None:
    status, body = refused(service, query)

    assert status == 400
    assert body["ok"] is False
    assert "use" in body["error"]


def refused(service: InProcessService, query: str = "") -> tuple[int, Any]:
    """Status and body that answer a handshake."""
    with connect_tcp(service.ws) as raw:
        raw.sendall(handshake_request(f"{service.ws}/?{query}").replace(b"GET / ", f"GET /?{query} ".encode()))
        head, _, rest = received(raw).partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(rest)


def received(raw: socket.socket) -> bytes:
    """An answer with its body."""
    data = b""
    while True:
        head, _, rest = data.partition(b"\r\n\r\n")
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        if lengths and len(rest) >= int(lengths[0].split(b":")[1]):
            return data
        more = raw.recv(65536)
        assert more, data
        data += more


def test_every_message_and_every_frame_is_counted(service: InProcessService, connect: Connect) -> None:
    def counted() -> list[float]:
        service.on_edge(lambda: None)
        return [metric(service, f"hapticd_{name}_total") for name in ("frames_sent", "commands_received")]

    before = counted()
    peer, first = connect()
    for _ in range(5):
        peer.ask({})

    assert [now - then for now, then in zip(counted(), before, strict=True)] == [6, 5]
    channel = service.bridge.channels[first["session_id"]]
    assert (channel.frames_sent, channel.commands_received) == (6, 5)


# ---------------------------------------------------------------- actors that are slow


def test_unconfirmed_configuration_is_named_and_applied(service: InProcessService, connect: Connect) -> None:
    peer, first = connect()
    peer.ask(arm(commands=UP))
    with blocked_actor(service.system.context.directory, f"session/{first['session_id']}"):
        reply = peer.ask(arm(configure={"basis": "XZ-Y"}))

    assert paths(reply) == ["arm[0].configure.basis"]
    assert "not confirmed in time" in reply["errors"][0]["reason"]
    service.step()
    assert force(peer.ask({})) == pytest.approx([0, 0, 1])
    again = peer.ask({**arm(configure={"basis": "XZ-Y"}), "session": {"force_render_full_state": {}}})
    assert again["arm"][0]["config"]["basis"] == {"permutation": "XZ-Y"}


def test_renamed_profile_is_answered_once_selectors_find_it(
    service: InProcessService, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridge, "LOOKS", 1_000_000)
    peer, first = connect()
    service.on_edge(lambda: None)
    (channel,) = service.bridge.channels.values()
    before = channel.frames_sent
    with blocked_actor(service.system.context.directory, MANAGER) as manager:
        peer.send({"session": {"configure": {"profile": "late"}}})
        eventually(lambda: len(mailbox_of(manager)) > 0, "the table is to be changed", pause_s=0.002)
        drain_actor(service.system.context.directory, f"session/{first['session_id']}")
        for _ in range(3):
            service.on_edge(lambda: None)
        assert channel.frames_sent == before
    peer.frame()

    assert [one.config.profile for one in service.bridge.sessions.sessions] == ["late"]


def test_session_closed_during_a_configuration_is_removed(
    service: InProcessService, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    peer, first = connect()
    with blocked_actor(service.system.context.directory, f"session/{first['session_id']}") as actor:
        peer.send(arm(configure={"basis": "XZ-Y"}, commands=UP))
        eventually(lambda: len(mailbox_of(actor)) > 0, "the session is asked", pause_s=0.002)
        peer.abort()
        eventually(lambda: not service.bridge.channels, "the connection has gone", pause_s=0.005)

    service.wait_for_sessions()
    service.step()
    assert service.state(ARM)["force"].tolist() == [0, 0, 0]
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


@pytest.mark.parametrize("linger", [None, ABORT], ids=["silently", "reset"])
def test_client_gone_before_the_session_opens_leaves_none(
    service: InProcessService, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, linger: bytes | None
) -> None:
    arrived, noticed = threading.Event(), threading.Event()
    choose, on_close = SessionChannel._parse_query, SessionChannel.on_close

    def arrive(channel: SessionChannel) -> bool:
        arrived.set()
        return choose(channel)

    def close(channel: SessionChannel) -> None:
        on_close(channel)
        noticed.set()

    monkeypatch.setattr(SessionChannel, "_parse_query", arrive)
    monkeypatch.setattr(SessionChannel, "on_close", close)
    with blocked_actor(service.system.context.directory, "sessions"):
        raw = connect_tcp(service.ws)
        raw.sendall(handshake_request(service.ws))
        assert arrived.wait(20)
        service.on_edge(lambda: None)
        if linger is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        raw.close()
        assert noticed.wait(20)

    service.wait_for_sessions()
    assert service.bridge.channels == {}
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []
