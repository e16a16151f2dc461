"""Round-robin order of connections with waiting frames, on an event loop without sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from transport.ws.turns import ALONE, Turns


def run(steps: Callable[[Turns], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(steps(Turns()))


def test_queue_serves_connections_in_rotation_one_frame_each() -> None:
    served: list[str] = []

    async def sent_ahead(turns: Turns, name: str) -> None:
        for _ in range(5):
            await turns.next()
            served.append(name)

    async def steps(turns: Turns) -> None:
        await asyncio.gather(*(sent_ahead(turns, name) for name in "abc"))
        assert len(turns) == 0

    run(steps)
    assert "".join(served) == "abc" * 5


def test_queue_serves_one_frame_in_each_iteration_of_the_event_loop() -> None:
    served_before: list[int] = []

    async def steps(turns: Turns) -> None:
        waiting = [turns.next() for _ in range(10)]
        for _ in range(10):
            await asyncio.sleep(0)
            served_before.append(sum(turn.done() for turn in waiting))

    run(steps)
    assert served_before == list(range(1, 11))


def test_connection_removed_from_the_queue_takes_no_turn() -> None:
    async def steps(turns: Turns) -> None:
        gone, stays = turns.next(), turns.next()
        gone.cancel()
        await asyncio.sleep(0)
        assert stays.done()

    run(steps)


def test_turns_are_shared_until_one_connection_was_served_often_in_a_row() -> None:
    async def steps(turns: Turns) -> None:
        one, other = object(), object()
        assert [turns.shared(one) for _ in range(ALONE + 1)] == [True] * ALONE + [False]
        assert turns.shared(other)
        assert turns.shared(one)

    run(steps)


def test_turns_are_shared_while_another_connection_is_in_the_queue() -> None:
    async def steps(turns: Turns) -> None:
        one = object()
        for _ in range(ALONE + 1):
            turns.shared(one)
        turn = turns.next()
        assert turns.shared(one)
        await turn
        assert not turns.shared(one)

    run(steps)
