"""LinkWatch: reads the facts of all open links on the timekeeper's thread, publishes them, and reports changes to PortLink."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from actors.kit.message import Message
from actors.port.link_interface import DeviceFacts, LinkCounters, LinkFacts
from actors.port.messages import link_name

if TYPE_CHECKING:
    from actors.kit.directory import Directory
    from actors.port.link_interface import Link
    from actors.port.open_links import OpenLinks

NO_COUNTERS = LinkCounters()
NOTHING_YET = LinkFacts()

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PortFacts(Message):
    """Told to a PortLink by the timekeeper: that opening of its link shows something new."""

    opening: int
    facts: LinkFacts


class LinkWatch:
    """Used on the timekeeper's thread; a link whose facts cannot be read has gone."""

    def __init__(self, directory: Directory, links: OpenLinks) -> None:
        self._directory = directory
        self._links = links
        self._told: dict[int, LinkFacts] = {}

    def poll(self) -> None:
        """Compare every link's facts with what was told before."""
        before, self._told = self._told, {}
        for held in self._links.all():
            facts = read(held.candidate.port, held.link, held.facts)
            self._links.show(held, facts)
            news = _news(facts)
            self._told[held.opening] = news
            if before.get(held.opening) != news:
                self._directory.tell(link_name(held.candidate.port), PortFacts(held.opening, facts))


def read(port: str, link: Link, known: LinkFacts = NOTHING_YET) -> LinkFacts:
    """What it shows now; behind what was `known` it is gone when its driver fails."""
    try:
        return link.facts()
    except Exception as error:
        if not known.gone:
            logger.exception("the link of port %s failed", port)
        return replace(known, gone=f"its driver failed ({error!r})")


def _news(facts: LinkFacts) -> LinkFacts:
    """Without what is read by looking: counters and heartbeats."""
    of: dict[str, DeviceFacts] = {name: replace(about, heartbeat_ns=None) for name, about in facts.of.items()}
    return replace(facts, of=of, counters=NO_COUNTERS)
