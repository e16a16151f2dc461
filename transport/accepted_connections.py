"""Queue accepted connections and serve one in each iteration: stop requests first, then complete requests, then silent connections.

Accepting a connection and peeking at its bytes costs a tenth of serving it. A flood is therefore taken off the listening
sockets at once, and the kernel never drops a connection that its client would retry only after a second.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

# Most connections in the queue; beyond it the longest silent one is closed.
MOST: Final = 256
# s between two silent connections that are served; others are served one in each iteration.
SILENT_S: Final = 0.004
# Connections without a byte that are peeked at again in one iteration (the newest), and silent ones when room is needed (the oldest).
LOOKED_AT: Final = 16
# bytes; a request counts as complete when its headers are, or when it is longer than this.
LOOK: Final = 2048
END_OF_HEADERS: Final = b"\r\n\r\n"

Take = Callable[[socket.socket, Any], None]


@dataclass(slots=True, eq=False)
class AcceptedConnection:
    """One accepted connection and the function that serves it."""

    connection: socket.socket
    address: Any
    take: Take

    def sent(self) -> bytes | None:
        """Return the bytes received so far without consuming them; None when the connection has ended."""
        try:
            return self.connection.recv(LOOK, socket.MSG_PEEK) or None
        except (BlockingIOError, InterruptedError):
            return b""
        except OSError:
            return None


class AcceptedConnections:
    """The queue of all listening sockets; used on the event loop's thread only."""

    def __init__(self) -> None:
        self._stops: deque[AcceptedConnection] = deque()
        self._asking: deque[AcceptedConnection] = deque()
        # Connections without a complete request, the oldest first; `_mute` are those that have sent no byte.
        self._silent: dict[AcceptedConnection, None] = {}
        self._mute: deque[AcceptedConnection] = deque(maxlen=LOOKED_AT)
        self._silent_s = 0.0
        self._due: asyncio.Handle | None = None

    def __len__(self) -> int:
        """Number of queued connections."""
        return len(self._stops) + len(self._asking) + len(self._silent)

    def add(self, connection: socket.socket, address: Any, take: Take) -> None:
        """Queue a connection: `take(connection, address)` is called in its turn. Close another one when the queue is full."""
        if len(self) >= MOST and not self.spare():
            (self._asking or self._stops).popleft().connection.close()
        connection.settimeout(0)
        queued = AcceptedConnection(connection, address, take)
        self._silent[queued] = None
        self._look(queued)
        if self._due is None or isinstance(self._due, asyncio.TimerHandle):
            self._serve_soon()

    def spare(self) -> bool:
        """Close the connection that has been silent longest; False when there is none."""
        for _ in range(min(LOOKED_AT, len(self._silent))):
            queued = next(iter(self._silent))
            self._look(queued)
            if queued in self._silent:
                del self._silent[queued]
                queued.connection.close()
                return True
        return False

    def close(self) -> None:
        """Close every queued connection."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        for queued in (*self._stops, *self._asking, *self._silent):
            queued.connection.close()
        for queue in (self._stops, self._asking, self._silent, self._mute):
            queue.clear()

    def _look(self, queued: AcceptedConnection) -> None:
        """Queue a silent connection whose request is complete now; close one that has ended."""
        sent = queued.sent()
        if sent is None:
            queued.connection.close()
        elif says_stop(sent):
            self._stops.append(queued)
        elif END_OF_HEADERS in sent or len(sent) >= LOOK:
            self._asking.append(queued)
        else:
            if not sent:
                self._mute.append(queued)
            return
        del self._silent[queued]

    def _serve_soon(self) -> None:
        if self._due is not None:
            self._due.cancel()
        self._due = asyncio.get_running_loop().call_soon(self._serve)

    def _serve(self) -> None:
        """Serve one connection; the next one follows in the next iteration of the event loop."""
        self._due = None
        loop = asyncio.get_running_loop()
        for _ in range(len(self._mute)):
            queued = self._mute.popleft()
            if queued in self._silent:
                self._look(queued)
        if queue := self._stops or self._asking:
            _serve(queue.popleft())
        elif self._silent and loop.time() >= self._silent_s:
            self._silent_s = loop.time() + SILENT_S
            queued = next(iter(self._silent))
            del self._silent[queued]
            _serve(queued)
        if self._stops or self._asking:
            self._serve_soon()
        elif self._silent and self._due is None:
            self._due = loop.call_at(self._silent_s, self._serve)


def _serve(queued: AcceptedConnection) -> None:
    queued.take(queued.connection, queued.address)


def says_stop(sent: bytes) -> bool:
    """Whether a request begins with a line that stops or releases: `POST …/stop`, `DELETE …/stop`."""
    if not sent.startswith((b"POST ", b"DELETE ")):
        return False
    line, ended, _ = sent.partition(b"\r\n")
    words = line.split(b" ")
    return bool(ended) and _path(words[1]).endswith(b"/stop")


def _path(target: bytes) -> bytes:
    return target.partition(b"?")[0].rstrip(b"/")
