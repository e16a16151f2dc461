"""An arm at a port whose cursor is where a test puts it, on a stepped loop past its start-up ramp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from fastpath.arena.access import Reader, Writer
from fastpath.arena.runtime import Lease, Runtime, default_oscillation
from fastpath.port.port_cell import PortCell
from tests.support.loop.devices import ARM_CENTRE, NO_HAND, arm_params, fill

CURSOR: Final = 3

Vector = tuple[float, float, float]


class PlacedArm:
    """Without the oscillation filter and the slew limit, unless asked for, so that forces are those of the sources."""

    def __init__(
        self, *, frequency: float = 4000.0, mass: float = 0.2, filtered: bool = False, **changes: object
    ) -> None:
        self.frequency = frequency
        self.runtime = Runtime(stepping=True)
        oscillation = default_oscillation()
        oscillation["enabled"] = filtered
        self.runtime.publish_loop(frequency=frequency, command_timeout=0.05, oscillation=oscillation)
        self.params = arm_params(plant={"mass": mass}, hand={"path": NO_HAND}, source=1, silence=1.0)
        self.params["mechanism"]["kind"] = CURSOR
        fill(self.params, {"zone_low": (-1.0,) * 3, "zone_high": (-1.0,) * 3, **changes})
        self.lease: Lease = self.runtime.lease_device("arm")
        self.publish()
        self.cell = PortCell(self.runtime, self.lease)
        self.reader: Reader = self.runtime.reader(self.lease)
        self.place: Vector = ARM_CENTRE
        self.session: Lease = self.runtime.lease_session("1")
        self.writer: Writer = self.runtime.writer(self.session, self.lease)
        self.stay(0.6)

    def publish(self, **changes: object) -> None:
        """Change the device's parameters."""
        fill(self.params, changes)
        assert self.runtime.publish_device(self.lease, self.params)

    def other(self, name: str) -> Writer:
        """A writer of one more session."""
        return self.runtime.writer(self.runtime.lease_session(name), self.lease)

    def at(self, place: Sequence[float]) -> Vector:
        """The force (N) after one tick with the cursor at a place (m, device frame)."""
        self.place = (float(place[0]), float(place[1]), float(place[2]))
        assert self.cell.put(position=self.place)
        self.runtime.step(1)
        x, y, z = self.reader.snapshot()["force"].tolist()
        return x, y, z

    def stay(self, seconds: float, *, held: Iterable[Writer] = ()) -> Vector:
        """The force after some seconds at the present place; what `held` writers command is sent again each 10 ms."""
        force = (0.0, 0.0, 0.0)
        every = max(round(0.010 * self.frequency), 1)
        for tick in range(max(round(seconds * self.frequency), 1)):
            if tick % every == 0:
                for writer in held:
                    writer.publish()
            force = self.at(self.place)
        return force

    def go(self, place: Sequence[float], seconds: float, *, held: Iterable[Writer] = ()) -> list[Vector]:
        """The forces on a straight way at constant speed."""
        return [force for _, force in self.way(place, seconds, held=held)]

    def way(
        self, place: Sequence[float], seconds: float, *, held: Iterable[Writer] = ()
    ) -> Iterator[tuple[Vector, Vector]]:
        """Place and force of each tick on a straight way at constant speed."""
        start, end = np.array(self.place), np.array(place, dtype=float)
        ticks = max(round(seconds * self.frequency), 1)
        every = max(round(0.010 * self.frequency), 1)
        for tick in range(ticks):
            if tick % every == 0:
                for writer in held:
                    writer.publish()
            force = self.at((start + (end - start) * (tick + 1) / ticks).tolist())
            yield self.place, force
