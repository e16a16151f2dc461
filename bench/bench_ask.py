"""Benchmark: round trip event loop to actor and back by `ask_async`, against a plain thread with a SimpleQueue; and `POST /stop` beside streams."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from queue import SimpleQueue
from statistics import median
from time import perf_counter_ns
from typing import Final
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry

from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.ask import ask_async
from actors.kit.clock import Clock
from actors.kit.message import Request
from bench.bench_streaming import CURVE_SECONDS, DEVICES, SERVICE, bench
from bench.support.holding import HeldService, held_service
from bench.support.machine import as_the_service
from bench.support.plugin import Benchmark
from bench.support.result_table import Limit, ResultTable, Row, hold
from bench.support.turns import quantile
from fastpath.arena.runtime import now_ns
from tests.support.local.connection import LocalConnection

SECTION: Final = "loop → actor → loop · one at a time · reference: thread, SimpleQueue, call_soon_threadsafe"
ROUNDS: Final = 20
TRIPS: Final = 250
STOP: Final = (
    "POST /stop, one processor for the service, clients on another, a stop each 0.2 s · reference: without clients"
)
STOPS: Final = 100
STOP_PAUSE_S: Final = 0.2
FIRST_IN_LINE: Final = -20
# The disk alone takes most of what a stop takes without clients.
STOP_LIMITS: Final = {"8 clients at full speed, median": Limit(2.0, "≤")}


@dataclass(frozen=True, slots=True)
class Echo(Request[int]):
    """Request whose reply is its number."""

    number: int


class EchoActor(ServiceActor):
    """Replies at once."""

    @handles(Echo)
    def echo(self, message: Echo) -> int:
        """Return the number."""
        return message.number


@contextmanager
def bare_thread() -> Generator[Callable[[int], Awaitable[int]]]:
    """Yield the reference: the cheapest round trip of a number to another thread and back to the event loop."""
    inbox: SimpleQueue[tuple[int, asyncio.Future[int]] | None] = SimpleQueue()

    def serve() -> None:
        while (item := inbox.get()) is not None:
            number, future = item
            future.get_loop().call_soon_threadsafe(future.set_result, number)

    def ask(number: int) -> Awaitable[int]:
        future = asyncio.get_running_loop().create_future()
        inbox.put((number, future))
        return future

    thread = threading.Thread(target=serve, name="bare")
    thread.start()
    yield ask
    inbox.put(None)
    thread.join()


async def trips(ask: Callable[[int], Awaitable[int]]) -> list[float]:
    """Return the duration of each round trip, us."""
    found: list[float] = []
    for number in range(TRIPS):
        begun = perf_counter_ns()
        assert await ask(number) == number
        found.append((perf_counter_ns() - begun) * 1e-3)
    return found


def test_ask(benchmark: Benchmark, results: ResultTable) -> None:
    context = Context.build(Clock(now_ns), CollectorRegistry())
    ours: list[list[float]] = []
    reference: list[list[float]] = []

    async def measure(bare: Callable[[int], Awaitable[int]]) -> None:
        def asking(number: int) -> Awaitable[int]:
            return ask_async(context.directory, "echo", Echo(number))

        await trips(asking)
        for _ in range(ROUNDS):
            ours.append(await trips(asking))
            reference.append(await trips(bare))

    with as_the_service(), bare_thread() as bare:
        actor = EchoActor.start("echo", context)
        benchmark.pedantic(lambda: asyncio.run(measure(bare)))
        actor.stop()
    for name, share in (("median", 0.5), ("p99", 0.99)):
        here, there = (median(quantile(block, share) for block in blocks) for blocks in (ours, reference))
        results.add(Row(SECTION, f"round trip, {name}", here, "us", there))


@dataclass(frozen=True, slots=True)
class Stopped:
    """When the motors had zero and when the stop was answered, ms after it was sent."""

    zero_ms: float
    answered_ms: float


def stops(service: HeldService, device_id: str) -> list[Stopped]:
    """Stop all output and release it again, STOPS times, as somebody whom the clients do not keep from a processor."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), FIRST_IN_LINE)
    parts = urlsplit(service.service.http)
    http = HTTPConnection(parts.hostname or "", parts.port or 0, timeout=20)
    watcher = LocalConnection(service.service.state_dir, commands=["set_cursor_force"]).begin()
    slot, _ = watcher.slot(device_id)
    found: list[Stopped] = []
    for _ in range(STOPS):
        begun = perf_counter_ns()
        http.request("POST", "/stop")
        while any(watcher.states.force(slot)):
            pass
        zero = perf_counter_ns()
        http.getresponse().read()
        found.append(Stopped((zero - begun) * 1e-6, (perf_counter_ns() - begun) * 1e-6))
        http.request("DELETE", "/stop")
        http.getresponse().read()
        time.sleep(STOP_PAUSE_S)
    watcher.socket.close()
    http.close()
    return found


def test_stop_beside_streams(benchmark: Benchmark, results: ResultTable, tmp_path: Path) -> None:
    found: dict[str, list[Stopped]] = {}
    with bench() as here:
        held = here.stack.enter_context(held_service(tmp_path, simulate=DEVICES))
        here.add_service(held.service, 8)
        device_id = here.messages[0].split('"device_id": "')[1].split('"')[0]
        here.place("apart")

        def ask(name: str, *, streams: bool) -> None:
            asking = threading.Thread(target=lambda: found.update({name: stops(held, device_id)}))
            asking.start()
            while streams and asking.is_alive():
                here.drive(SERVICE, CURVE_SECONDS)
            asking.join()

        def measure() -> None:
            ask("no clients", streams=False)
            ask("8 clients at full speed", streams=True)
            with held.held("spin"):
                ask("8 clients at full speed and a Python thread that spins", streams=True)

        benchmark.pedantic(measure)
    alone, *beside = found.items()
    rows: list[Row] = []
    for what, pick in (("answered", answered), ("zero at the motors", zero)):
        for name, ended in beside:
            for title, share in (("median", 0.5), ("p99", 0.99)):
                there = quantile([pick(each) for each in alone[1]], share) if pick is answered else None
                here_ms = quantile([pick(each) for each in ended], share)
                limit = STOP_LIMITS.get(f"{name}, {title}") if pick is answered else None
                rows.append(results.add(Row(STOP, f"{what}, beside {name}, {title}", here_ms, "ms", there, limit)))
    hold(*rows)


def answered(stopped: Stopped) -> float:
    return stopped.answered_ms


def zero(stopped: Stopped) -> float:
    return stopped.zero_ms
