"""Unsent bytes to slow clients are bounded: the connection that stalls longest is closed first."""

from __future__ import annotations

from typing import cast
from unittest.mock import Mock

from tornado.iostream import IOStream

from transport.http.unsent_bytes import UnsentBytes


def streams(count: int) -> list[IOStream]:
    found = [Mock(spec=IOStream) for _ in range(count)]
    for stream in found:
        stream.closed.return_value = False
    return [cast("IOStream", stream) for stream in found]


def closed(stream: IOStream) -> bool:
    return bool(cast("Mock", stream).close.called)


def test_answers_within_the_limit_close_none() -> None:
    unsent, some = UnsentBytes(100), streams(4)

    for stream in some:
        unsent.goes_on(stream, 25)

    assert unsent.total == 100
    assert not any(closed(stream) for stream in some)


def test_exceeding_the_limit_closes_the_longest_stalled() -> None:
    unsent, some = UnsentBytes(100), streams(4)
    for stream in some[:3]:
        unsent.goes_on(stream, 30)
    unsent.goes_on(some[0], 20)

    unsent.goes_on(some[3], 30)

    assert [closed(stream) for stream in some] == [False, True, False, False]
    assert unsent.total == 80


def test_as_many_as_needed_are_closed_but_never_the_newest() -> None:
    unsent, some = UnsentBytes(100), streams(4)
    for stream in some[:3]:
        unsent.goes_on(stream, 30)

    unsent.goes_on(some[3], 500)

    assert [closed(stream) for stream in some] == [True, True, True, False]
    assert unsent.total == 500


def test_sent_answers_no_longer_count() -> None:
    unsent, (one, other) = UnsentBytes(100), streams(2)
    unsent.goes_on(one, 60)
    unsent.goes_on(one, 10)
    unsent.goes_on(other, 40)

    unsent.ends(one)
    unsent.ends(one)

    assert unsent.total == 40


def test_answer_after_its_connection_ended_counts_nothing() -> None:
    unsent, (stream,) = UnsentBytes(100), streams(1)
    unsent.goes_on(stream, 60)
    unsent.ends(stream)
    cast("Mock", stream).closed.return_value = True

    unsent.goes_on(stream, 40)

    assert unsent.total == 0
