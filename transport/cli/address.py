"""Address of a service, read from --url: host, port, scheme and path of its HTTP interface and its channels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

DEFAULT_URL: Final = "http://localhost:10001"
SCHEMES: Final = {"http": "http", "https": "https", "ws": "http", "wss": "https"}
PORTS: Final = {"http": 80, "https": 443}
VERSIONS: Final = ("/3.0", "/3.1")
BARE: Final = re.compile(r"[A-Za-z0-9.\-\[\]:]+")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a service listens."""

    scheme: str  # http or https
    host: str
    port: int
    path: str = ""  # before every path of the service, without a slash at its end

    @property
    def url(self) -> str:
        """The address as a URL."""
        return f"{self.scheme}://{self._place()}{self.path}"

    @property
    def channel(self) -> str:
        """The address of its WebSocket channel."""
        return f"{self.scheme.replace('http', 'ws')}://{self._place()}{self.path}/"

    def at_port(self, port: int) -> Address:
        """Return the address of another port of the same machine."""
        return Address(self.scheme, self.host, port)

    def _place(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_address(text: str) -> Address:
    """Read http://host:port, https, ws and wss, or host:port alone; ValueError with a sentence that says what to write."""
    given = text.strip()
    if given.isprintable() and "://" not in given and BARE.fullmatch(given):
        given = f"http://{given}"
    wanted = f'"{text[:80]}" is no address of a service: write http://HOST:PORT, such as {DEFAULT_URL}'
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:
        raise ValueError(wanted) from None
    scheme = SCHEMES.get(parts.scheme)
    if scheme is None or not parts.hostname or not given.isprintable() or " " in given or port == 0:
        raise ValueError(wanted)
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError(f"{wanted}, without a user, a query or a fragment; a token goes into --token")
    if not parts.path.isascii():
        raise ValueError(wanted)
    path = parts.path.rstrip("/")
    # The commands read the newest form of answers, whatever version the address of a client has.
    for version in VERSIONS:
        path = path.removesuffix(version)
    return Address(scheme, parts.hostname, port or PORTS[scheme], path.rstrip("/"))
