"""One HTTP request begins per event loop iteration, in order of arrival."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from unittest.mock import Mock

from tornado.httputil import HTTPHeaders, HTTPMessageDelegate, RequestStartLine

from transport.http.request_queue import RequestQueue, Waiting

START = RequestStartLine("GET", "/", "HTTP/1.1")


async def begun_by_iteration(queue: RequestQueue, count: int) -> list[list[int]]:
    """Which of `count` requests that came together began in each iteration of the event loop."""
    found: list[list[int]] = [[]]
    done = asyncio.Event()

    async def request(number: int) -> None:
        await queue.turn()
        found[-1].append(number)
        if number == count - 1:
            done.set()

    def tick() -> None:
        found.append([])
        if not done.is_set():
            asyncio.get_running_loop().call_soon(tick)

    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(request(number))
        asyncio.get_running_loop().call_soon(tick)
        await done.wait()
    return [some for some in found if some]


def test_concurrent_requests_begin_one_per_iteration() -> None:
    assert asyncio.run(begun_by_iteration(RequestQueue(), 5)) == [[0], [1], [2], [3], [4]]


def test_single_request_is_not_delayed() -> None:
    async def alone() -> bool:
        queue = RequestQueue()
        step = queue.turn().__await__()
        try:
            next(step)
        except StopIteration:
            return True
        return False

    assert asyncio.run(alone())


def test_abandoned_request_takes_no_turn() -> None:
    async def given_up() -> list[str]:
        queue, found = RequestQueue(), list[str]()

        async def request(name: str) -> None:
            await queue.turn()
            found.append(name)

        tasks = [asyncio.create_task(request(name)) for name in "abc"]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert len(queue) == 0
        return found

    assert asyncio.run(given_up()) == ["a", "c"]


def waiting(turn: Callable[[], Awaitable[None]]) -> tuple[Waiting, Mock]:
    request = Mock(spec=HTTPMessageDelegate)
    request.headers_received.return_value = None
    return Waiting(turn, request), request


def test_handler_is_created_at_its_turn() -> None:
    async def run() -> None:
        turn = asyncio.Event()

        async def wait() -> None:
            await turn.wait()

        delegate, request = waiting(wait)
        received = asyncio.create_task(delegate.headers_received(START, HTTPHeaders()))
        await asyncio.sleep(0)
        request.headers_received.assert_not_called()
        turn.set()
        await received
        delegate.data_received(b"body")
        delegate.finish()
        delegate.on_connection_close()
        assert [call[0] for call in request.method_calls] == [
            "headers_received",
            "data_received",
            "finish",
            "on_connection_close",
        ]

    asyncio.run(run())


def test_connection_ended_while_waiting_creates_no_handler() -> None:
    delegate, request = waiting(Mock())

    delegate.on_connection_close()

    request.on_connection_close.assert_not_called()
