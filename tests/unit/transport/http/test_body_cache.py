"""Cached HTTP bodies: reused while their data's version is the same, rebuilt at most twice a second."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from itertools import count

import pytest

from transport.http.body_cache import S_NS, RateLimitedBody, VersionedBody


def fixed(version: int) -> Callable[[], int]:
    return lambda: version


def same(version: int) -> int:
    return version


class Clock:
    """Time that the test moves."""

    def __init__(self) -> None:
        self.ns = 0

    def now_ns(self) -> int:
        return self.ns


def test_recent_body_is_rebuilt_at_most_twice_a_second() -> None:
    clock, made = Clock(), count(1)
    recent: RateLimitedBody[int] = RateLimitedBody(clock.now_ns)

    shown = []
    for _ in range(30):
        shown.append(recent.get("page", lambda: next(made)))
        clock.ns += S_NS // 10

    assert shown == [1] + [2] * 9 + [3] + [4] * 9 + [5] + [6] * 9


def test_recent_bodies_are_cached_by_name() -> None:
    recent: RateLimitedBody[str] = RateLimitedBody(Clock().now_ns)

    assert [recent.get(name, name.upper) for name in "abab"] == ["A", "B", "A", "B"]


def test_body_of_one_version_is_built_once() -> None:
    made: list[int] = []

    async def run() -> list[int]:
        current: VersionedBody[int, int] = VersionedBody(Clock().now_ns)

        def make(version: int) -> int:
            assert threading.current_thread() is not threading.main_thread()
            made.append(version)
            return version

        return await asyncio.gather(*(current.get(fixed(7), make) for _ in range(50)))

    assert asyncio.run(run()) == [7] * 50
    assert made == [7]


def test_new_version_is_shown_to_later_requests() -> None:
    async def run() -> list[int]:
        current, versions = VersionedBody[int, int](Clock().now_ns), [1, 2]
        return [await current.get(fixed(version), lambda made: made * 10) for version in versions]

    assert asyncio.run(run()) == [10, 20]


def test_endless_new_versions_block_no_request() -> None:
    async def run() -> tuple[list[int], int]:
        current: VersionedBody[int, int] = VersionedBody(count(0, S_NS).__next__)
        version = count()
        asks = (current.get(version.__next__, same) for _ in range(20))
        return await asyncio.gather(*asks), current._begun

    shown, begun = asyncio.run(run())

    # The first body was begun for the first request, so it is new enough for all that came before it.
    assert len(set(shown)) <= 2
    assert begun <= 2


def test_body_is_started_at_most_twice_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, slept = Clock(), list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.ns += round(seconds * S_NS)

    monkeypatch.setattr("transport.http.body_cache.asyncio.sleep", sleep)

    async def run() -> None:
        current: VersionedBody[int, int] = VersionedBody(clock.now_ns)
        for version in range(6):
            await current.get(fixed(version), same)

    asyncio.run(run())

    assert slept == [1.0, 0.0, 1.0, 0.0]


def test_failed_body_is_retried_by_the_next_request() -> None:
    async def run() -> int:
        current: VersionedBody[int, int] = VersionedBody(Clock().now_ns)

        def broken(_version: int) -> int:
            raise ValueError("not now")

        with pytest.raises(ValueError, match="not now"):
            await current.get(fixed(1), broken)
        return await current.get(fixed(1), same)

    assert asyncio.run(run()) == 1
