"""A subscriber's bounded queue: order, wake-up, dropped oldest events and their count."""

from __future__ import annotations

import threading

import orjson
import pytest
from prometheus_client import CollectorRegistry, Counter

from actors.event.queue import MOST_WAITING, BoundedQueue, lost_notice
from tests.unit.event.event_helpers import Wall, encode


class Reader:
    """A reader that counts how often it is woken."""

    def __init__(self) -> None:
        self.woken = 0
        self.registry = CollectorRegistry()
        counter = Counter("lost", "Events lost.", registry=self.registry)
        self.queue = BoundedQueue("reader", self.wake, lost_notice(encode, None, Wall()), counter)

    def wake(self) -> None:
        self.woken += 1

    @property
    def dropped(self) -> float | None:
        return self.registry.get_sample_value("lost_total")


@pytest.fixture
def reader() -> Reader:
    return Reader()


def number(value: int) -> bytes:
    return str(value).encode()


def test_events_come_out_in_order_and_in_portions(reader: Reader) -> None:
    for value in range(5):
        reader.queue.offer(number(value))
    assert len(reader.queue) == 5
    assert reader.queue.take(3) == [b"0", b"1", b"2"]
    assert reader.queue.take(3) == [b"3", b"4"]
    assert reader.queue.take(3) == []


def test_reader_is_woken_once_until_it_finds_the_queue_empty(reader: Reader) -> None:
    reader.queue.offer(b"1")
    reader.queue.offer(b"2")
    assert reader.woken == 1
    reader.queue.take()
    reader.queue.offer(b"3")
    assert reader.woken == 1
    assert reader.queue.take() == [b"3"]
    assert reader.queue.take() == []
    reader.queue.offer(b"4")
    assert reader.woken == 2


def test_slow_reader_loses_the_oldest_events_and_gets_their_count(reader: Reader) -> None:
    for value in range(MOST_WAITING + 7):
        reader.queue.offer(number(value))
    assert len(reader.queue) == MOST_WAITING
    assert reader.dropped == 7
    notice, first, *rest = reader.queue.take(2 * MOST_WAITING)
    assert orjson.loads(notice) == {
        "name": "session-warning",
        "category": "session",
        "level": "warning",
        "time": "2030-03-17T17:46:40.000000Z",
        "data": {"session_id": None, "reason": "events_dropped", "lost": 7},
        "message": "7 events were lost: read faster, or subscribe to fewer with ?kinds=",
    }
    assert first == b"7"
    assert len(rest) == MOST_WAITING - 1
    assert reader.queue.take() == []


def test_exception_of_wake_reaches_the_hub() -> None:
    def wake() -> None:
        raise RuntimeError("the event loop is closed")

    counter = Counter("lost", "Events lost.", registry=CollectorRegistry())
    queue = BoundedQueue(1, wake, lost_notice(encode), counter)
    with pytest.raises(RuntimeError):
        queue.offer(b"1")
    assert queue.identity == 1


def test_nothing_is_lost_between_two_threads(reader: Reader) -> None:
    awake = threading.Semaphore(0)
    counter = Counter("lost_here", "Events lost.", registry=reader.registry)
    queue = BoundedQueue("reader", awake.release, lost_notice(encode), counter)
    written = threading.Event()
    room = threading.Semaphore(MOST_WAITING)

    def write() -> None:
        for value in range(20_000):
            room.acquire()
            queue.offer(number(value))
        written.set()

    writer = threading.Thread(target=write)
    writer.start()
    read: list[bytes] = []
    while len(read) < 20_000:
        assert awake.acquire(timeout=20)
        while events := queue.take():
            read.extend(events)
            room.release(len(events))
    writer.join()
    assert read == [number(value) for value in range(20_000)]


def test_notice_uses_the_reader_s_vocabulary() -> None:
    notice = lost_notice(encode, lambda body: {**body, "name": "translated"})
    assert orjson.loads(notice(1))["name"] == "translated"
