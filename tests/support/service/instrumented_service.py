"""Program: the service with test hooks; at exit it prints what it left behind, as `outcome {…}`.

SIGUSR2 has the actor that BREAK names die in its next message. While the file that HOLD names is there, the event hub's
start waits; where there is a FAIL, it fails.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

from actors.event.hub import EventHub
from actors.system import System
from tests.support.service.actor_faults import raise_planned_crash, run_in_actor
from transport import stacks
from transport.main import main

systems: list[System] = []


class InstrumentedSystem(System):
    """A system that its test hooks can reach."""

    def __init__(self, *parts: Any, **named: Any) -> None:
        super().__init__(*parts, **named)
        systems.append(self)
        signal.signal(signal.SIGUSR2, break_actor)


def break_actor(*_signal: object) -> None:
    """Crash the actor that BREAK names, if it is alive."""
    ref = systems[0].context.directory.ref(os.environ["BREAK"])
    if ref is not None and ref.is_alive():
        run_in_actor(ref, raise_planned_crash)


def failing_start(_hub: EventHub) -> None:
    """Fail with the message in FAIL."""
    raise RuntimeError(os.environ["FAIL"])


def blocked_start(hub: EventHub) -> None:
    """Wait while the file HOLD exists, then start normally."""
    say("the start is held")
    while Path(os.environ["HOLD"]).exists():
        time.sleep(0.005)
    really_start(hub)


def outcome() -> dict[str, Any]:
    """Return the remaining threads, whether the loop runs, and the last force (N) on each device.

    The thread that writes the stacks is left out: it stays to the last, to show also an end that hangs.
    """
    (system,) = systems
    staying = (threading.main_thread().name, stacks.THREAD)
    inventory, runtime = system.inventory.value, system.runtime
    return {
        "threads": [thread.name for thread in threading.enumerate() if thread.name not in staying],
        "running": runtime.running,
        "ticks": int(runtime.loop_state()["ticks"]),
        "forces": [
            [float(part) for part in runtime.reader(record.lease).snapshot()["force"]]
            for record in (*inventory.devices, *inventory.failed)
        ],
    }


def say(line: str) -> None:
    """One line on standard output, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


really_start = EventHub.started

if __name__ == "__main__":
    with ExitStack() as patches:
        patches.enter_context(patch("transport.service.System", InstrumentedSystem))
        if "HOLD" in os.environ:
            patches.enter_context(patch.object(EventHub, "started", blocked_start))
        if "FAIL" in os.environ:
            patches.enter_context(patch.object(EventHub, "started", failing_start))
        code = main(sys.argv[1:])
    say(f"outcome {json.dumps(outcome())}")
    sys.exit(code)
