"""Simulated devices and commanding sessions on a runtime without the service: the loop alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fastpath.arena.access import Reader, Writer
from fastpath.arena.runtime import Runtime
from tests.support.loop.devices import ARM_CENTRE, arm_params, grip_params

MAKES: Final[Mapping[str, Callable[..., NDArray[np.void]]]] = {"arm": arm_params, "grip": grip_params}
COMMAND_TIMEOUT_S: Final = 0.05
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
        contacts: bool = False,
    ) -> None:
        """`optional`: with every optional monitor on, at limits that nothing passes; `contacts`: one session renders one on each arm."""
        self.contacts = contacts
        self.runtime = Runtime(stepping=stepping)
        self.runtime.publish_loop(frequency=frequency, command_timeout=COMMAND_TIMEOUT_S)
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

    def command(self) -> None:
        """Command a force on every arm by every session, and of the first one a contact too if there are contacts."""
        for number, writer in enumerate(self.writers):
            writer.begin()
            if self.contacts and number < self.arms:
                writer.contact_plane(ARM_CENTRE, (0.1, 0.2, 1.0), 500.0, 2.0)
            writer.force(0.1234567, -0.2345678, 0.3456789)
            assert writer.publish()
