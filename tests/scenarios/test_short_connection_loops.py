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
from tests.support.boards.fake_links import ARM
from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import exchange
from tests.support.service.fake_port_service import FakePortService
from tests.support.service.in_process_service import TIMEOUT_S, InProcessService
from tests.support.service.polling import eventually
from transport.link.protocols.openlink.driver import OpenlinkDriver
from transport.link.scanner import PortScanner, make_scanner

PORT = "ttyACM0"
# More than make a loop: a busy machine may see two as one.
CYCLES = 12
UP_S = 0.2
# Fewer than block a port.
LOOPS = 4


def bounce(setup: FakePortService, times: int, up_s: float, down_s: float) -> None:
    """The cable is put in and pulled out by time alone, whatever was seen of it."""
    for _ in range(times):
        setup.machine.plug(ARM)
        setup.advance(up_s, step_s=0.05)
        setup.machine.unplug()
        setup.advance(down_s, step_s=0.05)


@pytest.mark.parametrize(("up_s", "down_s"), [(0.1, 0.1), (0.1, 1.7), (0.8, 1.2), (1.7, 0.1)])
def test_device_up_for_less_than_a_scan_period_counts_as_looping(tmp_path: Path, up_s: float, down_s: float) -> None:
    with FakePortService(tmp_path) as setup:
        bounce(setup, 1, up_s, down_s)
        for loops in range(1, 5):
            bounce(setup, 1, up_s, down_s)
            assert (setup.row()["state"], setup.row()["loops"]) == ("active", loops)
        bounce(setup, 1, up_s, down_s)
        assert (setup.row()["state"], setup.row()["loops"]) == ("blocked", 5)
        setup.events.wait_for_event("device-connection-loop", port=PORT)
        setup.events.wait_for_event("port-blocked", port=PORT)


def test_device_up_briefly_but_rarely_is_not_blocked(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        bounce(setup, 7, 0.2, 2.8)
        assert (setup.row()["state"], setup.row()["reason"]) == ("active", "")


def test_device_that_never_answers_counts_as_looping(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        for _ in range(6):
            setup.machine.plug(refuses=NoDeviceAnswers("it is mute"))
            setup.advance(1, step_s=0.05)
            setup.machine.unplug()
            setup.advance(0.5, step_s=0.05)
        assert (setup.row()["state"], setup.row()["reason"]) == ("blocked", "connection_loop")


def test_looping_device_behind_a_constant_adapter_is_counted_by_openings(tmp_path: Path) -> None:
    with FakePortService(tmp_path, settings={"devices/detection/loop_window": 600}) as setup:
        board = setup.machine.plug(ARM)
        for opening in range(5):
            setup.wait_ready(ARM)
            setup.drain()
            assert (setup.row()["loops"], len(board.links)) == (opening, opening + 1)
            board.drop()
            setup.wait_gone()
        setup.advance_until(lambda: setup.row()["state"] == "blocked", "it is blocked")
        assert setup.row()["loops"] == 5


def test_replugging_within_one_scan_counts_as_one_loop(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        setup.machine.plug(ARM, node="1")
        setup.wait_ready(ARM)
        for node in ("2", "3"):
            setup.machine.unplug()
            setup.machine.plug(ARM, node=node)
            setup.advance(2)
            setup.wait_ready(ARM)
        assert setup.row()["loops"] == 2


# ---------------------------------------------------------------- real terminals, settings as they are


class Bench:
    """A board at a real terminal, the service as it starts by itself but for the board's path, and what it tells."""

    def __init__(self, boards: Boards, service: InProcessService, events: EventClient) -> None:
        self.boards = boards
        self.service = service
        self.events = events

    def is_here(self) -> bool:
        """Whether its port is shown with it."""
        row = self.service.system.ports.value.find("0")
        return row is not None and row.device_id == "A1"

    def received_events(self, name: str, times: int) -> None:
        """Wait until that was told so often."""
        eventually(lambda: len(self.events.received_events(name)) == times, f"{name}, {times} times", pause_s=0.002)

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
        InProcessService(tmp_path, simulated=(), links=make_scanner, settled=False) as service,
        EventClient(service.events) as events,
    ):
        bench = Bench(boards, service, events)
        bench.name(boards.path())
        eventually(bench.is_here, "it is found", pause_s=0.01)
        yield bench


def test_board_never_up_for_long_gets_its_port_blocked(bench: Bench) -> None:
    bench.boards.loop(CYCLES, UP_S)

    blocked = bench.events.wait_for_event("port-blocked", port="0")
    looping = bench.events.wait_for_event("device-connection-loop", port="0")

    assert blocked["data"]["reason"] == "connection_loop"
    assert (looping["data"]["device_id"], looping["data"]["loops"]) == ("A1", 5)
    row = exchange(bench.service.http, "GET", "/ports/0").json
    assert (row["state"], row["device_id"], row["loops"]) == ("blocked", "A1", 5)
    assert 'hapticd_port_blocked{port="0"} 1.0' in exchange(bench.service.http, "GET", "/metrics").body.decode()


def test_board_that_never_answers_gets_its_port_blocked(bench: Bench) -> None:
    bench.boards.set("deaf", 1)
    bench.boards.loop(CYCLES, UP_S)

    bench.events.wait_for_event("port-blocked", port="0")


def test_board_unplugged_during_a_scan_counts_as_looping(bench: Bench) -> None:
    listed, scan = OpenlinkDriver.candidates, PortScanner.scan
    to_pull, scanning, pulled, scanned = (threading.Event() for _ in range(4))
    to_pull.set()

    def list_and_pull(boards: OpenlinkDriver) -> Iterable[Candidate]:
        found = tuple(listed(boards))
        if found and to_pull.is_set() and scanning.is_set():
            bench.boards.unplug()
            to_pull.clear()
            pulled.set()
        return found

    def scan_to_the_end(scanner: PortScanner) -> tuple[Candidate, ...]:
        pulled.clear()
        scanning.set()
        found = scan(scanner)
        scanning.clear()
        if pulled.is_set():
            scanned.set()
        return found

    with (
        patch.object(OpenlinkDriver, "candidates", list_and_pull),
        patch.object(PortScanner, "scan", scan_to_the_end),
    ):
        for times in range(1, LOOPS + 1):
            # A board that is back before the scan has ended was never gone for it.
            assert scanned.wait(TIMEOUT_S)
            bench.received_events("device-disconnected", times)
            bench.boards.plug()
            bench.received_events("device-connected", times + 1)
            bench.counts(times)
            if times < LOOPS:
                scanned.clear()
                to_pull.set()


def test_port_closed_and_reopened_by_its_setting_is_not_blocked(bench: Bench) -> None:
    for _ in range(6):
        bench.name()
        eventually(lambda: not bench.is_here(), "it is let go", pause_s=0.005)
        bench.name(bench.boards.path())
        eventually(bench.is_here, "it is found again", pause_s=0.005)

    row = exchange(bench.service.http, "GET", "/ports/0").json
    assert (row["state"], row["loops"]) == ("active", 0)
