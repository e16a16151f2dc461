"""What a restart of the service restores for clients: session ids, profiles, SDK versions; ids are never reused."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import exchange
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.clients.streaming_clients import LOST, StreamingClient, StreamingClients
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from tests.support.service.running_system import RunningSystem

CLIENTS = 3
GOING_AWAY = 1001
NO_SESSIONS = ("0", "-1", "+1", "1.0", "0x1", "", "a", "²", "99999999999999999999", "4611686018427387904", "default")


@pytest.fixture
def system(tmp_path: Path) -> Iterator[RunningSystem]:
    with RunningSystem(tmp_path) as running:
        yield running


@pytest.fixture
def clients(system: RunningSystem) -> Iterator[StreamingClients]:
    with StreamingClients(system.ws, CLIENTS) as streaming:
        yield streaming


def declare(client: StreamingClient, profile: str, version: str | None = None) -> None:
    """Name the client, and the SDK that it needs."""
    wanted: dict[str, object] = {"profile": {"name": profile}}
    if version is not None:
        wanted["required_sdk_version"] = version
    reply = client.ask({"session": {"configure": wanted}})
    assert "errors" not in reply


def known(folder: Path) -> dict[int, tuple[str, str | None]]:
    """Profile and SDK version of the sessions that the disk remembers."""
    ledger = json.loads((folder / "ledger.json").read_text())
    return {entry[0]: (entry[1], entry[2]) for entry in ledger.get("sessions", {}).get("sessions", ())}


@pytest.mark.promise(131, "A session's profile and id survive a restart of the service")
@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "killed"])
def test_clients_reconnect_to_their_session_ids_after_a_restart(tmp_path: Path, killed: bool) -> None:
    with RunningService(state_dir=tmp_path) as service:
        with StreamingClients(service.ws, CLIENTS) as clients:
            painter, sculptor, _ = clients.clients
            declare(painter, "painter", "3.5")
            declare(sculptor, "sculptor")
            painter.configure(basis={"permutation": "YZX"})
            ids = clients.session_ids
            expected = dict(zip(ids, (("painter", "3.5"), ("sculptor", None), ("default", None)), strict=True))
            eventually(lambda: known(tmp_path) == expected, "the disk has them", pause_s=0.01)
            if killed:
                service.kill()
            else:
                assert service.stop(signal.SIGTERM) == 0
            assert [client.close_code() for client in clients.clients] == [LOST if killed else GOING_AWAY] * CLIENTS

        service.start()
        with StreamingClients(service.ws, 1) as clients:
            for session_id, found in expected.items():
                again = clients.join(f"{service.ws}/?session_id={session_id}")
                assert again.session_id == session_id
                becomes(service.http, session_id, found)
                assert again.arm()["config"]["basis"] == {"permutation": "XYZ"}
            newcomer, *_ = clients.clients
            assert newcomer.session_id > max(ids)
            assert min(ids) > 0
            declare(newcomer, "painter")
            becomes(service.http, newcomer.session_id, ("painter", "3.5"))


def test_ended_session_id_is_given_to_the_client_that_names_it(
    system: RunningSystem, clients: StreamingClients
) -> None:
    client = clients.clients[0]
    declare(client, "mine", "3.4")
    client.leave()
    eventually(lambda: len(system.system.sessions.value.sessions) == CLIENTS - 1, "it has ended", pause_s=0.005)

    again = clients.join(f"{system.ws}/?session_id={client.session_id}")

    assert again.session_id == client.session_id
    becomes(system.http, again.session_id, ("mine", "3.4"))
    newer = clients.join(f"{system.ws}/?session_id={client.session_id}")
    assert newer.session_id == max(clients.session_ids) > again.session_id


def test_unknown_session_id_gets_a_new_one_and_a_warning(system: RunningSystem, clients: StreamingClients) -> None:
    session_ids = (*NO_SESSIONS, str(clients.session_ids[0]))
    with EventClient(system.events, kinds="session-warning") as listener:
        for session_id in session_ids:
            newest = max(clients.session_ids)
            newcomer = clients.join(f"{system.ws}/?session_id={quote(session_id)}")
            assert newcomer.session_id == newest + 1, session_id
            event = listener.wait_for_event("session-warning", session_id=newcomer.session_id)
            assert event["data"]["reason"] == "resume_refused"
            assert str(newcomer.session_id) in event["message"]
        assert len(listener.received_events("session-warning", reason="resume_refused")) == len(session_ids)


def test_unsupported_sdk_version_is_an_error_a_warning_and_remembered(
    system: RunningSystem, clients: StreamingClients
) -> None:
    client = clients.clients[0]
    with EventClient(system.events, kinds="session-warning") as listener:
        reply = client.ask({"session": {"configure": {"required_sdk_version": "99.0"}}})
        event = listener.wait_for_event("session-warning", session_id=client.session_id)

    (error,) = reply["errors"]
    assert error["path"] == "session.configure.required_sdk_version"
    assert event["data"]["reason"] == "sdk_version"
    becomes(system.http, client.session_id, ("default", "99.0"))
    refused = client.ask({"session": {"configure": {"required_sdk_version": "new"}}})
    assert len(refused["errors"]) == 1
    becomes(system.http, client.session_id, ("default", "99.0"))


def test_deleting_a_profile_deletes_its_version(system: RunningSystem, clients: StreamingClients) -> None:
    one, other, _ = clients.clients
    declare(one, "shared name", "3.5")
    becomes(system.http, one.session_id, ("shared name", "3.5"))

    assert exchange(system.http, "DELETE", f"/sessions/{one.session_id}/profile").json == {"name": "default"}

    becomes(system.http, one.session_id, ("default", None))
    declare(other, "shared name")
    becomes(system.http, other.session_id, ("shared name", None))


def becomes(base: str, session_id: int, expected: tuple[str, str | None]) -> None:
    """Wait until the session is listed with that profile and version."""
    eventually(lambda: described(base, session_id) == expected, f"{session_id} is {expected}", pause_s=0.005)


def described(base: str, session_id: int) -> tuple[str, str | None]:
    """Profile and SDK version of a session, as GET /sessions/{id} shows them."""
    shown = exchange(base, "GET", f"/sessions/{session_id}").json
    return shown["profile"]["name"], shown["required_sdk_version"]


def test_session_ids_continue_after_a_clean_stop(tmp_path: Path) -> None:
    ids: list[int] = []
    for _ in range(3):
        with (
            RunningService(state_dir=tmp_path) as service,
            RawWebSocket(service.ws) as first,
            RawWebSocket(service.ws) as second,
        ):
            ids += [first.frame()["session_id"], second.frame()["session_id"]]

    assert ids == [1, 2, 3, 4, 5, 6]
