"""Record when a process writes to and reads from its serial port, by a preloaded library."""

from __future__ import annotations

import shlex
import subprocess
import sysconfig
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

SOURCE: Final = Path(__file__).with_suffix(".c")
ENTRY: Final = np.dtype([("ns", "<i8"), ("bytes", "<i4"), ("out", "<i4")])
HEAD_BYTES: Final = 16
QUIET_NS: Final = 4_000_000


class PortTap:
    """A tape with room for so many reads and writes; `environment` is what the process has to be started with."""

    def __init__(self, folder: Path, room: int) -> None:
        self._tape = folder / "tape"
        library = folder / "tap.so"
        compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")[:1]
        subprocess.run(
            [*compiler, "-std=gnu11", "-O2", "-shared", "-fPIC", str(SOURCE), "-o", str(library), "-ldl"], check=True
        )
        self._tape.write_bytes(bytes(HEAD_BYTES + room * ENTRY.itemsize))
        self.environment = {"LD_PRELOAD": str(library), "PORT_TAP": str(self._tape)}

    def answers_ms(self, order_bytes: int, reply_bytes: int) -> NDArray[Any]:
        """Return the time from each order's write to the read of its reply's last byte, ms; inf without a reply.

        A driver that stops asking for QUIET_NS begins anew: what it was owed until then it is not owed any more.
        """
        data = self._tape.read_bytes()
        count = int.from_bytes(data[:8], "little")
        entries = np.frombuffer(data, ENTRY, offset=HEAD_BYTES)
        assert count <= entries.size, "the tape was too short"
        entries = entries[:count]
        written, read = entries[entries["out"] == 1], entries[entries["out"] == 0]
        orders = written[written["bytes"] == order_bytes]["ns"]
        took: list[NDArray[Any]] = []
        for part in np.split(orders, np.flatnonzero(np.diff(orders) > QUIET_NS) + 1):
            until = orders[np.searchsorted(orders, part[-1]) + 1] if part[-1] != orders[-1] else read["ns"][-1] + 1
            came = read[(read["ns"] >= part[0]) & (read["ns"] < until)]
            whole = np.arange(1, int(came["bytes"].sum()) // reply_bytes + 1) * reply_bytes
            replies = came["ns"][np.searchsorted(np.cumsum(came["bytes"]), whole)]
            both = min(part.size, replies.size)
            ms = np.full(part.size, np.inf)
            ms[:both] = (replies[:both] - part[:both]) * 1e-6
            took.append(ms)
        return np.concatenate(took)
