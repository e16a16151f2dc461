"""Which families of devices this service drives, put together for one run; every driver is named here and nowhere else."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from actors.port.link_interface import Link, NobodyAnswers, Patience
from actors.values.hardware import Candidate, Transport
from transport.link.protocols.hapi.driver import HapiBoards
from transport.link.protocols.openlink.driver import open_board
from transport.link.scanner import PortScanner
from transport.link.serial_ports import SerialPorts
from transport.link.unsupported_ids import SERIAL_IDS, not_driven
from transport.link.usb_bus import candidate_of
from transport.link.usb_links import Falcons, SpaceMouses

if TYPE_CHECKING:
    from collections.abc import Iterable

    from actors.kit.published import Published
    from actors.settings.messages import SettingsView
    from fastpath.arena.runtime import Runtime
    from fastpath.port.port_thread import Failsafe
    from transport.link.usb_bus import UsbBus


def links(runtime: Runtime, settings: Published[SettingsView], failsafe: Failsafe | None = None) -> PortScanner:
    """The ports of this machine with every driver that there is; a port that two want is the first one's."""
    falcons = Falcons(runtime, settings)
    families = (
        HapiBoards(runtime, settings, failsafe),
        SerialBoards(runtime, SerialPorts(settings), failsafe),
        falcons,
        SpaceMouses(runtime),
        NotDriven(falcons.bus),
    )
    return PortScanner(settings, families)


class SerialBoards:
    """Boards on serial ports that say themselves what they are."""

    transport = Transport.SERIAL

    def __init__(self, runtime: Runtime, ports: SerialPorts, failsafe: Failsafe | None = None) -> None:
        self._runtime = runtime
        self._ports = ports
        self._failsafe = failsafe

    def candidates(self) -> Iterable[Candidate]:
        """What the enumeration lets through."""
        return self._ports.candidates()

    def open(self, candidate: Candidate, patience: Patience, stop: threading.Event) -> Link:
        """Who answers the open link protocol's question: NobodyAnswers, OSError."""
        return open_board(candidate, self._runtime, patience, stop, self._failsafe)


class NotDriven:
    """USB devices that are known and not driven; nobody opens them."""

    transport = Transport.USB

    def __init__(self, bus: UsbBus) -> None:
        self._bus = bus

    def candidates(self) -> Iterable[Candidate]:
        """Those that are no serial port: the list of those knows them too."""
        devices = (candidate_of(device) for device in self._bus.devices())
        return [one for one in devices if not_driven(one.vendor_id, one.product_id) and not _is_serial(one)]

    def open(self, candidate: Candidate, patience: Patience, stop: threading.Event) -> Link:
        """NobodyAnswers."""
        del patience, stop
        raise NobodyAnswers(f"{candidate.path} is not driven")


def _is_serial(candidate: Candidate) -> bool:
    return (candidate.vendor_id, candidate.product_id) in SERIAL_IDS
