"""A hand that presses a device against a wall along x: device, grip and arm as in `walls`, at a port of a stepped loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tests.support.loop.devices import ARM_CENTRE
from tests.support.loop.distant_device import DistantDevice, rms
from tests.support.loop.scenes import field
from tests.support.loop.walls import (
    APPROACH_M,
    FALCON_LIKE,
    FIRM,
    INVERSE3_LIKE,
    LIGHT,
    MEDIUM,
    PANTOGRAPH,
    RAMP_S,
    TOUCH_LIKE,
    Device,
)

STEP_S: Final = 1 / 32_000
# m/s over which dry friction turns round
CREEP: Final = 1e-3
FREQUENCY: Final = 4000.0
WALL: Final = ARM_CENTRE[0] + 0.02
STIFFNESS: Final = 1000.0
SECONDS: Final = 3.0
SETTLED_S: Final = 1.5
JITTER_S: Final = 0.030

DEVICES: Final = {"arm": INVERSE3_LIKE, "pen": TOUCH_LIKE, "delta": FALCON_LIKE, "pantograph": PANTOGRAPH}
HANDS: Final = {"light": LIGHT, "medium": MEDIUM, "firm": FIRM}
PRESSES: Final = (2.0, 5.0)


@dataclass(slots=True)
class HeldMass:
    """A device in a hand whose arm means to be at `wanted` (m)."""

    device: Device
    hand: tuple[float, float, float, float, float]
    wanted: float
    place: float
    velocity: float = 0.0
    hand_place: float = math.nan
    hand_velocity: float = 0.0

    @property
    def mass(self) -> float:
        """Of the device, kg."""
        return self.device.mass

    @property
    def position(self) -> float:
        """As the encoder reads it, m."""
        return round(self.place / self.device.encoder_step) * self.device.encoder_step

    def advance(self, force: float, seconds: float) -> None:
        """Move device and hand under the force of the motors (N)."""
        hand_mass, stiffness, damping, arm_stiffness, arm_damping = self.hand
        if math.isnan(self.hand_place):
            self.hand_place = self.place
        steps = max(round(seconds / STEP_S), 1)
        step = seconds / steps
        for _ in range(steps):
            grip = stiffness * (self.hand_place - self.place) + damping * (self.hand_velocity - self.velocity)
            rubbed = self.device.viscous * self.velocity + self.device.coulomb * math.tanh(self.velocity / CREEP)
            self.velocity += step * (force + grip - rubbed) / self.device.mass
            self.place += step * self.velocity
            arm = arm_stiffness * (self.wanted - self.hand_place) - arm_damping * self.hand_velocity
            self.hand_velocity += step * (arm - grip) / hand_mass
            self.hand_place += step * self.hand_velocity


@dataclass(frozen=True, slots=True)
class Pressed:
    """One hand and device, and how hard it presses (N)."""

    device: str
    hand: str
    press: float

    def rig(self) -> DistantDevice:
        """A device just before the wall, whose packets are as fast as the loop."""
        mass = HeldMass(DEVICES[self.device], HANDS[self.hand], WALL - APPROACH_M, WALL - APPROACH_M)
        return DistantDevice(mass, FREQUENCY, 0.0)

    def wanted(self, seconds: float) -> float:
        """Where the arm means to be after some time: smoothly to where it presses so hard."""
        share = min(seconds / RAMP_S, 1.0)
        depth = self.press / HANDS[self.hand][3]
        return WALL - APPROACH_M + (depth + APPROACH_M) * share * share * (3 - 2 * share)


COMBINATIONS: Final = tuple(Pressed(device, hand, press) for device in DEVICES for hand in HANDS for press in PRESSES)


def instants(rate: float, seed: int = 0) -> Iterator[float]:
    """Times of messages (s) at a mean rate, each up to JITTER_S late or a period, whichever is less."""
    draw, period = np.random.default_rng(seed), 1 / rate
    late = min(JITTER_S, period)
    number = 0
    while True:
        yield number * period + float(draw.uniform(0, late))
        number += 1


def described(rig: DistantDevice) -> Callable[[], None]:
    """A client that describes the wall once; its messages are signs of life."""
    rig.writer.set_scene({"wall": field("plane", point=(WALL, 0.0, 0.0), normal=(-1.0, 0.0, 0.0), stiffness=STIFFNESS)})
    assert rig.writer.publish(refresh=False)
    return lambda: rig.runtime.hear(rig.session)


def streamed(rig: DistantDevice) -> Callable[[], None]:
    """A client that computes the wall's force from the newest position, and sends it."""

    def send() -> None:
        depth = max(float(rig.reader.snapshot()["position"][0]) - WALL, 0.0)
        rig.writer.begin()
        rig.writer.force(-STIFFNESS * depth, 0.0, 0.0)
        assert rig.writer.publish()

    return send


def press(
    pressed: Pressed, client: Callable[[DistantDevice], Callable[[], None]], rate: float
) -> tuple[list[float], list[float]]:
    """Velocities and depths at each tick (m/s, m) while a client sends messages at a mean rate (Hz)."""
    rig = pressed.rig()
    send, times = client(rig), instants(rate)
    velocities: list[float] = []
    depths: list[float] = []
    due = next(times)
    for tick in range(round(SECONDS * FREQUENCY)):
        now = tick / FREQUENCY
        if now >= due:
            send()
            due = next(times)
        held = rig.mass
        assert isinstance(held, HeldMass)
        held.wanted = pressed.wanted(now)
        velocities += rig.run(1 / FREQUENCY)
        depths.append(held.place - WALL)
    return velocities, depths


def settled(velocities: list[float]) -> float:
    """Motion once the hand has arrived, mm/s rms."""
    return rms(velocities[round(SETTLED_S * FREQUENCY) :])
