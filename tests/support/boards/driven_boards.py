"""A loop that drives emulated boards without actors: leases, port threads, a writer, and the timekeeper's checks.

`python -m tests.support.boards.driven_boards PATH SLEW SILENCE` drives one with a force until it is killed; it prints a line once it does.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Final, Self

from actors.port.link_interface import OpenLimits
from actors.values.hardware import Candidate, Transport
from fastpath.arena.access import Reader, Writer
from fastpath.arena.runtime import Runtime
from tests.support.loop.devices import arm_params, fill
from transport.link.protocols.openlink.driver import OpenlinkLink, open_board

LOOK_S: Final = 0.010
SILENCE_S: Final = 0.030
HOLD_S: Final = 0.5
PUSH_N: Final = 1.0


class DrivenBoards:
    """Context manager: one arm at each path; `force` is what all of them are ordered until it is another.

    `slew`: N/s, 0 for no limit; `silence`: s without a packet after which the loop ends the force.
    """

    def __init__(self, *paths: str, frequency: float = 4000.0, slew: float = 0.0, silence: float = SILENCE_S) -> None:
        self.runtime = Runtime(realtime=False)
        self._frequency = frequency
        self._slew = slew
        self._silence = silence
        self.leave_out(0)
        self.links: list[OpenlinkLink] = []
        self.readers: list[Reader] = []
        self.force = (0.0, 0.0, 0.0)
        self._paths = paths
        self._writers: list[Writer] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, name="looks")
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self.runtime.start()
            stack.callback(self.runtime.stop)
            session = self.runtime.lease_session("1")
            for number, path in enumerate(self._paths):
                candidate = Candidate(f"board{number}", path, Transport.SERIAL)
                link = open_board(candidate, self.runtime, OpenLimits(), threading.Event())
                stack.callback(link.close)
                params = arm_params()
                fill(params, {"source": 1, "silence": self._silence, "slew": self._slew, "slow_slew": self._slew})
                (found,) = link.facts().devices
                lease = self.runtime.lease_device(found.device_id)
                assert self.runtime.publish_device(lease, params)
                link.start({found.device_id: lease})
                self.links.append(link)
                self.readers.append(self.runtime.reader(lease))
                self._writers.append(self.runtime.writer(session, lease))
            self._thread.start()
            stack.callback(self._thread.join)
            stack.callback(self._stop.set)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def push(self, *force: float) -> int:
        """Command that force on every board and keep refreshing it; return the time of the command by the runtime's clock."""
        x, y, z = force
        self.force = (x, y, z)
        ordered_ns = self.runtime.now_ns()
        self._order()
        return ordered_ns

    def leave_out(self, share: float) -> None:
        """Leave out this share of the loop's ticks from now on."""
        self.runtime.publish_loop(frequency=self._frequency, command_timeout=HOLD_S, duty=1 - share)

    def _order(self) -> None:
        for writer in self._writers:
            writer.begin()
            writer.force(*self.force)
            writer.publish()

    def _look(self) -> None:
        while not self._stop.wait(LOOK_S):
            self.runtime.beat()
            for link in self.links:
                link.facts()
            self._order()


@contextmanager
def driving(path: str, slew: float = 0.0, silence: float = SILENCE_S) -> Generator[subprocess.Popen[str], None, None]:
    """Yield a process that drives the board at a path with a force of PUSH_N; `slew` and `silence` as in `DrivenBoards`."""
    command = [sys.executable, "-m", "tests.support.boards.driven_boards", path, str(slew), str(silence)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "driving\n"
            yield process
        finally:
            process.kill()


def main() -> None:
    """Drive the board at the path until this process ends."""
    with DrivenBoards(sys.argv[1], slew=float(sys.argv[2]), silence=float(sys.argv[3])) as boards:
        boards.push(0.0, 0.0, PUSH_N)
        sys.stdout.write("driving\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
