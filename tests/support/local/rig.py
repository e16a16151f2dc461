"""A local client of one arm on a stepped loop, without the service."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpath.arena.access import Writer
from fastpath.arena.runtime import Lease
from fastpath.local.seats import LocalSeat, LocalSeats
from tests.support.local.page import Page, States
from tests.support.loop.devices import SteppedArm
from transport.wire.commands import BY_CODE

LARGEST = [BY_CODE[code].largest for code in sorted(BY_CODE)]
ALL = 15
LONGEST_TURN_S = 1.0


class LocalClient:
    """One seat with its page, attached to the arm."""

    def __init__(self, rig: LocalArm, name: str) -> None:
        self._rig = rig
        self.session: Lease = rig.runtime.lease_session(name)
        seat = rig.seats.seat(self.session)
        assert seat is not None
        self.seat: LocalSeat = seat
        self.page = Page(seat.descriptor)
        seat.seal()
        seat.show(int(self.session.slot) + 100)
        self.writer: Writer = rig.runtime.writer(self.session, rig.device)
        assert self.writer.publish(refresh=False)
        seat.attach(self.writer, ALL)
        rig.step()

    def force(self, *force: float) -> int:
        """Command a force now."""
        return self.page.force(self._rig.slot, self._rig.generation, *force)

    @property
    def answer(self) -> tuple[int, int, int, int, int]:
        """Sequence taken, number of records taken and refused, reason, commands in force."""
        return self._rig.states.answer(self.seat.number, self._rig.slot)


class LocalArm(SteppedArm):
    """An arm that nothing moves, whose sessions are local."""

    def __init__(self, params: NDArray[np.void] | None = None, **given: Any) -> None:
        super().__init__(params, **given)
        self.seats = LocalSeats(self.runtime, LARGEST)
        self.states = States(self.seats.descriptor)
        self.seats.turned(LONGEST_TURN_S)

    @property
    def slot(self) -> int:
        """The arm's slot."""
        return int(self.device.slot)

    @property
    def generation(self) -> int:
        """The arm's generation."""
        return int(self.device.generation)

    def step(self, ticks: int = 1, *, beat: bool = True, missed: int = 0, turns: bool = True) -> NDArray[np.void]:
        """The state after some more ticks; the event loop turns before them, unless `turns` is False."""
        if turns and hasattr(self, "seats"):
            self.seats.turned(LONGEST_TURN_S)
        return super().step(ticks, beat=beat, missed=missed)

    def client(self, name: str = "local") -> LocalClient:
        """One more local client."""
        return LocalClient(self, name)
