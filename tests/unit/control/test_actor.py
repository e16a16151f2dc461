"""FastpathActor as a plain object: what it asks of the loop, and what it says of what the loop counted."""

from __future__ import annotations

import logging
from typing import Any, cast

import pytest

from actors.control.actor import FastpathActor
from actors.control.cores import Cores
from actors.control.messages import FASTPATH, LoopFacts, StartLoop, StopLoop
from actors.device.params import device_params
from actors.kit.actor import Context
from actors.kit.clock import ManualClock
from actors.kit.published import Published
from actors.settings.messages import SettingChanged
from fastpath.arena import Runtime
from tests.support.slices import settings_view, simulated_records

SHARED = Cores(None, frozenset({0, 1}))


class Loop:
    """A loop that only remembers what is asked of it."""

    stepping = False

    def __init__(self) -> None:
        self.running = False
        self.starts: list[tuple[int, int]] = []
        self.published: list[dict[str, object]] = []

    def start(self, *, priority: int, cpu: int) -> None:
        assert self.published, "the loop starts with its parameters"
        self.starts.append((priority, cpu))
        self.running = True

    def stop(self) -> None:
        self.running = False

    def publish_loop(self, **parameters: object) -> None:
        self.published.append(parameters)

    @staticmethod
    def loop_state() -> dict[str, float]:
        return {"target_frequency": 4000, "frequency": 3999.5, "fifo": 1, "pinned": 0}


class Rig:
    def __init__(self, cores: Cores = SHARED, **raw: object) -> None:
        self.loop = Loop()
        self.settings = Published(settings_view(keys(raw)))
        self.actor = made(cast("Runtime", self.loop), self.settings, cores)

    def change(self, **raw: object) -> None:
        """A setting changes, and the actor is told."""
        self.settings.replace(settings_view(keys(raw)))
        for key, value in keys(raw).items():
            self.actor.on_setting(SettingChanged(key, cast("Any", value)))


def keys(raw: dict[str, object]) -> dict[str, object]:
    return {key.replace("__", "/"): value for key, value in raw.items()}


def made(runtime: Runtime, settings: Published[Any], cores: Cores = SHARED) -> FastpathActor:
    return FastpathActor(Context.build(ManualClock()), runtime, settings, cores)


def facts(*, missed: int = 0, trips: int = 0, ticks: int = 0, gaps: int = 0) -> LoopFacts:
    return LoopFacts(ticks, missed, gaps, trips, 4000.0, 4000.0)


# ---------------------------------------------------------------- the loop


def test_it_answers_to_its_name() -> None:
    assert Rig().actor.name == FASTPATH


@pytest.mark.parametrize(
    ("cores", "raw", "asked"),
    [
        (SHARED, {}, (80, -1)),
        (Cores(3, frozenset({0, 1})), {}, (80, 3)),
        (Cores(0, frozenset({1})), {"control__realtime_priority": 42}, (42, 0)),
    ],
)
def test_the_loop_is_started_once_with_priority_and_processor(
    cores: Cores, raw: dict[str, object], asked: tuple[int, int]
) -> None:
    rig = Rig(cores, **raw)

    rig.actor.started()

    assert rig.loop.starts == [asked]
    assert rig.loop.running


def test_parameters_come_from_the_settings() -> None:
    rig = Rig(control__frequency=8000, sessions__command_timeout=0.1)

    rig.actor.started()

    assert rig.loop.published == [{"frequency": 8000.0, "command_timeout": 0.1, "spin": True}]


@pytest.mark.parametrize(
    ("spin", "cores", "spins"),
    [
        ("auto", SHARED, True),
        ("auto", Cores(1, frozenset({0})), True),
        ("auto", Cores(None, frozenset()), True),
        ("auto", Cores(None, frozenset({0})), False),
        ("off", SHARED, False),
        ("off", Cores(1, frozenset({0})), False),
    ],
)
def test_the_loop_spins_unless_it_may_not_or_has_no_processor_to_spare(spin: str, cores: Cores, spins: bool) -> None:
    rig = Rig(cores, control__spin=spin)

    rig.actor.started()

    assert rig.loop.published[0]["spin"] is spins


@pytest.mark.parametrize(
    ("raw", "field", "value"),
    [
        ({"control__frequency": 1000}, "frequency", 1000.0),
        ({"sessions__command_timeout": 0.5}, "command_timeout", 0.5),
    ],
)
def test_a_change_of_rate_or_time_out_is_published(raw: dict[str, object], field: str, value: float) -> None:
    rig = Rig()
    rig.actor.started()

    rig.change(**raw)

    assert len(rig.loop.published) == 2
    assert rig.loop.published[-1][field] == value
    assert len(rig.loop.starts) == 1


def test_another_setting_is_none_of_its_business() -> None:
    rig = Rig()
    rig.actor.started()

    rig.change(serialization__vocabulary="inverse", devices__auto_pairing=False)

    assert len(rig.loop.published) == 1


def test_the_loop_is_stopped_and_started_on_demand() -> None:
    rig = Rig()
    rig.actor.started()

    stopped = rig.actor.stop_loop(StopLoop())
    started = rig.actor.start_loop(StartLoop())

    assert (stopped.running, started.running) == (False, True)
    assert (started.target_hz, started.measured_hz, started.realtime, started.pinned) == (4000, 3999.5, True, False)


def test_a_stepped_loop_is_left_to_who_steps_it() -> None:
    runtime = Runtime(stepping=True, realtime=False)
    settings = Published(settings_view({"control/frequency": 1000}))

    actor = made(runtime, settings)
    actor.started()
    runtime.step()

    assert not runtime.running
    assert runtime.loop_state()["target_frequency"] == 1000

    settings.replace(settings_view({"control/frequency": 2000}))
    actor.on_setting(SettingChanged("control/frequency", 2000))
    runtime.step()
    assert runtime.loop_state()["target_frequency"] == 2000


@pytest.mark.parametrize(("timeout", "held"), [(0.02, False), (0.5, True)])
def test_a_new_time_out_counts_for_commands_that_are_held(timeout: float, held: bool) -> None:
    runtime = Runtime(stepping=True, realtime=False)
    settings = Published(settings_view({"control/frequency": 1000}))
    actor = made(runtime, settings)
    actor.started()
    (arm,) = simulated_records(runtime, "arm")
    runtime.publish_device(arm.lease, device_params(arm, 0))
    runtime.step(100)
    writer = runtime.writer(runtime.lease_session("1"), arm.lease)
    writer.force(0, 0, 1)
    writer.publish()

    settings.replace(settings_view({"control/frequency": 1000, "sessions/command_timeout": timeout}))
    actor.on_setting(SettingChanged("sessions/command_timeout", timeout))
    runtime.step(300)

    assert runtime.reader(arm.lease).snapshot()["force"].tolist() == pytest.approx([0, 0, 1 if held else 0])


# ---------------------------------------------------------------- what the loop counted


def said(caplog: pytest.LogCaptureFixture, *told: LoopFacts) -> list[str]:
    actor = Rig().actor
    with caplog.at_level(logging.INFO):
        for one in told:
            actor.on_facts(one)
    return [f"{record.levelname} {record.getMessage()}" for record in caplog.records]


def test_the_first_facts_are_where_counting_begins(caplog: pytest.LogCaptureFixture) -> None:
    assert said(caplog, facts(missed=1_000, trips=5, ticks=1)) == []


def test_a_silent_timekeeper_is_an_error(caplog: pytest.LogCaptureFixture) -> None:
    (line,) = said(caplog, facts(trips=1), facts(trips=2), facts(trips=2))

    assert line.startswith("ERROR the timekeeper was silent for 500 ms")


def test_many_late_ticks_are_worth_a_line(caplog: pytest.LogCaptureFixture) -> None:
    (line,) = said(caplog, facts(), facts(missed=50, ticks=950))

    assert line == "WARNING the loop skipped 50 late ticks of 1000: see docs/realtime.md"


def test_few_late_ticks_are_not(caplog: pytest.LogCaptureFixture) -> None:
    assert said(caplog, facts(), facts(missed=1, ticks=1_000), facts(missed=2, ticks=2_000, gaps=1)) == []


def test_only_what_is_new_counts(caplog: pytest.LogCaptureFixture) -> None:
    first = facts(missed=50, ticks=950)

    assert said(caplog, first, facts(missed=50, ticks=1_900), facts(missed=51, ticks=100_000)) == []
