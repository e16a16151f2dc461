"""FastpathActor: starts and stops the loop thread and is the only writer of its parameters; the thread runs on if the actor crashes."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from actors.control import oscillation, rate
from actors.control.counters import read_counters
from actors.control.gap_counters import read_gaps
from actors.control.interruptions import (
    REPORT_PERIOD_NS,
    DeviceGaps,
    InterruptionWatch,
    Reading,
    interruption_event,
    log_line,
)
from actors.control.late_ticks import LateTicksWatch, sentence
from actors.control.messages import (
    FASTPATH,
    LoopFacts,
    LoopWatch,
    SetTickShare,
    StepLoop,
    StepsTaken,
)
from actors.control.processor_times import ProcessorTimes, read_processor_times
from actors.control.statistics import statistics_event
from actors.event.messages import HUB
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.errors import Conflict
from actors.kit.message import Message
from actors.settings.messages import SettingChanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.control.cores import Cores
    from actors.device.messages import Inventory
    from actors.kit.published import Published
    from actors.session.messages import SessionTable
    from actors.settings.messages import SettingsView
    from fastpath.arena.runtime import Runtime

FREQUENCY: Final = "control/frequency"
COMMAND_TIMEOUT: Final = "sessions/command_timeout"
SCENE_TIMEOUT: Final = "scene/timeout"
STATISTICS_PERIOD: Final = "control/statistics_period"
# Shorter than the time from a device's connection to its first force.
DEVICE_CHECK_S: Final = 0.05
# Where the clock of a loop that is stepped begins.
STEPPED_FROM_S: Final = 1.0
SLOW_MACHINE_HINT: Final = "lower control/frequency or give the loop a processor: hapticd doctor looks at the machine"
TICKS_LEFT_OUT_HINT: Final = "POST /simulation/loop with ratio 1 lets every tick run"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EmitStatistics(Message):
    """Told to the FastpathActor by its timer: a period of `control/statistics_period` has ended."""


@dataclass(frozen=True, slots=True)
class CheckDevices(Message):
    """Told to the FastpathActor by its timer while ticks are left out: check for a real device."""


class FastpathActor(ServiceActor):
    """Actor of the loop. The loop and `watch` outlive it: a restarted one leaves the running loop alone."""

    def __init__(
        self,
        context: Context,
        runtime: Runtime,
        settings: Published[SettingsView],
        cores: Cores,
        watch: Published[LoopWatch],
        inventory: Published[Inventory],
        sessions: Published[SessionTable],
        processor_times: Callable[[], ProcessorTimes | None] = read_processor_times,
    ) -> None:
        super().__init__(FASTPATH, context)
        self._runtime = runtime
        self._settings = settings
        self._cores = cores
        self._watch = watch
        self._inventory = inventory
        self._sessions = sessions
        self._processor_times = processor_times
        self._interruptions = InterruptionWatch()
        self._late_ticks = LateTicksWatch()
        self._last_facts: LoopFacts | None = None
        self._period_began: LoopFacts | None = None

    def started(self) -> None:
        """Publish the parameters and start the loop unless it runs."""
        self._publish()
        if not self._runtime.stepping:
            self._start()
        self.check_devices(CheckDevices())
        self._begin_period()

    @handles(SettingChanged)
    def on_setting(self, message: SettingChanged) -> None:
        """Publish a changed rate, time-out or filter; restart the statistics for a new period."""
        if message.key in (FREQUENCY, COMMAND_TIMEOUT, SCENE_TIMEOUT) or message.key.startswith(oscillation.SETTINGS):
            self._publish()
        elif message.key == STATISTICS_PERIOD:
            self._begin_period()

    @handles(SetTickShare)
    def set_tick_share(self, message: SetTickShare) -> float:
        """Set the share of ticks that run; below 1 Conflict with a real device or without any device."""
        if message.share < 1:
            self._require_simulated()
        self._set_share(message.share)
        return self._watch.value.share

    @handles(StepLoop)
    def step(self, message: StepLoop) -> StepsTaken:
        """Let the loop tick; Conflict for one that runs by itself."""
        if not self._runtime.stepping:
            raise Conflict("The loop runs by itself: start the service with --set simulation/stepped=true to step it.")
        self._runtime.step(message.ticks)
        self.context.timers.fire_due()
        return StepsTaken(int(self._runtime.loop_state()["ticks"]), self._runtime.now_ns() / 1e9 - STEPPED_FROM_S)

    @handles(CheckDevices)
    def check_devices(self, _message: CheckDevices) -> None:
        """Run every tick again once there is a real device; else check again after DEVICE_CHECK_S."""
        if self._watch.value.share == 1:
            return
        real = self._real_device()
        if real is None:
            self.context.timers.after(DEVICE_CHECK_S, self.name, CheckDevices(), key=(self.name, CheckDevices))
            return
        logger.warning("device %s is no simulation: every tick of the loop runs again", real, extra={"device": real})
        self._set_share(1.0)

    @handles(LoopFacts)
    def on_facts(self, facts: LoopFacts) -> None:
        """Log trips since the last facts, report lost force, and emit an event when the rate becomes too low."""
        before, self._last_facts = self._last_facts, facts
        reading = self._reading(facts)
        self._report_interruptions(reading)
        self._report_late_ticks(reading)
        if before is None:
            return
        self._log(before, facts)
        hz = None if self._runtime.stepping else rate.measured_hz(before, facts)
        if hz is not None:
            self._check_rate(hz, facts.counters.target_frequency)

    @handles(EmitStatistics)
    def emit_statistics(self, _message: EmitStatistics) -> None:
        """Emit `main-loop-statistics` for the ended period, unless the loop does not run."""
        before = self._period_began
        after = self._begin_period()
        if before is not None and (after.counters.running or self._runtime.stepping):
            devices, sessions = len(self._inventory.value.devices), len(self._sessions.value.sessions)
            self.tell(HUB, statistics_event(before, after, devices, sessions))

    def _log(self, before: LoopFacts, after: LoopFacts) -> None:
        then, now = before.counters, after.counters
        if now.dead_man_trips > then.dead_man_trips:
            logger.error(
                "the timekeeper was silent for 500 ms: forces that the loop makes by itself were ramped to zero"
            )

    def _reading(self, facts: LoopFacts) -> Reading:
        return Reading(
            facts.at_ns,
            facts.counters,
            {
                record.device_id: DeviceGaps(str(record.kind), read_gaps(self._runtime, record.lease))
                for record in self._inventory.value.devices
                if record.kind.has_motors
            },
            self._processor_times(),
            self._watch.value.share,
            self._cores.loop if facts.counters.pinned else None,
        )

    def _report_interruptions(self, reading: Reading) -> None:
        """Log one line and emit an event for each device that lost force; at once, then at most once a minute."""
        watch = self._watch.value
        lost = self._interruptions.step(reading, watch.reported_ns)
        if lost:
            self._watch.replace(replace(watch, interruptions=lost, reported_ns=reading.at_ns))
            fields = {"event": "device-force-interrupted", "device": lost[0].device_id}
            logger.warning("%s", log_line(lost), extra=fields)
            for one in lost:
                self.tell(HUB, interruption_event(one))
        elif lost is not None and watch.interruptions:
            self._watch.replace(replace(watch, interruptions=()))

    def _report_late_ticks(self, reading: Reading) -> None:
        """Log missed ticks at most once a minute, unless a line about lost force already tells the cause."""
        late, reported_ns = self._late_ticks.step(reading), self._watch.value.reported_ns
        if late is None or (reported_ns is not None and reading.at_ns - reported_ns < REPORT_PERIOD_NS):
            return
        logger.warning("%s", sentence(late))

    def _check_rate(self, hz: float, target_hz: float) -> None:
        watch = self._watch.value
        stage = rate.rate_stage(watch.stage, hz / target_hz)
        if stage == watch.stage:
            return
        self._watch.replace(replace(watch, stage=stage))
        hint = SLOW_MACHINE_HINT if watch.share == 1 else TICKS_LEFT_OUT_HINT
        event = rate.rate_event(watch.stage, stage, target_hz, hz, hint)
        if event is not None:
            self.tell(HUB, event)

    def _begin_period(self) -> LoopFacts:
        """Start a statistics period and its timer. Return the counters at its start."""
        self._period_began = LoopFacts(self.context.clock.now_ns(), read_counters(self._runtime))
        period_s = self._settings.value.number(STATISTICS_PERIOD)
        self.context.timers.after(period_s, self.name, EmitStatistics(), key=(self.name, EmitStatistics))
        return self._period_began

    def _require_simulated(self) -> None:
        """Raise Conflict unless there are devices and all are simulated."""
        real = self._real_device()
        if real is not None:
            raise Conflict(f"The loop drives {real}, which is no simulation: disconnect it before ticks are left out.")
        if not self._inventory.value.devices:
            raise Conflict("No device is simulated: start the service with --simulate arm before ticks are left out.")

    def _real_device(self) -> str | None:
        devices = self._inventory.value.devices
        return next((record.device_id for record in devices if not record.identity.simulated), None)

    def _set_share(self, share: float) -> None:
        self._watch.replace(replace(self._watch.value, share=share))
        self._publish()
        self.check_devices(CheckDevices())

    def _start(self) -> None:
        priority = self._settings.value.integer("control/realtime_priority")
        cpu = -1 if self._cores.loop is None else self._cores.loop
        self._runtime.start(priority=priority, cpu=cpu)

    def _publish(self) -> None:
        settings = self._settings.value
        self._runtime.publish_loop(
            frequency=settings.number(FREQUENCY),
            command_timeout=settings.number(COMMAND_TIMEOUT),
            scene_timeout=settings.number(SCENE_TIMEOUT),
            spin=settings.text("control/spin") == "auto" and not self._cores.shared,
            duty=self._watch.value.share,
            oscillation=oscillation.oscillation_params(settings),
        )
