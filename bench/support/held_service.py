"""Program: the service with one actor that a benchmark can keep busy: `python -m bench.support.held_service run …`.

The line `wait` or `spin` in the named pipe of BENCH_HOLD keeps the event hub in one handler, asleep as on a slow disk or running
Python code without a pause, until the line `free`. Standard error shows when it is held and when it is free again.
"""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from unittest.mock import patch

from actors.event.hub import EventHub
from actors.event.messages import HUB
from actors.kit.actor import handles
from actors.kit.directory import Directory
from actors.kit.message import Message
from transport.main import main

PIPE: Final = "BENCH_HOLD"
HELD: Final = "the hub is held"
FREE: Final = "the hub is free"


@dataclass(frozen=True, slots=True)
class Hold(Message):
    """Keep the hub busy until `free` is set."""

    spins: bool
    free: threading.Event


class HeldHub(EventHub):
    """EventHub that blocks on request."""

    def started(self) -> None:
        """Start a thread that reads the pipe."""
        super().started()
        threading.Thread(target=listen, args=(self.context.directory,), name="hold", daemon=True).start()

    @handles(Hold)
    def hold(self, message: Hold) -> None:
        """Block this actor until `free` is set."""
        say(HELD)
        while message.spins and not message.free.is_set():
            pass
        message.free.wait()
        say(FREE)


def listen(directory: Directory) -> None:
    """Forward the lines of the pipe to the hub until the writer closes it."""
    free = threading.Event()
    with Path(os.environ[PIPE]).open(encoding="ascii") as pipe:
        for line in pipe:
            word = line.strip()
            if word == "free":
                free.set()
            else:
                free = threading.Event()
                directory.tell(HUB, Hold(word == "spin", free))


def say(what: str) -> None:
    """Write one line to standard error."""
    sys.stderr.write(f"{what}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    with patch("actors.system.EventHub", HeldHub):
        sys.exit(main())
