"""When a session is told that its commands time out: three stalls within ten seconds, each followed by a return."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from transport.wire.pulse import STALLS, WINDOW_NS, CommandPulse

MS = 1_000_000
TIMEOUT = 50 * MS


class Client:
    """Sends messages with commands after given pauses."""

    def __init__(self) -> None:
        self.pulse = CommandPulse()
        self.now_ns = 1_000 * MS

    def send(self, after_ns: int, *, holds: bool = True) -> int | None:
        self.now_ns += after_ns
        return self.pulse.note(self.now_ns, TIMEOUT, holds=holds)


def test_a_steady_client_hears_nothing() -> None:
    client = Client()

    assert [client.send(TIMEOUT) for _ in range(1_000)] == [None] * 1_000


def test_the_third_return_within_ten_seconds_is_warned_of_with_its_interval() -> None:
    client = Client()
    client.send(0)

    assert [client.send(TIMEOUT + 1), client.send(70 * MS), client.send(80 * MS)] == [None, None, 80 * MS]


def test_a_pause_of_exactly_the_time_out_is_none() -> None:
    client = Client()
    client.send(0)

    assert [client.send(TIMEOUT) for _ in range(5)] == [None] * 5


def test_after_a_warning_three_more_are_needed() -> None:
    client = Client()
    client.send(0)

    warned = [client.send(60 * MS) is not None for _ in range(9)]

    assert warned == [False, False, True] * 3


def test_the_first_command_after_long_silence_is_no_return() -> None:
    client = Client()

    assert [client.send(60_000 * MS, holds=False) for _ in range(5)] == [None] * 5


def test_silence_after_a_release_is_no_stall() -> None:
    client = Client()
    for _ in range(5):
        assert client.send(MS) is None
        assert client.send(MS, holds=False) is None
        assert client.send(200 * MS) is None
        client.send(MS, holds=False)


def test_a_message_that_only_releases_is_no_return() -> None:
    client = Client()
    for _ in range(5):
        assert client.send(200 * MS) is None
        assert client.send(200 * MS, holds=False) is None


def test_stalls_that_are_far_apart_do_not_add_up() -> None:
    client = Client()
    client.send(0)

    assert [client.send(WINDOW_NS // 2 + 1) for _ in range(20)] == [None] * 20


def test_the_window_includes_its_end() -> None:
    client = Client()
    client.send(0)
    client.send(60 * MS)

    assert client.send(WINDOW_NS // 2) is None
    assert client.send(WINDOW_NS - WINDOW_NS // 2) == WINDOW_NS - WINDOW_NS // 2


def test_a_longer_time_out_counts_from_the_message_on_which_it_is_given() -> None:
    pulse = CommandPulse()
    pulse.note(0, TIMEOUT, holds=True)

    assert [pulse.note(at * 100 * MS, 500 * MS, holds=True) for at in range(1, 6)] == [None] * 5


@given(st.lists(st.tuples(st.integers(0, 12_000 * MS), st.booleans()), max_size=60))
def test_the_rule_holds_for_any_client(messages: list[tuple[int, bool]]) -> None:
    client = Client()
    returns: list[int] = []
    held = False
    last = 0

    for after_ns, holds in messages:
        warned = client.send(after_ns, holds=holds)
        interval = client.now_ns - last
        if held and holds and interval > TIMEOUT:
            returns.append(client.now_ns)
        recent = returns[-STALLS:]
        due = bool(returns) and returns[-1] == client.now_ns and holds and held and interval > TIMEOUT
        expected = due and len(recent) == STALLS and recent[-1] - recent[0] <= WINDOW_NS
        assert (warned is not None) == expected
        if warned is not None:
            assert warned == interval
            returns.clear()
        last, held = client.now_ns, holds
