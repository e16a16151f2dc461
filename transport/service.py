"""One run of the service on this process: threads and signals set up, system and listeners started, and everything stopped again.

The order of a stop: nobody new comes in, every session's forces are released, the loop writes its last zero, the actors
end in reverse, the process goes. A base actor that keeps failing ends the run the same way, with exit code 1.
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
from typing import TYPE_CHECKING, Final

from actors.control.cores import Cores, of_this_machine
from actors.settings.ledger import Ledger
from actors.settings.state import SettingsState
from actors.system import System
#from fastpath import port_io
from transport.bridge import Bridge
from transport.build_info import build_info
from transport.http.resources.health import readiness
from transport.listeners import Listeners
from transport.ws.session import SessionChannel

if TYPE_CHECKING:
    from actors.settings.sources import Override
    from actors.settings.state_directory import StateDirectory

THREAD_STACK_BYTES: Final = 1024 * 1024
SWITCH_INTERVAL_S: Final = 0.0005
READY_POLL_S: Final = 0.02
GOING_AWAY: Final = 1001

logger = logging.getLogger("hapticd")


class Service:
    """Built on a state directory that is held; `run` may be called once."""

    def __init__(self, directory: StateDirectory, overrides: Mapping[str, Override]) -> None:
        self._directory = directory
        self._overrides = overrides
        self._fatal: str | None = None

    def run(self) -> int:
        """Serve until SIGINT or SIGTERM; the exit code."""
        settings = SettingsState.load(self._directory, self._overrides)
        _start_log(settings.view.value.text("misc/log_level"))
        view = settings.view.value
        cores = of_this_machine(str(view.value("control/cpu")), view.integer("control/realtime_priority"))
        _prepare_process(cores)
        return asyncio.run(self._serve(settings, cores))

    async def _serve(self, settings: SettingsState, cores: Cores) -> int:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        system = System(settings, Ledger.load(self._directory), self._on_fatal(loop, stop), cores=cores)
        bridge = Bridge(system)
        listeners = Listeners(bridge, SessionChannel, build_info(), self._directory.token)
        try:
            addresses = listeners.open()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, stop.set)
            loop.add_signal_handler(signal.SIGHUP, _read_log_level, system)
            await loop.run_in_executor(None, system.start)
            bridge.listening = True
            gc.freeze()
            if await _until_ready(bridge, stop):
                _say_ready(system, addresses)
            await stop.wait()
        finally:
            self._stop(bridge, listeners)
            await listeners.drained()
        if self._fatal is not None:
            logger.critical(self._fatal)
            return 1
        return 0

    def _on_fatal(self, loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> Callable[[str, Exception], None]:
        def end(name: str, error: Exception) -> None:
            self._fatal = f"the service ended because {name} failed too often: {error!r}"
            loop.call_soon_threadsafe(stop.set)

        return end

    @staticmethod
    def _stop(bridge: Bridge, listeners: Listeners) -> None:
        bridge.stopping = True
        listeners.close()
        for channel in list(bridge.channels.values()):
            channel.disconnect(GOING_AWAY, "the service is stopping")
        bridge.system.stop()
        logger.info("stopped: zero force on every device")


def _start_log(level: str) -> None:
    logging.basicConfig(
        level=level.upper(), stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True
    )
    logging.getLogger("tornado.access").setLevel(logging.ERROR)


def _read_log_level(system: System) -> None:
    level = system.settings.value.text("misc/log_level")
    logging.getLogger().setLevel(level.upper())
    logger.info("log level is %s", level)


def _prepare_process(cores: Cores) -> None:
    """What must stand before the first thread: last words, stack size, and the processors that are not the loop's."""
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    #port_io.install()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    threading.stack_size(THREAD_STACK_BYTES)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    if cores.loop is not None:
        os.sched_setaffinity(0, cores.rest)


async def _until_ready(bridge: Bridge, stop: asyncio.Event) -> bool:
    """Wait until /readyz would say yes; False when the service is asked to stop before."""
    while not stop.is_set():
        if readiness(bridge) is None:
            return True
        await asyncio.sleep(READY_POLL_S)
    return False


def _say_ready(system: System, addresses: str) -> None:
    devices = ", ".join(
        f"{record.kind} {record.device_id} ({record.identity.connection}, {record.identity.port})"
        for record in system.inventory.value.devices
    )
    state = system.runtime.loop_state()
    if not state["fifo"]:
        logger.warning("no SCHED_FIFO: the loop runs without realtime priority, see docs/realtime.md")
    lines = (
        f"hapticd {build_info()['project_version']}, loop at {int(state['target_frequency'])} Hz",
        f"devices: {devices or 'none'}",
        "try: python docs/examples/wall.py, or curl http://localhost:10001/devices; Ctrl-C stops",
        f"ready {addresses}",
    )
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
