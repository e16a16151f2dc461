"""Rules for the likely cause of the loop's gaps, from its permissions and from two readings of the processors' times. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from actors.control.messages import GapCause
from actors.control.processor_times import ALL, ProcessorTimes

# Shares of the time of the loop's processor, from which they count as the cause.
STOLEN_SHARE: Final = 0.05
BUSY_SHARE: Final = 0.5

ADVICE: Final[Mapping[GapCause, str]] = MappingProxyType(
    {
        GapCause.TICKS_LEFT_OUT: "ticks are left out on request; POST /simulation/loop with ratio 1 lets every tick run",
        GapCause.STOLEN_TIME: "the host takes time from this virtual machine; give it processors of its own",
        GapCause.NO_PERMISSION: "no realtime permission: hapticd doctor says how to grant it",
        GapCause.BUSY_CORE: "other work keeps the loop's processor busy; move it away or change control/cpu",
        GapCause.UNKNOWN: "unknown: hapticd doctor looks at the machine",
    }
)


@dataclass(frozen=True, slots=True)
class ProcessorUse:
    """Use of the loop's processor between two readings; of all processors when the loop is not pinned."""

    stolen: float  # share, 0 to 1
    busy: float  # share, 0 to 1, of work including the loop's own


def processor_use(before: ProcessorTimes | None, after: ProcessorTimes | None, cpu: int | None) -> ProcessorUse | None:
    """Return the use between two readings; `cpu` None: of all processors. None without both readings or without time."""
    name = ALL if cpu is None else f"{ALL}{cpu}"
    then = None if before is None else before.get(name)
    now = None if after is None else after.get(name)
    if then is None or now is None or now.total <= then.total:
        return None
    total = now.total - then.total
    return ProcessorUse(stolen=(now.stolen - then.stolen) / total, busy=(now.busy - then.busy) / total)


def likely_cause(*, tick_share: float, fifo: bool, use: ProcessorUse | None, own_share: float = 0.0) -> GapCause:
    """Return the likely cause; `own_share` is the share of the processor that the loop itself takes."""
    if tick_share < 1:
        return GapCause.TICKS_LEFT_OUT
    if use is not None and use.stolen >= STOLEN_SHARE:
        return GapCause.STOLEN_TIME
    if not fifo:
        return GapCause.NO_PERMISSION
    if use is not None and use.busy - own_share >= BUSY_SHARE:
        return GapCause.BUSY_CORE
    return GapCause.UNKNOWN
