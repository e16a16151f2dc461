"""Limits on requests, connections and unsent bytes, as plain objects with their numbers in one place."""

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
class EdgeLimits:
    """Limits of all listeners together."""

    requests_per_s: float = 1000.0  # of one remote peer; more are refused with 429
    peers: int = 1024  # remote peers whose rates are counted apart
    local_requests_per_s: float = 1000.0  # of all programs of this machine together; more wait
    foreign_requests_per_s: float = 100.0  # of web pages that are refused; more wait
    unsent_bytes: int = (
        16 * 1024 * 1024
    )  # bytes of answers not read by their clients; beyond, the longest stalled one is closed
    first_request_s: float = 10.0  # s from the opening of a connection to the end of its first headers
    idle_s: float = 60.0  # s from the end of an answer to the end of the next headers
    body_s: float = 10.0  # s for a body
    exchange_s: float = 30.0  # s from the end of the headers until the answer has left
    plain_connections: int = 256  # connections without a WebSocket; beyond, the longest idle one is closed
    event_channels: int = 64
    header_bytes: int = 16 * 1024  # bytes of headers; more are answered with 431


class Spacing:
    """Delay requests beyond `rate` per second; a second without requests saves up one second's worth. Main thread only."""

    def __init__(self, rate: float, now_ns: Callable[[], int]) -> None:
        self._step_ns = round(NS_PER_S / rate)
        self._now_ns = now_ns
        self._next_ns = now_ns() - NS_PER_S

    def reserve(self) -> float:
        """Count one request and return its delay in s (0: none)."""
        now_ns = self._now_ns()
        at_ns = max(self._next_ns, now_ns - NS_PER_S + self._step_ns)
        self._next_ns = at_ns + self._step_ns
        return max(0, at_ns - now_ns) / NS_PER_S


class RequestRate:
    """A token bucket for each remote peer: `rate` requests per second, as many at once; main thread only.

    At most `peers` buckets are kept. A full bucket equals a new one and is dropped first; while none is full, new peers share
    one bucket, so that many addresses do not multiply `rate`.
    """

    def __init__(self, rate: float, peers: int, now_ns: Callable[[], int]) -> None:
        self._rate = rate
        self._peers = peers
        self._now_ns = now_ns
        # network -> (tokens, when), the longest unused first
        self._buckets: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def admit(self, peer: str) -> bool:
        """Take one token of the peer; False when it has none left."""
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
        """Number of buckets."""
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
    """Return the network that counts as one peer: an IPv4 address, or the /64 of an IPv6 address."""
    try:
        address = ip_address(peer.partition("%")[0])
    except ValueError:
        return peer
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return f"{int(address) >> (128 - IPV6_NETWORK_BITS):x}::/64"
