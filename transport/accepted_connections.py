"""Accepted connections that are not served yet: few at a time become streams, those first whose request is there, a stop before all.

To accept a connection and to look at what it has sent costs a tenth of serving it. So a flood is taken off the listening
sockets as fast as it comes, and the kernel never has to drop a connection, which its client would try again only after a second.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

# So many wait at most; past this, one whose request is not there is closed.
MOST: Final = 256
# One whose request is not there is served so long after the last such one, while others are served in each iteration.
SILENT_S: Final = 0.004
# So many that have sent nothing are looked at again in one iteration, the youngest; of the silent ones when room has to be made, the oldest.
LOOKED_AT: Final = 16
# A request is there when its headers are, or when it is longer than this.
LOOK: Final = 2048
END_OF_HEADERS: Final = b"\r\n\r\n"

Take = Callable[[socket.socket, Any], None]


@dataclass(slots=True, eq=False)
class AcceptedConnection:
    """One connection, and who serves it."""

    connection: socket.socket
    address: Any
    take: Take

    def sent(self) -> bytes | None:
        """What has come so far, left where it is; None when the connection has ended."""
        try:
            return self.connection.recv(LOOK, socket.MSG_PEEK) or None
        except (BlockingIOError, InterruptedError):
            return b""
        except OSError:
            return None


class AcceptedConnections:
    """Those of all listening sockets; event loop's thread only."""

    def __init__(self) -> None:
        self._stops: deque[AcceptedConnection] = deque()
        self._asking: deque[AcceptedConnection] = deque()
        # Those whose request is not there, the oldest first; and those of them that had sent nothing at all.
        self._silent: dict[AcceptedConnection, None] = {}
        self._mute: deque[AcceptedConnection] = deque(maxlen=LOOKED_AT)
        self._silent_s = 0.0
        self._due: asyncio.Handle | None = None

    def __len__(self) -> int:
        """How many there are."""
        return len(self._stops) + len(self._asking) + len(self._silent)

    def add(self, connection: socket.socket, address: Any, take: Take) -> None:
        """`take` gets `connection` and `address` when its turn has come; when there are too many, another one is closed."""
        if len(self) >= MOST and not self.spare():
            (self._asking or self._stops).popleft().connection.close()
        connection.settimeout(0)
        arrival = AcceptedConnection(connection, address, take)
        self._silent[arrival] = None
        self._look(arrival)
        if self._due is None or isinstance(self._due, asyncio.TimerHandle):
            self._serve_soon()

    def spare(self) -> bool:
        """Close the one that has been silent longest; False when there is none."""
        for _ in range(min(LOOKED_AT, len(self._silent))):
            arrival = next(iter(self._silent))
            self._look(arrival)
            if arrival in self._silent:
                del self._silent[arrival]
                arrival.connection.close()
                return True
        return False

    def close(self) -> None:
        """Close them all."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        for arrival in (*self._stops, *self._asking, *self._silent):
            arrival.connection.close()
        for queue in (self._stops, self._asking, self._silent, self._mute):
            queue.clear()

    def _look(self, arrival: AcceptedConnection) -> None:
        """Queue a silent one whose request has come, close one that has ended."""
        sent = arrival.sent()
        if sent is None:
            arrival.connection.close()
        elif says_stop(sent):
            self._stops.append(arrival)
        elif END_OF_HEADERS in sent or len(sent) >= LOOK:
            self._asking.append(arrival)
        else:
            if not sent:
                self._mute.append(arrival)
            return
        del self._silent[arrival]

    def _serve_soon(self) -> None:
        if self._due is not None:
            self._due.cancel()
        self._due = asyncio.get_running_loop().call_soon(self._serve)

    def _serve(self) -> None:
        """Serve one, and the next one in the next iteration of the event loop."""
        self._due = None
        loop = asyncio.get_running_loop()
        for _ in range(len(self._mute)):
            arrival = self._mute.popleft()
            if arrival in self._silent:
                self._look(arrival)
        if queue := self._stops or self._asking:
            _serve(queue.popleft())
        elif self._silent and loop.time() >= self._silent_s:
            self._silent_s = loop.time() + SILENT_S
            arrival = next(iter(self._silent))
            del self._silent[arrival]
            _serve(arrival)
        if self._stops or self._asking:
            self._serve_soon()
        elif self._silent and self._due is None:
            self._due = loop.call_at(self._silent_s, self._serve)


def _serve(arrival: AcceptedConnection) -> None:
    arrival.take(arrival.connection, arrival.address)


def says_stop(sent: bytes) -> bool:
    """Whether a request begins with a line that stops or releases: `POST …/stop`, `DELETE …/stop`."""
    if not sent.startswith((b"POST ", b"DELETE ")):
        return False
    line, ended, _ = sent.partition(b"\r\n")
    words = line.split(b" ")
    return bool(ended) and _path(words[1]).endswith(b"/stop")


def _path(target: bytes) -> bytes:
    return target.partition(b"?")[0].rstrip(b"/")
