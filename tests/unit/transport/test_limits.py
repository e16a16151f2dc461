"""Request rate limit per peer address, with bounded memory for addresses."""

from __future__ import annotations

import pytest

from transport.limits import NS_PER_S, RequestRate, Spacing, network_of

RATE = 10
AWAY = "192.0.2.1"


class Clock:
    """Time that the test moves."""

    def __init__(self) -> None:
        self.ns = 0

    def now_ns(self) -> int:
        return self.ns

    def pass_s(self, seconds: float) -> None:
        self.ns += round(seconds * NS_PER_S)


def make(peers: int = 100) -> tuple[RequestRate, Clock]:
    clock = Clock()
    return RequestRate(RATE, peers, clock.now_ns), clock


def admitted(rate: RequestRate, peer: str, tries: int) -> int:
    return sum(rate.admit(peer) for _ in range(tries))


def test_burst_of_one_second_is_allowed_then_the_rate() -> None:
    rate, clock = make()

    assert admitted(rate, AWAY, 50) == RATE
    clock.pass_s(0.3)
    assert admitted(rate, AWAY, 50) == 3
    clock.pass_s(60)
    assert admitted(rate, AWAY, 50) == RATE


def test_refused_request_costs_nothing() -> None:
    rate, clock = make()
    admitted(rate, AWAY, 1000)

    for _ in range(10):
        clock.pass_s(0.1)
        assert admitted(rate, AWAY, 5) == 1


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_loopback_is_unlimited_and_not_stored(peer: str) -> None:
    rate, _ = make()

    assert admitted(rate, peer, 5 * RATE) == 5 * RATE
    assert len(rate) == 0


def test_flooding_peer_takes_nothing_from_another() -> None:
    rate, _ = make()
    admitted(rate, AWAY, 1000)

    assert admitted(rate, "192.0.2.2", 50) == RATE


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2", True),
        ("", "", True),
    ],
)
def test_addresses_are_grouped_into_peers_by_network(one: str, other: str, same: bool) -> None:
    assert (network_of(one) == network_of(other)) is same


def test_many_addresses_share_the_rest_in_bounded_memory() -> None:
    rate, _ = make(peers=20)

    total = sum(rate.admit(f"10.0.{at // 250}.{at % 250}") for at in range(5000))

    assert total <= 20 + RATE
    assert len(rate) <= 21


def test_least_recent_peer_is_dropped_for_a_new_one() -> None:
    rate, clock = make(peers=2)
    admitted(rate, "10.0.0.1", 100)
    clock.pass_s(0.5)
    admitted(rate, "10.0.0.2", 100)
    clock.pass_s(0.6)

    assert admitted(rate, "10.0.0.3", 100) == RATE
    assert admitted(rate, "10.0.0.2", 100) == 6
    assert len(rate) == 2


def test_local_requests_wait_after_a_burst_of_one_second() -> None:
    clock = Clock()
    spacing = Spacing(RATE, clock.now_ns)

    assert [spacing.reserve() for _ in range(RATE + 3)] == pytest.approx([0.0] * RATE + [0.1, 0.2, 0.3])


def test_local_requests_at_the_rate_never_wait() -> None:
    clock = Clock()
    spacing = Spacing(RATE, clock.now_ns)

    for _ in range(20 * RATE):
        assert spacing.reserve() == 0
        clock.pass_s(1 / RATE)


def test_idle_time_accumulates_for_at_most_a_second() -> None:
    clock = Clock()
    spacing = Spacing(RATE, clock.now_ns)
    for _ in range(2 * RATE):
        spacing.reserve()
    clock.pass_s(60)

    assert [spacing.reserve() for _ in range(RATE + 1)] == pytest.approx([0.0] * RATE + [0.1])
