"""Address of a service: host and port of its WebSocket and HTTP interface, or the state directory of one on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlencode, urlsplit

DEFAULT_URL: Final = "ws://localhost:10001"
LOCAL: Final = "local"
TLS: Final = {"http": False, "ws": False, "https": True, "wss": True}
PORTS: Final = {False: 80, True: 443}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a service listens."""

    host: str
    port: int
    tls: bool = False
    path: str = ""  # before every path of the service, without a slash at its end
    local: Path | None = None  # state directory of a service whose shared memory is used

    @property
    def place(self) -> str:
        """`host:port`, as the Host header has it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def websocket(self) -> str:
        """URL of the session channel, without a query."""
        return f"{'wss' if self.tls else 'ws'}://{self.place}{self.path}/"

    @property
    def http(self) -> str:
        """URL of the HTTP interface, without a slash at its end."""
        return f"{'https' if self.tls else 'http'}://{self.place}{self.path}"

    def websocket_with(self, query: Mapping[str, str]) -> str:
        """Return the URL of the session channel with a query."""
        return f"{self.websocket}?{urlencode(query)}" if query else self.websocket

    def at_port(self, port: int) -> Address:
        """Return the address of another port of the same machine."""
        return Address(self.host, port, self.tls)

    def __str__(self) -> str:
        """The address as one writes it."""
        return f"{LOCAL}:{self.local}" if self.local is not None else self.websocket.rstrip("/")


def parse_address(url: str | None, http: str | None = None, environment: Mapping[str, str] = os.environ) -> Address:
    """Read ws://, wss://, http:// or https://HOST:PORT, HOST:PORT, or local:STATE_DIR; ValueError says what to write.

    None: HAPTICD_URL, else this machine's service. `http`: where a local service answers HTTP.
    """
    given = (environment.get("HAPTICD_URL") or DEFAULT_URL) if url is None else url
    if given.startswith(f"{LOCAL}:"):
        directory = unquote(given.removeprefix(f"{LOCAL}:"))
        beside = _socket_address(http or environment.get("HAPTICD_HTTP") or DEFAULT_URL)
        state = Path(directory) if directory else default_state_directory(environment)
        return Address(beside.host, beside.port, beside.tls, beside.path, state)
    return _socket_address(given)


def default_state_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the state directory that the service uses unless it is told another."""
    home = Path(environment.get("HOME") or Path.home())
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "hapticd"
    return Path(environment.get("XDG_STATE_HOME") or home / ".local" / "state") / "hapticd"


def _socket_address(text: str) -> Address:
    given = text.strip()
    if "://" not in given:
        given = f"ws://{given}"
    wanted = (
        f'"{text[:80]}" is no address of a service: write ws://HOST:PORT, such as {DEFAULT_URL}, or local:STATE_DIR'
    )
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:
        raise ValueError(wanted) from None
    tls = TLS.get(parts.scheme)
    if tls is None or not parts.hostname or not given.isprintable() or " " in given or port == 0:
        raise ValueError(wanted)
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError(f"{wanted}, without a user, a query or a fragment; a token goes into token=")
    return Address(parts.hostname, port or PORTS[tls], tls, parts.path.rstrip("/"))
