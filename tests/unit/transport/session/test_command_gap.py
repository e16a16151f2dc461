"""The warning about timed-out commands: three stalls within ten seconds, each followed by a return."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transport.session.command_gap import FADE_NS, QUIET_NS, STALLS, WINDOW_NS, CommandGap, SlowSession, lost_ns

MS = 1_000_000
TIMEOUT = 50 * MS


class Client:
    """Sends messages with commands after given pauses."""

    def __init__(self) -> None:
        self.pulse = CommandGap()
        self.now_ns = 1_000 * MS

    def send(self, after_ns: int, *, holds: bool = True) -> SlowSession | None:
        self.now_ns += after_ns
        return self.pulse.note(self.now_ns, TIMEOUT, holds=holds)


def test_steady_client_gets_no_warning() -> None:
    client = Client()

    assert [client.send(TIMEOUT) for _ in range(1_000)] == [None] * 1_000


def test_third_return_within_ten_seconds_is_reported_with_interval_and_lost_force() -> None:
    client = Client()
    client.send(0)

    assert [client.send(60 * MS), client.send(20 * MS), client.send(80 * MS)] == [None, None, None]
    slow = client.send(100 * MS)

    assert slow is not None
    assert slow.interval == pytest.approx(0.08)
    assert slow.force_lost == pytest.approx((2.5 + 0 + 20 + 40) / (60 + 20 + 80 + 100))


def test_ten_messages_per_second_lose_two_fifths_of_their_force() -> None:
    client = Client()

    (slow,) = [told for _ in range(10) if (told := client.send(100 * MS))]

    assert (slow.interval, slow.force_lost) == (0.1, 0.4)


def test_pause_of_exactly_the_timeout_is_no_gap() -> None:
    client = Client()
    client.send(0)

    assert [client.send(TIMEOUT) for _ in range(5)] == [None] * 5


def test_session_that_stays_slow_is_warned_once() -> None:
    client = Client()

    assert sum(client.send(100 * MS) is not None for _ in range(5_000)) == 1


@pytest.mark.parametrize(("quiet_ns", "told"), [(QUIET_NS, 0), (QUIET_NS + 1, 1)])
def test_session_is_warned_again_after_a_minute_without_gaps(quiet_ns: int, told: int) -> None:
    client = Client()
    for _ in range(4):
        client.send(60 * MS)
    client.send(1, holds=False)
    client.send(quiet_ns - 1 - 60 * MS)

    assert sum(client.send(60 * MS) is not None for _ in range(STALLS)) == told


def test_session_is_warned_again_for_another_timeout() -> None:
    pulse = CommandGap()

    def told(first: int, timeout_ns: int) -> int:
        return sum(pulse.note(at * 200 * MS, timeout_ns, holds=True) is not None for at in range(first, first + 10))

    assert [told(1, TIMEOUT), told(11, 100 * MS), told(21, 100 * MS), told(31, TIMEOUT)] == [1, 1, 0, 1]


@pytest.mark.parametrize(
    ("interval", "lost"), [(0, 0), (50, 0), (60, 2.5), (70, 10), (80, 20), (100, 40), (1_000, 940)], ids=str
)
def test_lost_force_is_the_area_removed_by_the_fade(interval: int, lost: float) -> None:
    assert lost_ns(interval * MS, TIMEOUT) == lost * MS
    steps = 1_000
    gains = (min(1, max(0, 1 - (at * interval * MS / steps - TIMEOUT) / FADE_NS)) for at in range(steps))
    assert interval * MS * (1 - sum(gains) / steps) == pytest.approx(lost * MS, abs=2 * interval * MS / steps)


def test_first_command_after_long_silence_is_no_return() -> None:
    client = Client()

    assert [client.send(60_000 * MS, holds=False) for _ in range(5)] == [None] * 5


def test_silence_after_a_release_is_no_gap() -> None:
    client = Client()
    for _ in range(5):
        assert client.send(MS) is None
        assert client.send(MS, holds=False) is None
        assert client.send(200 * MS) is None
        client.send(MS, holds=False)


def test_message_that_only_releases_is_no_return() -> None:
    client = Client()
    for _ in range(5):
        assert client.send(200 * MS) is None
        assert client.send(200 * MS, holds=False) is None


def test_gaps_far_apart_do_not_accumulate() -> None:
    client = Client()
    client.send(0)

    assert [client.send(WINDOW_NS // 2 + 1) for _ in range(20)] == [None] * 20


def test_the_window_includes_its_end() -> None:
    client = Client()
    client.send(0)
    client.send(60 * MS)

    assert client.send(WINDOW_NS // 2) is None
    assert client.send(WINDOW_NS - WINDOW_NS // 2) is not None


def test_changed_timeout_counts_from_its_message() -> None:
    pulse = CommandGap()
    pulse.note(0, TIMEOUT, holds=True)

    assert [pulse.note(at * 100 * MS, 500 * MS, holds=True) for at in range(1, 6)] == [None] * 5


@given(st.lists(st.tuples(st.integers(0, 80_000 * MS), st.booleans()), max_size=60))
def test_rule_holds_for_any_client(messages: list[tuple[int, bool]]) -> None:
    client = Client()
    returns: list[int] = []
    held = told = False
    last = previous = 0

    for after_ns, holds in messages:
        slow = client.send(after_ns, holds=holds)
        now, interval = client.now_ns, client.now_ns - last
        expected = False
        if held and holds and interval > TIMEOUT:
            told = told and now - previous <= QUIET_NS
            previous = now
            if not told:
                returns.append(now)
                recent = returns[-STALLS:]
                expected = told = len(recent) == STALLS and recent[-1] - recent[0] <= WINDOW_NS
        assert (slow is not None) == expected
        if slow is not None:
            assert slow.interval > TIMEOUT / 1e9
            assert 0 <= slow.force_lost < 1
            returns.clear()
        last, held = now, holds
