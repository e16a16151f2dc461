"""WebSocket channels of a service over Tornado's client: connect, send, receive; errors as sentences."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import urlencode

from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.iostream import StreamClosedError
from tornado.simple_httpclient import HTTPTimeoutError
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, WebSocketError, websocket_connect

from transport.cli.address import Address
from transport.cli.commands_for_routes import with_commands
from transport.cli.exit_codes import NoService, Refused, ServiceFailed
from transport.cli.text import clean

MOST_BYTES: Final = 4 * 1024 * 1024
SERVER_FAULT: Final = 500
# What Tornado answers by itself: not a status of the service.
NO_STATUS: Final = 599


class Channel:
    """An open channel."""

    def __init__(self, connection: WebSocketClientConnection, url: str, timeout_s: float) -> None:
        self._connection = connection
        self._url = url
        self._timeout_s = timeout_s

    async def receive(self, within_s: float | None = None) -> Any:
        """Return the next message's JSON object; TimeoutError after `within_s`, NoService when the channel ends."""
        try:
            async with asyncio.timeout(within_s):
                text = await self._connection.read_message()
        except (OSError, WebSocketError) as error:
            if isinstance(error, TimeoutError):
                raise
            text = None
        if text is None:
            raise NoService(f"The service at {self._url} has closed the channel{self._reason()}: see its log.")
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise _stranger(self._url)
        return message

    async def exchange(self, message: object) -> Any:
        """Send one message and return the frame that answers it; NoService."""
        try:
            await self._connection.write_message(json.dumps(message))
            return await self.receive(self._timeout_s)
        except (WebSocketClosedError, StreamClosedError):
            raise NoService(
                f"The service at {self._url} has closed the channel{self._reason()}: see its log."
            ) from None
        except TimeoutError:
            raise NoService(
                f"The service at {self._url} sent no frame within {self._timeout_s:g} s: see its log."
            ) from None

    def _reason(self) -> str:
        reason = self._connection.close_reason
        return f" ({clean(reason)})" if reason else ""


@asynccontextmanager
async def opened(address: Address, token: str | None, timeout_s: float, **query: str) -> AsyncGenerator[Channel]:
    """Open a channel for the block; NoService, Refused, ServiceFailed."""
    url = address.channel
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    target = f"{url}?{urlencode(query)}" if query else url
    request = HTTPRequest(target, headers=headers, connect_timeout=timeout_s, request_timeout=timeout_s)
    try:
        connection = await websocket_connect(request, max_message_size=MOST_BYTES)
    except HTTPClientError as error:
        if isinstance(error, HTTPTimeoutError):
            raise NoService(
                f"The service at {url} did not answer within {timeout_s:g} s: "
                "see its log, or give it longer with --timeout."
            ) from None
        if error.code == NO_STATUS:
            raise _stranger(url) from None
        sentence = _told(error)
        raise (ServiceFailed if error.code >= SERVER_FAULT else Refused)(sentence) from None
    except (ConnectionResetError, StreamClosedError, WebSocketError):
        raise _stranger(url) from None
    except (OSError, ValueError) as error:
        raise _nobody(url, error) from None
    try:
        yield Channel(connection, url, timeout_s)
    finally:
        connection.close()


def _nobody(url: str, error: object) -> NoService:
    said = clean(getattr(error, "strerror", None) or error)
    return NoService(f"No service answers at {url} ({said}): start one with hapticd run, or give its address.")


def _stranger(url: str) -> NoService:
    return NoService(f"What answers at {url} is no channel of hapticd: give the service's address.")


def _told(error: HTTPClientError) -> str:
    """Return the sentence of a refused handshake."""
    try:
        said = json.loads(error.response.body)["error"] if error.response is not None else None
    except (ValueError, LookupError, TypeError):
        said = None
    return (
        with_commands(clean(said))
        if isinstance(said, str)
        else f"The service refuses the channel with status {error.code}."
    )
