"""The Unix socket of local clients in the state directory: who may connect, how many, and the beat that lets the loop take their commands."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson
from tornado.ioloop import PeriodicCallback

from fastpath.local.seats import SEATS, LocalSeats
from transport.acceptor import Acceptor, Shortage
from transport.local.session import LocalSession
from transport.wire.commands import BY_CODE

if TYPE_CHECKING:
    from transport.bridge import Bridge

NAME: Final = "local.sock"
ENABLED: Final = "communication/local/enabled"
LONGEST_TURN: Final = "communication/streaming/longest_turn"
POLL_EVERY_MS: Final = 20
BACKLOG: Final = 64
CREDENTIALS: Final = struct.Struct("3i")
LONGEST_PATH: Final = 107

logger = logging.getLogger(__name__)


class LocalServer:
    """Listens for local clients and serves each on a task of the event loop; main thread only."""

    def __init__(self, bridge: Bridge, directory: Path) -> None:
        """`directory`: the state directory, which the service has locked."""
        self._bridge = bridge
        self.path = directory / NAME
        self._listening: socket.socket | None = None
        self._acceptor: Acceptor | None = None
        self._seats: LocalSeats | None = None
        self._sessions: dict[LocalSession, asyncio.Task[None]] = {}
        self._named: tuple[int, dict[int, int]] = (-1, {})
        self._timer = PeriodicCallback(self._poll, POLL_EVERY_MS)

    def open(self) -> None:
        """Listen, unless the settings say no; without what it needs it logs a line, and the service goes on without local clients."""
        # Of a service that was killed: this one has the lock of the directory.
        if self.path.is_socket():
            with suppress(OSError):
                self.path.unlink()
        if not self._bridge.settings.flag(ENABLED):
            return
        try:
            self._seats = LocalSeats(self._bridge.system.runtime, [BY_CODE[code].largest for code in sorted(BY_CODE)])
            self._listening = _listen(self.path)
        except OSError as error:
            logger.warning(
                "no local clients at %s (%s): set %s to false, or give another --state-dir", self.path, error, ENABLED
            )
            return
        self._acceptor = Acceptor(self._listening, self._take, Shortage(lambda: None))
        self._timer.start()

    def close(self) -> None:
        """Accept no more clients; the caller disconnects the open sessions."""
        if self._acceptor is not None:
            self._acceptor.stop()
            self._acceptor = None
        if self._listening is not None:
            self._listening.close()
            self._listening = None
            with suppress(OSError):
                self.path.unlink()

    def stop(self) -> None:
        """End every connection; call it once the loop has stopped."""
        self._timer.stop()
        for session, task in list(self._sessions.items()):
            session.hung_up()
            task.cancel()
        if self._seats is not None:
            self._seats.sweep()

    def _take(self, connection: socket.socket, _address: Any) -> None:
        """Serve one connection, or refuse it with a line."""
        process, user, _ = CREDENTIALS.unpack(
            connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
        )
        refusal = None
        if not may_connect(user, os.geteuid()):
            refusal = f"only user {os.geteuid()} and root may connect, and this is user {user}"
            logger.warning("local client refused: %s (process %d)", refusal, process)
        elif len(self._sessions) >= SEATS or self._seats is None:
            refusal = f"{SEATS} local clients are connected, which is the most: close one, or connect over WebSocket"
        if refusal is not None or self._seats is None:
            with suppress(OSError):
                connection.send(orjson.dumps({"error": refusal}) + b"\n", socket.MSG_DONTWAIT)
            connection.close()
            return
        connection.settimeout(0)
        session = LocalSession(self._bridge, self._seats, connection, process)
        task = asyncio.ensure_future(session.serve())
        self._sessions[session] = task
        task.add_done_callback(lambda _: self._sessions.pop(session, None))

    def _poll(self) -> None:
        seats = self._seats
        if seats is None:
            return
        seats.turned(self._bridge.settings.number(LONGEST_TURN))
        if self._named[0] != self._bridge.system.inventory.version:
            self._name(seats)
        for session in list(self._sessions):
            session.poll()
        seats.sweep()

    def _name(self, seats: LocalSeats) -> None:
        """Show clients which device has which slot."""
        version = self._bridge.system.inventory.version
        before, now = self._named[1], dict[int, int]()
        for record in self._bridge.inventory.devices:
            now[record.lease.slot] = record.lease.generation
            seats.name(record.lease.slot, record.lease.generation, record.device_id, str(record.kind))
        for slot in before.keys() - now.keys():
            seats.name(slot, 0, "", "")
        self._named = (version, now)


def may_connect(user: int, own: int) -> bool:
    """Return whether a user id may command the devices of a service that runs as `own`: the same user, or root."""
    return user in (own, 0)


def _listen(path: Path) -> socket.socket:
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise OSError(f"the path of the socket is longer than {LONGEST_PATH} bytes")
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        opened.settimeout(0)
        opened.bind(str(path))
        # The directory keeps everybody else out meanwhile, and each client is asked for its user anyway.
        path.chmod(0o600)
        opened.listen(BACKLOG)
    except OSError:
        opened.close()
        raise
    return opened
