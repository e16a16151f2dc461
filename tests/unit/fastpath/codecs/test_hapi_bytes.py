"""Codec of the hAPI protocol: known byte sequences, limits, and resynchronisation of a stream."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.codecs.hapi_py import TIMEOUT_S, Exchange, Sample
from tests.emulators.hapi import HapiBoard
from transport.link.protocols.hapi.board import BOARDS, codec_config, setup_message

MS = 1_000_000
TIMEOUT_NS = round(TIMEOUT_S * 1e9)
ID = 5


def exchange(mechanism: str = "2diy-plastic") -> Exchange:
    return Exchange(codec_config(BOARDS[mechanism]))


def reply(*angles: float, device: int = ID) -> bytes:
    return bytes((device,)) + struct.pack(f"<{len(angles)}f", *angles)


def torques(message: bytes) -> tuple[float, ...]:
    assert message[:2] == bytes((2, ID))
    return struct.unpack("<2f", message[2:])


def test_order_has_the_known_bytes() -> None:
    assert exchange("pantograph").order((10.0, -10.0, 0.0), 0) == bytes.fromhex("02 05 0a d7 23 3c 0a d7 23 bc")


def test_first_torque_of_a_2diy_is_of_the_second_joint() -> None:
    line = exchange("2diy-plastic")

    assert line.order((-10.0, 10.0, 0.0), 0) == bytes.fromhex("02 05 0a d7 23 3c 0a d7 23 bc")
    sample = line.take(bytes.fromhex("05 00 00 00 43 00 00 50 42"), MS)

    assert sample == Sample(1, MS, (52.0, 128.0, 0.0))


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_torques_stay_within_the_firmware_s_clamp_and_keep_their_direction(one: float, two: float) -> None:
    first, second = torques(exchange("pantograph").order((one, two, 0.0), 0))

    largest = max(abs(one), abs(two))
    assert max(abs(first), abs(second)) <= 0.123 * (1 + 1e-6)
    share = min(1.0, 123 / largest) * 1e-3 if largest else 0
    assert (first, second) == pytest.approx((one * share, two * share), rel=1e-6, abs=1e-9)


def test_order_without_a_time_waits_for_some_orders() -> None:
    line = exchange("pantograph")
    line.order((0.0, 0.0, 0.0), MS)
    line.take(reply(180.0, 0.0) + b"\x05", MS + 1)

    orders = [line.order((0.0, 0.0, 0.0), 0) for _ in range(9)]

    assert orders[:8] == [b""] * 8
    assert torques(orders[8]) == (0, 0)
    assert line.take(reply(180.0, 0.0), 12 * MS) == Sample(1, 12 * MS, (180.0, 0.0, 0.0))


def test_zero_order_without_a_time_is_sent_at_once() -> None:
    line = exchange("pantograph")
    line.order((10.0, 0.0, 0.0), MS)
    line.take(reply(180.0, 0.0)[:4], MS + 1)

    assert torques(line.order((0.0, 0.0, 0.0), 0)) == (0, 0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_non_finite_torque_stops_both_motors(bad: float) -> None:
    assert torques(exchange().order((bad, 50.0, 0.0), 0)) == (0, 0)


def test_third_joint_is_not_sent() -> None:
    assert torques(exchange().order((0.0, 0.0, 500.0), 0)) == (0, 0)


# ---------------------------------------------------------------- replies


def test_reply_in_pieces_is_one_sample() -> None:
    line = exchange("pantograph")
    line.order((0.0, 0.0, 0.0), 0)
    whole = reply(180.0, 0.0)

    assert [line.take(whole[k : k + 1], k * MS // 4) for k in range(8)] == [None] * 8
    assert line.take(whole[8:], 2 * MS) == Sample(1, 2 * MS, (180.0, 0.0, 0.0))
    assert line.bad == 0


def test_two_late_replies_at_once_are_two_samples() -> None:
    line = exchange("pantograph")
    line.order((0.0, 0.0, 0.0), 0)
    line.order((0.0, 0.0, 0.0), MS)

    sample = line.take(reply(180.0, 0.0) + reply(180.5, 0.5), 3 * MS)

    assert sample == Sample(2, 3 * MS, (180.5, 0.5, 0.0))


def test_partial_reply_delays_the_next_order_until_its_timeout() -> None:
    line = exchange("pantograph")
    line.order((10.0, 0.0, 0.0), 0)
    line.take(reply(180.0, 0.0)[:4], MS)

    assert line.order((10.0, 0.0, 0.0), 2 * MS) == b""
    assert line.order((10.0, 0.0, 0.0), MS + TIMEOUT_NS + 1) != b""
    assert line.take(reply(181.0, 1.0), 8 * MS) == Sample(1, 8 * MS, (181.0, 1.0, 0.0))
    assert line.bad == 1


def test_zero_order_is_never_delayed() -> None:
    line = exchange("pantograph")
    line.order((10.0, 0.0, 0.0), 0)
    line.take(reply(180.0, 0.0)[:4], MS)

    assert torques(line.order((0.0, 0.0, 0.0), 2 * MS)) == (0, 0)
    assert line.order((0.0, 0.0, 0.0), 3 * MS) == b""


@pytest.mark.parametrize(
    "stray",
    [
        b"\x05",
        b"\x05\x05\x05\x05",
        reply(10.0, 10.0, device=9),
        reply(math.nan, 0.0),
        reply(1e9, 0.0),
        reply(90.0, 0.0),
    ],
    ids=["one byte", "four ids", "another id", "no number", "too far", "too fast"],
)
def test_invalid_bytes_cost_a_pause_and_no_wrong_sample(stray: bytes) -> None:
    line = exchange("pantograph")
    line.order((0.0, 0.0, 0.0), 0)
    line.take(reply(180.0, 0.0), MS // 2)
    line.order((0.0, 0.0, 0.0), MS)

    assert line.take(stray + reply(180.0, 0.0), MS + MS // 2) is None
    assert line.bad == 1
    assert line.order((0.0, 0.0, 0.0), 2 * MS) == b""
    again = 2 * MS + TIMEOUT_NS
    assert line.order((0.0, 0.0, 0.0), again) != b""
    assert line.take(reply(180.0, 0.0), again + 1) == Sample(2, again + 1, (180.0, 0.0, 0.0))


def test_unsolicited_bytes_are_dropped() -> None:
    line = exchange()

    assert line.take(reply(12.0, 168.0), MS) is None
    assert line.bad == 1


def test_preset_encoders_are_accepted_after_a_delay() -> None:
    line = exchange("pantograph")
    line.order((0.0, 0.0, 0.0), 0)
    line.take(reply(100.0, 60.0), 1)
    now, sample = MS, None

    while sample is None:
        if line.order((0.0, 0.0, 0.0), now):
            sample = line.take(reply(180.0, 0.0), now + MS // 2)
        now += MS

    assert sample.joint == (180.0, 0.0, 0.0)
    assert now <= 20 * MS


@given(
    lost=st.integers(0, 8),
    at=st.integers(0, 99),
    kind=st.sampled_from(["lost", "doubled", "late", "stray"]),
    stray=st.binary(min_size=1, max_size=30),
    angles=st.tuples(st.floats(-90, 90, width=32), st.floats(-90, 90, width=32)),
)
def test_line_fault_costs_at_most_100_ms(
    lost: int, at: int, kind: str, stray: bytes, angles: tuple[float, float]
) -> None:
    line, due, newest = exchange("pantograph"), b"", None
    wrong = 0
    for tick in range(200):
        now = tick * MS
        whole = reply(*angles) if line.order((20.0, 0.0, 0.0), now) else b""
        if tick == at:
            cut = {
                "lost": whole[:lost] + whole[lost + 1 :],
                "doubled": 2 * whole,
                "late": whole[:lost],
                "stray": stray + whole,
            }
            due, whole = (whole[lost:] if kind == "late" else b""), cut[kind]
        elif tick == at + 12:
            whole = due + whole
        sample = line.take(whole, now + MS // 2) if whole else None
        if sample is not None:
            wrong += sample.joint[:2] != angles
            newest = sample
        if tick > at + 12 + 30:
            assert newest is not None
            assert newest.joint[:2] == angles
            assert newest.time_ns >= now - 2 * MS
    assert wrong <= 1


def test_board_and_codec_agree_whole_bytes_and_angles() -> None:
    board, line = HapiBoard("2diy-plastic"), exchange("2diy-plastic")
    board.feed(setup_message(BOARDS["2diy-plastic"]))
    now = 0
    for tick in range(1000):
        now = tick * MS
        message = line.order((3.0 * math.sin(tick / 100), 2.0, 0.0), now)
        sample = line.take(board.feed(message), now + 1)
        board.advance(0.001)

        assert sample is not None
        assert sample.joint[:2] == pytest.approx((board.angle(2), board.angle(1)), abs=3.0)
    assert line.bad == 0
    assert board.torque_messages == 1000


@given(st.lists(st.tuples(st.binary(max_size=40), st.integers(0, 20)), max_size=30))
def test_any_bytes_keep_the_codec_working(pieces: list[tuple[bytes, int]]) -> None:
    line, now = exchange(), 0
    for data, after in pieces:
        now += after * MS
        line.order((1.0, 1.0, 0.0), now)
        sample = line.take(data, now)
        assert sample is None or all(math.isfinite(angle) for angle in sample.joint)
