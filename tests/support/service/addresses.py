"""Parse the ready line of a started service into its addresses."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

# TEST_STREAMING=off runs the suite without streaming threads: the event loop answers every message.
STREAMING: dict[str, object] = (
    {"communication/streaming/native": False} if os.environ.get("TEST_STREAMING") == "off" else {}
)
# A machine that is busy with other things may take its time for the disk.
PATIENT: dict[str, float] = {"communication/stop_storage_wait": 2.0}
FREE_PORTS = {
    "communication/websocket/port": "0",
    "communication/websocket/legacy_port": "0",
    "communication/events/port": "0",
}
ADDRESS = re.compile(r"(?P<url>(?:http|ws)://\S+)(?: \((?P<note>[^)]*)\))?")


@dataclass(frozen=True, slots=True)
class Addresses:
    """Base URLs without a trailing slash."""

    http: str
    ws: str
    ws_v30: str
    events: str


def parse_ready(line: str) -> Addresses:
    """Addresses of a `ready http://… ws://… ws://… (v3.0) ws://… (events)` line; ValueError when one is missing."""
    found: dict[tuple[str, str], str] = {}
    for match in ADDRESS.finditer(line):
        scheme = match["url"].split(":", 1)[0]
        found.setdefault((scheme, match["note"] or ""), match["url"].rstrip("/"))
    try:
        return Addresses(found["http", ""], found["ws", ""], found["ws", "v3.0"], found["ws", "events"])
    except KeyError as missing:
        raise ValueError(f"no {missing} address in {line!r}") from None


class WithAddresses:
    """A service with addresses, once it has started; the base class of both ways to run one."""

    _addresses: Addresses | None = None

    @property
    def addresses(self) -> Addresses:
        """Where the last start listens."""
        assert self._addresses is not None, "the service has not been started"
        return self._addresses

    @property
    def ports(self) -> dict[str, object]:
        """Settings with which another start listens where this one does."""
        found = (self.ws, self.ws_v30, self.events)
        return {key: int(url.rpartition(":")[2]) for key, url in zip(FREE_PORTS, found, strict=True)}

    @property
    def http(self) -> str:
        """Base URL of the HTTP interface."""
        return self.addresses.http

    @property
    def http_v30(self) -> str:
        """Base URL of the HTTP interface on the port of the v3.0 sessions."""
        return self.addresses.ws_v30.replace("ws://", "http://")

    @property
    def ws(self) -> str:
        """URL of the session channel, frames v3.1."""
        return self.addresses.ws

    @property
    def ws_v30(self) -> str:
        """URL of the session channel, frames v3.0."""
        return self.addresses.ws_v30

    @property
    def events(self) -> str:
        """URL of the event channel."""
        return self.addresses.events
