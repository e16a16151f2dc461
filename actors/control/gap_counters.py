"""Convert a device's cell of gaps to GapCounters; no other module reads its fields by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from actors.control.messages import ForceChange, GapCounters

if TYPE_CHECKING:
    from fastpath.arena.memory import Lease
    from fastpath.arena.runtime import Runtime

# As `ForceChanges` in fastpath/layout/force.pxd counts them.
CHANGERS: Final = ("filter", "damper", "monitors")


def read_gaps(runtime: Runtime, lease: Lease) -> GapCounters:
    """Return one consistent snapshot of a device's gaps, at most 0.1 s old."""
    cell: Any = runtime.reader(lease).gaps()
    # All fields at once: each by itself takes as long as all of them.
    shown = dict(zip(cell.dtype.names, cell.tolist(), strict=True))
    return GapCounters(
        force_s=shown["force_seconds"],
        interrupted_s=shown["interrupted_seconds"],
        gaps=shown["gaps"],
        gap_s=shown["gap_seconds"],
        longest_s=shown["longest"],
        buckets=tuple(shown["buckets"].tolist()),
        lengths_s=tuple(shown["lengths"].tolist()),
        changes={
            name: ForceChange(float(taken), float(added))
            for name, taken, added in zip(CHANGERS, *shown["changes"], strict=True)
        },
    )
