"""System: one running service without its sockets, everything that outlives the actors and the supervision tree over it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pykka

from actors.control.actor import FastpathActor
from actors.control.collector import LoopCollector
from actors.control.cores import Cores
from actors.control.device_watch import DeviceWatch
from actors.control.messages import FASTPATH, LoopWatch
from actors.control.silence_watch import SilenceWatch
from actors.control.timekeeper import Timekeeper, Watch
from actors.device import messages as device
from actors.device.manager import MEMORY_SECTION, DeviceManager
from actors.device.memory import DeviceMemory
from actors.device.messages import DeviceRecord, SimulatedSpec
from actors.device.simulated_identity import identities, parse
from actors.device.stop_latch import StopLatch
from actors.device.stop_switch import STOP_SECTION, StopSwitch
from actors.device.trips import TripTable, append_to
from actors.event.hub import EventHub
from actors.event.hub_state import HubState
from actors.event.messages import HUB
from actors.kit.actor import Context
from actors.kit.clock import Clock
from actors.kit.published import Published
from actors.kit.supervisor import Supervisor
from actors.pairing import heartbeat
from actors.pairing.manager import PairingManager
from actors.pairing.messages import PAIRING
from actors.pairing.pairing_table import PAIRINGS_SECTION, PairingTable
from actors.port import stored_blocks as port_memory
from actors.port.collector import PortCollector
from actors.port.detection import Detection
from actors.port.link_interface import Links, NoLinks
from actors.port.link_watch import LinkWatch
from actors.port.manager import SECTION as PORTS_SECTION
from actors.port.manager import PortManager
from actors.port.messages import DETECTION, PORTS
from actors.port.open_links import OpenLinks
from actors.session import defaults
from actors.session import messages as session
from actors.session.manager import DEFAULTS_SECTION, SECTION, SessionManager
from actors.session.open_sessions import OpenSessions
from actors.session.profile import SessionMemory
from actors.settings.messages import STORE, SettingsView
from actors.settings.store import SettingsStore
from fastpath.arena.runtime import Runtime
from fastpath.text.encoder import encode_json

if TYPE_CHECKING:
    from actors.settings.ledger import Ledger
    from actors.settings.state import SettingsState

FOLLOWERS: Final = (FASTPATH, PORTS, DETECTION, PAIRING, "device/*", "session/*")

ORPHAN_STOP_S: Final = 1.0

logger = logging.getLogger(__name__)

GiveUp = Callable[[str, Exception], None]
MakeBeat = Callable[[Runtime], Watch]
MakeLinks = Callable[[Runtime, Published[SettingsView]], Links]


class System:
    """Built from the loaded settings and ledger. `on_fatal(name, error)` is called when a base actor crashed too often.

    `links` creates the drivers of the machine's ports; without it no real device is detected. `beat` creates a watch of the
    timekeeper that tells a service manager that the service lives.
    """

    def __init__(
        self,
        settings: SettingsState,
        ledger: Ledger,
        on_fatal: GiveUp,
        *,
        cores: Cores | None = None,
        simulated: tuple[SimulatedSpec, ...] | None = None,
        realtime: bool = True,
        links: MakeLinks | None = None,
        beat: MakeBeat | None = None,
    ) -> None:
        self._state = settings
        self.settings = settings.view
        self.ledger = ledger
        self.cores = cores or Cores(None, frozenset())
        self.runtime = Runtime(
            realtime=realtime,
            max_sessions=self.settings.value.integer("communication/max_sessions"),
            stepping=self.settings.value.flag("simulation/stepped"),
        )
        self.context = Context.build(Clock(self.runtime.now_ns))
        self.metrics = self.context.metrics
        self.hub_state = HubState()
        self.inventory = Published(device.Inventory())
        self.trips = Published(TripTable())
        self.stops = StopSwitch(
            self.runtime, self.inventory, self._stop_of_the_start(ledger), self.context.directory.tell
        )
        self.device_memory = Published(DeviceMemory.from_json(ledger.section(MEMORY_SECTION)))
        self.ports = Published(port_memory.from_json(ledger.section(PORTS_SECTION)))
        self.pairing = Published(PairingTable.from_json(ledger.section(PAIRINGS_SECTION)))
        self.sessions = Published(session.SessionTable())
        self.loop_watch = Published(LoopWatch())
        self.open_sessions = OpenSessions(
            Published(SessionMemory.from_json(ledger.section(SECTION))),
            Published(defaults.from_json(ledger.section(DEFAULTS_SECTION))),
        )
        watch = DeviceWatch(self.context.directory, self.runtime, self.inventory, self.settings, append_to(self.trips))
        self.links = OpenLinks()
        self._drivers = NoLinks() if links is None else links(self.runtime, self.settings)
        silence = SilenceWatch(self.context.directory, self.runtime, self.inventory)
        links_watch = LinkWatch(self.context.directory, self.links)
        watches: list[Watch] = [watch, links_watch, *([] if beat is None else [beat(self.runtime)])]
        self.timekeeper = Timekeeper(self.context, self.runtime, *watches, every_period=silence)
        self._simulated = self._simulate() if simulated is None else simulated
        identities(self._simulated or ())
        self.metrics.registry.register(LoopCollector(self.runtime, self.inventory))
        self.metrics.registry.register(PortCollector(self.ports, self.links))
        self.metrics.state_write_failed.set_function(lambda: bool(ledger.trouble))
        self._supervisor = self._tree(on_fatal)

    def start(self) -> None:
        """Start the timekeeper, then each base actor in order, waiting for it; on an error stop everything."""
        self.timekeeper.start()
        try:
            self._supervisor.start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Zero force on every device first, then stop the actors in reverse order; a second call does nothing."""
        self.runtime.stop()
        self._supervisor.stop()
        self._stop_orphans()
        self.links.close_all()
        self.timekeeper.stop()

    @staticmethod
    def _stop_of_the_start(ledger: Ledger) -> StopLatch:
        """Return the stored stop latch; if the ledger was lost, stop everything until DELETE /stop."""
        if not ledger.lost:
            return StopLatch.from_json(ledger.section(STOP_SECTION))
        logger.error(
            "the ledger could not be read and may have held a stop: every device is stopped until DELETE /stop"
        )
        latch = StopLatch(everything=True)
        ledger.remember(STOP_SECTION, latch.as_json())
        return latch

    def _stop_orphans(self) -> None:
        """Stop the actors of devices and sessions whose manager was given up."""
        for name in self.context.directory.names():
            ref = self.context.directory.ref(name)
            if ref is not None and ref.is_alive():
                try:
                    ref.stop(timeout=ORPHAN_STOP_S)
                except pykka.Timeout:
                    logger.exception("%s did not stop and is left behind", name)

    def _simulate(self) -> tuple[SimulatedSpec, ...] | None:
        """Return the simulated devices of the setting; None if it is unset: the first scan decides."""
        if self.settings.value.value("devices/simulated") is None:
            return None
        return tuple(parse(word) for word in self.settings.value.texts("devices/simulated"))

    def _newest_heartbeat(self, record: DeviceRecord, now_ns: int) -> int | None:
        """Return when the newest heartbeat of a handle arrived (ns); None before the first."""
        if record.identity.simulated:
            return heartbeat.of_simulated(record, now_ns)
        return self.links.heartbeat(record.identity.port, record.identity.link_id)

    def _tree(self, on_fatal: GiveUp) -> Supervisor:
        context, runtime, settings, ledger = self.context, self.runtime, self.settings, self.ledger
        tree = Supervisor(context, on_fatal)

        def add(name: str, actor: type[pykka.Actor], *parts: Any) -> None:
            tree.add(name, partial(actor.start, *parts))

        add(STORE, SettingsStore, context, self._state, ledger, FOLLOWERS)
        add(HUB, EventHub, context, encode_json, self.hub_state)
        add(
            FASTPATH,
            FastpathActor,
            context,
            runtime,
            settings,
            self.cores,
            self.loop_watch,
            self.inventory,
            self.sessions,
        )
        add(PORTS, PortManager, context, self.ports, self.inventory, settings)
        add(
            device.MANAGER,
            DeviceManager,
            context,
            runtime,
            self.inventory,
            settings,
            self.stops,
            self.device_memory,
            self.ports,
            self._simulated,
        )
        add(PAIRING, PairingManager, context, self.inventory, settings, self.pairing, self._newest_heartbeat)
        add(
            session.MANAGER,
            SessionManager,
            context,
            runtime,
            self.open_sessions,
            self.sessions,
            self.inventory,
            ledger.session_ids,
            settings,
        )
        add(DETECTION, Detection, context, self._drivers, self.links, self.ports, self.inventory, settings)
        return tree
