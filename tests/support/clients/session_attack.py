"""Program: many sessions that send without waiting for answers, until standard input ends.

Arguments: URL of the session channel, number of sessions, messages sent at once by each of them, and optionally the text of
the message. Prints `open` when every session is, and at the end the number of frames that came.
"""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from tests.support.clients.raw_websocket import ConnectionEnded, RawWebSocket, encode_frame

TAKEN: Final = 256 * 1024
TRIES: Final = 200
PAUSE_S: Final = 0.05
PLAIN_MESSAGE: Final = "{}"


class Pipeline:
    """One session that sends messages together and counts their frames."""

    def __init__(self, url: str) -> None:
        self._peer = RawWebSocket(url)
        self._peer.frame()
        self._rest = b""
        self.unanswered = 0
        self.frames = 0
        self.socket = self._peer.socket

    def close(self) -> None:
        """Close the socket without a word."""
        self._peer.drop()

    def send(self, messages: Sequence[bytes]) -> None:
        """Send WebSocket frames of a client."""
        self.unanswered += len(messages)
        self._peer.write(b"".join(messages))

    def take(self) -> None:
        """Read what is there, or wait; EOFError when the service has closed the connection."""
        data = self.socket.recv(TAKEN)
        if not data:
            raise EOFError("the service closed a session")
        data, at = self._rest + data, 0
        while (end := _frame_end(data, at)) <= len(data):
            at = end
            self.frames += 1
            self.unanswered -= 1
        self._rest = data[at:]

    def take_all(self) -> None:
        """Wait until every message is answered."""
        while self.unanswered:
            self.take()


def _frame_end(data: bytes, at: int) -> int:
    """Where the unmasked frame that begins at `at` ends; beyond the data when that cannot be told yet."""
    if len(data) - at < 10:
        return len(data) + 1
    size = data[at + 1]
    if size == 126:
        return at + 4 + int.from_bytes(data[at + 2 : at + 4], "big")
    if size == 127:
        return at + 10 + int.from_bytes(data[at + 2 : at + 10], "big")
    return at + 2 + size


def joined(url: str) -> Pipeline:
    """A session, tried again while a flood of other connections leaves no room for it; ConnectionEnded after TRIES."""
    for _ in range(TRIES):
        with suppress(ConnectionEnded, OSError):
            return Pipeline(url)
        time.sleep(PAUSE_S)
    return Pipeline(url)


def main(url: str, sessions: str, at_once: str, message: str = PLAIN_MESSAGE) -> None:
    """Attack until standard input ends."""
    messages = [encode_frame(message)] * int(at_once)
    lines: dict[int, Pipeline] = {}
    poller = select.epoll()
    for _ in range(int(sessions)):
        line = joined(url)
        lines[line.socket.fileno()] = line
        poller.register(line.socket.fileno(), select.EPOLLIN)
    sys.stdout.write("open\n")
    sys.stdout.flush()
    for line in lines.values():
        line.send(messages)
    stdin = sys.stdin.fileno()
    poller.register(stdin, select.EPOLLIN)
    attacking = True
    while attacking:
        for descriptor, _ in poller.poll():
            if descriptor == stdin:
                attacking = False
                continue
            line = lines[descriptor]
            line.take()
            if not line.unanswered:
                line.send(messages)
    sys.stdout.write(f"{sum(line.frames for line in lines.values())}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
