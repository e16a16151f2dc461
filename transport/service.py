"""One run of the service: set up the process, start the system and the listeners, wait for a signal, stop everything.

Order of a stop: close the listeners, release every session's forces, let the loop write its last zero, close the sessions,
stop the actors in reverse order. A base actor that keeps failing, or a start that fails, ends the run the same way with
exit code 1.
"""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from actors.control.api import FASTPATH, Cores, ProgressBeat, StepLoop, of_this_machine
from actors.modules.module import LISTED
from actors.modules.registry import ModuleRegistry, load
from actors.settings.api import Ledger, SettingsState
from actors.system import MakeBeat, System
from fastpath.port import zero_packets
from transport.bridge import Bridge
from transport.build_info import build_info
from transport.event_loop import EventLoop
from transport.failsafe_events import follow
from transport.http.resources.health import readiness
from transport.http.support import Support
from transport.line_writer import never_waiting
from transport.link.failsafe import FailsafeProcess
from transport.link.scanner import make_scanner
from transport.listeners import Listeners
from transport.local.server import LocalServer
from transport.log import Log
from transport.service_manager import MainTurns, ServiceManager
from transport.settings_catalog import SETTINGS_CATALOG
from transport.stacks import write_on_signal
from transport.wire.vocabulary import VOCABULARY_NAMES, words_of
from transport.ws.native import native_streams
from transport.ws.session import SessionChannel

if TYPE_CHECKING:
    from actors.settings.api import Override, StateDirectory
    from transport.signals import Signals

# Long-lived objects are frozen. The rest has few reference cycles; searching for them would cost each message 4 us.
GC_THRESHOLDS: Final = (50_000, 20, 20)
THREAD_STACK_BYTES: Final = 1024 * 1024
SWITCH_INTERVAL_S: Final = 0.0002
POLL_S: Final = 0.02
START_TIMEOUT_S: Final = 1.0
STEPS_OF_START: Final = 200
GOODBYE_S: Final = 0.5
GOING_AWAY: Final = 1001
STDERR: Final = 2

logger = logging.getLogger("hapticd")


class Service:
    """The service over a locked state directory; `run` may be called once."""

    def __init__(self, directory: StateDirectory, overrides: Mapping[str, Override], signals: Signals) -> None:
        self._directory = directory
        self._overrides = overrides
        self._signals = signals
        self._log = Log()
        self._manager = ServiceManager.of_environment(os.environ)
        self._fatal: str | None = None

    def run(self) -> int:
        """Serve until SIGINT or SIGTERM and return the exit code.

        HapticError when a port or the state directory cannot be used, or modules clash.
        """
        self._log.begin()
        try:
            return self._run()
        finally:
            self._log.end()

    def _run(self) -> int:
        try:
            modules = load()
            settings = SettingsState.load(self._directory, SETTINGS_CATALOG, self._overrides)
        except BaseException:
            self._log.write()
            raise
        view = settings.view.value
        cores = of_this_machine(str(view.value("control/cpu")), view.integer("control/realtime_priority"))
        _prepare_process(cores)
        self._log.use(view.text("misc/log_format"), view.text("misc/log_level"))
        for name in modules.unknown(settings.view.value):
            known = ", ".join(module.name for module in modules if module.setting == LISTED) or "none"
            logger.warning("%s: there is no module %.60r, which enables nothing; installed: %s", LISTED, name, known)
        failsafe = FailsafeProcess()
        try:
            with asyncio.Runner(loop_factory=EventLoop) as runner:
                return runner.run(self._serve(settings, cores, modules, failsafe))
        finally:
            failsafe.close()
            self._manager.close()
            self._signals.forget()

    async def _serve(
        self, settings: SettingsState, cores: Cores, modules: ModuleRegistry, failsafe: FailsafeProcess
    ) -> int:
        loop, signals = asyncio.get_running_loop(), self._signals
        on_fatal = self._on_fatal(loop, signals.stop)
        # Where time stands still, no motor of a real device is opened.
        stepped = settings.view.value.flag("simulation/stepped")
        make_links = None if stepped else partial(make_scanner, failsafe=failsafe)
        ledger, beat = Ledger.load(self._directory), self._beat(loop)
        system = System(settings, ledger, on_fatal, cores=cores, links=make_links, beat=beat)
        bridge = Bridge(system, modules)
        bridge.streams = native_streams(system)
        bridge.failsafe = failsafe
        follow(failsafe, system)
        self._log.hide((self._directory.token(),))
        system.metrics.log_lines_dropped.elsewhere = lambda: self._log.dropped
        built = build_info()
        system.metrics.build_info.labels(built["project_version"], built["interface"], built["git_describe"]).set(1)
        processors = len(cores.rest) + (cores.loop is not None)
        support = Support(self._log.kept, self._log.redaction, self._directory.path, processors)
        listeners = Listeners(bridge, SessionChannel, built, self._directory.token, support=support)
        addresses = listeners.open()
        local = LocalServer(bridge, self._directory.path)
        local.open()
        signals.wake(loop, lambda: _read_log_level(system))
        start = _Start(system)
        try:
            if await self._until_ready(bridge, start, signals.stop):
                gc.freeze()
                gc.set_threshold(*GC_THRESHOLDS)
                _say_ready(system, addresses, self._log)
                self._manager.ready(f"ready {addresses}")
                await signals.stop.wait()
        finally:
            self._manager.stopping()
            await _end(bridge, listeners, local, start)
            signals.ignore(loop)
        if self._fatal is not None:
            logger.critical(self._fatal)
            return 1
        return 0

    def _beat(self, loop: asyncio.AbstractEventLoop) -> MakeBeat | None:
        """Return what makes the beat for the service manager's watchdog; None without a watchdog."""
        manager, period_s = self._manager, self._manager.watchdog_s
        if period_s is None:
            return None
        turns = MainTurns(period_s / 8)
        turns.begin(loop)
        return lambda runtime: ProgressBeat(period_s, manager.beat, runtime, lambda: turns.count, runtime.now_ns)

    def _on_fatal(self, loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> Callable[[str, Exception], None]:
        def end(name: str, error: Exception) -> None:
            self._fatal = f"the service ended because {name} failed too often: {error!r}"
            loop.call_soon_threadsafe(stop.set)

        return end

    async def _until_ready(self, bridge: Bridge, start: _Start, stop: asyncio.Event) -> bool:
        """Start the system and wait until it is ready (`/readyz`); False when the service must end before that."""
        if stop.is_set():
            return False
        start.begin()
        while not stop.is_set():
            if start.error is not None:
                self._fatal = f"the service could not start: {start.error}"
                return False
            bridge.listening = start.done
            ready = readiness(bridge) is None
            if start.done and bridge.system.runtime.stepping:
                # Time stands still once every device is ready, and was shown so by a tick.
                await bridge.ask(FASTPATH, StepLoop(STEPS_OF_START))
            if ready:
                return True
            await asyncio.sleep(POLL_S)
        return False


class _Start:
    """Run `System.start` on its own thread: the event loop keeps answering, and a start that hangs does not delay the exit."""

    def __init__(self, system: System) -> None:
        self._thread = threading.Thread(target=self._run, args=(system,), name="hd-start", daemon=True)
        self.error: Exception | None = None

    def begin(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def under_way(self) -> bool:
        """Whether `System.start` has not returned yet."""
        return self._thread.is_alive()

    @property
    def done(self) -> bool:
        """Whether the system has started."""
        return self._thread.ident is not None and not self.under_way and self.error is None

    def _run(self, system: System) -> None:
        try:
            system.start()
        except Exception as error:
            logger.debug("the start failed", exc_info=True)
            self.error = error


async def _end(bridge: Bridge, listeners: Listeners, local: LocalServer, start: _Start) -> None:
    """Stop everything, zero force first and last; a part that hangs is left behind with a log line."""
    bridge.stopping = True
    listeners.close()
    local.close()
    for channel in list(bridge.channels.values()):
        channel.disconnect(GOING_AWAY, "the service is stopping")
    bridge.system.runtime.stop()
    local.stop()
    await _at_most(START_TIMEOUT_S, lambda: not start.under_way)
    await _at_most(GOODBYE_S, lambda: not bridge.channels)
    if start.under_way:
        logger.error("the start hangs and is left behind")
        bridge.system.runtime.stop()
    else:
        bridge.system.stop()
    await listeners.drained()
    logger.info("stopped: zero force on every device")


async def _at_most(seconds: float, over: Callable[[], bool]) -> None:
    """Wait until `over()` is true, at most `seconds`."""
    for _ in range(round(seconds / POLL_S)):
        if over():
            return
        await asyncio.sleep(POLL_S)


def _read_log_level(system: System) -> None:
    level = system.settings.value.text("misc/log_level")
    logging.getLogger().setLevel(level.upper())
    logger.info("log level is %s", level)


def _prepare_process(cores: Cores) -> None:
    """Set what must hold before the first thread: fatal-signal handlers, stack size, CPU affinity."""
    # Before faulthandler and after it: our handler writes zero packets first, and again when faulthandler re-raises the signal.
    zero_packets.install()
    stacks = never_waiting(STDERR)
    faulthandler.enable(stacks)
    zero_packets.install()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    threading.stack_size(THREAD_STACK_BYTES)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    if cores.loop is not None:
        os.sched_setaffinity(0, cores.rest)
    write_on_signal(stacks)


def _say_ready(system: System, addresses: str, log: Log) -> None:
    """Log warnings; print the dashboard's address, the devices, and last the line that begins with `ready`; the rest is for debug.

    In JSON, log these too.
    """
    if not system.settings.value.flag("communication/auth/required"):
        logger.error("communication/auth/required is off: every machine that reaches these ports may move the devices")
    state = system.runtime.loop_state()
    if not state["fifo"] and not system.runtime.stepping:
        # With simulated devices alone nobody has to do anything about it.
        real = any(not record.identity.simulated for record in system.inventory.value.devices)
        level = logging.WARNING if real else logging.INFO
        logger.log(level, "no SCHED_FIFO: the loop runs without realtime priority; hapticd doctor says how it gets it")
    devices = ", ".join(
        f"{record.kind} {record.device_id} ({record.identity.connection}, {record.identity.port})"
        for record in system.inventory.value.devices
    )
    words = system.settings.value.text("serialization/vocabulary")
    logger.debug("hapticd %s, loop at %d Hz", build_info()["project_version"], int(state["target_frequency"]))
    logger.debug("words (%s): %s", words, words_of(words))
    names = "|".join(VOCABULARY_NAMES)
    logger.debug("other words: --vocabulary %s, or ?vocabulary= in the URL of one connection", names)
    lines = (
        f"dashboard: {addresses.split(maxsplit=1)[0]}/dashboard/",
        f"devices: {devices or 'none: plug one in, or start with --simulate arm,grip'}",
        f"ready {addresses}",
    )
    if log.json:
        for line in lines:
            logger.info("%s", line, extra={"event": "ready" if line.startswith("ready ") else "start"})
        return
    log.say("\n".join(lines))
