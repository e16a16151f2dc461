"""A slow actor delays only its own answers; sockets, frames and the loop are unaffected."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from actors.port.guard import guard_name
from actors.session.actor import actor_name
from tests.support.clients.crowd import Crowd
from tests.support.clients.exchange import knock
from tests.support.service.living_actors import handled, held
from tests.support.service.patience import in_earnest
from tests.support.service.polling import eventually
from tests.support.service.running_system import RunningSystem

PATIENCE_S = 30.0
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
def crowd(system: RunningSystem) -> Iterator[Crowd]:
    with Crowd(system.ws, 3) as streaming:
        yield streaming


def test_no_actor_is_left_out_here(system: RunningSystem, crowd: Crowd) -> None:
    assert crowd.clients
    assert {name.partition("/")[0] for name in system.directory.names()} == {*KINDS, "supervisor"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_frames_pass_while_an_actor_is_held(system: RunningSystem, crowd: Crowd, kind: str) -> None:
    names = {
        "port": guard_name(system.arm.identity.port),
        "device": f"device/{system.arm.device_id}",
        "session": actor_name(crowd.session_ids[0]),
    }
    ticks = int(system.shown(system.arm)["tick"])

    with held(system.directory, names.get(kind, kind)):
        crowd.pass_frames(FRAMES)
        answers = [
            system.ask("GET", path).status for path in ("/sessions", "/devices", "/settings", "/stop", "/metrics")
        ]
        ready = system.ask("GET", "/readyz")

    assert answers == [200] * len(answers)
    assert ready.status == 200
    assert int(system.shown(system.arm)["tick"]) > ticks


def test_what_is_asked_of_held_actors_is_answered_503_and_never_done(system: RunningSystem, crowd: Crowd) -> None:
    session_id = crowd.session_ids[0]
    asks = {
        "settings": ("POST", "/settings/simulation/seed", 7),
        "devices": ("POST", "/simulation/devices", {"type": "pen"}),
        actor_name(session_id): ("POST", f"/sessions/{session_id}/profile", {"name": "late"}),
    }

    with ExitStack() as stack:
        for name in (*asks, "sessions"):
            stack.enter_context(held(system.directory, name))
        pool = stack.enter_context(ThreadPoolExecutor(len(asks) + 1))
        answers = {name: pool.submit(system.ask, *ask) for name, ask in asks.items()}
        opening = pool.submit(knock, system.http)
        crowd.pass_frames(FRAMES)
        replies = {name: answer.result() for name, answer in answers.items()}
        refused = opening.result()
    for name in (*asks, "sessions"):
        handled(system.directory, name)

    for name, reply in replies.items():
        assert reply.status == 503, name
        assert int(reply.headers["retry-after"]) >= 1
        assert f'"{name}" did not answer within 2 s' in reply.json["error"]
    assert refused.status == 503
    assert int(refused.headers["retry-after"]) >= 1
    assert system.ask("GET", "/devices").json["pen"] == []
    assert system.ask("GET", "/settings/simulation/seed").json["data"]["value"] == 0
    assert system.ask("GET", f"/sessions/{session_id}/profile").json == {"name": "default"}
    assert open_sessions(system) == crowd.session_ids


def test_a_configuration_of_a_held_session_is_not_confirmed_and_not_made(system: RunningSystem, crowd: Crowd) -> None:
    slow, *others = crowd.clients

    with held(system.directory, actor_name(slow.session_id)):
        before = [client.frames for client in others]
        reply = slow.configure(basis=TURNED)
        meanwhile = [client.frames - frames for client, frames in zip(others, before, strict=True)]
        crowd.pass_frames(FRAMES)
    handled(system.directory, actor_name(slow.session_id))

    (error,) = reply["errors"]
    assert error["path"] == "arm[0].configure.basis"
    assert "not confirmed in time" in error["reason"]
    assert min(meanwhile) > MEANWHILE
    assert slow.arm()["config"]["basis"] == {"permutation": "XYZ"}
    assert "errors" not in slow.configure(basis=TURNED)
    assert slow.arm()["config"]["basis"] == TURNED


def test_a_session_that_was_opened_for_nobody_is_closed_again(
    system: RunningSystem, crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manager comes to the request in time and is done with it too late."""
    ids = system.system.ledger.session_ids
    really, let_go = ids.take, threading.Event()

    def take() -> int:
        assert let_go.wait(PATIENCE_S)
        return really()

    monkeypatch.setattr(ids, "take", take)
    slots = system.runtime.slots()
    opened = told_of(system, "session-opened")
    closed = told_of(system, "session-closed")
    with in_earnest():
        refused = knock(system.http)
    assert told_of(system, "session-opened") == opened
    let_go.set()
    handled(system.directory, "sessions")

    assert refused.status == 503
    eventually(lambda: told_of(system, "session-opened") == opened + 1, "it was opened")
    eventually(lambda: told_of(system, "session-closed") == closed + 1, "it is closed")
    eventually(lambda: open_sessions(system) == crowd.session_ids, "the session is closed")
    eventually(lambda: system.runtime.slots() == slots, "its slot is free")


def told_of(system: RunningSystem, kind: str) -> float:
    """How many events of that kind there were."""
    handled(system.directory, "events")
    return system.metric("hapticd_events_total", kind=kind)


def open_sessions(system: RunningSystem) -> list[int]:
    """Ids of the sessions that are listed."""
    return [one["session_id"] for one in system.ask("GET", "/sessions").json["sessions"]]
