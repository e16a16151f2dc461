"""Read the machine's processors, stolen time and load, and a process's processor time and memory."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from actors.control.cores import Cores, of_this_machine

PROC: Final = Path("/proc")
LOOP_PRIORITY: Final = 80
LOOP_THREAD: Final = "hd-loop"
MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ProcessorTime:
    """Time of all processors since boot, in kernel ticks."""

    total: int
    stolen: int
    idle: int

    @classmethod
    def now(cls) -> ProcessorTime:
        """Read the first line of /proc/stat."""
        user, nice, system, idle, wait, irq, softirq, stolen, *_ = (
            int(word) for word in (PROC / "stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
        )
        return cls(user + nice + system + idle + wait + irq + softirq + stolen, stolen, idle + wait)

    def steal_since(self, before: ProcessorTime) -> float:
        """Return the percentage of the time since `before` that the hypervisor took."""
        return 100 * (self.stolen - before.stolen) / max(1, self.total - before.total)

    def idle_since(self, before: ProcessorTime) -> float:
        """Return the percentage of the time since `before` in which the processors were idle."""
        return 100 * (self.idle - before.idle) / max(1, self.total - before.total)


def cpu_seconds(pid: int, *, loop: bool = False) -> float:
    """Return the processor time of a process so far (s): of its control loop alone, or of all other threads."""
    total = 0
    for task in (PROC / str(pid) / "task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
            is_loop = (task / "comm").read_text(encoding="utf-8").strip() == LOOP_THREAD
            if is_loop == loop:
                total += int((task / "schedstat").read_text(encoding="ascii").split()[0])
    return total * 1e-9


def confine(pid: int, processors: Iterable[int]) -> None:
    """Let all threads of a process run on these processors only, but for a control loop."""
    for task in (PROC / str(pid) / "task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            if (task / "comm").read_text(encoding="utf-8").strip() != LOOP_THREAD:
                os.sched_setaffinity(int(task.name), processors)


def memory_mib(pid: int, field: str) -> float:
    """Return `VmHWM` (peak), `VmRSS` (now) or `RssAnon` (now, without files) of a process, MiB."""
    for line in (PROC / str(pid) / "status").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024 / MIB
    raise ValueError(f"/proc/{pid}/status has no {field}: use VmHWM, VmRSS or RssAnon")


def main_thread_ns(pid: int) -> int:
    """Return the processor time of a process's main thread, ns; it is current while the thread sleeps."""
    return int((PROC / str(pid) / "task" / str(pid) / "schedstat").read_text(encoding="utf-8").split()[0])


def cores() -> Cores:
    """Return the CPUs that the service chooses on this machine for the loop and for all other threads."""
    return of_this_machine("auto", LOOP_PRIORITY)


@contextmanager
def as_the_service() -> Generator[None]:
    """Run this thread, and those that it starts, with the service's CPUs and switch interval."""
    from transport.service import SWITCH_INTERVAL_S

    mask, interval = os.sched_getaffinity(0), sys.getswitchinterval()
    os.sched_setaffinity(0, cores().rest)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    try:
        yield
    finally:
        os.sched_setaffinity(0, mask)
        sys.setswitchinterval(interval)


def description() -> str:
    """Return one line that describes the machine."""
    models = [
        line for line in (PROC / "cpuinfo").read_text(encoding="utf-8").splitlines() if line.startswith("model name")
    ]
    model = models[0].partition(":")[2].strip() if models else platform.machine()
    chosen = cores()
    pinned = "no SCHED_FIFO" if chosen.loop is None else f"SCHED_FIFO, loop on CPU {chosen.loop}"
    return f"{model}, {len(os.sched_getaffinity(0))} CPUs, {platform.system()} {platform.release()}, Python {platform.python_version()}, {pinned}"
