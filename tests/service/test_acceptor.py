"""The acceptor takes few connections per iteration, and pauses when the process has no file descriptors left."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from typing import Any

import pytest

from transport import acceptor
from transport.acceptor import AT_ONCE, Acceptor, Shortage

FULL = OSError(errno.EMFILE, os.strerror(errno.EMFILE))


class Listening(socket.socket):
    """A listening socket that counts how often it is asked, and may fail."""

    asked = 0
    failure: OSError | None = None

    def accept(self) -> Any:
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        return super().accept()


def run(steps: Callable[[Listening, list[socket.socket], list[str]], Coroutine[Any, Any, None]]) -> None:
    """With a socket on which an acceptor listens, what it took, and how often it made room."""

    async def whole() -> None:
        with ExitStack() as stack:
            listening = stack.enter_context(Listening(socket.AF_INET, socket.SOCK_STREAM))
            listening.bind(("127.0.0.1", 0))
            listening.listen(4 * AT_ONCE)
            listening.setblocking(False)
            taken: list[socket.socket] = []
            made: list[str] = []

            def take(connection: socket.socket, _address: object) -> None:
                taken.append(stack.enter_context(connection))

            acceptor = Acceptor(listening, take, Shortage(lambda: made.append("room")))
            await steps(listening, taken, made)
            acceptor.stop()
            asked = listening.asked
            stack.enter_context(socket.create_connection(listening.getsockname()))
            await turns(20)
            assert listening.asked == asked

    asyncio.run(whole())


async def turns_until(done: Callable[[], bool]) -> None:
    while not done():
        await turns(1)


async def turns(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


def test_few_connections_are_accepted_in_one_iteration() -> None:
    async def steps(listening: Listening, taken: list[socket.socket], _made: list[str]) -> None:
        clients = [socket.create_connection(listening.getsockname()) for _ in range(3 * AT_ONCE)]
        most = 0
        while len(taken) < len(clients):
            before = len(taken)
            await turns(1)
            most = max(most, len(taken) - before)
        assert most == AT_ONCE
        for client in clients:
            client.close()

    run(steps)


def test_shortage_of_descriptors_pauses_and_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(acceptor, "PAUSE_S", 0.01)

    async def steps(listening: Listening, taken: list[socket.socket], made: list[str]) -> None:
        listening.failure = FULL
        with socket.create_connection(listening.getsockname()):
            await turns_until(lambda: listening.asked > 0)
            while listening.asked < 4:
                await asyncio.sleep(0)
                # One try for each pause, though the socket is readable all the time.
                assert listening.asked == len(made)
            listening.failure = None
            await turns_until(lambda: bool(taken))

    run(steps)
    (line,) = [record.getMessage() for record in caplog.records if record.name == acceptor.__name__]
    assert "open files" in line


def test_paused_acceptor_can_be_stopped() -> None:
    async def steps(listening: Listening, _taken: list[socket.socket], _made: list[str]) -> None:
        listening.failure = FULL
        with socket.create_connection(listening.getsockname()):
            await turns_until(lambda: listening.asked > 0)

    run(steps)


def test_later_shortage_is_logged_again(caplog: pytest.LogCaptureFixture) -> None:
    shortage = Shortage(lambda: None)
    for now_s in (0.0, 1.0, 50.0, 120.0):
        shortage.met(FULL, now_s)

    assert len(caplog.records) == 2
