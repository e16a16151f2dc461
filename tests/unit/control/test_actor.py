"""FastpathActor as a plain object: how it starts and tunes the loop, and what it reports of the loop's counters."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from actors.control.actor import DEVICE_CHECK_S, CheckDevices, EmitStatistics, FastpathActor
from actors.control.cores import Cores
from actors.control.messages import (
    FASTPATH,
    LoopFacts,
    LoopWatch,
    RateStage,
    SetTickShare,
    StepLoop,
    StepsTaken,
)
from actors.device.messages import Inventory
from actors.device.params import device_params
from actors.event.messages import Emit
from actors.kit.actor import Context
from actors.kit.clock import NS_PER_S, ManualClock
from actors.kit.errors import Conflict
from actors.kit.message import Message
from actors.kit.published import Published
from actors.session.messages import SessionTable
from actors.settings.messages import SettingChanged
from fastpath.arena.runtime import Runtime, default_oscillation
from fastpath.layout.constants import KEPT_GAPS
from fastpath.layout.dtypes import DEVICE_GAPS, LOOP_STATE
from tests.support.actors.actor_rig import ActorRig
from tests.support.actors.doubles import FakeActor, settings_view, simulated_records
from tests.unit.control.counter_samples import counters

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
    def loop_state() -> Any:
        state = np.zeros((), dtype=LOOP_STATE)
        state["target_frequency"], state["frequency"], state["fifo"], state["running"] = 4000, 3999.5, 1, 1
        return state


class FastpathRig(ActorRig):
    def __init__(self, cores: Cores = SHARED, **raw: object) -> None:
        super().__init__(keys(raw))
        self.loop = Loop()
        self.watch = Published(LoopWatch())
        self.sessions = Published(SessionTable())
        self.actor = self.another(cores)
        self.fastpath = FakeActor(self.context, FASTPATH)

    def another(self, cores: Cores = SHARED, runtime: Runtime | None = None) -> FastpathActor:
        """An actor over what outlives it."""
        runtime = runtime or cast("Runtime", self.loop)
        return FastpathActor(self.context, runtime, self.settings, cores, self.watch, self.inventory, self.sessions)

    def has(self, *words: str, simulated: bool = True) -> None:
        """The devices that are here."""
        records = simulated_records(Runtime(stepping=True, realtime=False), *words)
        self.inventory.replace(
            Inventory(tuple(replace(one, identity=replace(one.identity, simulated=simulated)) for one in records))
        )

    def passes(self, seconds: float) -> list[Message]:
        """Time passes; what the actor is told by its timers meanwhile."""
        before = len(self.fastpath.told)
        self.wait(seconds)
        return self.fastpath.told[before:]

    def told(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The events so far."""
        return [(emit.kind, emit.data) for emit in self.emitted]

    def change(self, **raw: object) -> None:
        """A setting changes, and the actor is told."""
        self.settings.replace(settings_view(keys(raw)))
        for key, value in keys(raw).items():
            self.actor.on_setting(SettingChanged(key, cast("Any", value)))


def keys(raw: dict[str, object]) -> dict[str, object]:
    return {key.replace("__", "/"): value for key, value in raw.items()}


def made(runtime: Runtime, settings: Published[Any], cores: Cores = SHARED) -> FastpathActor:
    return FastpathActor(
        Context.build(ManualClock()),
        runtime,
        settings,
        cores,
        Published(LoopWatch()),
        Published(Inventory()),
        Published(SessionTable()),
    )


def facts(*, missed: int = 0, trips: int = 0, ticks: int = 0, gaps: int = 0, at_s: float = 0.0) -> LoopFacts:
    counted = counters(missed=missed, dead_man_trips=trips, ticks=ticks, gaps=gaps, running=1, target_frequency=4000)
    return LoopFacts(round(at_s * NS_PER_S), counted)


# ---------------------------------------------------------------- the loop


def test_actor_is_registered_under_its_name() -> None:
    assert FastpathRig().actor.name == FASTPATH


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
    rig = FastpathRig(cores, **raw)

    rig.actor.started()

    assert rig.loop.starts == [asked]
    assert rig.loop.running


def test_parameters_come_from_the_settings() -> None:
    rig = FastpathRig(control__frequency=8000, sessions__command_timeout=0.1)

    rig.actor.started()

    (published,) = rig.loop.published
    oscillation = cast("NDArray[np.void]", published.pop("oscillation"))
    assert oscillation.tolist() == pytest.approx(default_oscillation().tolist())
    assert published == {"frequency": 8000.0, "command_timeout": 0.1, "scene_timeout": 0.5, "spin": True, "duty": 1.0}


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
def test_loop_busy_waits_only_if_allowed_and_a_processor_is_spare(spin: str, cores: Cores, spins: bool) -> None:
    rig = FastpathRig(cores, control__spin=spin)

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
    rig = FastpathRig()
    rig.actor.started()

    rig.change(**raw)

    assert len(rig.loop.published) == 2
    assert rig.loop.published[-1][field] == value
    assert len(rig.loop.starts) == 1


def test_unrelated_setting_changes_nothing() -> None:
    rig = FastpathRig()
    rig.actor.started()

    rig.change(serialization__vocabulary="inverse", devices__auto_pairing=False)

    assert len(rig.loop.published) == 1


def test_stepped_loop_is_not_started() -> None:
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
def test_timeout_change_applies_to_held_commands(timeout: float, held: bool) -> None:
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
    actor = FastpathRig().actor
    with caplog.at_level(logging.INFO):
        for one in told:
            actor.on_facts(one)
    return [f"{record.levelname} {record.getMessage()}" for record in caplog.records]


def test_first_reading_is_the_baseline_of_the_counts(caplog: pytest.LogCaptureFixture) -> None:
    assert said(caplog, facts(missed=1_000, trips=5, ticks=1)) == []


def test_a_silent_timekeeper_is_an_error(caplog: pytest.LogCaptureFixture) -> None:
    (line,) = said(caplog, facts(trips=1), facts(trips=2), facts(trips=2))

    assert line.startswith("ERROR the timekeeper was silent for 500 ms")


def test_late_ticks_of_one_second_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert said(caplog, facts(), facts(missed=500, ticks=500, gaps=20)) == []


def test_late_ticks_are_one_line_a_minute_with_count_and_cause(caplog: pytest.LogCaptureFixture) -> None:
    told = [facts(missed=400 * second, ticks=3600 * second, at_s=second) for second in range(131)]

    lines = said(caplog, *told)

    cause = "likely cause: no realtime permission: hapticd doctor says how to grant it"
    assert lines == [
        f"WARNING 4000 ticks of the control loop (10.0%) were missed in 10 s; {cause}",
        f"WARNING 24000 ticks of the control loop (10.0%) were missed in 60 s; {cause}",
        f"WARNING 24000 ticks of the control loop (10.0%) were missed in 60 s; {cause}",
    ]


# ---------------------------------------------------------------- lost force


class GapRig(FastpathRig):
    """A loop with one arm, under force all the time; each second has a gap of so many seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.has("arm")
        (self.arm,) = self.inventory.value.devices
        self.gaps: Any = np.zeros((), dtype=DEVICE_GAPS)
        self.second = 0

    def passes_with(self, *gaps_s: float, missed: int = 0) -> None:
        for gap_s in gaps_s:
            gaps = self.gaps
            gaps["force_seconds"] += 1
            if gap_s:
                gaps["lengths"][int(gaps["gaps"]) % KEPT_GAPS] = gap_s
                gaps["buckets"][-1] += 1
                gaps["gaps"] += 1
                gaps["interrupted_seconds"] += max(0.0, gap_s - 0.02)
            cast("Any", self.loop).reader = self._reader
            self.second += 1
            self.actor.on_facts(facts(ticks=4000 * self.second, missed=missed * self.second, at_s=self.second))

    def _reader(self, _lease: object) -> SimpleNamespace:
        return SimpleNamespace(gaps=self.gaps.copy)

    def interrupted(self) -> list[Mapping[str, Any]]:
        return [data for kind, data in self.told() if kind == "device-force-interrupted"]


def test_lost_force_is_one_event_and_one_line_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    rig = GapRig()

    with caplog.at_level(logging.INFO):
        rig.passes_with(0, *[0.12] * 119)

    assert [(event["gaps"], event["window_s"]) for event in rig.interrupted()] == [(1, 1), (60, 60)]
    lines = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(lines) == 2
    assert all(rig.arm.device_id in line and "the longest 120 ms" in line for line in lines)
    assert rig.interrupted()[0]["cause"] == "no_realtime_permission"


def test_late_ticks_are_not_logged_beside_lost_force(caplog: pytest.LogCaptureFixture) -> None:
    rig = GapRig()

    with caplog.at_level(logging.INFO):
        rig.passes_with(0, *[0.12] * 30, missed=400)

    (line,) = [record.getMessage() for record in caplog.records]
    assert rig.arm.device_id in line


def test_nothing_is_logged_while_no_force_is_lost(caplog: pytest.LogCaptureFixture) -> None:
    rig = GapRig()

    with caplog.at_level(logging.INFO):
        rig.passes_with(*[0.0] * 70, *[0.015] * 70)

    assert (rig.interrupted(), caplog.records) == ([], [])


def test_restarted_actor_keeps_to_one_report_a_minute() -> None:
    rig = GapRig()
    rig.passes_with(0, 0.12)
    rig.actor = rig.another()

    rig.passes_with(*[0.12] * 58)
    assert len(rig.interrupted()) == 1
    rig.passes_with(0.12, 0.12)
    assert len(rig.interrupted()) == 2


def test_interruptions_are_shown_until_a_minute_without_loss() -> None:
    rig = GapRig()
    rig.passes_with(0, 0.12)
    (shown,) = rig.watch.value.interruptions
    assert shown.device_id == rig.arm.device_id

    rig.passes_with(*[0.0] * 59)
    assert list(rig.watch.value.interruptions) == [shown]
    rig.passes_with(0.0, 0.0)
    assert list(rig.watch.value.interruptions) == []


# ---------------------------------------------------------------- the rate


def seconds(rig: FastpathRig, *rates: int) -> list[str]:
    """Kinds of the events after some seconds of so many ticks each."""
    ticks = 0
    rig.actor.on_facts(facts())
    for second, hz in enumerate(rates, 1):
        ticks += hz
        rig.actor.on_facts(facts(ticks=ticks, at_s=second))
    return [kind for kind, _ in rig.told()]


@pytest.mark.parametrize(
    ("rates", "kinds"),
    [
        ((4000, 3999), []),
        ((3600,), []),
        ((3599, 3599, 3599), ["control-rate-low"]),
        ((3599, 3700, 3599), ["control-rate-low"]),
        ((3599, 3800, 3599), ["control-rate-low", "control-rate-low"]),
        ((2800, 1200, 4000, 4000), ["control-rate-low", "control-rate-critical"]),
        ((1000, 3000, 1000), ["control-rate-critical", "control-rate-critical"]),
        ((1999, 2100, 1999), ["control-rate-critical"]),
        ((0,), ["control-rate-critical"]),
    ],
)
def test_falling_rate_raises_one_event_per_stage(rates: tuple[int, ...], kinds: list[str]) -> None:
    assert seconds(FastpathRig(), *rates) == kinds


def test_rate_event_has_the_measured_rate_and_advice() -> None:
    rig = FastpathRig()
    seconds(rig, 3000)

    (emit,) = rig.hub.of(Emit)
    assert emit.data == {"target_hz": 4000.0, "measured_hz": 3000.0}
    assert "3000 Hz of 4000 Hz" in emit.message
    assert "hapticd doctor" in emit.message


def test_event_of_a_starved_loop_names_the_request_that_ends_it() -> None:
    rig = FastpathRig()
    rig.watch.replace(LoopWatch(share=0.5))
    seconds(rig, 2500)

    assert "/simulation/loop" in rig.hub.of(Emit)[0].message


def test_restarted_actor_repeats_no_event() -> None:
    rig = FastpathRig()
    assert seconds(rig, 3000) == ["control-rate-low"]

    rig.actor = rig.another()

    assert seconds(rig, 3000) == ["control-rate-low"]
    assert rig.watch.value.stage is RateStage.LOW


def test_recovered_rate_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "actors.control.actor"):
        seconds(FastpathRig(), 3000, 4000, 4000)

    assert caplog.records == []


# ---------------------------------------------------------------- the share of ticks


def test_duty_skips_ticks_until_it_is_one_again() -> None:
    rig = FastpathRig()
    rig.has("arm", "grip")
    rig.actor.started()

    assert rig.actor.set_tick_share(SetTickShare(0.3)) == 0.3
    assert rig.loop.published[-1]["duty"] == 0.3
    assert rig.actor.set_tick_share(SetTickShare(1.0)) == 1
    assert rig.loop.published[-1]["duty"] == 1


def test_duty_survives_a_setting_change_and_an_actor_restart() -> None:
    rig = FastpathRig()
    rig.has("arm")
    rig.actor.started()
    rig.actor.set_tick_share(SetTickShare(0.3))

    rig.change(control__frequency=1000)
    assert rig.loop.published[-1]["duty"] == 0.3
    rig.another().started()
    assert rig.loop.published[-1]["duty"] == 0.3


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_loop_with_a_real_device_refuses_a_duty(share: float) -> None:
    rig = FastpathRig()
    rig.has("arm", simulated=False)

    with pytest.raises(Conflict, match="is no simulation"):
        rig.actor.set_tick_share(SetTickShare(share))

    assert rig.watch.value.share == 1
    assert rig.actor.set_tick_share(SetTickShare(1.0)) == 1


def test_loop_without_devices_raises_no_starvation_event() -> None:
    with pytest.raises(Conflict, match="--simulate"):
        FastpathRig().actor.set_tick_share(SetTickShare(0.5))


def test_added_real_device_ends_the_duty(caplog: pytest.LogCaptureFixture) -> None:
    rig = FastpathRig()
    rig.has("arm")
    rig.actor.started()
    rig.actor.set_tick_share(SetTickShare(0.0))

    assert CheckDevices() in rig.passes(DEVICE_CHECK_S)
    rig.actor.check_devices(CheckDevices())
    assert rig.watch.value.share == 0

    rig.has("arm", "grip", simulated=False)
    assert CheckDevices() in rig.passes(DEVICE_CHECK_S)
    rig.actor.check_devices(CheckDevices())

    assert rig.watch.value.share == 1
    assert rig.loop.published[-1]["duty"] == 1
    assert "is no simulation" in caplog.text
    assert CheckDevices() not in rig.passes(DEVICE_CHECK_S)


def test_restarted_actor_checks_for_real_devices() -> None:
    rig = FastpathRig()
    rig.watch.replace(LoopWatch(share=0.0))
    rig.has("arm", simulated=False)

    rig.another().started()

    assert rig.watch.value.share == 1
    assert rig.loop.published[-1]["duty"] == 1


# ---------------------------------------------------------------- statistics


def test_statistics_are_sent_once_per_period() -> None:
    rig = FastpathRig(control__statistics_period=2)
    rig.has("arm", "grip")
    rig.actor.started()
    assert rig.passes(1.9) == []
    assert rig.passes(0.2) == [EmitStatistics()]

    rig.actor.emit_statistics(EmitStatistics())

    ((kind, data),) = rig.told()
    assert kind == "main-loop-statistics"
    assert (data["devices"], data["sessions"]) == (2, 0)
    assert rig.passes(2) == [EmitStatistics()]


def test_changed_period_applies_at_once() -> None:
    rig = FastpathRig(control__statistics_period=100)
    rig.actor.started()

    rig.change(control__statistics_period=1)

    assert rig.passes(1) == [EmitStatistics()]
    assert rig.passes(99.5) == []


def test_loop_that_runs_by_itself_is_not_stepped() -> None:
    with pytest.raises(Conflict, match="simulation/stepped=true"):
        FastpathRig().actor.step(StepLoop(1))


def test_loop_that_stands_still_ticks_as_often_as_it_is_told() -> None:
    rig = FastpathRig()
    actor = rig.another(runtime=Runtime(stepping=True, realtime=False))
    actor.started()

    taken = actor.step(StepLoop(40))
    assert taken == StepsTaken(40, taken.seconds)
    assert taken.seconds == pytest.approx(0.01, abs=0.001)
    assert actor.step(StepLoop(1)).ticks == 41
