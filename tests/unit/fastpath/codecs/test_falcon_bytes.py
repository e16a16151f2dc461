"""The Falcon's 16-byte frames: known bytes, every int16 round trip, torn and broken streams, motor commands."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.codecs import falcon_py
from fastpath.codecs.falcon_py import Replies

REPLY = b"<ANOPDHAAMPKP\xb6A>"
INT16 = st.integers(-0x8000, 0x7FFF)

Counts = tuple[int, int, int]
Vector = tuple[float, float, float]


def reply_of(counts: Counts, homed: int = 7, buttons: int = 0) -> bytes:
    """As a Falcon answers: its numbers are written as those of a command are."""
    return falcon_py.command(counts)[:13] + bytes([0x41 + (homed << 4 | buttons)]) + b"A>"


def newest(*pieces: bytes) -> falcon_py.Reply | None:
    stream = Replies()
    found = None
    for piece in pieces:
        found = stream.take(piece) or found
    return found


def test_a_command_has_the_known_bytes() -> None:
    assert falcon_py.command((100, -100, 4095), 3) == b"<EGAAMJPPPPPADA>"


def test_a_reply_with_the_known_bytes_is_read() -> None:
    read = newest(REPLY)

    assert read is not None
    assert (read.counts, read.homed, read.buttons) == ((-304, 115, -1284), 7, 5)
    assert read.angles == pytest.approx((23.92386, 39.18999, -11.78210), abs=1e-5)


def test_every_int16_comes_back_as_it_was_written() -> None:
    stream = Replies()
    for number in range(-0x8000, 0x8000):
        read = stream.take(reply_of((number, -1 - number, number ^ 0x5555 if number >= 0 else number)))

        assert read is not None
        assert read.counts[:2] == (number, -1 - number)
    assert (stream.whole, stream.bad) == (0x10000, 0)


@given(counts=st.tuples(INT16, INT16, INT16), homed=st.integers(0, 7), buttons=st.integers(0, 15))
def test_every_reply_is_read_as_it_was_written(counts: Counts, homed: int, buttons: int) -> None:
    read = newest(reply_of(counts, homed, buttons))

    assert read is not None
    assert (read.counts, read.homed, read.buttons) == (counts, homed, buttons)


@given(counts=st.tuples(INT16, INT16, INT16), cuts=st.lists(st.integers(0, 48), max_size=6))
def test_stream_may_be_split_anywhere(counts: Counts, cuts: list[int]) -> None:
    data = reply_of((1, 2, 3)) + reply_of((4, 5, 6)) + reply_of(counts)
    edges = [0, *sorted(cuts), len(data)]

    read = newest(*(data[start:end] for start, end in itertools.pairwise(edges)))

    assert read is not None
    assert read.counts == counts


@given(lost=st.integers(0, 15))
def test_lost_byte_costs_its_frame_only(lost: int) -> None:
    stream = Replies()
    stream.take(REPLY[:lost] + REPLY[lost + 1 :])

    read = stream.take(reply_of((7, 8, 9)))

    assert read is not None
    assert read.counts == (7, 8, 9)
    assert (stream.whole, stream.bad) == (1, 0 if lost == 0 else 1)


@given(at=st.integers(0, 15), byte=st.integers(0, 255))
def test_wrong_byte_costs_at_most_its_frame(at: int, byte: int) -> None:
    stream = Replies()
    stream.take(REPLY[:at] + bytes([byte]) + REPLY[at + 1 :])

    stream.take(b"")
    read = stream.take(reply_of((7, 8, 9)))

    assert read is not None
    assert read.counts == (7, 8, 9)


@given(data=st.binary(max_size=200))
def test_any_bytes_keep_the_parser_working(data: bytes) -> None:
    stream = Replies()
    stream.take(data)

    read = stream.take(reply_of((7, 8, 9)))

    assert read is not None
    assert read.counts == (7, 8, 9)


@pytest.mark.parametrize("counts", [(40_000, 0, 0), (0, -0x8001, 0)])
def test_command_outside_int16_is_refused(counts: Counts) -> None:
    with pytest.raises(ValueError, match="int16"):
        falcon_py.command(counts)


@given(count=INT16)
def test_angle_and_count_convert_both_ways(count: int) -> None:
    assert falcon_py.count(falcon_py.angle(count)) == pytest.approx(count, abs=1e-9)
    assert falcon_py.angle(count + 1) - falcon_py.angle(count) == pytest.approx(0.0364347, abs=1e-7)


@given(torque=st.tuples(*[st.floats(-5000, 5000)] * 3), scale=st.floats(-20_000, 20_000))
def test_commands_stay_within_4096_and_keep_their_direction(torque: Vector, scale: float) -> None:
    wanted = [part * 1e-3 * scale for part in torque]
    most = max(map(abs, wanted))
    share = min(1.0, falcon_py.MOST_COUNTS / most) if most else 1.0

    counts = falcon_py.motor_counts(torque, scale)

    assert max(map(abs, counts)) <= falcon_py.MOST_COUNTS
    assert counts == pytest.approx([part * share for part in wanted], abs=0.5 + 1e-9)


def test_torque_scale_converts_newton_metres_to_counts() -> None:
    assert falcon_py.motor_counts((100.0, -100.0, 0.0), 10_000) == (1000, -1000, 0)


@pytest.mark.parametrize("torque", [(math.nan, 1.0, 1.0), (1.0, math.inf, 1.0), (1.0, 1.0, -math.inf)])
def test_non_finite_torque_is_zero(torque: Vector) -> None:
    assert falcon_py.motor_counts(torque, 10_000) == (0, 0, 0)
