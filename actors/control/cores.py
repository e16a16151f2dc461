"""Choose the CPU that the loop thread is pinned to, and the CPUs of all other threads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_CPUS = Path("/sys/devices/system/cpu")


@dataclass(frozen=True, slots=True)
class Cores:
    """Assignment of processors to threads."""

    loop: int | None  # processor of the loop; None: not pinned
    rest: frozenset[int]  # processors of all other threads

    @property
    def shared(self) -> bool:
        """Whether all threads share one processor, so that spinning blocks the others."""
        return self.loop is None and len(self.rest) == 1


def choose(
    allowed: frozenset[int],
    requested: str = "auto",
    capacity: dict[int, int] | None = None,
    twins: dict[int, frozenset[int]] | None = None,
) -> Cores:
    """Choose the loop's processor: none of one, the last of two, else the last of the fastest with its hyper-thread twin idle.

    `requested` is `auto`, `none` or a processor's number; a processor that is not allowed counts as `auto`.
    """
    if requested == "none" or len(allowed) < 2:
        return Cores(None, allowed)
    capacity, twins = capacity or {}, twins or {}
    if requested.isdecimal() and int(requested) in allowed:
        loop = int(requested)
    else:
        fastest = max(capacity.get(cpu, 0) for cpu in allowed)
        loop = max(cpu for cpu in allowed if capacity.get(cpu, 0) == fastest)
    rest = allowed - {loop}
    without_twin = rest - twins.get(loop, frozenset())
    return Cores(loop, without_twin or rest)


def of_this_machine(requested: str, priority: int) -> Cores:
    """Return `choose` for this process; without SCHED_FIFO or affinity calls nothing is pinned."""
    if not hasattr(os, "sched_getaffinity"):
        return Cores(None, frozenset())
    allowed = frozenset(os.sched_getaffinity(0))
    if not fifo_permitted(priority):
        return Cores(None, allowed)
    return choose(
        allowed,
        requested,
        {
            cpu: _number(_CPUS / f"cpu{cpu}/cpu_capacity", _number(_CPUS / f"cpu{cpu}/cpufreq/cpuinfo_max_freq", 0))
            for cpu in allowed
        },
        {cpu: _listed(_CPUS / f"cpu{cpu}/topology/thread_siblings_list") for cpu in allowed},
    )


def fifo_permitted(priority: int) -> bool:
    """Whether the operating system grants this process SCHED_FIFO at that priority; tries it for a moment."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except OSError:
        return False
    return True


def _number(path: Path, otherwise: int) -> int:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return otherwise


def _listed(path: Path) -> frozenset[int]:
    """Parse a kernel list of processors such as `0-1,4`."""
    cpus: set[int] = set()
    try:
        for part in path.read_text(encoding="ascii").strip().split(","):
            first, _, last = part.partition("-")
            cpus.update(range(int(first), int(last or first) + 1))
    except (OSError, ValueError):
        return frozenset()
    return frozenset(cpus)
