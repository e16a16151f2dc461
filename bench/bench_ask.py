"""Benchmark: round trip event loop to actor and back by `ask_async`, against a plain thread with a SimpleQueue."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from statistics import median
from time import perf_counter_ns
from typing import Final

from prometheus_client import CollectorRegistry

from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.ask import ask_async
from actors.kit.clock import Clock
from actors.kit.message import Request
from bench.support.machine import as_the_service
from bench.support.plugin import Benchmark
from bench.support.result_table import ResultTable, Row
from bench.support.turns import quantile
from fastpath.arena.runtime import now_ns

SECTION: Final = "loop → actor → loop · one at a time · reference: thread, SimpleQueue, call_soon_threadsafe"
ROUNDS: Final = 20
TRIPS: Final = 250


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
