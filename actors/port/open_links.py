"""Registry of the open links and their newest facts. It outlives the port actors, so a crash loses no link.

Detection writes which ports have a PortLink, PortLinks open and close, the timekeeper's LinkWatch updates the facts, any thread reads.
"""

from __future__ import annotations

import itertools
import logging
import threading
from dataclasses import dataclass, replace

from actors.port.link_interface import Link, LinkFacts
from actors.values.hardware import Candidate

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OpenedLink:
    """One open link."""

    candidate: Candidate
    link: Link
    opening: int  # number of the opening, ascending over all ports
    facts: LinkFacts  # the newest


class OpenLinks:
    """Any thread may call every method; a port's link is opened and closed by one actor at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._by_port: dict[str, OpenedLink] = {}
        self._stops: dict[str, threading.Event] = {}
        self._watched: dict[str, Candidate] = {}
        self._closed = False

    # ------------------------------------------------------------ opening

    def begin_opening(self, port: str) -> threading.Event:
        """Register an opening that begins; return the event that interrupts it, already set after `close_all`."""
        stop = threading.Event()
        with self._lock:
            self._stops[port] = stop
            if self._closed:
                stop.set()
        return stop

    def interrupt(self, port: str) -> None:
        """Interrupt the opening of a port; `register` then refuses its link."""
        with self._lock:
            stop = self._stops.pop(port, None)
        if stop is not None:
            stop.set()

    def register(self, candidate: Candidate, link: Link, facts: LinkFacts, stop: threading.Event) -> OpenedLink | None:
        """Register an opened link. Return None if interrupted: the caller must close it."""
        with self._lock:
            if stop.is_set() or self._stops.get(candidate.port) is not stop:
                return None
            del self._stops[candidate.port]
            opened_link = OpenedLink(candidate, link, next(self._numbers), facts)
            self._by_port = {**self._by_port, candidate.port: opened_link}
            return opened_link

    # ------------------------------------------------------------ closing

    def close(self, port: str) -> bool:
        """Close the link of a port: zero force, thread joined. False without a link."""
        with self._lock:
            opened_link = self._by_port.get(port)
            self._by_port = {known: other for known, other in self._by_port.items() if known != port}
        if opened_link is None:
            return False
        _close(opened_link)
        return True

    def close_all(self) -> None:
        """Close all links, and interrupt every later opening."""
        with self._lock:
            self._closed = True
            stops, self._stops = self._stops, {}
            left, self._by_port = self._by_port, {}
        for stop in stops.values():
            stop.set()
        for opened_link in left.values():
            _close(opened_link)

    # ------------------------------------------------------------ looking

    def find(self, port: str) -> OpenedLink | None:
        """Return the open link of a port, None without one."""
        return self._by_port.get(port)

    def all(self) -> tuple[OpenedLink, ...]:
        """Return every open link."""
        return tuple(self._by_port.values())

    def update_facts(self, opened_link: OpenedLink, facts: LinkFacts) -> None:
        """Store the newest facts of a link, unless it was closed meanwhile."""
        with self._lock:
            now = self._by_port.get(opened_link.candidate.port)
            if now is not None and now.opening == opened_link.opening:
                self._by_port[opened_link.candidate.port] = replace(now, facts=facts)

    def heartbeat(self, port: str, link_id: str) -> int | None:
        """Return when the newest heartbeat of a handle arrived (ns); None before the first."""
        opened_link = self._by_port.get(port)
        about = None if opened_link is None else opened_link.facts.of.get(link_id)
        return None if about is None else about.heartbeat_ns

    def fault(self, port: str, link_id: str) -> str:
        """Return the sentence about a device's fault; "" without one, or while the port is not open."""
        opened_link = self._by_port.get(port)
        about = None if opened_link is None else opened_link.facts.of.get(link_id)
        return "" if about is None else about.fault

    # ------------------------------------------------------------ watching

    def watch(self, candidate: Candidate) -> None:
        """Note that the port has a PortLink."""
        with self._lock:
            self._watched = {**self._watched, candidate.port: candidate}

    def unwatch(self, port: str) -> None:
        """Note that the port has no PortLink."""
        with self._lock:
            self._watched = {known: one for known, one in self._watched.items() if known != port}

    def watched(self) -> dict[str, Candidate]:
        """Return the ports that have a PortLink, by name."""
        return dict(self._watched)


def _close(opened_link: OpenedLink) -> None:
    try:
        opened_link.link.close()
    except Exception:
        port = opened_link.candidate.port
        logger.exception("the link of port %s failed while it closed", port, extra={"port": port})
