"""A session, HTTP and shared memory under asyncio."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Generic, Self, TypeVar, cast

from hapticd_client import forks
from hapticd_client.core.address import Address
from hapticd_client.core.channel import Channel
from hapticd_client.core.device import DeviceCore
from hapticd_client.core.http import VERSION, Answer, Checked, Operation, Pause, Request, check_same, encode
from hapticd_client.core.session import Session
from hapticd_client.core.wire import Wire
from hapticd_client.core.words import Words
from hapticd_client.errors import HapticsError, NoService, ServiceLost, ServiceSilent, SessionClosed
from hapticd_client.transports.blocking import half_way
from hapticd_client.transports.local import LocalSeat

D = TypeVar("D", bound=DeviceCore)
T = TypeVar("T")
READ_BYTES: Final = 65536
GOODBYE_S: Final = 0.5


class StreamChannel(asyncio.Protocol):
    """One WebSocket connection as a protocol of asyncio: bytes are read as they come, so that nothing is polled."""

    def __init__(self, address: Address, query: Mapping[str, str], token: str | None, timeout: float) -> None:
        """Made by `opened`."""
        self._shown = str(address)
        self._timeout = timeout
        self._channel = Channel(address.websocket_with(query), self._shown, token)
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._error: HapticsError | None = None
        self._busy = False
        self._ended = False

    @classmethod
    async def opened(cls, address: Address, query: Mapping[str, str], token: str | None, timeout: float) -> Self:
        """Connect and shake hands within `timeout` s. NoService, Refused."""
        channel = cls(address, query, token, timeout)
        try:
            async with asyncio.timeout(timeout):
                await _connected(address, lambda: channel)
                channel._write(channel._channel.hello())
                while not channel._channel.opened:
                    await channel._more()
        except TimeoutError:
            channel.drop()
            raise NoService(
                f"What listens at {address} did not answer within {timeout:g} s: is this hapticd?"
            ) from None
        except ServiceLost:
            channel.drop()
            raise NoService(f"What listens at {address} closed the connection: is this hapticd?") from None
        except BaseException:
            channel.drop()
            raise
        forks.watch(channel)
        return channel

    # ------------------------------------------------------------ called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Take bytes; answer pings."""
        self._feed(data)
        if self._channel.may_answer:
            answer = self._channel.outgoing()
            if answer:
                self._write(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the end."""
        del exc
        self._ended = True
        self._feed(b"")

    def _feed(self, data: bytes) -> None:
        try:
            self._channel.take(data)
        except HapticsError as error:
            self._error = self._error or error
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # ------------------------------------------------------------ for links and events

    @property
    def instance(self) -> str | None:
        """Id of the running service."""
        return self._channel.instance

    @property
    def usable(self) -> bool:
        """Whether messages may go either way, and no exchange was interrupted half-way."""
        return self._transport is not None and not self._ended and self._channel.is_open and not self._busy

    def send(self, payload: bytes) -> None:
        """Send one message. ServiceLost."""
        self._check()
        self._write(self._channel.encode(payload))

    async def receive(self, within: float | None = None) -> bytes:
        """Return the next message, which must come within the time-out. ServiceLost, ServiceSilent, ProtocolBroken."""
        messages = self._channel.messages
        if not messages:
            self._check()
            self._busy = True
            try:
                async with asyncio.timeout(self._timeout if within is None else within):
                    while not messages:
                        await self._more()
            except TimeoutError:
                self.drop()
                raise ServiceSilent(
                    f"The service at {self._shown} has not answered within {self._timeout:g} s; the connection is closed, forces are "
                    "zero: see its log"
                ) from None
            finally:
                # A cancelled call loses nothing: the frame is owed, and taken by the next turn.
                self._busy = False
        message = messages.popleft()
        if not self._channel.is_open and not messages:
            ended = self._channel.ended()
            if type(ended) is not ServiceLost:
                raise ended
        return message

    async def next(self) -> bytes:
        """Return the next message, however long it takes; a cancelled call loses none. ServiceLost."""
        while not self._channel.messages:
            self._check()
            await self._more()
        return self._channel.messages.popleft()

    def waiting(self) -> bytes | None:
        """Return the next message that has come already. ServiceLost."""
        if self._channel.messages:
            return self._channel.messages.popleft()
        self._check()
        return None

    async def close(self) -> None:
        """Say goodbye and wait at most half a second for the service to do the same."""
        if self.usable:
            self._write(self._channel.goodbye())
            with suppress(TimeoutError, HapticsError):
                async with asyncio.timeout(GOODBYE_S):
                    while not self._ended:
                        await self._more()
        self.drop()

    def drop(self) -> None:
        """Close the socket without a word."""
        transport, self._transport = self._transport, None
        if transport is not None:
            with suppress(RuntimeError):  # its loop may be closed
                transport.abort()

    def abandon(self) -> None:
        """Close the copy of a child process."""
        transport, self._transport = self._transport, None
        connection = None if transport is None else transport.get_extra_info("socket")
        if connection is not None:
            with suppress(OSError):
                os.close(connection.fileno())

    async def _more(self) -> None:
        """Wait until something has come. Whatever ended the connection is raised."""
        if self._error is not None:
            raise self._error
        channel = self._channel
        if (
            self._ended
            or self._transport is None
            or (channel.opened and not channel.is_open and not channel.is_closing)
        ):
            raise channel.ended()
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
        if self._error is not None:
            raise self._error

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def _check(self) -> None:
        if self._busy:
            raise half_way()
        if self._error is not None:
            raise self._error
        if self._transport is None:
            raise SessionClosed("the connection is closed: connect again")
        if not self._channel.is_open or self._ended:
            raise self._channel.ended()


class StreamLink(Generic[D]):
    """What an asyncio service object drives: a session over one connection."""

    def __init__(self, session: Session[D], channel: StreamChannel, words: Words) -> None:
        self._session = session
        self._channel = channel
        self._wire = Wire(session, words)

    async def begin(self) -> None:
        """Take the first frame. ServiceLost, WrongWords."""
        self._wire.take(await self._channel.receive())

    async def turn(self) -> None:
        """Ask for the newest states and take every frame that is owed. ServiceLost."""
        wire, channel = self._wire, self._channel
        channel.send(wire.probe())
        while wire.awaited:
            wire.take(await channel.receive())

    async def act(self) -> None:
        """Send what was assigned; what was not assigned again is released. ServiceLost, DeviceGone."""
        message = self._wire.act()
        if message is not None:
            self._channel.send(message)

    def release(self) -> None:
        """Release everything; where another task is within an exchange the end of the connection does. ServiceLost."""
        message = self._wire.release()
        if not self._channel.usable:
            self._channel.drop()
            raise half_way()
        if message is not None:
            self._channel.send(message)

    async def close(self) -> None:
        """Release everything and close the connection."""
        try:
            with suppress(HapticsError):
                self.release()
            await self._channel.close()
        finally:
            self._channel.drop()

    def drop(self) -> None:
        """Close the socket without a word."""
        self._channel.drop()


class AsyncLocalLink(Generic[D]):
    """A seat of shared memory for an asyncio service object; connecting blocks for the few milliseconds that the service takes."""

    def __init__(
        self,
        session: Session[D],
        state_directory: Path,
        http: AsyncHttp,
        timeout: float,
        check_instance: Callable[[str | None], None],
    ) -> None:
        """Connect. NoService, Refused, NotSupported, WrongInstance."""
        self._seat = LocalSeat(session, state_directory, timeout, check_instance)
        self._http = http

    async def turn(self) -> None:
        """Copy the newest states. ServiceLost."""
        self._seat.turn()

    async def act(self) -> None:
        """Write records, and send configuration over HTTP. ServiceLost, DeviceGone, InvalidCommand, Refused."""
        self._seat.act()
        while self._seat.operations:
            await self._http.run(self._seat.operations.pop(0))

    def release(self) -> None:
        """Release everything."""
        self._seat.release()

    async def close(self) -> None:
        """Release everything and end the session."""
        self._seat.close()

    def drop(self) -> None:
        """Close the socket without a word."""
        self._seat.drop()


class AsyncHttp:
    """HTTP of one service."""

    def __init__(self, address: Address, token: str | None, timeout: float) -> None:
        """`timeout`: s for each request with its answer."""
        self._address, self._token, self._timeout = address, token, timeout
        self._instance: str | None = None

    def be_of(self, instance: str | None) -> None:
        """Ask the service with this instance id alone, which is checked once, before the next operation."""
        self._instance = instance

    async def run(self, operation: Operation[T]) -> T:
        """Run an operation to its end. NoService, Refused, InvalidCommand, WrongInstance."""
        if self._instance is not None:
            check_same(self._instance, await self._exchange(VERSION), self._address)
            self._instance = None
        checked = Checked(operation, self._address)
        try:
            step = checked.first()
            while True:
                try:
                    answer = await self._do(step)
                except HapticsError as error:
                    step = checked.failed(error)
                else:
                    step = checked.after(answer)
        except StopIteration as done:
            result: T = done.value
            return result

    async def _do(self, step: Request | Pause) -> Any:
        return await asyncio.sleep(step.seconds) if isinstance(step, Pause) else await self._exchange(step)

    async def _exchange(self, request: Request) -> Any:
        answer = Answer(self._address)
        writer: asyncio.StreamWriter | None = None
        try:
            async with asyncio.timeout(self._timeout):
                reader, writer = await _streams(self._address)
                writer.write(encode(request, self._address, self._token))
                while not answer.take(await reader.read(READ_BYTES)):
                    pass
        except TimeoutError:
            raise NoService(
                f"The service at {self._address.place} did not answer {request.method} {request.path} within {self._timeout:g} s: see its log."
            ) from None
        except OSError as error:
            raise _nobody(self._address, error) from None
        finally:
            if writer is not None:
                writer.transport.abort()
        return answer.data()


def _tls(address: Address) -> ssl.SSLContext | None:
    return ssl.create_default_context() if address.tls else None


async def _connected(address: Address, make: Callable[[], StreamChannel]) -> None:
    try:
        await asyncio.get_running_loop().create_connection(make, address.host, address.port, ssl=_tls(address))
    except TimeoutError:
        raise
    except (OSError, UnicodeError) as error:
        raise _nobody(address, error) from None


async def _streams(address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection(address.host, address.port, ssl=_tls(address))


def _nobody(address: Address, error: Exception) -> NoService:
    said = getattr(error, "strerror", None) or error
    return NoService(
        f"No service answers at {address} ({said}): start one with hapticd run, or give its address with url= or HAPTICD_URL."
    )
