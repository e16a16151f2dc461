"""Convert a device's cell of gaps to GapCounters; no other module reads its fields by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.control.messages import GapCounters

if TYPE_CHECKING:
    from fastpath.arena.memory import Lease
    from fastpath.arena.runtime import Runtime


def read_gaps(runtime: Runtime, lease: Lease) -> GapCounters:
    """Return one consistent snapshot of a device's gaps, at most 0.1 s old."""
    shown: Any = runtime.reader(lease).gaps()
    return GapCounters(
        force_s=float(shown["force_seconds"]),
        interrupted_s=float(shown["interrupted_seconds"]),
        gaps=int(shown["gaps"]),
        gap_s=float(shown["gap_seconds"]),
        longest_s=float(shown["longest"]),
        buckets=tuple(int(count) for count in shown["buckets"]),
        lengths_s=tuple(float(length) for length in shown["lengths"]),
    )
