"""All ports of this machine, for the Detection: families of devices, each with ports that it looks for and a way to open them.

A port belongs to the first family that lists it, and is opened by that one and nobody else.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from actors.port.link_interface import Link, NobodyAnswers, Patience, PortUnusable
from actors.port.port_filter import ENABLED
from actors.values.hardware import Candidate, PortFault, Transport
from transport.link.device_nodes import glance, node_of
from transport.link.serial_ports import named_apart
from transport.link.unsupported_ids import not_driven

if TYPE_CHECKING:
    from actors.kit.published import Published
    from actors.settings.messages import SettingsView

logger = logging.getLogger(__name__)

Open = Callable[[Candidate, Patience, threading.Event], Link]


class Family(Protocol):
    """Ports that one driver is at."""

    @property
    def transport(self) -> Transport:
        """What carries its bytes: one setting switches all of them off."""
        ...

    def candidates(self) -> Iterable[Candidate]:
        """Those that it wants to open, or recognises."""
        ...

    def open(self, candidate: Candidate, patience: Patience, stop: threading.Event) -> Link:
        """PortUnusable, NobodyAnswers; an OSError is turned into one of them."""
        ...


class PortScanner:
    """Links over some families; what is switched off is not even listed."""

    def __init__(self, settings: Published[SettingsView], families: Iterable[Family]) -> None:
        self._settings = settings
        self._families = tuple(families)
        self._owners: dict[str, Family] = {}
        # Paths at which a node was ever seen: one that is listed there without its node has gone while the others were listed.
        self._nodes: set[str] = set()
        # What each family listed last, and what it complained of since.
        self._listed: dict[Family, tuple[Candidate, ...]] = {}
        self._complaints: dict[Family, str] = {}

    def scan(self) -> tuple[Candidate, ...]:
        """The candidates of all families, each path once, and none whose node has gone already."""
        settings, by_path, owners = self._settings.value, dict[str, Candidate](), dict[str, Family]()
        for family in self._families:
            if not settings.flag(ENABLED[family.transport]):
                continue
            for candidate in self._candidates(family):
                real, node = os.path.realpath(candidate.path), node_of(candidate.path)
                if real in owners or (not node and candidate.path in self._nodes):
                    continue
                if node:
                    self._nodes.add(candidate.path)
                by_path[real], owners[real] = replace(candidate, node=node), family
        self._owners = owners
        return named_apart(by_path.values())

    def _candidates(self, family: Family) -> tuple[Candidate, ...]:
        """Its candidates; a family that cannot list them holds nobody else up, says so once, and has those that it had."""
        try:
            self._listed[family] = tuple(family.candidates())
            self._complaints.pop(family, None)
        except Exception as error:
            if self._complaints.get(family) != repr(error):
                self._complaints[family] = repr(error)
                logger.exception("the ports of %s cannot be listed", type(family).__name__)
        return self._listed.get(family, ())

    def glance(self) -> object:
        """The folders in which ports come and go, and the ports that settings name."""
        return glance(self._settings.value)

    def open(self, candidate: Candidate, patience: Patience, stop: threading.Event) -> Link:
        """What its family finds there; PortUnusable without touching it where it is known that nothing drives it.

        One that was plugged in anew is not the one that was listed: NobodyAnswers, until it is listed again.
        """
        why = None if candidate.assigned else not_driven(candidate.vendor_id, candidate.product_id)
        if why is not None:
            raise PortUnusable(PortFault.NO_DRIVER, why)
        owner = self._owners.get(os.path.realpath(candidate.path))
        if owner is None or candidate.node not in ("", node_of(candidate.path)):
            raise NobodyAnswers("it is not there any more")
        try:
            return owner.open(candidate, patience, stop)
        except OSError as error:
            raise why_not(error, candidate.path) from error


def why_not(error: OSError, path: str) -> PortUnusable | NobodyAnswers:
    """What the operating system's refusal to open a port means, in a sentence that says what to do."""
    if error.errno in (errno.EACCES, errno.EPERM):
        return PortUnusable(
            PortFault.PERMISSION,
            f"this user may not open {path}: add the user to the group dialout (sudo usermod -aG dialout $USER, then log in "
            "again), or install the udev rules of ops/udev",
        )
    if error.errno in (errno.EBUSY, errno.EAGAIN):
        return PortUnusable(PortFault.IN_USE, f"another program holds {path}: end it, lsof {path} names it")
    return NobodyAnswers(f"it cannot be opened ({error})")
