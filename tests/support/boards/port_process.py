"""Program: drive the board on a given descriptor at full force until the process ends in the given way.

The way is what it does when a line comes on standard input: `close` as a service that stops, anything else is run as a statement.
"""

from __future__ import annotations

import faulthandler
import resource
import sys
import threading

from fastpath.arena.runtime import Runtime
from fastpath.port import zero_packets
from fastpath.port.port_thread import PortThread
from tests.support.boards.port_board import CONFIG, ZERO
from tests.support.loop.devices import arm_params, fill
from transport.link.failsafe import FailsafeProcess


def main() -> None:
    """Drive until told."""
    descriptor, way = int(sys.argv[1]), sys.argv[2]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    zero_packets.install()
    faulthandler.enable()
    zero_packets.install()
    failsafe = FailsafeProcess()
    runtime = Runtime(realtime=False)
    runtime.publish_loop(frequency=2000, command_timeout=60)
    lease = runtime.lease_device("arm")
    params = arm_params()
    fill(params, {"source": 1, "silence": 60.0})
    runtime.publish_device(lease, params)
    writer = runtime.writer(runtime.lease_session("1"), lease)
    thread = PortThread(
        runtime, descriptor, "hapi", rates_hz=(1000.0,), zero_packet=ZERO, config=CONFIG, failsafe=failsafe
    )
    thread.attach(0, lease)
    runtime.start()
    thread.start()
    writer.force(0.5, 0.25, 0.0)
    writer.publish()
    sys.stdout.write(f"{failsafe.pid}\n")
    sys.stdout.flush()
    sys.stdin.readline()
    if way == "close":
        runtime.stop()
        thread.close()
        failsafe.close()
    else:
        exec(way, {"threading": threading})  # noqa: S102 - the test's own statement


if __name__ == "__main__":
    main()
