"""Tell systemd how the service is: sd_notify(3) over the datagram socket of NOTIFY_SOCKET."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, MutableMapping
from typing import Final, Protocol

LONGEST_STATUS: Final = 200  # characters
US_PER_S: Final = 1_000_000

logger = logging.getLogger(__name__)


class ServiceManager:
    """Messages to the service manager; without one they go nowhere. Any thread, never blocks."""

    def __init__(self, address: str | None = None, watchdog_s: float | None = None) -> None:
        """`address` is a path, or `@name` of the abstract namespace; `watchdog_s` the time within which it wants beats."""
        self.watchdog_s = watchdog_s
        self._socket: socket.socket | None = None
        if not address:
            return
        if not address.startswith(("/", "@")):
            logger.warning(
                "NOTIFY_SOCKET=%s is neither a path nor an abstract socket: systemd is told nothing", address
            )
            return
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | getattr(socket, "SOCK_CLOEXEC", 0))
        try:
            opened.settimeout(0)
            opened.connect("\0" + address[1:] if address.startswith("@") else address)
        except (OSError, ValueError) as error:
            opened.close()
            logger.warning("NOTIFY_SOCKET=%s cannot be used (%s): systemd is told nothing", address, error)
            return
        self._socket = opened

    @classmethod
    def of_environment(cls, environ: MutableMapping[str, str], process: int | None = None) -> ServiceManager:
        """Return the manager that the environment names; takes its variables out, because they are not for children."""
        address = environ.pop("NOTIFY_SOCKET", None)
        watchdog = _seconds(environ.pop("WATCHDOG_USEC", None))
        meant = environ.pop("WATCHDOG_PID", None)
        for_us = meant is None or meant == str(os.getpid() if process is None else process)
        return cls(address, watchdog if for_us else None)

    def ready(self, status: str) -> bool:
        """Say that the service is ready for clients; return whether the manager took it."""
        return self._send("READY=1", _status(status))

    def stopping(self) -> bool:
        """Say that the service ends; return whether the manager took it."""
        return self._send("STOPPING=1", _status("stopping: zero force"))

    def status(self, status: str) -> bool:
        """Show a line in `systemctl status`; return whether the manager took it."""
        return self._send(_status(status))

    def beat(self) -> bool:
        """Feed the watchdog; return whether the manager took it."""
        return self._send("WATCHDOG=1")

    def close(self) -> None:
        """Close the socket; later messages go nowhere."""
        opened, self._socket = self._socket, None
        if opened is not None:
            opened.close()

    def _send(self, *lines: str) -> bool:
        opened = self._socket
        if opened is None:
            return False
        try:
            opened.send("\n".join(lines).encode("utf-8", "replace"))
        except OSError:
            return False
        return True


class EventLoop(Protocol):
    """What `MainTurns` needs of asyncio's loop."""

    def call_later(self, delay: float, callback: Callable[[], object]) -> object:
        """Call `callback` on the loop after `delay` seconds."""
        ...


class MainTurns:
    """Counts that the event loop turns; `count` may be read from any thread."""

    def __init__(self, period_s: float) -> None:
        """`period_s` is the time between two counts."""
        self.count = 0
        self._period_s = period_s

    def begin(self, loop: EventLoop) -> None:
        """Count from now on, on this loop; main thread only."""
        self.count += 1
        loop.call_later(self._period_s, lambda: self.begin(loop))


def _status(text: str) -> str:
    """Return the line of a status: one line, because a line break would begin another variable."""
    return f"STATUS={' '.join(text.split())[:LONGEST_STATUS]}"


def _seconds(microseconds: str | None) -> float | None:
    """Return the seconds of WATCHDOG_USEC; None without a positive whole number."""
    if microseconds is None or not (microseconds.isascii() and microseconds.isdecimal()):
        return None
    return int(microseconds) / US_PER_S or None
