"""Benchmark: round trips of streaming clients, side by side with three servers that only answer each message with the same bytes.

References: a bare Tornado server, picows on uvloop, and a thread with epoll in C. All run all the time and are driven in turn by
clients in C, so that the control loop takes its share of the machine in everybody's turn. The loop has a processor of its own, as the
service chooses it. "One processor": servers and clients share another one, so that a round trip costs what both do for it; "two":
the clients run beside the loop; "free": servers on one processor, clients wherever the system puts them.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

import pytest

from bench.support.force_messages import force_messages
from bench.support.holding import held_service
from bench.support.machine import confine, cores, cpu_seconds
from bench.support.plugin import Benchmark
from bench.support.processes import ClientProcess, Drive, Echo, echo_server
from bench.support.result_table import Limit, ResultTable, Row, hold
from bench.support.turns import in_turn, medians
from tests.support.service.process import RunningService

Place: TypeAlias = Literal["with", "apart", "anywhere"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One drive, and the server's processor time per round trip, without its control loop."""

    drive: Drive
    cpu_us: float


SERVICE: Final = "service"
REFERENCES: Final[Mapping[Echo, str]] = {
    "tornado": "bare Tornado echo",
    "picows": "picows + uvloop echo",
    "epoll": "epoll echo in C",
}
DEVICES: Final = "arm,arm,grip"
SYSTEM: Final = "two arms and a grip, loop at 4 kHz"
ONE: Final = f"streaming, servers and clients on one processor · {SYSTEM}"
TWO: Final = f"streaming, servers on one processor, clients on another · {SYSTEM}"
FREE: Final = f"streaming, servers on one processor, clients anywhere · {SYSTEM}"
BUSY: Final = f"streaming while Python is busy, clients on another processor · {SYSTEM} · reference: while it is quiet"
CLIENTS_CURVE: Final = f"streaming by number of clients, on another processor · {SYSTEM} · reference: epoll echo in C"
DEVICES_CURVE: Final = (
    "streaming by number of devices, 8 clients on another processor · reference: epoll echo in C, frames as long"
)
# What the clients of a drive see, and what the server spends.
FIGURES: Final[Mapping[str, tuple[str, Callable[[Turn], float]]]] = {
    "round trips": ("/s", lambda turn: turn.drive.rate),
    "server CPU per round trip": ("us", lambda turn: turn.cpu_us),
    "latency p50": ("us", lambda turn: turn.drive.p50_us),
    "latency p99": ("us", lambda turn: turn.drive.p99_us),
    "worst gap between frames of a turn": ("ms", lambda turn: turn.drive.worst_gap_ms),
}
ROUNDS: Final = 5
SECONDS: Final = 0.6
CURVE_SECONDS: Final = 0.3
FAIR: Final = Limit(2.0, "≤")
GETS_A_SECOND: Final = 200


@dataclass(slots=True)
class Bench:
    """Servers that are ready to be driven in turn."""

    client: ClientProcess
    stack: ExitStack
    messages: Sequence[str] = ()
    pids: dict[str, int] = field(default_factory=dict[str, int])

    def add_service(self, service: RunningService, clients: int) -> str:
        """Connect clients to the service; return one of its frames."""
        self.messages = force_messages(self.client.open(SERVICE, f"{service.ws}/", clients))
        self.client.drive(SERVICE, self.messages, CURVE_SECONDS)
        self.pids[SERVICE] = service.process.pid
        return self.client.ask(SERVICE, self.messages[0])

    def add_reference(self, kind: Echo, frame: str, folder: Path, clients: int) -> None:
        """Start an echo server of this frame and connect clients to it."""
        own = folder / kind
        own.mkdir(exist_ok=True)
        self.pids[kind], url = self.stack.enter_context(echo_server(frame, own, kind))
        self.client.open(kind, url, clients)

    def place(self, clients: Place) -> None:
        """Confine the servers to one processor, and the clients to the same one, to the others, or not at all."""
        every = os.sched_getaffinity(0)
        servers = {min(cores().rest)}
        for pid in self.pids.values():
            confine(pid, servers)
        confine(self.client.pid, {"with": servers, "apart": every - servers or every, "anywhere": every}[clients])

    def drive(self, name: str, seconds: float = SECONDS) -> Turn:
        """Drive the clients of one server."""
        before = cpu_seconds(self.pids[name])
        drive = self.client.drive(name, self.messages, seconds)
        return Turn(drive, (cpu_seconds(self.pids[name]) - before) / drive.trips * 1e6)

    def in_turn(self, seconds: float = SECONDS) -> dict[str, list[Turn]]:
        """Drive all in turn, several rounds."""
        measures = [lambda name=name: self.drive(name, seconds) for name in self.pids]
        return dict(zip(self.pids, in_turn(measures, ROUNDS), strict=True))


@contextmanager
def bench() -> Generator[Bench]:
    """Yield a bench without servers."""
    with ClientProcess() as client, ExitStack() as stack:
        yield Bench(client, stack)


def figures(found: Mapping[str, list[Turn]], pick: Callable[[Turn], float]) -> dict[str, float]:
    """Return the median of each server."""
    return dict(zip(found, medians(list(found.values()), pick), strict=True))


def side_by_side(
    results: ResultTable, section: str, found: Mapping[str, list[Turn]], limits: Mapping[tuple[str, str], Limit]
) -> None:
    """Add the rows of the service against each reference, and hold those with a limit."""
    clients = "8 clients"
    rows: list[Row] = []
    sizes = figures(found, lambda turn: turn.drive.frame_bytes)
    for what, (unit, pick) in FIGURES.items():
        values = figures(found, pick)
        for kind, name in REFERENCES.items():
            assert sizes[SERVICE] == pytest.approx(sizes[kind], rel=0.05)
            limit = limits.get((what, kind))
            title = f"{clients}, {what}, against {name}"
            note = f"frames of {sizes[SERVICE]:.0f} bytes"
            rows.append(results.add(Row(section, title, values[SERVICE], unit, values[kind], limit, note)))
    hold(*rows)


LIMITS: Final[Mapping[Place, Mapping[tuple[str, str], Limit]]] = {
    "with": {
        ("round trips", "tornado"): Limit(2.2, "≥"),
        ("round trips", "picows"): Limit(0.75, "≥"),
        ("round trips", "epoll"): Limit(0.60, "≥"),
        ("server CPU per round trip", "tornado"): Limit(0.40, "≤"),
        ("latency p99", "tornado"): Limit(1 / 15, "≤"),
    },
    "apart": {("round trips", "tornado"): Limit(4.0, "≥")},
    "anywhere": {},
}


@pytest.mark.parametrize(("place", "section"), [("with", ONE), ("apart", TWO), ("anywhere", FREE)])
def test_side_by_side(benchmark: Benchmark, results: ResultTable, tmp_path: Path, place: Place, section: str) -> None:
    found: dict[str, list[Turn]] = {}
    with bench() as here:
        service = here.stack.enter_context(RunningService(simulate=DEVICES))
        frame = here.add_service(service, 8)
        assert len(frame) >= 1000
        for kind in REFERENCES:
            here.add_reference(kind, frame, tmp_path, 8)
        here.place(place)
        benchmark.pedantic(lambda: found.update(here.in_turn()))
    side_by_side(results, section, found, LIMITS[place])


@contextmanager
def gets(url: str) -> Generator[None]:
    """Ask for the devices 200 times a second inside, one after the other."""
    ended = threading.Event()
    parts = urlsplit(url)

    def ask() -> None:
        connection = HTTPConnection(parts.hostname or "", parts.port or 0, timeout=20)
        due = time.monotonic()
        while not ended.is_set():
            connection.request("GET", "/devices")
            connection.getresponse().read()
            due = max(due + 1 / GETS_A_SECOND, time.monotonic() - 1)
            ended.wait(due - time.monotonic())
        connection.close()

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield
    finally:
        ended.set()
        asking.join()


def test_busy_interpreter(benchmark: Benchmark, results: ResultTable, tmp_path: Path) -> None:
    with bench() as here:
        held = here.stack.enter_context(held_service(tmp_path, simulate=DEVICES))
        here.add_service(held.service, 8)
        here.place("apart")

        def quiet() -> Turn:
            return here.drive(SERVICE)

        def busy() -> Turn:
            with held.held("spin"), gets(held.service.http):
                return here.drive(SERVICE)

        found: list[list[Turn]] = []
        benchmark.pedantic(lambda: found.extend(in_turn([quiet, busy], ROUNDS)))
    rows: list[Row] = []
    for what in ("round trips", "latency p50", "latency p99"):
        unit, pick = FIGURES[what]
        limit = FAIR if what == "latency p99" else None
        alone, beside = medians(found, pick)
        title = f"8 clients, {what}, beside {GETS_A_SECOND} GETs a second and a Python thread that spins"
        rows.append(results.add(Row(BUSY, title, beside, unit, alone, limit)))
    hold(*rows)


@pytest.mark.parametrize("clients", [1, 2, 4, 8, 16, 32, 64])
def test_clients(benchmark: Benchmark, results: ResultTable, tmp_path: Path, clients: int) -> None:
    found: dict[str, list[Turn]] = {}
    with bench() as here:
        frame = here.add_service(here.stack.enter_context(RunningService(simulate=DEVICES)), clients)
        here.add_reference("epoll", frame, tmp_path, clients)
        here.place("apart")
        benchmark.pedantic(lambda: found.update(here.in_turn(CURVE_SECONDS)))
    curve(results, CLIENTS_CURVE, f"{clients} client{'s' if clients > 1 else ''}", found)


@pytest.mark.parametrize("devices", [1, 2, 4, 8, 16])
def test_devices(benchmark: Benchmark, results: ResultTable, tmp_path: Path, devices: int) -> None:
    found: dict[str, list[Turn]] = {}
    with bench() as here:
        simulated = ",".join(["arm"] * devices)
        frame = here.add_service(here.stack.enter_context(RunningService(simulate=simulated)), 8)
        here.add_reference("epoll", frame, tmp_path, 8)
        here.place("apart")
        benchmark.pedantic(lambda: found.update(here.in_turn(CURVE_SECONDS)))
    curve(results, DEVICES_CURVE, f"{devices} device{'s' if devices > 1 else ''}", found)


def curve(results: ResultTable, section: str, who: str, found: Mapping[str, list[Turn]]) -> None:
    for what in ("round trips", "server CPU per round trip", "latency p99"):
        unit, pick = FIGURES[what]
        values = figures(found, pick)
        size = figures(found, lambda turn: turn.drive.frame_bytes)[SERVICE]
        results.add(Row(section, f"{who}, {what}", values[SERVICE], unit, values["epoll"], None, f"{size:.0f} bytes"))


def test_sixty_clients_take_turns(benchmark: Benchmark, results: ResultTable) -> None:
    drives: list[list[Turn]] = []
    with bench() as here:
        service = here.stack.enter_context(RunningService(simulate=DEVICES))
        here.add_service(service, 1)
        here.client.open("sixty", f"{service.ws}/", 60)
        here.pids["sixty"] = service.process.pid
        here.place("apart")
        measures = [lambda: here.drive(SERVICE, CURVE_SECONDS), lambda: here.drive("sixty", CURVE_SECONDS)]
        benchmark.pedantic(lambda: drives.extend(in_turn(measures, 3 * ROUNDS)))
    alone, _ = medians(drives, lambda turn: turn.drive.p50_us)
    _, p99 = medians(drives, lambda turn: turn.drive.p99_us)
    _, slowest = medians(drives, lambda turn: turn.drive.slowest_share)
    note = "reference: 60 x p50 of one client"
    results.add(
        Row(ONE, "60 clients, trips of the slowest", 100 * slowest, "%", 100, None, "reference: the mean of all")
    )
    hold(results.add(Row(TWO, "60 clients, latency p99", p99, "us", 60 * alone, FAIR, note)))
