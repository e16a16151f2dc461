"""`POST /stop`: zero force from the next tick until the release, also when actors or the service die."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import exchange
from tests.support.clients.streaming_clients import StreamingClients
from tests.support.service.actor_faults import blocked_actor, crash, crash_and_restart, running_actor
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from tests.support.service.running_system import RunningSystem

CLIENTS = 3
LOOKS = 20
ZERO = (0.0, 0.0, 0.0)
# The ledger's words for a stop of everything.
EVERYTHING: Mapping[str, object] = {"everything": True, "device_ids": [], "released": []}
COMMANDS: Mapping[str, object] = {
    "set_cursor_force": {"vector": {"x": 0.0, "y": 0.0, "z": 1.0}},
    "set_cursor_position": {"position": {"x": 0.05, "y": -0.1, "z": 0.2}},
    "set_angular_torques": {"torques": {"a0": 100.0, "a1": 0.0, "a2": 0.0}},
    "set_angular_position": {"angles": {"a0": 20.0, "a1": 20.0, "a2": 90.0}},
}


@pytest.fixture
def system(tmp_path: Path) -> Iterator[RunningSystem]:
    with RunningSystem(tmp_path / "state") as running:
        yield running


@pytest.fixture
def clients(system: RunningSystem) -> Iterator[StreamingClients]:
    with StreamingClients(system.ws, CLIENTS) as streaming:
        yield streaming


def moves(system: RunningSystem) -> None:
    """Wait until the loop applies a force."""
    eventually(lambda: system.force() != ZERO, "a force is applied", pause_s=0.002, tries=5_000)


def stands_still(system: RunningSystem, clients: StreamingClients) -> None:
    """From the tick after this call on, neither loop nor frames show a force, however hard everybody pushes."""
    tick = int(system.shown(system.arm)["tick"])
    eventually(lambda: int(system.shown(system.arm)["tick"]) > tick, "a tick", pause_s=0.001, tries=10_000)
    for _ in range(LOOKS):
        clients.wait_frames(2)
        assert system.force() == ZERO
        assert [seen(client.frame) for client in clients.clients] == [ZERO] * len(clients.clients)


def seen(frame: Mapping[str, Any]) -> tuple[float, ...]:
    """The force that a frame shows."""
    return tuple(frame["arm"][0]["state"]["current_cursor_force"].values())


@pytest.mark.parametrize("command", COMMANDS)
def test_stop_zeroes_the_next_tick_under_any_command(tmp_path: Path, command: str) -> None:
    with InProcessService(tmp_path, stepping=True) as service, connect(service.ws, proxy=None) as channel:
        arm = json.loads(channel.recv())["arm"][0]["device_id"]

        def command_it() -> Any:
            message = {"arm": [{"device_id": arm, "commands": {command: COMMANDS[command]}}]}
            channel.send(json.dumps(message))
            return json.loads(channel.recv())

        def applied() -> tuple[float, ...]:
            state = service.state(arm)
            return (*(float(part) for part in state["force"]), *(float(part) for part in state["torque"]))

        command_it()
        service.step(10)
        assert any(applied())

        assert exchange(service.http, "POST", "/stop").status == 200
        service.step()
        assert not any(applied())
        assert seen(command_it()) == ZERO
        service.step()
        assert not any(applied())

        assert exchange(service.http, "DELETE", "/stop").status == 200
        command_it()
        service.step(10)
        assert any(applied())


def test_stop_raises_one_event_per_moving_device_and_an_audit_line(
    system: RunningSystem, clients: StreamingClients, caplog: pytest.LogCaptureFixture
) -> None:
    arm = system.arm.device_id
    moves(system)
    with EventClient(system.events) as listener, caplog.at_level(logging.INFO, "hapticd.audit"):
        stopped = system.ask("POST", "/stop")
        stands_still(system, clients)
        assert system.ask("GET", "/stop").json == stopped.json
        assert system.ask("POST", "/stop").json == stopped.json
        released = system.ask("DELETE", "/stop")
        moves(system)
        listener.wait_for_event("device-safety-triggered", safety_type="released")

    assert stopped.json == {"stopped": True, "everything": True, "devices": [arm]}
    assert released.json == {"stopped": False, "everything": False, "devices": []}
    first, last = listener.received_events("device-safety-triggered")
    for event, what, level in ((first, "stopped", "error"), (last, "released", "notice")):
        assert event["level"] == level
        assert event["data"]["safety_type"] == what
        assert event["data"]["device_id"] == arm
        assert event["data"]["device_family"] == "arm"
    lines = [record.getMessage() for record in caplog.records if record.name == "hapticd.audit"]
    assert lines == [
        "peer=127.0.0.1 session=- stop of everything",
        "peer=127.0.0.1 session=- stop of everything",
        "peer=127.0.0.1 session=- stop of everything released",
    ]


def test_stop_holds_over_crashes_of_manager_and_device_actor(system: RunningSystem, clients: StreamingClients) -> None:
    moves(system)
    assert system.ask("POST", "/stop").status == 200

    crash_and_restart(system.directory, "devices")
    stands_still(system, clients)
    crash_and_restart(system.directory, f"device/{system.arm.device_id}")
    stands_still(system, clients)

    assert system.ask("GET", "/stop").json["everything"] is True
    assert system.ask("DELETE", "/stop").status == 200
    moves(system)
    crash_and_restart(system.directory, "devices")
    clients.wait_frames(LOOKS)
    moves(system)


def test_stop_is_applied_and_answered_while_the_device_manager_is_crashed(
    system: RunningSystem, clients: StreamingClients
) -> None:
    moves(system)
    with blocked_actor(system.directory, "supervisor"):
        crash(system.directory, "devices")
        answer = system.ask("POST", "/stop")
        stands_still(system, clients)
    running_actor(system.directory, "devices")

    assert (answer.status, answer.json["everything"]) == (200, True)
    stands_still(system, clients)
    eventually(lambda: system.arm.stopped, "the inventory shows it")
    assert system.ask("DELETE", "/stop").status == 200
    moves(system)


@pytest.mark.parametrize("both_die", [False, True], ids=["store", "store and manager"])
def test_stop_during_a_store_crash_applies_and_is_stored_after_restart(
    system: RunningSystem, clients: StreamingClients, tmp_path: Path, both_die: bool
) -> None:
    moves(system)
    with blocked_actor(system.directory, "supervisor"):
        crash(system.directory, "settings")
        answer = system.ask("POST", "/stop")
        stands_still(system, clients)
        if both_die:
            crash(system.directory, "devices")
    for name in ("settings", "devices"):
        running_actor(system.directory, name)

    assert (answer.status, answer.json["stopped"], answer.json["stored"]) == (200, True, False)
    stands_still(system, clients)
    eventually(lambda: on_disk(tmp_path / "state") == EVERYTHING, "the disk has it")
    eventually(lambda: system.ask("GET", "/stop").json["everything"], "GET shows it")


def test_stop_without_a_disk_applies_and_answers_507(
    system: RunningSystem, clients: StreamingClients, tmp_path: Path
) -> None:
    moves(system)
    shutil.rmtree(tmp_path / "state")

    stopped = system.ask("POST", "/stop")
    stands_still(system, clients)
    released = system.ask("DELETE", "/stop")
    moves(system)

    for answer, done in ((stopped, "Everything is stopped"), (released, "The stop is released")):
        assert answer.status == 507
        assert answer.json["error"].startswith(f"{done}, but a restart would forget it. The state directory ")
    (tmp_path / "state").mkdir()
    assert system.ask("POST", "/stop").status == 200
    assert on_disk(tmp_path / "state") == EVERYTHING


def test_stop_survives_sigkill_and_restart_until_released(tmp_path: Path) -> None:
    with RunningService(state_dir=tmp_path) as service:
        assert service.request("POST", "/stop")[0] == 200

        service.kill()
        service.start()
        assert pushed_in_vain(service)

        assert service.stop() == 0
        service.start()
        assert service.request("GET", "/stop")[1]["everything"] is True
        assert pushed_in_vain(service)

        assert service.request("DELETE", "/stop")[0] == 200
        service.kill()
        service.start()
        assert service.request("GET", "/stop")[1] == {"stopped": False, "everything": False, "devices": []}
        with StreamingClients(service.ws, 1) as clients:
            (client,) = clients.clients
            eventually(lambda: seen(client.frame) != ZERO, "a force is applied", pause_s=0.005, tries=4_000)


def pushed_in_vain(service: RunningService) -> bool:
    """Whether clients that push see no force in any frame."""
    with StreamingClients(service.ws, CLIENTS) as clients:
        for _ in range(LOOKS):
            clients.wait_frames(5)
            if any(seen(client.frame) != ZERO for client in clients.clients):
                return False
    return True


def on_disk(folder: Path) -> Any:
    """The stop latch in the ledger's file."""
    return json.loads((folder / "ledger.json").read_text()).get("stop")
