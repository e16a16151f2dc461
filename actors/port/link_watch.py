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
NO_FACTS = LinkFacts()

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PortFacts(Message):
    """Told to a PortLink by the timekeeper: changed facts of its link's opening `opening`."""

    opening: int
    facts: LinkFacts


class LinkWatch:
    """Timekeeper's thread only; a link whose facts cannot be read counts as gone."""

    def __init__(self, directory: Directory, links: OpenLinks) -> None:
        self._directory = directory
        self._links = links
        self._reported: dict[int, LinkFacts] = {}

    def poll(self) -> None:
        """Report every link whose facts changed since the last call."""
        before, self._reported = self._reported, {}
        for opened_link in self._links.all():
            facts = read(opened_link.candidate.port, opened_link.link, opened_link.facts)
            self._links.update_facts(opened_link, facts)
            comparable = _comparable(facts)
            self._reported[opened_link.opening] = comparable
            if before.get(opened_link.opening) != comparable:
                self._directory.tell(link_name(opened_link.candidate.port), PortFacts(opened_link.opening, facts))


def read(port: str, link: Link, known: LinkFacts = NO_FACTS) -> LinkFacts:
    """Return the link's facts; if its driver fails, the `known` ones with `gone` set."""
    try:
        return link.facts()
    except Exception as error:
        if not known.gone:
            logger.exception("the link of port %s failed", port, extra={"port": port})
        return replace(known, gone=f"its driver failed ({error!r})")


def _comparable(facts: LinkFacts) -> LinkFacts:
    """Return the facts without counters and heartbeats, which are not reported."""
    of: dict[str, DeviceFacts] = {name: replace(about, heartbeat_ns=None) for name, about in facts.of.items()}
    return replace(facts, of=of, counters=NO_COUNTERS)
