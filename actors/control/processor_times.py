"""Read how the processors of this machine spent their time, from /proc/stat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PROC_STAT: Final = Path("/proc/stat")
# Lines of processors come first: this is enough for about 1,000 of them.
MOST_BYTES: Final = 65_536
ALL: Final = "cpu"
FIELDS: Final = 8


@dataclass(frozen=True, slots=True)
class Ticks:
    """Time of one processor, or of all, since the machine started; in ticks of the kernel's clock."""

    total: int
    busy: int  # without idle and stolen time
    stolen: int  # the host of a virtual machine gave the processor to others


ProcessorTimes = Mapping[str, Ticks]


def read_processor_times(path: Path = PROC_STAT) -> ProcessorTimes | None:
    """Return the times by name, `cpu` for all and `cpu0`, `cpu1`, …; None on a machine that does not show them."""
    try:
        with path.open("rb") as file:
            return parsed(file.read(MOST_BYTES).decode("ascii", "replace"))
    except OSError:
        return None


def parsed(text: str) -> ProcessorTimes | None:
    """Return the times in the text of /proc/stat; None without a line of all processors."""
    found: dict[str, Ticks] = {}
    for line in text.splitlines():
        name, *numbers = line.split()[: 1 + FIELDS] or [""]
        if not name.startswith(ALL):
            break
        if len(numbers) < FIELDS or not all(number.isdecimal() for number in numbers):
            continue
        user, nice, system, idle, waiting, interrupt, soft_interrupt, stolen = map(int, numbers)
        busy = user + nice + system + interrupt + soft_interrupt
        found[name] = Ticks(busy + idle + waiting + stolen, busy, stolen)
    return found if ALL in found else None
