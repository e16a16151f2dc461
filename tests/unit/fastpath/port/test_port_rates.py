"""A port's thread commands each of its devices at that device's own rate; the test compares counts of commands, not times."""

from __future__ import annotations

import os
import select
import tty
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

from fastpath.arena.runtime import Runtime
from fastpath.codecs.openlink_messages import Command, CommandMode
from fastpath.codecs.openlink_py import Decoder
from fastpath.port.port_thread import PortThread
from tests.support.service.polling import TIMEOUT_S

COMMANDS = 40
# Counts that a busy machine may spoil before the test fails.
ATTEMPTS = 100


@contextmanager
def speaking(*rates_hz: float) -> Generator[tuple[PortThread, int]]:
    """Yield a port thread with devices of a loop that does not run, and the far end of its line."""
    far, near = os.openpty()
    tty.setraw(near)
    runtime = Runtime(realtime=False)
    modes = bytes([CommandMode.TORQUE] * len(rates_hz))
    thread = PortThread(runtime, near, "openlink", rates_hz=rates_hz, zero_packet=b"", config=modes)
    for index in range(len(rates_hz)):
        thread.attach(index, runtime.lease_device(str(index)))
    try:
        thread.start(at_fatal_signal=False)
        yield thread, far
    finally:
        thread.close()
        os.close(far)


def test_each_device_gets_commands_at_its_own_rate() -> None:
    """The ratio is two to five; repeat the count when a busy machine made the thread skip a command."""

    def counted() -> dict[int, int] | None:
        decoder, seen = Decoder(), Counter[int]()
        with speaking(80.0, 200.0) as (thread, far):
            while seen[1] < COMMANDS:
                assert select.select([far], [], [], TIMEOUT_S)[0]
                frames = decoder.feed(os.read(far, 4096))
                assert all(isinstance(frame.message, Command) for frame in frames)
                seen.update(frame.device for frame in frames)
            counters = thread.counters()
        return dict(seen) if counters.late == counters.blocked == 0 else None

    seen = next((found for _ in range(ATTEMPTS) if (found := counted())), None)

    assert seen is not None
    assert abs(seen[0] - 0.4 * seen[1]) <= 2
