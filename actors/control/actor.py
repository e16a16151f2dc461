"""FastpathActor: starts and stops the loop and is the only writer of its parameters. The loop itself outlives it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from actors.control.messages import FASTPATH, LoopFacts, LoopStatus, StartLoop, StopLoop
from actors.kit.actor import Context, ServiceActor, handles
from actors.settings.messages import SettingChanged

if TYPE_CHECKING:
    from actors.control.cores import Cores
    from actors.kit.published import Published
    from actors.settings.messages import SettingsView
    from fastpath.arena import Runtime

FREQUENCY = "control/frequency"
COMMAND_TIMEOUT = "sessions/command_timeout"
WORTH_A_LINE = 0.01

logger = logging.getLogger(__name__)


class FastpathActor(ServiceActor):
    """A restarted one finds the loop running and leaves it alone."""

    def __init__(self, context: Context, runtime: Runtime, settings: Published[SettingsView], cores: Cores) -> None:
        super().__init__(FASTPATH, context)
        self._runtime = runtime
        self._settings = settings
        self._cores = cores
        self._told: LoopFacts | None = None

    def started(self) -> None:
        """Publish the parameters and see that the loop runs."""
        self._publish()
        if not self._runtime.stepping:
            self._start()

    @handles(StartLoop)
    def start_loop(self, _message: StartLoop) -> LoopStatus:
        """Start the loop if it does not run."""
        self._start()
        return self._status()

    @handles(StopLoop)
    def stop_loop(self, _message: StopLoop) -> LoopStatus:
        """Stop the loop after zero force on every device."""
        self._runtime.stop()
        return self._status()

    @handles(SettingChanged)
    def on_setting(self, message: SettingChanged) -> None:
        """Rate and time-out act at the loop's next tick."""
        if message.key in (FREQUENCY, COMMAND_TIMEOUT):
            self._publish()

    @handles(LoopFacts)
    def on_facts(self, facts: LoopFacts) -> None:
        """Say in the log what the loop could only count."""
        before, self._told = self._told, facts
        if before is None:
            return
        if facts.dead_man_trips > before.dead_man_trips:
            logger.error(
                "the timekeeper was silent for 500 ms: forces that the loop makes by itself were ramped to zero"
            )
        missed, ticks = facts.missed - before.missed, facts.ticks - before.ticks
        if missed > WORTH_A_LINE * ticks:
            logger.warning("the loop skipped %d late ticks of %d: see docs/realtime.md", missed, missed + ticks)

    def _start(self) -> None:
        priority = self._settings.value.integer("control/realtime_priority")
        cpu = -1 if self._cores.loop is None else self._cores.loop
        self._runtime.start(priority=priority, cpu=cpu)

    def _publish(self) -> None:
        settings = self._settings.value
        self._runtime.publish_loop(
            frequency=settings.number(FREQUENCY),
            command_timeout=settings.number(COMMAND_TIMEOUT),
            spin=settings.text("control/spin") == "auto" and not self._cores.shared,
        )

    def _status(self) -> LoopStatus:
        state = self._runtime.loop_state()
        return LoopStatus(
            running=self._runtime.running,
            target_hz=float(state["target_frequency"]),
            measured_hz=float(state["frequency"]),
            realtime=bool(state["fifo"]),
            pinned=bool(state["pinned"]),
        )
