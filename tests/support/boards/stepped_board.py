"""An emulated arm on a pseudo-terminal, driven by a loop that ticks only when it is told to: virtual time, real bytes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from actors.device.params import SLEW_N_S, SLOW_SLEW_N_S
from actors.port.link_interface import OpenLimits
from actors.values.hardware import Candidate, Transport
from fastpath.arena.runtime import Runtime
from tests.support.loop.devices import ARM_MECHANISM, arm_params
from tests.support.service.polling import eventually
from transport.link.protocols.openlink.driver import OpenlinkLink, open_board

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.emulators.boards import Boards, Seen

FREQUENCY: Final = 4000.0
# Longer than any gap: the age of commands and packets is not the subject.
HOLD_S: Final = 0.5
# The first command that is sent behind a tick may have been made before it.
PACKETS: Final = 2

Vector = tuple[float, float, float]


def hold_encoders(boards: Boards) -> Vector:
    """Let the arm's encoders stand still; return their angles, rad."""
    boards.set("stuck", 0b111)
    yaw, shoulder, elbow = boards.see().joint
    return (yaw, shoulder, elbow)


def motor_force(angles: Vector, motor: Sequence[float]) -> Vector:
    """Return the force at the cursor (N) of torques (N.mm) at these encoder angles (rad)."""
    return ARM_MECHANISM.force(angles, [1e-3 * torque for torque in motor])


class SteppedBoard:
    """Context manager: the first of the boards, an arm whose encoders stand still, under a force that a test sets."""

    def __init__(self, boards: Boards) -> None:
        self.force: Vector = (0.0, 0.0, 0.0)
        self._boards = boards
        self._runtime = Runtime(stepping=True, realtime=False)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._runtime.publish_loop(frequency=FREQUENCY, command_timeout=HOLD_S)
        self._boards.set("settle_ms", 1)
        self.angles = hold_encoders(self._boards)
        with ExitStack() as stack:
            self._link = self._open()
            stack.callback(self._link.close)
            (found,) = self._link.facts().devices
            lease = self._runtime.lease_device(found.device_id)
            params = arm_params(source=1, silence=HOLD_S, slew=SLEW_N_S, slow_slew=SLOW_SLEW_N_S)
            assert self._runtime.publish_device(lease, params)
            self._reader = self._runtime.reader(lease)
            self._writer = self._runtime.writer(self._runtime.lease_session("1"), lease)
            self._link.start({found.device_id: lease})
            eventually(self._is_ready, "the board is ready and in the loop", pause_s=0.001)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def tick(self, missed: int = 0) -> Any:
        """Return the state after one tick that comes after so many missed periods."""
        self._writer.begin()
        self._writer.force(*self.force)
        assert self._writer.publish()
        self._runtime.step(1, missed=missed)
        return self._reader.snapshot()

    def obey(self) -> Seen:
        """Return what the board shows once it has a command that was made after the last tick."""
        sent = self._link.facts().counters.frames_out

        def obeys() -> Seen | None:
            seen = self._boards.see()
            return seen if seen.commands >= sent + PACKETS else None

        return eventually(obeys, "the board has the command", pause_s=0.0005)

    def _open(self) -> OpenlinkLink:
        """Return the link: it waits for the board, and the clock goes on meanwhile."""
        candidate = Candidate("board0", self._boards.path(), Transport.SERIAL)
        with ThreadPoolExecutor(1) as pool:
            opened = pool.submit(open_board, candidate, self._runtime, OpenLimits(), threading.Event())

            def is_open() -> bool:
                self._runtime.step(4)
                return opened.done()

            eventually(is_open, "the board is identified", pause_s=0.001)
            return opened.result()

    def _is_ready(self) -> bool:
        state = self.tick()
        return self._boards.see().phase == 3 and np.allclose(state["joint"], np.degrees(self.angles), atol=1e-3)
