"""Which families of devices this service drives, put together for one run; every driver is named here and nowhere else."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from actors.port.link import Link, NobodyAnswers, Patience
from actors.values.hardware import Candidate, Transport
from transport.link.enumerate import SerialPorts
from transport.link.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from actors.kit.published import Published
    from actors.settings.messages import SettingsView
    from fastpath.arena import Runtime


def links(runtime: Runtime, settings: Published[SettingsView]) -> Machine:
    """The ports of this machine with every driver that there is; a port that two want is the first one's."""
    del runtime
    return Machine(settings, (SerialBoards(SerialPorts(settings)),))


class SerialBoards:
    """Boards on serial ports that say themselves what they are."""

    transport: Final = Transport.SERIAL

    def __init__(self, ports: SerialPorts) -> None:
        self._ports = ports

    def candidates(self) -> Iterable[Candidate]:
        """What the enumeration lets through."""
        return self._ports.candidates()

    def open(self, candidate: Candidate, patience: Patience, stop: threading.Event) -> Link:
        """NobodyAnswers."""
        del patience, stop
        raise NobodyAnswers(f"nothing is known to speak on {candidate.path}")
