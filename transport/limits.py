"""How much of the service one peer, and all idle connections together, may take: rules as plain objects, numbers in one place."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final

from transport.security import is_loopback

NS_PER_S: Final = 1_000_000_000
OVERFLOW: Final = "everybody else"
IPV6_NETWORK_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """What every listener holds its connections to; seconds, bytes, and counts over all ports together."""

    requests_per_s: float = 1000.0
    peers: int = 1024
    # Requests of this machine, of all programs together, and those of web pages that may not ask: faster ones wait.
    local_requests_per_s: float = 1000.0
    foreign_requests_per_s: float = 100.0
    # Answers that have begun and are not taken by their clients: past this, the one that stands still longest makes room.
    unsent_bytes: int = 16 * 1024 * 1024
    # From the opening of a connection until its first request has all its headers.
    first_request_s: float = 10.0
    # From the end of an answer until the next request has all its headers.
    idle_s: float = 60.0
    body_s: float = 10.0
    # From the headers of a request until its answer has left.
    exchange_s: float = 30.0
    # Connections that are no open channel: past this, the one that has been idle longest makes room.
    plain_connections: int = 256
    event_channels: int = 64
    header_bytes: int = 16 * 1024


class Spacing:
    """Requests that wait instead of being refused: `rate` a second, as many at once after a second without any; main thread only."""

    def __init__(self, rate: float, now_ns: Callable[[], int]) -> None:
        self._step_ns = round(NS_PER_S / rate)
        self._now_ns = now_ns
        self._next_ns = now_ns() - NS_PER_S

    def reserve(self) -> float:
        """Count one request. Return how many seconds it has to wait, 0 for none."""
        now_ns = self._now_ns()
        at_ns = max(self._next_ns, now_ns - NS_PER_S + self._step_ns)
        self._next_ns = at_ns + self._step_ns
        return max(0, at_ns - now_ns) / NS_PER_S


class RequestRate:
    """A token bucket for each peer that is not loopback: `rate` requests a second, as many at once; main thread only.

    At most `peers` are known by name. A bucket that has filled up again is as good as a new one and is forgotten first; when
    none has, whoever comes new shares one bucket, so that many addresses do not get more than many times `rate`.
    """

    def __init__(self, rate: float, peers: int, now_ns: Callable[[], int]) -> None:
        self._rate = rate
        self._peers = peers
        self._now_ns = now_ns
        # network -> (tokens, when), the longest unused first
        self._buckets: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def admit(self, peer: str) -> bool:
        """Whether the peer may have one request more now."""
        if is_loopback(peer):
            return True
        now_ns = self._now_ns()
        name = self._name(network_of(peer), now_ns)
        tokens, at_ns = self._buckets.pop(name, (self._rate, now_ns))
        tokens = min(self._rate, tokens + (now_ns - at_ns) / NS_PER_S * self._rate)
        admitted = tokens >= 1
        self._buckets[name] = (tokens - 1 if admitted else tokens, now_ns)
        return admitted

    def __len__(self) -> int:
        """How many peers are known."""
        return len(self._buckets)

    def _name(self, network: str, now_ns: int) -> str:
        if network in self._buckets or len(self._buckets) < self._peers:
            return network
        oldest, (_, at_ns) = next(iter(self._buckets.items()))
        if now_ns - at_ns < NS_PER_S:
            return OVERFLOW
        del self._buckets[oldest]
        return network


def network_of(peer: str) -> str:
    """What counts as one peer: an IPv4 address, or the /64 of an IPv6 one, out of which its owner may take any."""
    try:
        address = ip_address(peer.partition("%")[0])
    except ValueError:
        return peer
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return f"{int(address) >> (128 - IPV6_NETWORK_BITS):x}::/64"
