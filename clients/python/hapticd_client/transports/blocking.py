"""A session over a blocking socket: no thread, no event loop, two system calls for each message."""

from __future__ import annotations

import select
import socket
import ssl
import struct
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, Generic, TypeVar

from hapticd_client import forks
from hapticd_client.core.address import Address
from hapticd_client.core.channel import Channel
from hapticd_client.core.device import DeviceCore
from hapticd_client.core.session import Session
from hapticd_client.core.wire import Wire
from hapticd_client.core.words import Words
from hapticd_client.errors import HapticsError, NoService, ServiceLost, ServiceSilent, SessionClosed

D = TypeVar("D", bound=DeviceCore)
READ_BYTES: Final = 65536
GOODBYE_S: Final = 0.5
TIMEVAL: Final = struct.Struct("@ll")


class BlockingChannel:
    """One WebSocket connection over a blocking socket."""

    def __init__(self, address: Address, query: Mapping[str, str], token: str | None, timeout: float) -> None:
        """Connect and shake hands within `timeout` s. NoService, Refused."""
        self._timeout = timeout
        self._shown = str(address)
        self._deadline = time.monotonic() + timeout
        self._channel = Channel(address.websocket_with(query), self._shown, token)
        self._busy = False
        self._socket = connected(address, timeout)
        forks.watch(self)
        try:
            self._bound(timeout)
            self._socket.sendall(self._channel.hello())
            while not self._channel.opened:
                self._read()
        except TimeoutError:
            self.drop()
            raise NoService(
                f"What listens at {self._shown} did not answer within {timeout:g} s: is this hapticd?"
            ) from None
        except ServiceLost:
            self.drop()
            raise NoService(f"What listens at {self._shown} closed the connection: is this hapticd?") from None
        except OSError as error:
            self.drop()
            raise NoService(f"The connection to {self._shown} failed ({error.strerror or error}): try again") from None
        except BaseException:
            self.drop()
            raise

    @property
    def instance(self) -> str | None:
        """Id of the running service, as its handshake says."""
        return self._channel.instance

    @property
    def usable(self) -> bool:
        """Whether messages may go either way: it is open, and no exchange was interrupted half-way."""
        return self._socket.fileno() >= 0 and self._channel.is_open and not self._busy

    def fileno(self) -> int:
        """Return the socket's descriptor, -1 once it is closed."""
        return self._socket.fileno()

    def send(self, payload: bytes) -> None:
        """Send one message. ServiceLost."""
        self._check()
        self._busy = True
        try:
            self._socket.sendall(self._channel.encode(payload))
        except (TimeoutError, BlockingIOError):
            raise self._silent() from None
        except OSError as error:
            raise self._lost(error) from None
        self._busy = False

    def receive(self) -> bytes:
        """Return the next message, which must come within the time-out. ServiceLost, ServiceSilent, ProtocolBroken."""
        messages = self._channel.messages
        if not messages:
            self._check()
            self._busy = True
            self._deadline = time.monotonic() + self._timeout
            try:
                while not messages:
                    self._read()
                    if not self._channel.is_open and not messages:
                        raise self._channel.ended()
            except TimeoutError:
                raise self._silent() from None
            except OSError as error:
                raise self._lost(error) from None
            self._busy = False
        message = messages.popleft()
        if not self._channel.is_open and not messages:
            # What came before the end may be garbage too.
            ended = self._channel.ended()
            if type(ended) is not ServiceLost:
                raise ended
        return message

    def poll(self, within: float) -> bool:
        """Return whether a message is there, waiting up to `within` s for one. ServiceLost."""
        if self._channel.messages:
            return True
        self._check()
        if (
            within <= 0
            and not isinstance(self._socket, ssl.SSLSocket)
            and not select.select([self._socket], [], [], 0)[0]
        ):
            return False
        self._bound(max(within, 1e-6))
        self._deadline = time.monotonic() + within + self._timeout
        try:
            while not self._channel.messages:
                self._read()
                if not self._channel.is_open and not self._channel.messages:
                    raise self._channel.ended()
        except TimeoutError:
            return False
        except OSError as error:
            raise self._lost(error) from None
        finally:
            if self._socket.fileno() >= 0:
                self._bound(self._timeout)
        return True

    def close(self) -> None:
        """Say goodbye, wait at most half a second for the service to do the same, and close the socket."""
        if self._socket.fileno() < 0:
            return
        try:
            if self.usable:
                self._bound(GOODBYE_S)
                self._deadline = time.monotonic() + GOODBYE_S
                with suppress(OSError, HapticsError):
                    self._socket.sendall(self._channel.goodbye())
                    while data := self._socket.recv(READ_BYTES):
                        self._channel.take(data)
                        if time.monotonic() > self._deadline:
                            break
        finally:
            self.drop()

    def drop(self) -> None:
        """Close the socket without a word: the service releases every force of the session."""
        with suppress(OSError):
            self._socket.close()

    def abandon(self) -> None:
        """Close the copy of a child process, which has its own descriptor: nothing is sent."""
        with suppress(OSError):
            socket.close(self._socket.detach())

    def _read(self) -> None:
        if time.monotonic() > self._deadline:
            raise TimeoutError
        try:
            data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            raise TimeoutError from None
        self._channel.take(data)
        if self._channel.may_answer:
            answer = self._channel.outgoing()
            if answer:
                with suppress(OSError):
                    self._socket.sendall(answer)

    def _check(self) -> None:
        if self._socket.fileno() < 0:
            raise SessionClosed("the connection is closed: connect again")
        if self._busy:
            raise half_way()
        if not self._channel.is_open:
            raise self._channel.ended()

    def _bound(self, seconds: float) -> None:
        """Bound each system call. SO_RCVTIMEO saves the poll before each one that a socket of Python with a time-out makes."""
        if isinstance(self._socket, ssl.SSLSocket) or sys.platform == "win32":
            self._socket.settimeout(seconds)
            return
        self._socket.settimeout(None)
        value = TIMEVAL.pack(int(seconds), int(seconds % 1 * 1e6))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, value)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, value)

    def _silent(self) -> ServiceSilent:
        self.drop()
        return ServiceSilent(
            f"The service at {self._shown} has not answered within {self._timeout:g} s; the connection is closed, forces are zero: see its log"
        )

    def _lost(self, error: OSError) -> ServiceLost:
        self.drop()
        return ServiceLost(
            f"The connection to {self._shown} has ended ({error.strerror or error}); forces are zero, connect again"
        )


def half_way() -> ServiceLost:
    """Return the error of a connection that ended in the middle of an exchange."""
    return ServiceLost("an exchange with the service was interrupted half-way; forces are zero, connect again")


def connected(address: Address, timeout: float) -> socket.socket:
    """Return a connected socket, secured for wss. NoService."""
    made: socket.socket | None = None
    try:
        made = socket.create_connection((address.host, address.port), timeout)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if address.tls:
            made = ssl.create_default_context().wrap_socket(made, server_hostname=address.host)
    except (OSError, UnicodeError) as error:
        if made is not None:
            made.close()
        said = getattr(error, "strerror", None) or error
        raise NoService(
            f"No service answers at {address} ({said}): start one with hapticd run, or give its address with url= or HAPTICD_URL."
        ) from None
    return made


class BlockingLink(Generic[D]):
    """What a service object of the blocking kind drives: a session over one socket."""

    def __init__(self, session: Session[D], channel: BlockingChannel, words: Words) -> None:
        """Take the first frame. ServiceLost, WrongWords."""
        self._session = session
        self._channel = channel
        self._wire = Wire(session, words)
        self._wire.take(channel.receive())

    @property
    def usable(self) -> bool:
        """Whether the connection is whole."""
        return self._channel.usable

    def turn(self) -> None:
        """Ask for the newest states and take every frame that is owed. ServiceLost."""
        wire, channel = self._wire, self._channel
        channel.send(wire.probe())
        while wire.awaited:
            wire.take(channel.receive())

    def act(self) -> None:
        """Send what was assigned; what was not assigned again is released. ServiceLost, DeviceGone."""
        message = self._wire.act()
        if message is not None:
            self._channel.send(message)

    def release(self) -> None:
        """Release everything; where an exchange was interrupted half-way the end of the connection does. ServiceLost."""
        message = self._wire.release()
        if not self._channel.usable:
            self._channel.drop()
            raise half_way()
        if message is not None:
            self._channel.send(message)

    def close(self) -> None:
        """Release everything and close the connection."""
        try:
            with suppress(HapticsError):
                self.release()
        finally:
            self._channel.close()

    def drop(self) -> None:
        """Close the socket without a word."""
        self._channel.drop()
