"""Listeners: opens the TCP ports of the settings, serves each with its application, and formats the ready line."""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from tornado.httpserver import HTTPServer
from tornado.websocket import WebSocketHandler

from actors.kit.errors import HapticError
from transport.http.admission import Admission
from transport.http.app import HTTP_ROUTES, PortApplication, session_upgrade
from transport.http.body_cache import BodyCache
from transport.http.call import Edge
from transport.http.server import PortServer
from transport.http.support import Support
from transport.limits import EdgeLimits
from transport.security import AccessPolicy
from transport.ws.events import EventChannels, event_routes
from transport.ws.hangup_poll import HangupPoll

if TYPE_CHECKING:
    from actors.settings.api import SettingsView
    from transport.bridge import Bridge

NEWEST_PORT: Final = "communication/websocket/port"
LEGACY_PORT: Final = "communication/websocket/legacy_port"
EVENTS_PORT: Final = "communication/events/port"
HTTP_PORT: Final = "communication/http/port"

PURPOSES: Final = MappingProxyType(
    {NEWEST_PORT: "session", LEGACY_PORT: "legacy", EVENTS_PORT: "events", HTTP_PORT: "http"}
)

# Pending connections that the kernel keeps while an iteration is slow; it drops more, and clients retry after a second.
BACKLOG: Final = 1024
TRIES: Final = 20
NO_IPV6: Final = frozenset({errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.EPROTONOSUPPORT})

logger = logging.getLogger(__name__)


class CannotListen(HapticError):
    """A port cannot be opened on an address."""


class PortInUse(CannotListen):
    """Another program listens on the port."""

    def __init__(self, port: int, setting: str) -> None:
        """`setting` is the key that chooses the port."""
        super().__init__(
            f"Port {port} is in use: stop the program that holds it, or choose another with --set {setting}=PORT (0 picks a free one)."
        )
        self.port = port
        self.setting = setting


@dataclass(frozen=True, slots=True)
class Listener:
    """One open port: the setting that chooses it, and one socket for each address."""

    setting: str
    port: int
    sockets: tuple[socket.socket, ...]


class Listeners:
    """Every listening port of the settings, opened all together or not at all; main thread only."""

    def __init__(
        self,
        bridge: Bridge,
        channel: type[WebSocketHandler],
        build: Mapping[str, str],
        token: Callable[[], str],
        limits: EdgeLimits | None = None,
        support: Support | None = None,
    ) -> None:
        """`channel` is the session channel, made with `bridge` and `version`; `token` gives the bearer token.

        `support` None: no log is kept and the doctor is not asked.
        """
        self._bridge = bridge
        self.admission = Admission(limits or EdgeLimits())
        self._events = EventChannels(bridge, self.admission.limits.event_channels)
        body_cache = BodyCache(bridge.system.context.clock.now_ns)
        self._edge = Edge(
            bridge, AccessPolicy(bridge.system.settings, token()), build, body_cache, support=support or Support()
        )
        self._channel = channel
        self._servers: list[HTTPServer] = []
        self._hangup_poll = HangupPoll(bridge)

    def open(self) -> str:
        """Open all ports and return their addresses as the ready line shows them; PortInUse, CannotListen."""
        settings = self._bridge.settings
        hosts = addresses(settings)
        opened: dict[str, Listener] = {}
        try:
            for setting, port in wanted_ports(settings):
                opened[setting] = _listen(setting, port, hosts)
        except HapticError:
            for listener in opened.values():
                for each in listener.sockets:
                    each.close()
            raise
        self._edge.access.listens_on(listener.port for listener in opened.values())
        self._edge.ports.update((PURPOSES[setting], listener.port) for setting, listener in opened.items())
        for listener in opened.values():
            self._serve(listener)
        self._hangup_poll.start()
        if self._bridge.streams is not None:
            self._bridge.streams.start()
        words = ready_words(opened, hosts[0])
        self._edge.support.url = words.split(maxsplit=1)[0]
        return words

    def close(self) -> None:
        """Stop accepting and close the event channels; the caller closes the session channels."""
        self._hangup_poll.stop()
        for server in self._servers:
            server.stop()
        self.admission.close()
        self._events.close()

    async def drained(self) -> None:
        """Close the plain HTTP connections that are still open; call it after `close`."""
        for server in self._servers:
            await server.close_all_connections()
        if self._bridge.streams is not None:
            self._bridge.streams.stop()

    def _serve(self, listener: Listener) -> None:
        server = PortServer(self._application(listener.setting), admission=self.admission)
        server.add_sockets(listener.sockets)
        self._servers.append(server)

    def _application(self, setting: str) -> PortApplication:
        if setting == EVENTS_PORT:
            return PortApplication(self._edge, event_routes(self._events), self._events.upgrade, self.admission)
        if setting == HTTP_PORT:
            return PortApplication(self._edge, HTTP_ROUTES, None, self.admission)
        version = "3.0" if setting == LEGACY_PORT else "3.1"
        upgrade = session_upgrade(self._channel, {"bridge": self._bridge}, version)
        return PortApplication(self._edge, HTTP_ROUTES, upgrade, self.admission)


def wanted_ports(settings: SettingsView) -> Iterator[tuple[str, int]]:
    """Yield each setting that opens a port, with the port; CannotListen when two settings name the same port."""
    seen: dict[int, str] = {}
    for setting in (NEWEST_PORT, LEGACY_PORT, EVENTS_PORT):
        port = settings.integer(setting)
        if port and port in seen:
            raise CannotListen(f"{seen[port]} and {setting} are both {port}: give each its own port.")
        seen[port] = setting
        yield setting, port
    extra = settings.value(HTTP_PORT)
    if not isinstance(extra, int):
        return
    if extra and seen.get(extra) == EVENTS_PORT:
        raise CannotListen(f"{EVENTS_PORT} and {HTTP_PORT} are both {extra}: give each its own port.")
    if not extra or extra not in seen:
        yield HTTP_PORT, extra


def addresses(settings: SettingsView) -> tuple[str, ...]:
    """Return the addresses to listen on, IPv4 first; optional ones (IPv6) come last."""
    if settings.flag("communication/bind_all_interfaces"):
        return ("0.0.0.0", "::")  # noqa: S104 - asked for by the setting
    address = settings.text("communication/bind_address")
    return ("127.0.0.1", "::1") if address == "localhost" else (address,)


def ready_words(opened: Mapping[str, Listener], host: str) -> str:
    """Return `http://… ws://… ws://… (v3.0) ws://… (events)`, each with an address that a client on this machine can use."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    place = f"[{shown}]" if ":" in shown else shown
    at = {setting: f"{place}:{listener.port}" for setting, listener in opened.items()}
    words = [f"http://{at[NEWEST_PORT]}", f"ws://{at[NEWEST_PORT]}", f"ws://{at[LEGACY_PORT]} (v3.0)"]
    words.append(f"ws://{at[EVENTS_PORT]} (events)")
    if HTTP_PORT in at:
        words.append(f"http://{at[HTTP_PORT]}")
    return " ".join(words)


def _listen(setting: str, port: int, hosts: Iterable[str]) -> Listener:
    """Listen with one port number on every address; a free one is chosen again when another address has it in use."""
    for _ in range(TRIES if port == 0 else 1):
        with suppress(PortInUse):
            sockets = _bind_all(setting, port, hosts)
            return Listener(setting, int(sockets[0].getsockname()[1]), tuple(sockets))
    raise PortInUse(port, setting)


def _bind_all(setting: str, port: int, hosts: Iterable[str]) -> list[socket.socket]:
    """Bind every address or none; all but the first may be of a family that the machine lacks."""
    sockets: list[socket.socket] = []
    for host in hosts:
        at = int(sockets[0].getsockname()[1]) if sockets else port
        try:
            sockets.append(_bind(host, at))
        except OSError as error:
            if sockets and error.errno in NO_IPV6:
                if setting == NEWEST_PORT:
                    logger.info("no IPv6 on this machine (%s): listening on IPv4 alone.", error.strerror)
                continue
            for each in sockets:
                each.close()
            raise _explained(error, setting, host, at) from None
    return sockets


def _bind(host: str, port: int) -> socket.socket:
    """Return a listening socket for one address family; OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        opened.settimeout(0)
        opened.bind((host, port))
        opened.listen(BACKLOG)
    except OSError:
        opened.close()
        raise
    return opened


def _explained(error: OSError, setting: str, host: str, port: int) -> CannotListen:
    reason = error.strerror or str(error)
    if error.errno == errno.EADDRINUSE:
        return PortInUse(port, setting)
    if error.errno == errno.EACCES:
        return CannotListen(
            f"Port {port} cannot be opened ({reason}): choose one above 1023 with --set {setting}=PORT."
        )
    return CannotListen(f"Nothing can listen on {host} ({reason}): change communication/bind_address.")
