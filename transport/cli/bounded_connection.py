"""HTTP connection whose whole exchange, from the name of the machine to the last byte, ends at one deadline."""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import threading
import time
from contextlib import suppress
from typing import Any, Final

HTTPS_PORT: Final = 443


class Unreachable(Exception):
    """No connection came about; `reason` is the operating system's, or that of the certificate."""

    def __init__(self, reason: object) -> None:
        super().__init__(str(reason))
        self.reason = reason


class Deadline:
    """A moment that ends a request."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds until then, above 0; TimeoutError when it has passed."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class BoundedConnection(http.client.HTTPConnection):
    """A connection for one request; TimeoutError at the deadline, Unreachable when nobody takes it."""

    def __init__(self, host: str, port: int, deadline: Deadline, *, tls: bool) -> None:
        super().__init__(host, port)
        if tls:
            self.default_port = HTTPS_PORT
        self._deadline = deadline
        self._tls = tls
        self._stream: _Stream | None = None

    def connect(self) -> None:
        """Connect to the first address of the host that answers."""
        try:
            connected = self._connected()
            self._stream = _Stream(connected, self._deadline)
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls:
                connected.settimeout(self._deadline.left())
                self._stream = _Stream(self._secured(connected), self._deadline)
        except TimeoutError:
            raise
        except OSError as error:
            raise Unreachable(error.strerror or error) from None
        self.sock = self._stream

    def getresponse(self) -> http.client.HTTPResponse:
        """Return the answer with all of its headers; IncompleteRead when they end in the middle."""
        response = super().getresponse()
        if self.ended:
            # http.client takes what came for all of them.
            raise http.client.IncompleteRead(b"")
        return response

    @property
    def ended(self) -> bool:
        """Whether the peer has closed its side."""
        return self._stream is not None and self._stream.ended

    def finish(self) -> None:
        """Close the connection; `close` leaves it to the answer that is still read."""
        self.close()
        if self._stream is not None:
            self._stream.finish()

    def _connected(self) -> socket.socket:
        failure: OSError | None = None
        for family, kind, protocol, _, address in _addresses(self.host, self.port, self._deadline):
            tried: socket.socket | None = None
            try:
                tried = socket.socket(family, kind, protocol)
                tried.settimeout(self._deadline.left())
                tried.connect(address)
            except OSError as error:
                failure = error
                if tried is not None:
                    tried.close()
            else:
                return tried
        raise failure or OSError("the name has no address")

    def _secured(self, connected: socket.socket) -> socket.socket:
        return ssl.create_default_context().wrap_socket(connected, server_hostname=self.host)


class _Stream:
    """What `http.client` uses of a socket; each wait ends at the deadline."""

    def __init__(self, connected: socket.socket, deadline: Deadline) -> None:
        self.ended = False
        self._connected = connected
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        """Send everything."""
        self._connected.settimeout(self._deadline.left())
        self._connected.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """Return the reader of the answer."""
        return io.BufferedReader(_Reader(self))

    def receive_into(self, buffer: Any) -> int:
        """Read what has come; 0 at the end."""
        self._connected.settimeout(self._deadline.left())
        count = self._connected.recv_into(buffer)
        self.ended = count == 0
        return count

    def close(self) -> None:
        """Do nothing: `http.client` closes its socket before it has read an answer without a length."""

    def finish(self) -> None:
        """Close the socket."""
        with suppress(OSError):
            self._connected.close()


class _Reader(io.RawIOBase):
    """Raw reader of a stream, for a buffer."""

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what has come; 0 at the end."""
        return self._stream.receive_into(buffer)


def _addresses(host: str, port: int, deadline: Deadline) -> list[Any]:
    """Return the addresses of a host, as `socket.getaddrinfo` does; it has no time-out, so another thread asks."""
    found: list[Any] = []
    failures: list[Exception] = []

    def ask() -> None:
        try:
            found.extend(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            failures.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(deadline.left())
    if asking.is_alive():
        raise TimeoutError
    for failure in failures:
        raise failure
    return found
