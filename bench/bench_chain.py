"""Benchmark: cost of the whole force chain of one arm at 32 kHz, and the oscillation filter's share; stepped loop."""

from __future__ import annotations

from math import inf
from time import perf_counter_ns
from typing import Final

from actors.device.params import SLEW_N_S, SLOW_SLEW_N_S
from actors.values.identity import Kind
from bench.support.plugin import Benchmark
from bench.support.result_table import Limit, ResultTable, Row, hold
from fastpath.arena.runtime import Runtime, default_oscillation
from fastpath.navigation.values import Bubble
from tests.support.loop.devices import arm_params, fill

FREQUENCY: Final = 32_000.0
PERIOD_US: Final = 1e6 / FREQUENCY
SECTION: Final = (
    "force chain · stepped at 32 kHz, one session commands every arm at 1 kHz · best blocks · reference: the period"
)
DEVICE_LIMIT: Final = Limit(1.0, "≤", of="figure")
FILTER_LIMIT: Final = Limit(0.1, "≤", of="figure")
TICKS_BETWEEN_COMMANDS: Final = 32
BLOCKS: Final = 1000
ROUNDS: Final = 5
ARMS: Final = 4
AXES: Final = 3


class Arms:
    """`count` arms with slew limit, encoders, monitors and motor model, each under a force that changes at 1 kHz."""

    def __init__(self, count: int, *, filtered: bool = True, navigating: bool = False) -> None:
        self.runtime = Runtime(stepping=True)
        oscillation = default_oscillation()
        oscillation["enabled"] = filtered
        self.runtime.publish_loop(frequency=FREQUENCY, command_timeout=0.05, oscillation=oscillation)
        session = self.runtime.lease_session("one")
        heat, names = Kind.ARM.spec.thermal, ("rise", "ratio", "winding", "housing", "ambient")
        params = arm_params(slew=SLEW_N_S, slow_slew=SLOW_SLEW_N_S, encoder_step=12.5e-6)
        fill(params["thermal"], {name: getattr(heat, name) for name in names})
        devices = [self.runtime.lease_device(f"arm {number}") for number in range(count)]
        assert all(self.runtime.publish_device(lease, params) for lease in devices)
        self.writers = [self.runtime.writer(session, lease) for lease in devices]
        for writer in self.writers if navigating else []:
            writer.set_navigation(Bubble())
            writer.set_effect(0, (0.1, 0.0, 0.0), 200.0)
            writer.set_effect(1, (0.0, 0.1, 0.0), 120.0)

    def microseconds_of_a_tick(self) -> float:
        """Return the time of a tick in the fastest block between two commands: other load on the machine can only add time."""
        spent: list[int] = []
        for block in range(BLOCKS):
            for writer in self.writers:
                writer.begin()
                writer.force(0.1 + 0.001 * (block % 7), -0.2, 0.3)
                assert writer.publish()
            begun = perf_counter_ns()
            self.runtime.step(TICKS_BETWEEN_COMMANDS)
            spent.append(perf_counter_ns() - begun)
        return min(spent) * 1e-3 / TICKS_BETWEEN_COMMANDS


def test_chain(benchmark: Benchmark, results: ResultTable) -> None:
    rigs = {
        "none": Arms(0),
        "some": Arms(ARMS),
        "bare": Arms(ARMS, filtered=False),
        "everything": Arms(ARMS, navigating=True),
    }
    best = dict.fromkeys(rigs, inf)

    def measure() -> None:
        for name, arms in rigs.items():
            best[name] = min(best[name], arms.microseconds_of_a_tick())

    benchmark.pedantic(measure, rounds=ROUNDS)
    device = (best["some"] - best["none"]) / ARMS
    everything = (best["everything"] - best["none"]) / ARMS
    sample = (best["some"] - best["bare"]) / (ARMS * AXES)
    rows = (
        results.add(Row(SECTION, "one arm, with its simulation", device, "us", PERIOD_US, DEVICE_LIMIT)),
        results.add(Row(SECTION, "the same with a bubble and two effects", everything, "us", PERIOD_US, DEVICE_LIMIT)),
        results.add(Row(SECTION, "oscillation filter, one axis, one sample", sample, "us", PERIOD_US, FILTER_LIMIT)),
    )
    hold(*rows)
