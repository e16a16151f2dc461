"""A slow actor delays only its own answers; sockets, frames and the loop are unaffected."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from actors.port.guard import guard_name
from actors.session.actor import actor_name
from tests.support.clients.exchange import websocket_status
from tests.support.clients.streaming_clients import StreamingClients
from tests.support.service.actor_faults import blocked_actor, drain_actor
from tests.support.service.polling import eventually
from tests.support.service.running_system import RunningSystem
from tests.support.service.timeouts import shipped_timeouts

TIMEOUT_S = 30.0
# Of each client, more than a thousand of all three.
FRAMES = 350
# What the others get at least while one waits for its reply.
MEANWHILE = 50
KINDS = (
    "settings",
    "events",
    "fastpath",
    "ports",
    "port",
    "devices",
    "device",
    "pairing",
    "sessions",
    "session",
    "detection",
)
TURNED = {"permutation": "YZX"}


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSystem]:
    with RunningSystem(tmp_path_factory.mktemp("state")) as running:
        yield running


@pytest.fixture
def clients(system: RunningSystem) -> Iterator[StreamingClients]:
    with StreamingClients(system.ws, 3) as streaming:
        yield streaming


def test_every_actor_is_blocked_in_this_file(system: RunningSystem, clients: StreamingClients) -> None:
    assert clients.clients
    assert {name.partition("/")[0] for name in system.directory.names()} == {*KINDS, "supervisor"}


@pytest.mark.parametrize("kind", KINDS)
def test_thousand_frames_and_a_stop_pass_while_an_actor_is_blocked(
    system: RunningSystem, clients: StreamingClients, kind: str
) -> None:
    names = {
        "port": guard_name(system.arm.identity.port),
        "device": f"device/{system.arm.device_id}",
        "session": actor_name(clients.session_ids[0]),
    }
    ticks = int(system.shown(system.arm)["tick"])

    with blocked_actor(system.directory, names.get(kind, kind)):
        clients.wait_frames(FRAMES)
        answers = [
            system.ask("GET", path).status for path in ("/sessions", "/devices", "/settings", "/stop", "/metrics")
        ]
        ready = system.ask("GET", "/readyz")
        stop = system.ask("POST", "/stop")
    drain_actor(system.directory, names.get(kind, kind))
    released = system.ask("DELETE", "/stop")

    assert answers == [200] * len(answers)
    assert (stop.status, stop.json["stopped"], released.status) == (200, True, 200)
    assert ready.status == 200
    assert int(system.shown(system.arm)["tick"]) > ticks


def test_request_to_a_blocked_actor_is_503_and_never_executed(system: RunningSystem, clients: StreamingClients) -> None:
    session_id = clients.session_ids[0]
    asks = {
        "settings": ("POST", "/settings/simulation/seed", 7),
        "devices": ("POST", "/simulation/devices", {"type": "pen"}),
        actor_name(session_id): ("POST", f"/sessions/{session_id}/profile", {"name": "late"}),
    }

    with ExitStack() as stack:
        for name in (*asks, "sessions"):
            stack.enter_context(blocked_actor(system.directory, name))
        pool = stack.enter_context(ThreadPoolExecutor(len(asks) + 1))
        answers = {name: pool.submit(system.ask, *ask) for name, ask in asks.items()}
        opening = pool.submit(websocket_status, system.http)
        clients.wait_frames(FRAMES)
        replies = {name: answer.result() for name, answer in answers.items()}
        refused = opening.result()
    for name in (*asks, "sessions"):
        drain_actor(system.directory, name)

    for name, reply in replies.items():
        assert reply.status == 503, name
        assert int(reply.headers["retry-after"]) >= 1
        assert f'"{name}" did not answer within 2 s' in reply.json["error"]
    assert refused.status == 503
    assert int(refused.headers["retry-after"]) >= 1
    assert system.ask("GET", "/devices").json["pen"] == []
    assert system.ask("GET", "/settings/simulation/seed").json["data"]["value"] == 0
    assert system.ask("GET", f"/sessions/{session_id}/profile").json == {"name": "default"}
    assert open_sessions(system) == clients.session_ids


def test_configuration_of_a_blocked_session_is_neither_confirmed_nor_applied(
    system: RunningSystem, clients: StreamingClients
) -> None:
    slow, *others = clients.clients

    with blocked_actor(system.directory, actor_name(slow.session_id)):
        before = [client.frames for client in others]
        reply = slow.configure(basis=TURNED)
        meanwhile = [client.frames - frames for client, frames in zip(others, before, strict=True)]
        clients.wait_frames(FRAMES)
    drain_actor(system.directory, actor_name(slow.session_id))

    (error,) = reply["errors"]
    assert error["path"] == "arm[0].configure.basis"
    assert "not confirmed in time" in error["reason"]
    assert min(meanwhile) > MEANWHILE
    assert slow.arm()["config"]["basis"] == {"permutation": "XYZ"}
    assert "errors" not in slow.configure(basis=TURNED)
    assert slow.arm()["config"]["basis"] == TURNED


def test_session_opened_for_a_gone_client_is_closed(
    system: RunningSystem, clients: StreamingClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manager comes to the request in time and is done with it too late."""
    ids = system.system.ledger.session_ids
    really, let_go = ids.take, threading.Event()

    def take() -> int:
        assert let_go.wait(TIMEOUT_S)
        return really()

    monkeypatch.setattr(ids, "take", take)
    slots = system.runtime.slots()
    opened = told_of(system, "session-opened")
    closed = told_of(system, "session-closed")
    with shipped_timeouts():
        refused = websocket_status(system.http)
    assert told_of(system, "session-opened") == opened
    let_go.set()
    drain_actor(system.directory, "sessions")

    assert refused.status == 503
    eventually(lambda: told_of(system, "session-opened") == opened + 1, "it was opened")
    eventually(lambda: told_of(system, "session-closed") == closed + 1, "it is closed")
    eventually(lambda: open_sessions(system) == clients.session_ids, "the session is closed")
    eventually(lambda: system.runtime.slots() == slots, "its slot is free")


def told_of(system: RunningSystem, kind: str) -> float:
    """How many events of that kind there were."""
    drain_actor(system.directory, "events")
    return system.metric("hapticd_events_total", kind=kind)


def open_sessions(system: RunningSystem) -> list[int]:
    """Ids of the sessions that are listed."""
    return [one["session_id"] for one in system.ask("GET", "/sessions").json["sessions"]]
