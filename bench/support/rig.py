"""Simulated devices and commanding sessions on a runtime without the service: the loop alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from actors.values.commands import LARGEST
from fastpath.arena.access import Reader, Writer
from fastpath.arena.runtime import Runtime
from fastpath.layout.constants import Command
from fastpath.local.seats import LocalSeat, LocalSeats
from fastpath.navigation.values import Bubble
from fastpath.scene.values import NO_SCENE, Scene
from tests.support.local.page import Page
from tests.support.loop.devices import ARM_CENTRE, arm_params, grip_params

MAKES: Final[Mapping[str, Callable[..., NDArray[np.void]]]] = {"arm": arm_params, "grip": grip_params}
COMMAND_TIMEOUT_S: Final = 0.05
FORCE: Final = (0.1234567, -0.2345678, 0.3456789)
# s that the event loop may stand still: nobody turns here
LONG_S: Final = 1e6
# 10 mm beyond the surface of a sphere: the scene moves, and the hand is pushed back
OUTSIDE: Final = Bubble(position=(ARM_CENTRE[0] + 0.06, ARM_CENTRE[1], ARM_CENTRE[2]))
# OptionalLimits: J, W, J, stiffness warning, latch, braking stop, enabling button (no device here has it: the costliest case)
UNREACHED: Final = (1e3, 1e3, 1e3, 1, 1, 1, 2)


class LoopRig:
    """Devices of the given kinds, each moved by its simulated hand, and one Writer per session and device with motors."""

    def __init__(
        self,
        kinds: Sequence[str],
        *,
        frequency: float,
        sessions: int = 0,
        stepping: bool = False,
        optional: bool = False,
        contacts: int = 0,
        local: int = 0,
        playing: int = 0,
        navigating: int = 0,
        scene: Scene = NO_SCENE,
    ) -> None:
        """`optional`: with every optional monitor on, at limits that nothing passes.

        So many sessions do this on every arm: `contacts` render one, `playing` play two effects, `navigating` have a bubble whose surface the
        cursor has left. `local`: sessions more that command every arm through shared memory. `scene`: what every session describes on every arm.
        """
        self.runtime = Runtime(stepping=stepping)
        self.runtime.publish_loop(frequency=frequency, command_timeout=COMMAND_TIMEOUT_S, scene_timeout=LONG_S)
        devices = [self.runtime.lease_device(f"device {number}") for number in range(len(kinds))]
        for number, (lease, kind) in enumerate(zip(devices, kinds, strict=True)):
            params = MAKES[kind](seed=5 + number)
            if optional:
                params["optional"] = UNREACHED
            assert self.runtime.publish_device(lease, params)
        self.readers: list[Reader] = [self.runtime.reader(lease) for lease in devices]
        moved = [lease for lease, kind in zip(devices, kinds, strict=True) if kind == "arm"]
        self.arms = len(moved)
        self.writers: list[Writer] = [
            self.runtime.writer(session, lease)
            for session in [self.runtime.lease_session(str(number)) for number in range(sessions)]
            for lease in moved
        ]
        self._contacts = contacts * self.arms
        self._moved = moved
        for number, writer in enumerate(self.writers):
            writer.set_scene(scene)
            if number < playing * self.arms:
                writer.set_effect(0, (0.0, 0.0, 0.1), 100.0 + number)
                writer.set_effect(1, (0.1, 0.0, 0.0), 200.0 + number)
            if number < navigating * self.arms:
                writer.set_navigation(OUTSIDE, ARM_CENTRE)
        self._seats = LocalSeats(self.runtime, [LARGEST] * len(Command))
        self._seats.turned(LONG_S)
        self._local = [self._seat(f"local {number}") for number in range(local)]

    def _seat(self, name: str) -> tuple[LocalSeat, Page]:
        session = self.runtime.lease_session(name)
        seat = self._seats.seat(session)
        assert seat is not None
        page = Page(seat.descriptor)
        seat.seal()
        for lease in self._moved:
            writer = self.runtime.writer(session, lease)
            assert writer.publish(refresh=False)
            seat.attach(writer, 1 << Command.COMMAND_FORCE)
        return seat, page

    def command(self) -> None:
        """Command a force on every arm by every session, and of the first ones a contact too."""
        for number, writer in enumerate(self.writers):
            writer.begin()
            if number < self._contacts:
                writer.contact_plane(ARM_CENTRE, (0.1, 0.2, 1.0), 500.0, 2.0)
            writer.force(*FORCE)
            assert writer.publish()
        for _, page in self._local:
            for lease in self._moved:
                page.force(lease.slot, lease.generation, *FORCE)
