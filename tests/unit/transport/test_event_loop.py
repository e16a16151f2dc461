"""The service's event loop tells a watcher when it works and when it waits."""

from __future__ import annotations

import asyncio
import select
import socket
from collections.abc import Iterator

import pytest

from transport.event_loop import EventLoop


class Recorder:
    """A watcher that notes what it is told."""

    def __init__(self) -> None:
        self.watched: list[int] = []
        self.working = False
        self.turns = 0

    def watch(self, event_loop: int) -> None:
        self.watched.append(event_loop)

    def work_begins(self) -> None:
        self.working = True
        self.turns += 1

    def work_ends(self) -> None:
        self.working = False


@pytest.fixture
def loop() -> Iterator[EventLoop]:
    made = EventLoop()
    yield made
    made.close()


def test_callbacks_run_while_the_watcher_is_told_of_work(loop: EventLoop) -> None:
    watcher, seen = Recorder(), list[bool]()

    async def work() -> None:
        # On a busy machine the time of a sleep may be over before the loop waits for it.
        while not watcher.turns:  # noqa: ASYNC110 - a timer is what the loop waits for
            await asyncio.sleep(0.001)
        seen.append(watcher.working)

    loop.selector.tell(watcher)
    loop.run_until_complete(work())

    assert seen == [True]
    assert watcher.turns >= 1


def test_a_wait_is_told_before_it_begins(loop: EventLoop) -> None:
    watcher = Recorder()
    loop.selector.tell(watcher)
    watcher.work_begins()

    loop.selector.select(0.001)

    assert watcher.working
    assert watcher.turns == 2


def test_a_look_without_a_wait_is_not_told(loop: EventLoop) -> None:
    watcher = Recorder()
    loop.selector.tell(watcher)

    loop.selector.select(0)

    assert watcher.turns == 0


def test_the_watched_descriptor_is_readable_while_something_waits_for_the_event_loop(loop: EventLoop) -> None:
    watcher = Recorder()
    loop.selector.tell(watcher)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        loop.add_reader(ours, lambda: None)
        theirs.send(b"stop")

        (descriptor,) = watcher.watched
        assert select.select([descriptor], [], [], 10)[0] == [descriptor]

        loop.remove_reader(ours)


def test_a_watcher_that_is_dismissed_hears_that_there_is_no_work(loop: EventLoop) -> None:
    watcher = Recorder()
    loop.selector.tell(watcher)
    watcher.work_begins()

    loop.selector.tell(None)

    assert not watcher.working
    assert watcher.watched[-1] == -1
