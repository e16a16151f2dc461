"""Benchmark: what HTTP reads take of the event loop's thread, with 16 devices with motors and 64 quiet sessions.

A figure is the processor time of the service's main thread for one exchange, by the kernel's account; the reference is that of a bare
Tornado handler that answers the same bytes. Both servers run all the time and are asked by turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Final, Self
from urllib.parse import urlsplit

import pytest

from bench.support.machine import main_thread_ns
from bench.support.plugin import Benchmark
from bench.support.processes import ClientProcess, body_server
from bench.support.result_table import Limit, ResultTable, Row, hold
from bench.support.turns import in_turn
from tests.support.service.process import RunningService

SECTION: Final = (
    "HTTP reads, time of the event loop's thread · 16 devices, 64 sessions · reference: bare Tornado, same bytes"
)
DEVICES: Final = ",".join(["arm", "compact"] * 8)
SESSIONS: Final = 64
OF_ALL_SESSIONS: Final = "/devices?session=*"
LIMITS: Final[Mapping[str, Limit]] = dict.fromkeys(("/devices", "/sessions", "/ports", "/arm/0"), Limit(3.5, "≤"))
READS: Final = (*LIMITS, OF_ALL_SESSIONS)
SCRAPE: Final = "/metrics"
BODY: Final = "/body"
SETTING: Final = "/settings/serialization/explicit_fields"
# What Prometheus 3 asks for, and the format without a name.
FORMATS: Final[Mapping[str, str]] = {
    "as Prometheus asks": "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.2",
    "plain text": "*/*",
}
WHOLE_SCRAPE: Final = Limit(10, "≤", of="figure")
# s; a format has two pages a second.
BETWEEN_SCRAPES: Final = 0.55
ROUNDS: Final = 12
WARM_ROUNDS: Final = 40
WARM_CALLS: Final = 20
AGAIN: Final = 10


class Server:
    """Context manager: a server, with one connection that is kept open."""

    def __init__(self, url: str, pid: int) -> None:
        self._connection = HTTPConnection(urlsplit(url).netloc)
        self._pid = pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._connection.close()

    def ask(self, method: str, path: str, **headers: str) -> bytes:
        """Return the body of a 200."""
        self._connection.request(method, path, headers=headers)
        answer = self._connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text
        return text

    def took_us(self, path: str, calls: int = 1, **headers: str) -> float:
        """Processor time of the main thread for one exchange, us."""
        before = main_thread_ns(self._pid)
        for _ in range(calls):
            self.ask("GET", path, **headers)
        return (main_thread_ns(self._pid) - before) / calls / 1e3


@contextmanager
def servers(folder: Path, path: str, **headers: str) -> Generator[tuple[Server, Server]]:
    """Yield the service with its sessions, and a bare server that answers `/body` with what the service answers to `path`."""
    with ExitStack() as stack:
        service = stack.enter_context(RunningService(simulate=DEVICES))
        stack.enter_context(ClientProcess()).open("all", f"{service.ws}/", SESSIONS)
        ours = stack.enter_context(Server(service.http, service.process.pid))
        pid, url = stack.enter_context(body_server({"body": ours.ask("GET", path, **headers)}, folder))
        yield ours, stack.enter_context(Server(url, pid))


@pytest.mark.parametrize("kind", FORMATS)
def test_scrape(benchmark: Benchmark, results: ResultTable, tmp_path: Path, kind: str) -> None:
    accept, found = FORMATS[kind], list[list[float]]()
    with servers(tmp_path, SCRAPE, Accept=accept) as (ours, bare):

        def scrape() -> float:
            time.sleep(BETWEEN_SCRAPES)
            return ours.took_us(SCRAPE, Accept=accept)

        def once_more() -> float:
            ours.ask("GET", SCRAPE, Accept=accept)
            return ours.took_us(SCRAPE, AGAIN, Accept=accept)

        measures: list[Callable[[], float]] = [scrape, once_more, partial(bare.took_us, BODY, AGAIN)]
        benchmark.pedantic(lambda: found.extend(in_turn(measures, ROUNDS)))
    took, repeated, reference = (median(each) / 1e3 for each in found)
    row = results.add(Row(SECTION, f"scrape, {kind}", took, "ms", reference, WHOLE_SCRAPE))
    results.add(Row(SECTION, f"scrape, {kind}, worst", max(found[0]) / 1e3, "ms", reference))
    results.add(Row(SECTION, f"scrape, {kind}, third within a second", repeated, "ms", reference))
    hold(row)


@pytest.mark.parametrize("path", READS)
def test_read(benchmark: Benchmark, results: ResultTable, tmp_path: Path, path: str) -> None:
    warm, cold = list[list[float]](), list[list[float]]()
    with servers(tmp_path, path) as (ours, bare):
        calls = 1 if path == OF_ALL_SESSIONS else WARM_CALLS

        def after_a_change() -> float:
            """Time of the first read behind a write of settings, of which every text of a device is made."""
            ours.ask("DELETE", SETTING)
            ours.ask("GET", "/healthz")
            return ours.took_us(path)

        once: list[Callable[[], float]] = [after_a_change, partial(bare.took_us, BODY)]
        often = [partial(ours.took_us, path, calls), partial(bare.took_us, BODY, calls)]

        def measure() -> None:
            cold.extend(in_turn(once, ROUNDS))
            warm.extend(in_turn(often, WARM_ROUNDS))

        benchmark.pedantic(measure)
    rows: list[Row] = []
    for name, found, limit in (("first after a change", cold, None), ("again", warm, LIMITS.get(path))):
        took, reference = map(median, found)
        rows.append(results.add(Row(SECTION, f"GET {path}, {name}", took, "us", reference, limit)))
    hold(*rows)
