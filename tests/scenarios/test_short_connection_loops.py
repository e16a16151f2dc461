"""Connection loops shorter than the detection period: every cycle counts, whether or not the device was seen."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from actors.port.link_interface import NoDeviceAnswers
from actors.values.hardware import Candidate
from tests.emulators.boards import Boards
from tests.support.boards.links import ARM
from tests.support.clients.exchange import exchange
from tests.support.clients.listener import Listener
from tests.support.service.inside import PATIENCE_S, ServiceInside
from tests.support.service.plugged import Plugged
from tests.support.service.polling import eventually
from transport.link.protocols.openlink.driver import OpenlinkDriver
from transport.link.scanner import make_scanner

PORT = "ttyACM0"
# More than make a loop: a busy machine may see two as one.
CYCLES = 12
UP_S = 0.2
# Fewer than block a port.
LOOPS = 4


def bounce(desk: Plugged, times: int, up_s: float, down_s: float) -> None:
    """The cable is put in and pulled out by time alone, whatever was seen of it."""
    for _ in range(times):
        desk.machine.plug(ARM)
        desk.passes(up_s, step_s=0.05)
        desk.machine.unplug()
        desk.passes(down_s, step_s=0.05)


@pytest.mark.parametrize(("up_s", "down_s"), [(0.1, 0.1), (0.1, 1.7), (0.8, 1.2), (1.7, 0.1)])
def test_a_device_that_is_up_for_less_than_a_look_loops_as_any_other(
    tmp_path: Path, up_s: float, down_s: float
) -> None:
    with Plugged(tmp_path) as desk:
        bounce(desk, 1, up_s, down_s)
        for loops in range(1, 5):
            bounce(desk, 1, up_s, down_s)
            assert (desk.row()["state"], desk.row()["loops"]) == ("active", loops)
        bounce(desk, 1, up_s, down_s)
        assert (desk.row()["state"], desk.row()["loops"]) == ("blocked", 5)
        desk.events.hears("device-connection-loop", port=PORT)
        desk.events.hears("port-blocked", port=PORT)


def test_a_device_that_is_up_for_less_than_a_look_and_comes_slowly_is_not_blocked(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        bounce(desk, 7, 0.2, 2.8)
        assert (desk.row()["state"], desk.row()["reason"]) == ("active", "")


def test_a_device_that_never_answers_loops_too(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        for _ in range(6):
            desk.machine.plug(refuses=NoDeviceAnswers("it is mute"))
            desk.passes(1, step_s=0.05)
            desk.machine.unplug()
            desk.passes(0.5, step_s=0.05)
        assert (desk.row()["state"], desk.row()["reason"]) == ("blocked", "connection_loop")


def test_a_device_that_loops_behind_an_adapter_that_stays_is_counted_by_its_openings(tmp_path: Path) -> None:
    with Plugged(tmp_path, settings={"devices/detection/loop_window": 600}) as desk:
        board = desk.machine.plug(ARM)
        for opening in range(5):
            desk.ready(ARM)
            desk.settled()
            assert (desk.row()["loops"], len(board.links)) == (opening, opening + 1)
            board.drop()
            desk.gone()
        desk.until(lambda: desk.row()["state"] == "blocked", "it is blocked")
        assert desk.row()["loops"] == 5


def test_a_device_that_is_plugged_in_anew_within_one_look_is_one_loop(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        desk.machine.plug(ARM, node="1")
        desk.ready(ARM)
        for node in ("2", "3"):
            desk.machine.unplug()
            desk.machine.plug(ARM, node=node)
            desk.passes(2)
            desk.ready(ARM)
        assert desk.row()["loops"] == 2


# ---------------------------------------------------------------- real terminals, settings as they are


class Bench:
    """A board at a real terminal, the service as it starts by itself but for the board's path, and what it tells."""

    def __init__(self, boards: Boards, service: ServiceInside, events: Listener) -> None:
        self.boards = boards
        self.service = service
        self.events = events

    def is_here(self) -> bool:
        """Whether its port is shown with it."""
        row = self.service.system.ports.value.find("0")
        return row is not None and row.device_id == "A1"

    def heard(self, name: str, times: int) -> None:
        """Wait until that was told so often."""
        eventually(lambda: len(self.events.heard(name)) == times, f"{name}, {times} times", pause_s=0.002)

    def counts(self, loops: int) -> None:
        """Wait until it is shown again with exactly so many."""
        row = self.service.system.ports.value.get
        eventually(lambda: self.is_here() and row("0").loops == loops, f"{loops} loops are counted", pause_s=0.002)

    def name(self, *paths: str) -> None:
        """Those are the ports that are looked for."""
        route = "/settings/devices/detection/serial_ports"
        assert exchange(self.service.http, "POST", route, paths).status == 200


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with (
        Boards("arm:A1") as boards,
        ServiceInside(tmp_path, simulated=(), links=make_scanner, settled=False) as service,
        Listener(service.events) as events,
    ):
        bench = Bench(boards, service, events)
        bench.name(boards.path())
        eventually(bench.is_here, "it is found", pause_s=0.01)
        yield bench


def test_a_board_that_is_never_up_for_long_has_its_port_blocked(bench: Bench) -> None:
    bench.boards.loop(CYCLES, UP_S)

    blocked = bench.events.hears("port-blocked", port="0")
    looping = bench.events.hears("device-connection-loop", port="0")

    assert blocked["data"]["reason"] == "connection_loop"
    assert (looping["data"]["device_id"], looping["data"]["loops"]) == ("A1", 5)
    row = exchange(bench.service.http, "GET", "/ports/0").json
    assert (row["state"], row["device_id"], row["loops"]) == ("blocked", "A1", 5)
    assert 'hapticd_port_blocked{port="0"} 1.0' in exchange(bench.service.http, "GET", "/metrics").body.decode()


def test_a_board_that_never_answers_has_its_port_blocked(bench: Bench) -> None:
    bench.boards.set("deaf", 1)
    bench.boards.loop(CYCLES, UP_S)

    bench.events.hears("port-blocked", port="0")


def test_a_board_that_goes_while_ports_are_listed_loops_as_any_other(bench: Bench) -> None:
    listed, pulled = OpenlinkDriver.candidates, threading.Event()

    def list_and_pull(boards: OpenlinkDriver) -> Iterable[Candidate]:
        found = tuple(listed(boards))
        if found and not pulled.is_set():
            bench.boards.unplug()
            pulled.set()
        return found

    with patch.object(OpenlinkDriver, "candidates", list_and_pull):
        for times in range(1, LOOPS + 1):
            assert pulled.wait(PATIENCE_S)
            bench.heard("device-disconnected", times)
            bench.boards.plug()
            bench.heard("device-connected", times + 1)
            bench.counts(times)
            if times < LOOPS:
                pulled.clear()


def test_a_port_that_a_setting_names_again_and_again_is_not_blocked(bench: Bench) -> None:
    for _ in range(6):
        bench.name()
        eventually(lambda: not bench.is_here(), "it is let go", pause_s=0.005)
        bench.name(bench.boards.path())
        eventually(bench.is_here, "it is found again", pause_s=0.005)

    row = exchange(bench.service.http, "GET", "/ports/0").json
    assert (row["state"], row["loops"]) == ("active", 0)
