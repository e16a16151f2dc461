"""Crash each actor once while clients stream: its state is restored, the rest of the service is unaffected."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from actors.device.messages import Phase
from actors.session.actor import actor_name
from fastpath.arena.runtime import Lease
from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import websocket_status
from tests.support.clients.streaming_clients import StreamingClients
from tests.support.service.actor_faults import blocked_actor, crash, crash_and_restart, run_in_actor, running_actor
from tests.support.service.polling import eventually
from tests.support.service.running_system import RunningSystem

CLIENTS = 3
FRAMES = 100
BASE_ACTORS = ("settings", "events", "fastpath", "ports", "devices", "pairing", "sessions", "detection")
BASE_RESTARTS = 5
DEVICE_RESTARTS = SESSION_RESTARTS = 3
UP = 0.1
TURNED = {"permutation": "YZX"}
MOVED = {"position": {"x": 0.5, "y": 0.0, "z": 0.25}}


@pytest.fixture
def system(tmp_path: Path) -> Iterator[RunningSystem]:
    with RunningSystem(tmp_path) as running:
        yield running


@pytest.fixture
def clients(system: RunningSystem) -> Iterator[StreamingClients]:
    with StreamingClients(system.ws, CLIENTS, UP) as streaming:
        yield streaming


@pytest.fixture
def listener(system: RunningSystem) -> Iterator[EventClient]:
    with EventClient(system.events) as listening:
        yield listening


@dataclass(frozen=True, slots=True)
class Standing:
    """What no actor's death may change: slots with their generations, sessions, connections, the loop's one life."""

    devices: tuple[Lease, ...]
    sessions: tuple[tuple[int, Lease], ...]
    slots: tuple[int, int]
    channels: tuple[int, ...]
    loop: tuple[int, int]

    @classmethod
    def of(cls, system: RunningSystem) -> Standing:
        inner, loop = system.system, system.runtime.loop_state()
        return cls(
            devices=tuple(record.lease for record in inner.inventory.value.devices),
            sessions=tuple((entry.session_id, entry.lease) for entry in tuple(inner.open_sessions.entries.values())),
            slots=system.runtime.slots(),
            channels=system.on_edge(lambda: tuple(id(channel) for channel in system.bridge.channels.values())),
            loop=(int(loop["running"]), int(loop["started_ns"])),
        )


@contextmanager
def undisturbed(system: RunningSystem, clients: StreamingClients) -> Generator[None]:
    """What happens inside costs no client a frame and no slot, session, connection or tick."""
    clients.wait_frames(FRAMES)
    before, ticks = Standing.of(system), int(system.runtime.loop_state()["ticks"])
    yield
    clients.wait_frames(FRAMES)
    assert Standing.of(system) == before
    eventually(lambda: bool(system.runtime.loop_state()["ticks"] > ticks), "the loop ticks", pause_s=0.002)
    eventually(lambda: pushes(system, clients), "the forces of all clients are applied", pause_s=0.002, tries=5_000)
    assert system.fatal == []


def pushes(system: RunningSystem, clients: StreamingClients) -> bool:
    """Whether the loop applies the forces of all clients, along whatever axis each of them pushes."""
    return sum(system.force()) == pytest.approx(UP * len(clients.clients), abs=1e-9)


def target_hz(system: RunningSystem) -> float:
    """The rate that the loop is asked for."""
    return float(system.runtime.loop_state()["target_frequency"])


def longer(items: list[int], than: int) -> bool:
    """Whether there are more by now."""
    return len(items) > than


def caught_up(system: RunningSystem, clients: StreamingClients, listener: EventClient) -> None:
    """Return when the listener has heard all that was said before."""
    listener.wait_for_event("session-opened", session_id=clients.join(system.ws).session_id)


def profiles(system: RunningSystem) -> list[str]:
    """Of the sessions that are listed."""
    return [one.config.profile for one in system.system.sessions.value.sessions]


def restarts(system: RunningSystem, kind: str) -> float:
    """How often actors of a kind were started again."""
    return system.metric("hapticd_actor_restarts_total", actor=kind)


def test_crashed_settings_store_restarts_with_settings_and_subscribers(
    system: RunningSystem, clients: StreamingClients, tmp_path: Path
) -> None:
    assert system.ask("POST", "/settings/simulation/seed", 7).status == 200

    with undisturbed(system, clients):
        crash_and_restart(system.directory, "settings")

    assert restarts(system, "settings") == 1
    assert system.ask("GET", "/settings/simulation/seed").json["data"]["value"] == 7
    assert system.ask("POST", "/settings/sessions/command_timeout", 0.4).status == 200
    assert (
        json.loads((tmp_path / "settings.json").read_text()).items()
        >= {
            "simulation/seed": 7,
            "sessions/command_timeout": 0.4,
        }.items()
    )
    assert clients.join(system.ws).session_id == max(clients.session_ids[:CLIENTS]) + 1


def test_acknowledged_settings_survive_a_store_crash_between_writes(
    system: RunningSystem, clients: StreamingClients
) -> None:
    acknowledged = [0]
    over = threading.Event()

    def write() -> None:
        seed = 0
        while not over.is_set():
            seed += 1
            reply = system.ask("POST", "/settings/simulation/seed", seed)
            assert reply.status in (200, 503)
            if reply.status == 200:
                acknowledged.append(seed)

    writer = threading.Thread(target=write)
    writer.start()
    with undisturbed(system, clients):
        for _ in range(3):
            told = len(acknowledged)
            crash_and_restart(system.directory, "settings")
            eventually(partial(longer, acknowledged, told), "writes are taken again", pause_s=0.002, tries=5_000)
    over.set()
    writer.join()

    assert system.ask("GET", "/settings/simulation/seed").json["data"]["value"] == acknowledged[-1]


def test_crashed_event_hub_restarts_with_subscribers_and_history(
    system: RunningSystem, listener: EventClient, clients: StreamingClients
) -> None:
    first = listener.wait_for_event("session-opened", session_id=clients.session_ids[0])

    with undisturbed(system, clients):
        crash_and_restart(system.directory, "events")

    assert restarts(system, "events") == 1
    newcomer = clients.join(system.ws)
    listener.wait_for_event("session-opened", session_id=newcomer.session_id)
    assert not listener.ended.is_set()
    with EventClient(system.events, since="2000-01-01T00:00:00Z", kinds="session-opened") as late:
        late.wait_for_event("session-opened", session_id=newcomer.session_id)
        assert late.events[0] == first
        assert [event["data"]["session_id"] for event in late.events] == clients.session_ids


def test_crashed_fastpath_actor_does_not_interrupt_the_loop(system: RunningSystem, clients: StreamingClients) -> None:
    with undisturbed(system, clients):
        crash_and_restart(system.directory, "fastpath")

        assert restarts(system, "fastpath") == 1
        assert target_hz(system) == 1000


def test_setting_changed_during_a_fastpath_crash_is_applied(tmp_path: Path) -> None:
    with (
        RunningSystem(tmp_path, settings={"control/frequency": None}) as system,
        StreamingClients(system.ws, CLIENTS, UP) as clients,
    ):
        with undisturbed(system, clients), blocked_actor(system.directory, "supervisor"):
            crash(system.directory, "fastpath")
            assert system.ask("POST", "/settings/control/frequency", 500).status == 200
            assert target_hz(system) == 4000

        eventually(lambda: target_hz(system) == 500, "the loop has the new rate", pause_s=0.005)


def test_crashed_device_manager_restarts_with_the_inventory(
    system: RunningSystem, listener: EventClient, clients: StreamingClients
) -> None:
    inventory = system.system.inventory.value
    actors = [system.directory.ref(f"device/{record.device_id}") for record in inventory.devices]

    with undisturbed(system, clients):
        crash_and_restart(system.directory, "devices")

    assert restarts(system, "devices") == 1
    assert system.system.inventory.value == inventory
    assert [system.directory.ref(f"device/{record.device_id}") for record in inventory.devices] == actors
    assert restarts(system, "device") == 0
    caught_up(system, clients, listener)
    assert listener.received_events("device-connected") == []
    assert system.ask("GET", "/readyz").status == 200


def test_device_state_sent_to_a_crashed_manager_is_sent_again(system: RunningSystem, clients: StreamingClients) -> None:
    device_id = system.arm.device_id
    ref = running_actor(system.directory, f"device/{device_id}")
    actor: Any = ref._actor_weakref()

    with blocked_actor(system.directory, "supervisor"):
        crash(system.directory, "devices")
        run_in_actor(ref, lambda: actor._enter_phase(Phase.ASLEEP))
        with blocked_actor(system.directory, f"device/{device_id}"):
            assert system.arm.phase is Phase.READY

    eventually(lambda: system.arm.phase is Phase.ASLEEP, "the inventory has the change")
    clients.wait_frames(FRAMES)


def test_crashed_device_actor_does_not_interrupt_its_device(
    system: RunningSystem, listener: EventClient, clients: StreamingClients
) -> None:
    name = f"device/{system.arm.device_id}"

    with undisturbed(system, clients):
        crash_and_restart(system.directory, name)

        assert restarts(system, "device") == 1
        assert system.arm.phase is Phase.READY
    caught_up(system, clients, listener)
    assert listener.received_events("device-connected") == []
    assert listener.received_events("device-disconnected") == []


def test_crashed_session_manager_restarts_with_every_session(
    system: RunningSystem, listener: EventClient, clients: StreamingClients
) -> None:
    clients.clients[1].ask({"session": {"configure": {"profile": {"name": "kept"}}}})
    eventually(lambda: "kept" in profiles(system), "the profile is listed", pause_s=0.005)
    table = system.system.sessions.value
    actors = [system.directory.ref(actor_name(session_id)) for session_id in clients.session_ids]

    with undisturbed(system, clients):
        crash_and_restart(system.directory, "sessions")

        assert restarts(system, "sessions") == 1
        assert system.system.sessions.value == table
        assert [system.directory.ref(actor_name(session_id)) for session_id in clients.session_ids] == actors

    newcomer = clients.join(system.ws)
    assert newcomer.session_id == max(clients.session_ids[:CLIENTS]) + 1
    leaver = clients.clients[1]
    leaver.leave()
    listener.wait_for_event("session-closed", session_id=leaver.session_id, profile="kept")
    again = clients.join(f"{system.ws}/?session_id={leaver.session_id}")
    assert again.session_id == leaver.session_id
    assert system.ask("GET", f"/sessions/{again.session_id}/profile").json == {"name": "kept"}


def test_client_disconnecting_during_a_session_manager_crash_is_removed(
    system: RunningSystem, listener: EventClient, clients: StreamingClients
) -> None:
    leaver, slots = clients.clients[0], system.runtime.slots()

    with blocked_actor(system.directory, "supervisor"):
        crash(system.directory, "sessions")
        leaver.leave()
        eventually(lambda: leaver.session_id not in system.bridge.channels, "the edge has noticed")
        refused = websocket_status(system.http)
        assert [one.session_id for one in system.system.sessions.value.sessions] == clients.session_ids

    assert refused.status == 503
    assert int(refused.headers["retry-after"]) >= 1
    listener.wait_for_event("session-closed", session_id=leaver.session_id)
    assert [one["session_id"] for one in system.ask("GET", "/sessions").json["sessions"]] == clients.session_ids[1:]
    eventually(lambda: system.runtime.slots() == (slots[0] - 1, slots[1]), "the slot is free")
    clients.wait_frames(FRAMES)


def test_crashed_session_actor_keeps_its_configuration_and_accepts_more(
    system: RunningSystem, clients: StreamingClients
) -> None:
    client = clients.clients[0]
    client.ask({"session": {"configure": {"profile": {"name": "mine"}, "required_sdk_version": "3.5"}}})
    client.configure(basis=TURNED)

    with undisturbed(system, clients):
        crash_and_restart(system.directory, actor_name(client.session_id))
        kept = client.full()

    assert restarts(system, "session") == 1
    assert kept["arm"][0]["config"]["basis"] == TURNED
    reply = client.configure(mount=MOVED)
    assert "errors" not in reply
    config = client.arm()["config"]
    assert config["basis"] == TURNED
    assert config["mount"] == MOVED
    record = system.ask("GET", "/sessions/mine").json
    assert record["session_id"] == client.session_id
    assert record["required_sdk_version"] == "3.5"


def test_repeatedly_crashing_device_actor_fails_only_that_device(
    system: RunningSystem, listener: EventClient, clients: StreamingClients
) -> None:
    arm, grip = system.system.inventory.value.devices
    name, other = f"device/{arm.device_id}", system.directory.ref(f"device/{grip.device_id}")
    eventually(lambda: pushes(system, clients), "the forces of all clients are applied", pause_s=0.002, tries=5_000)

    for _ in range(DEVICE_RESTARTS):
        crash_and_restart(system.directory, name)
        clients.wait_frames(FRAMES)
    crash(system.directory, name)
    eventually(lambda: system.system.inventory.value.failed != (), "the device has failed", pause_s=0.005)
    eventually(lambda: system.runtime.slots()[1] == 1, "its slot is free", pause_s=0.005)
    clients.wait_frames(FRAMES)

    (failed,) = system.system.inventory.value.failed
    assert (failed.device_id, failed.phase) == (arm.device_id, Phase.FAILED)
    assert [one.device_id for one in system.system.inventory.value.devices] == [grip.device_id]
    assert system.force(arm) == (0.0, 0.0, 0.0)
    assert system.directory.ref(f"device/{grip.device_id}") is other
    assert not clients.clients[0].frame["arm"]
    assert clients.clients[0].frame["grip"]
    caught_up(system, clients, listener)
    (event,) = listener.received_events("device-disconnected")
    assert event["data"]["device_id"] == arm.device_id
    ready = system.ask("GET", "/readyz")
    assert ready.status == 503
    assert f"Device {arm.device_id} has failed" in ready.json["error"]
    assert system.metric("hapticd_devices", type="arm", phase="failed") == 1

    crash_and_restart(system.directory, "devices")

    assert system.system.inventory.value.failed == (failed,)
    assert [one.device_id for one in system.system.inventory.value.devices] == [grip.device_id]


def test_repeatedly_crashing_session_actor_closes_that_session_with_1011(
    system: RunningSystem, listener: EventClient, clients: StreamingClients
) -> None:
    client, *others = clients.clients
    client.ask({"session": {"configure": {"profile": {"name": "unlucky"}}}})
    name, slots = actor_name(client.session_id), system.runtime.slots()

    for _ in range(SESSION_RESTARTS):
        crash_and_restart(system.directory, name)
        clients.wait_frames(FRAMES)
    crash(system.directory, name)

    assert client.close_code() == 1011
    left = UP * len(others)
    eventually(lambda: sum(system.force()) == pytest.approx(left, abs=1e-9), "its force is gone", pause_s=0.002)
    clients.wait_frames(FRAMES)
    listener.wait_for_event("session-warning", session_id=client.session_id, reason="actor_failed")
    listener.wait_for_event("session-closed", session_id=client.session_id)
    eventually(lambda: system.runtime.slots() == (slots[0] - 1, slots[1]), "its slot is free", pause_s=0.005)
    listed = [one["session_id"] for one in system.ask("GET", "/sessions").json["sessions"]]
    assert listed == [other.session_id for other in others]
    again = clients.join(f"{system.ws}/?session_id={client.session_id}")
    assert again.session_id == client.session_id
    assert "errors" not in again.configure(basis=TURNED)


def test_every_base_actor_is_crashed_in_this_file(system: RunningSystem) -> None:
    assert set(BASE_ACTORS) | {"supervisor"} == {name for name in system.directory.names() if "/" not in name}


@pytest.mark.parametrize("name", BASE_ACTORS)
def test_repeatedly_crashing_base_actor_is_given_up_alone(
    system: RunningSystem, clients: StreamingClients, name: str
) -> None:
    with undisturbed(system, clients):
        for _ in range(BASE_RESTARTS):
            crash_and_restart(system.directory, name)

    crash(system.directory, name)

    eventually(lambda: system.fatal != [], "it is given up", pause_s=0.005)
    assert system.fatal == [name]
    clients.wait_frames(FRAMES)
    assert restarts(system, name) == BASE_RESTARTS
    assert system.metric("hapticd_actors_given_up_total", actor=name) == 1
    system.fatal.clear()


def test_crashed_supervisor_requests_a_shutdown_that_still_works(tmp_path: Path) -> None:
    with RunningSystem(tmp_path) as system, StreamingClients(system.ws, CLIENTS, UP) as clients:
        with undisturbed(system, clients):
            crash(system.directory, "supervisor")
            eventually(lambda: system.fatal != [], "it says so", pause_s=0.005)
            assert system.fatal == ["supervisor"]
            system.fatal.clear()
        refs = [system.directory.ref(name) for name in system.directory.names()]

        system.system.stop()

        assert len(refs) > len(BASE_ACTORS)
        assert not any(ref is not None and ref.is_alive() for ref in refs)
        assert system.force() == (0.0, 0.0, 0.0)
