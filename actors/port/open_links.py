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
    """Every method may be called on any thread; a port's link is opened and closed by one actor at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._held: dict[str, OpenedLink] = {}
        self._stops: dict[str, threading.Event] = {}
        self._watched: dict[str, Candidate] = {}
        self._closed = False

    # ------------------------------------------------------------ opening

    def expect(self, port: str) -> threading.Event:
        """Register an opening that begins; return the event that interrupts it, already set after `close_all`."""
        stop = threading.Event()
        with self._lock:
            self._stops[port] = stop
            if self._closed:
                stop.set()
        return stop

    def interrupt(self, port: str) -> None:
        """Interrupt the opening of a port; `hold` then refuses its link."""
        with self._lock:
            stop = self._stops.pop(port, None)
        if stop is not None:
            stop.set()

    def hold(self, candidate: Candidate, link: Link, facts: LinkFacts, stop: threading.Event) -> OpenedLink | None:
        """Register an opened link. Return None if interrupted: the caller must close it."""
        with self._lock:
            if stop.is_set() or self._stops.get(candidate.port) is not stop:
                return None
            del self._stops[candidate.port]
            held = OpenedLink(candidate, link, next(self._numbers), facts)
            self._held = {**self._held, candidate.port: held}
            return held

    # ------------------------------------------------------------ closing

    def close(self, port: str) -> bool:
        """Close the link of a port: zero force, thread joined. False without a link."""
        with self._lock:
            held = self._held.get(port)
            self._held = {known: other for known, other in self._held.items() if known != port}
        if held is None:
            return False
        _close(held)
        return True

    def close_all(self) -> None:
        """Close all links, and interrupt every later opening."""
        with self._lock:
            self._closed = True
            stops, self._stops = self._stops, {}
            left, self._held = self._held, {}
        for stop in stops.values():
            stop.set()
        for held in left.values():
            _close(held)

    # ------------------------------------------------------------ looking

    def find(self, port: str) -> OpenedLink | None:
        """Return the open link of a port, None without one."""
        return self._held.get(port)

    def all(self) -> tuple[OpenedLink, ...]:
        """Return every open link."""
        return tuple(self._held.values())

    def show(self, held: OpenedLink, facts: LinkFacts) -> None:
        """Store the newest facts of a link, unless it was closed meanwhile."""
        with self._lock:
            now = self._held.get(held.candidate.port)
            if now is not None and now.opening == held.opening:
                self._held[held.candidate.port] = replace(now, facts=facts)

    def heartbeat(self, port: str, link_id: str) -> int | None:
        """Return when the newest heartbeat of a handle arrived (ns); None before the first."""
        held = self._held.get(port)
        about = None if held is None else held.facts.of.get(link_id)
        return None if about is None else about.heartbeat_ns

    def fault(self, port: str, link_id: str) -> str:
        """Return the sentence about a device's fault; "" without one, or while the port is not open."""
        held = self._held.get(port)
        about = None if held is None else held.facts.of.get(link_id)
        return "" if about is None else about.fault

    # ------------------------------------------------------------ watching

    def watch(self, candidate: Candidate) -> None:
        """Note that the port has a PortLink."""
        with self._lock:
            self._watched = {**self._watched, candidate.port: candidate}

    def forget(self, port: str) -> None:
        """Note that the port has no PortLink."""
        with self._lock:
            self._watched = {known: one for known, one in self._watched.items() if known != port}

    def watched(self) -> dict[str, Candidate]:
        """Return the ports that have a PortLink, by name."""
        return dict(self._watched)


def _close(held: OpenedLink) -> None:
    try:
        held.link.close()
    except Exception:
        logger.exception("the link of port %s failed while it closed", held.candidate.port)
