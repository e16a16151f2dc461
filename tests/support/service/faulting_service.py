"""Program: the service, which dereferences a null pointer on SIGUSR2 in the place named by STRIKE: main, actor, thread.

Just before, it prints when that is, by the clock of the machine. What follows is the processor's own signal, sent by nobody.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import threading
import time
from typing import Any
from unittest.mock import patch

from actors.device.messages import MANAGER
from actors.system import System
from tests.support.service.actor_faults import run_in_actor
from transport.main import main

systems: list[System] = []


class FaultingSystem(System):
    """A system that reads at a null pointer on SIGUSR2."""

    def __init__(self, *parts: Any, **named: Any) -> None:
        super().__init__(*parts, **named)
        systems.append(self)
        signal.signal(signal.SIGUSR2, told)


def told(*_signal: object) -> None:
    """Fault in that place."""
    match os.environ["STRIKE"]:
        case "main":
            strike()
        case "actor":
            ref = systems[0].context.directory.ref(MANAGER)
            assert ref is not None
            run_in_actor(ref, strike)
        case _:
            threading.Thread(target=strike).start()


def strike(*_actor: object) -> None:
    """Read at a null pointer."""
    os.write(1, f"strikes at {time.monotonic():.6f}\n".encode())
    ctypes.string_at(0)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with patch("transport.service.System", FaultingSystem):
        sys.exit(main(sys.argv[1:]))
