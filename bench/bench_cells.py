"""Benchmark: publish and read a cell from Python while a loop runs at its default rate, against plain method calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pytest

from bench.support.machine import LOOP_PRIORITY, as_the_service, cores
from bench.support.plugin import Benchmark
from bench.support.result_table import Limit, ResultTable, Row, hold
from bench.support.rig import LoopRig
from bench.support.turns import ns_per_call
from fastpath.layout.dtypes import DEVICE_STATE
from tests.support.service.polling import eventually

SECTION: Final = "cells · from Python, the loop at 4 kHz beside it · reference: a bare method with the same arguments"
LIMIT: Final = Limit(200, "≤", of="figure")


class Bare:
    """Empty methods with the signatures of the measured ones."""

    def none(self) -> None:
        """Signature of `begin`."""

    def one(self, out: object) -> object:
        """Signature of `snapshot`."""
        return out

    def flag(self, refresh: bool = True) -> bool:  # noqa: FBT001, FBT002 - as it is called
        """Signature of `publish`."""
        return refresh

    def three(self, x: float, y: float, z: float) -> None:
        """Signature of `force`."""


@pytest.fixture
def rig() -> Iterator[LoopRig]:
    made = LoopRig(["arm", "grip"], frequency=4000, sessions=1)
    with as_the_service():
        made.runtime.start(priority=LOOP_PRIORITY, cpu=-1 if (cpu := cores().loop) is None else cpu)
        eventually(lambda: bool(made.runtime.loop_state()["ticks"] > 0), "the loop's first tick", pause_s=0.01)
        yield made
        made.runtime.stop()


def test_publish(benchmark: Benchmark, results: ResultTable, rig: LoopRig) -> None:
    rig.command()
    writer, bare = rig.writers[0], Bare()
    ours, reference = ns_per_call([[writer.publish], [bare.flag]])
    benchmark.pedantic(writer.publish, rounds=20, iterations=1000)
    row = results.add(Row(SECTION, "publish of a record", ours, "ns", reference, LIMIT))
    hold(row)


def test_force(benchmark: Benchmark, results: ResultTable, rig: LoopRig) -> None:
    writer, bare = rig.writers[0], Bare()

    def command() -> None:
        writer.begin()
        writer.force(0.1234567, -0.2345678, 0.3456789)
        writer.publish()

    def nothing() -> None:
        bare.none()
        bare.three(0.1234567, -0.2345678, 0.3456789)
        bare.flag()

    ours, reference = ns_per_call([[command], [nothing]])
    benchmark.pedantic(command, rounds=20, iterations=1000)
    results.add(Row(SECTION, "begin, force, publish", ours, "ns", reference))


def test_read(benchmark: Benchmark, results: ResultTable, rig: LoopRig) -> None:
    reader, bare, out = rig.readers[0], Bare(), np.zeros((), dtype=DEVICE_STATE)
    ours, reference = ns_per_call([[reader.snapshot, out], [bare.one, out]])
    benchmark.pedantic(reader.snapshot, (out,), rounds=20, iterations=1000)
    row = results.add(Row(SECTION, "read of a device's state", ours, "ns", reference, LIMIT))
    assert out["tick"] > 0, "the state that was read is none that the loop wrote"
    hold(row)


def test_read_of_the_loop(benchmark: Benchmark, results: ResultTable, rig: LoopRig) -> None:
    bare = Bare()
    ours, reference = ns_per_call([[rig.runtime.loop_state], [bare.none]])
    benchmark.pedantic(rig.runtime.loop_state, rounds=20, iterations=1000)
    results.add(Row(SECTION, "read of the loop's counters, into a new array", ours, "ns", reference))
