"""Local clients while parts of the service change or break: devices, shares of the force, actors, the event loop."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.device.messages import SimulatedSpec
from actors.session.actor import actor_name
from actors.values.identity import Connection, Kind
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.local.connection import LocalConnection, Program, answer_to
from tests.support.local.page import FORCE, POSITION
from tests.support.loop.devices import ARM_CENTRE
from tests.support.service.actor_faults import crash, crash_and_restart
from tests.support.service.polling import eventually
from tests.support.service.running_system import RunningSystem

ARM = "A001"
PUSH_N = 2.0
RESTARTS = 3
TURN = "communication/streaming/longest_turn"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A state directory whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="hapticd-") as made:
        yield Path(made)


@pytest.fixture
def system(folder: Path) -> Iterator[RunningSystem]:
    simulated = (SimulatedSpec(Kind.ARM, Connection.SIMULATED, ARM),)
    with RunningSystem(folder, simulated=simulated, settings={TURN: 0.2}, local=True) as running:
        yield running


@pytest.fixture
def pusher(system: RunningSystem, folder: Path) -> Iterator[Program]:
    """A process that pushes in each tick."""
    with Program(folder, "push", str(PUSH_N)) as program:
        assert program.word() == "pushing"
        until(system, PUSH_N)
        yield program


def until(system: RunningSystem, force: float) -> None:
    eventually(lambda: round(system.force()[2], 4) == force, f"{force} N", pause_s=0.001)


def number(system: RunningSystem) -> int:
    (record,) = system.system.sessions.value.sessions
    return record.session_id


@pytest.mark.usefixtures("pusher")
def test_share_of_a_local_sessions_force_is_that_of_any_session(system: RunningSystem) -> None:
    session = number(system)

    system.on_edge(lambda: system.bridge.scale_output(session, 0.5))
    until(system, PUSH_N / 2)
    system.on_edge(lambda: system.bridge.scale_output(session, 0.0))
    until(system, 0.0)
    system.on_edge(lambda: system.bridge.scale_output(session, 1.0))
    until(system, PUSH_N)


def test_local_session_without_output_gives_its_hold_up_and_takes_it_again(system: RunningSystem, folder: Path) -> None:
    hold = {
        "arm": [
            {
                "device_id": ARM,
                "commands": {"set_cursor_position": {"position": dict(zip("xyz", ARM_CENTRE, strict=True))}},
            }
        ]
    }
    with Program(folder, "hold", "0.135") as program, RawWebSocket(system.ws) as peer:
        assert program.word() == "holding"
        streaming = peer.frame()["session_id"]
        (session,) = {record.session_id for record in system.system.sessions.value.sessions} - {streaming}
        assert "errors" in peer.ask(hold)

        system.on_edge(lambda: system.bridge.scale_output(session, 0.0))
        eventually(lambda: "errors" not in peer.ask(hold), "the device is free", pause_s=0.002)
        system.on_edge(lambda: system.bridge.scale_output(session, 1.0))
        for _ in range(100):
            assert "errors" not in peer.ask(hold)

        def refused() -> bool:
            if "errors" in peer.ask(hold):
                return True
            peer.ask({"arm": [{"device_id": ARM, "commands": {}}]})
            return False

        # Longer than the event loop takes until it looks.
        eventually(refused, "it holds again", pause_s=0.05)


def test_record_for_a_device_that_left_is_refused_by_the_next_one_in_its_slot(
    system: RunningSystem, folder: Path
) -> None:
    with LocalConnection(folder).begin() as client:
        slot, generation = client.slot(ARM)
        assert system.ask("DELETE", f"/simulation/devices/{ARM}").status == 200
        eventually(lambda: client.states.state(slot)[2] == 0, "the slot is shown empty", pause_s=0.005)
        assert system.ask("POST", "/simulation/devices", {"type": "arm"}).status in (200, 201)
        record = eventually(lambda: list(system.system.inventory.value.devices), "another arm", pause_s=0.005)[0]
        eventually(lambda: client.states.state(slot)[2] not in (0, generation), "it has the slot", pause_s=0.005)
        assert client.slot(record.device_id)[0] == slot
        before = client.states.answer(client.seat, slot)[2]

        def refused() -> bool:
            client.page.force(slot, generation, 0.0, 0.0, 9.0)
            assert system.force(record) == (0.0, 0.0, 0.0)
            return client.states.answer(client.seat, slot)[2] > before + 3

        eventually(refused, "the old records are refused", pause_s=0.005)

        new = int(client.states.state(slot)[2])

        def pushed() -> bool:
            client.page.force(slot, new, 0.0, 0.0, 1.0)
            return system.force(record)[2] > 0

        eventually(pushed, "the new ones are taken", pause_s=0.005)


def test_crash_of_its_actor_leaves_a_local_client_alone(system: RunningSystem, pusher: Program) -> None:
    crash_and_restart(system.directory, actor_name(number(system)))
    crash_and_restart(system.directory, "sessions")

    until(system, PUSH_N)
    assert pusher.process.poll() is None


def test_local_client_whose_actor_is_given_up_is_closed(system: RunningSystem, pusher: Program) -> None:
    name = actor_name(number(system))
    for _ in range(RESTARTS):
        crash_and_restart(system.directory, name)
    crash(system.directory, name)

    assert pusher.word() == "ended"
    until(system, 0.0)
    eventually(lambda: system.system.sessions.value.sessions == (), "its session is gone", pause_s=0.005)


def test_force_of_a_local_client_fades_while_the_event_loop_stands_still(
    system: RunningSystem, pusher: Program
) -> None:
    free = threading.Event()
    blocked = threading.Thread(target=lambda: system.on_edge(lambda: free.wait(60)))
    blocked.start()
    try:
        until(system, 0.0)
    finally:
        free.set()
        blocked.join()
    until(system, PUSH_N)
    assert pusher.process.poll() is None


def test_client_that_is_killed_while_the_event_loop_stands_still_fades(system: RunningSystem, folder: Path) -> None:
    free = threading.Event()
    with Program(folder, "push", str(PUSH_N)) as program:
        assert program.word() == "pushing"
        blocked = threading.Thread(target=lambda: system.on_edge(lambda: free.wait(60)))
        blocked.start()
        try:
            program.kill()
            until(system, 0.0)
        finally:
            free.set()
            blocked.join()
    eventually(lambda: system.system.sessions.value.sessions == (), "its session is gone", pause_s=0.005)


def test_changed_timeout_holds_for_local_clients(system: RunningSystem, folder: Path) -> None:
    assert system.ask("POST", "/settings/sessions/command_timeout", {"value": 0.5}).status == 200
    with LocalConnection(folder).begin() as client:
        slot, generation = client.slot(ARM)
        eventually(
            lambda: client.states.memory[40:48] == (500_000_000).to_bytes(8, "little"), "it is shown", pause_s=0.005
        )
        client.page.force(slot, generation, 0.0, 0.0, 1.0)
        eventually(lambda: client.states.force(slot)[2] == 1.0, "it is taken", pause_s=0.0005, tries=60_000)
        begun_ns = last_ns = client.states.state(slot)[1]
        while (state := client.states.state(slot))[14] == 1.0:
            last_ns = state[1]

        # Beyond what the time-out before would have let pass.
        assert last_ns - begun_ns >= 100_000_000


@pytest.mark.usefixtures("pusher")
def test_records_are_counted(system: RunningSystem) -> None:
    before = system.metric("hapticd_commands_received_total")

    eventually(lambda: system.metric("hapticd_commands_received_total") > before, "more records", pause_s=0.01)


def test_positions_and_forces_of_one_record_act_together(system: RunningSystem, folder: Path) -> None:
    with LocalConnection(folder).begin() as client:
        slot, generation = client.slot(ARM)

        def both() -> bool:
            client.page.command(slot, generation, {POSITION: ARM_CENTRE, FORCE: (0.0, 0.0, 1.0)})
            return client.states.answer(client.seat, slot)[4] == POSITION | FORCE

        eventually(both, "both are in force", pause_s=0.002)
        assert system.ask("POST", "/stop").status == 200
        eventually(lambda: client.states.force(slot) == (0.0, 0.0, 0.0), "zero", pause_s=0.001)


@pytest.mark.parametrize(("listening", "stopping"), [(False, False), (True, True)])
def test_service_that_starts_or_stops_asks_for_another_try(
    system: RunningSystem, folder: Path, listening: bool, stopping: bool
) -> None:
    system.bridge.listening, system.bridge.stopping = listening, stopping

    answer = answer_to(folder, b'{"hapticd_local": 1, "name": "early"}\n')
    system.bridge.listening, system.bridge.stopping = True, False

    assert answer == {"error": "The service is starting or stopping: try again in a moment.", "status": 503}
    assert system.system.sessions.value.sessions == ()
