"""pytest plugin: the fixture `results`, which collects result rows, and their table at the end of the run.

With `--keep-results` the rows are also added to bench/results.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

import pytest

from bench.support.machine import ProcessorTime, description
from bench.support.result_table import ResultTable
from bench.support.results_file import Run, append

RESULTS = pytest.StashKey[ResultTable]()
BEGUN = pytest.StashKey[ProcessorTime]()


class Benchmark(Protocol):
    """Type of pytest-benchmark's fixture, as far as it is used here."""

    extra_info: dict[str, float]

    def pedantic(
        self,
        target: Callable[..., object],
        args: tuple[object, ...] = (),
        *,
        rounds: int = 1,
        iterations: int = 1,
        warmup_rounds: int = 0,
    ) -> object:
        """Time `rounds` rounds of `iterations` calls."""
        ...


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--keep-results", action="store_true", help="add the rows of this run to bench/results")


@pytest.fixture
def results(request: pytest.FixtureRequest) -> ResultTable:
    """Return the result table of the run."""
    config = request.config
    config.stash.setdefault(BEGUN, ProcessorTime.now())
    return config.stash.setdefault(RESULTS, ResultTable())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the table once, with a description of the machine and its load meanwhile."""
    results = config.stash.get(RESULTS, None)
    if results is None or not results.rows:
        return
    now, begun = ProcessorTime.now(), config.stash[BEGUN]
    terminalreporter.section("figures")
    meanwhile = (
        f"steal {now.steal_since(begun):.2f} %, idle {now.idle_since(begun):.0f} %, load {os.getloadavg()[0]:.1f}"
    )
    terminalreporter.write_line(description())
    terminalreporter.write_line(f"while measuring: {meanwhile}")
    for line in results.lines():
        terminalreporter.write_line(line)
    if config.getoption("--keep-results", default=False):
        terminalreporter.write_line(f"added to {append(Run.now(description(), meanwhile, results.rows))}")
    config.stash[RESULTS] = ResultTable()
