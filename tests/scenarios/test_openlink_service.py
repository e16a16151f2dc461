"""Emulated boards in the whole service: bytes on a pseudo-terminal, loop thread, sockets, and a simulated arm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from actors.device.messages import Phase, SimulatedSpec
from actors.values.identity import Connection, Kind
from tests.emulators.boards import Boards
from tests.support.boards.board_links import BoardsAt
from tests.support.clients.event_client import EventClient
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import TIMEOUT_S, eventually
from tests.support.service.timeouts import shipped_silence_limits

SIMULATED = (SimulatedSpec(Kind.ARM, Connection.SIMULATED, "A001"),)
RATE_HZ = 4000
PERIOD_S = 0.001
# SETTLE phase of a board that follows commands.
SETTLED = 3
PUSH = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 1}}}


class Bench:
    """A board, the service that drives it, and what the service tells."""

    def __init__(self, boards: Boards, service: InProcessService, events: EventClient) -> None:
        self.boards = boards
        self.service = service
        self.events = events

    def phase(self, device_id: str) -> Phase | None:
        record = self.service.system.inventory.value.find(device_id)
        return None if record is None else record.phase

    def ready(self, device_id: str = "A1") -> None:
        eventually(lambda: self.phase(device_id) is Phase.READY, f"{device_id} is ready", pause_s=0.01)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    settings = {"control/frequency": RATE_HZ, "sessions/command_timeout": 0.5}
    with (
        Boards("arm:A1") as boards,
        InProcessService(
            tmp_path, simulated=SIMULATED, settings=settings, links=BoardsAt(boards.path()), settled=False
        ) as service,
        EventClient(service.events) as events,
    ):
        bench = Bench(boards, service, events)
        bench.ready()
        bench.ready("A001")
        yield bench


def push(channel: ClientConnection, *device_ids: str, **commands: Any) -> Any:
    entries = [{"device_id": device_id, "commands": commands or PUSH} for device_id in device_ids]
    channel.send(json.dumps({"arm": entries}))
    return json.loads(channel.recv())


@pytest.mark.promise(3, "Simulated devices are recognised beside real ones")
def test_force_reaches_the_motors_of_board_and_simulated_arm(bench: Bench) -> None:
    with connect(bench.service.ws, proxy=None, open_timeout=TIMEOUT_S) as channel:
        channel.recv()

        def forces() -> list[float]:
            frame = push(channel, "A1", "A001")
            assert "errors" not in frame
            return [entry["state"]["current_cursor_force"]["z"] for entry in frame["arm"]]

        eventually(
            lambda: forces() == pytest.approx([1, 1], abs=0.05) and bench.boards.see().driven,
            "both have the force",
            pause_s=0.005,
        )

    eventually(bench.boards.obeys, "it is told what to do", pause_s=0.005)


def test_client_disconnect_zeroes_the_motors(bench: Bench) -> None:
    with connect(bench.service.ws, proxy=None, open_timeout=TIMEOUT_S) as channel:
        channel.recv()
        eventually(lambda: push(channel, "A1") and bench.boards.see().driven, "the motors are on", pause_s=0.005)

    eventually(lambda: not bench.boards.see().driven and bench.boards.obeys(), "told to be at zero", pause_s=0.005)


def test_silent_board_becomes_stale_then_disconnected(bench: Bench) -> None:
    with shipped_silence_limits():
        bench.boards.freeze()
        stale = bench.events.wait_for_event("device-safety-triggered", safety_type="device_stale", device_id="A1")
        lost = bench.events.wait_for_event("device-disconnected", device_id="A1")
    bench.boards.thaw()

    assert stale["time"] < lost["time"]
    bench.ready()
    assert len(bench.events.received_events("device-connected", device_id="A1")) == 2
    assert bench.phase("A001") is Phase.READY


def test_killed_board_is_disconnected_by_its_closed_line(bench: Bench) -> None:
    bench.boards.kill()

    lost = bench.events.wait_for_event("device-disconnected", device_id="A1")

    assert lost["data"]["port"] == "board0"
    assert "sent nothing" not in lost["message"]


def test_replugged_board_is_the_same_device(bench: Bench) -> None:
    bench.boards.unplug()
    bench.events.wait_for_event("device-disconnected", device_id="A1")

    bench.boards.plug()
    eventually(
        lambda: len(bench.events.received_events("device-connected", device_id="A1")) == 2, "it is back", pause_s=0.01
    )

    bench.ready()
    eventually(bench.boards.obeys, "it is told what to do", pause_s=0.005)


def test_receiver_grips_show_their_reported_state(tmp_path: Path) -> None:
    with (
        Boards("receiver:G1,G2") as boards,
        InProcessService(tmp_path, simulated=(), links=BoardsAt(boards.path()), settled=False) as service,
        EventClient(service.events) as events,
    ):
        bench = Bench(boards, service, events)
        bench.ready("G1")
        bench.ready("G2")
        boards.set("battery", 0.5, device=1)
        boards.set("buttons", 2, device=1)

        with connect(service.ws, proxy=None) as channel:
            assert [grip["config"]["connection"] for grip in json.loads(channel.recv())["grip"]] == ["wireless"] * 2

            def second() -> Any:
                channel.send("{}")
                return json.loads(channel.recv())["grip"][1]

            eventually(lambda: second()["state"]["battery_level"] == 0.5, "the battery is shown", pause_s=0.01)
            eventually(lambda: second()["state"]["buttons"]["b"], "the button is shown", pause_s=0.01)
        boards.set("battery", 0.1, device=1)
        assert events.wait_for_event("device-battery-low", device_id="G2")
        boards.set("here", 0, device=0)
        assert events.wait_for_event("device-disconnected", device_id="G1")
        assert bench.phase("G2") is Phase.READY


@pytest.mark.promise(153)
def test_arm_that_reports_settling_settles_once(tmp_path: Path) -> None:
    """A settling arm is shown not ready for the time that its firmware names, once."""
    with (
        Boards("arm:A1", "arm:A2") as boards,
        InProcessService(
            tmp_path,
            simulated=(),
            settings={"control/frequency": 1000, "devices/detection/period": 100},
            links=BoardsAt(boards.path(0), boards.path(1)),
            settled=False,
        ) as service,
        EventClient(service.events) as events,
    ):
        bench = Bench(boards, service, events)
        boards.unplug(0)
        boards.unplug(1)
        eventually(lambda: not service.system.inventory.value.devices, "both are gone", pause_s=0.01)
        boards.set("settle_ms", 4000, 0)
        boards.set("settle_ms", 3000, 1)

        boards.plug(0)
        eventually(lambda: bench.phase("A1") is Phase.SETTLING, "the first arm settles", pause_s=0.005)
        eventually(lambda: boards.see(0).phase == SETTLED, "it says that it has settled", pause_s=0.005)
        # The second one begins when the first one is over: counted twice, the first's time would outlast the second's.
        boards.plug(1)
        bench.ready("A1")

        assert boards.see(1).phase != SETTLED
        bench.ready("A2")
