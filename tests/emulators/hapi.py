"""Emulated hAPI board: its firmware's behaviour and a small pantograph; bytes in, bytes out, no clock of its own.

What the firmware does that a driver has to live with is here: nothing is framed or checked, unknown type bytes are swallowed one
at a time, a reset leaves the motors on, setup presets the encoders wherever the linkage is, directions are stored from port 1 on,
and there is no watchdog: the last torque stays until the next one.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

MOST_TORQUE: Final = 0.123
DUTY_STEPS: Final = {"M0": 1023, "M3": 4095}
PORTS: Final = {"M0": 2, "M3": 4}
SUBSTEP_S: Final = 0.0005


@dataclass(frozen=True, slots=True)
class Wiring:
    """What is really on a port: +1 where torque and angle count as they are, -1 where the direction byte 1 makes them so; home in degrees."""

    turns: int
    home: float


# By port; angles counter-clockwise as the pantograph's kinematics have them.
WIRINGS: Final[Mapping[str, Mapping[int, Wiring]]] = MappingProxyType(
    {
        "pantograph": {1: Wiring(1, 180.0), 2: Wiring(1, 0.0)},
        "2diy-metal": {1: Wiring(-1, -61.0), 2: Wiring(-1, 241.0)},
        "2diy-plastic": {1: Wiring(-1, 12.0), 2: Wiring(-1, 168.0)},
    }
)


@dataclass(slots=True)
class Shaft:
    """One joint: kg m2, N m s, N m; `hand` is what somebody's hand adds (N m), `stiffness` (N m/rad) holds it at `held`."""

    angle: float
    inertia: float = 1.5e-4
    viscous: float = 4e-4
    coulomb: float = 1.5e-3
    speed: float = 0.0
    hand: float = 0.0
    stiffness: float = 0.0
    held: float = 0.0

    def advance(self, torque: float, seconds: float) -> None:
        """Semi-implicit steps; Coulomb friction really sticks."""
        steps = max(1, math.ceil(seconds / SUBSTEP_S))
        dt = seconds / steps
        stick = dt * self.coulomb / self.inertia
        for _ in range(steps):
            spring = self.stiffness * (self.held - self.angle)
            speed = self.speed + dt / self.inertia * (torque + self.hand + spring - self.viscous * self.speed)
            self.speed = math.copysign(max(abs(speed) - stick, 0.0), speed)
            self.angle += dt * self.speed


@dataclass(slots=True)
class Port:
    """One port of the board: who owns it, where its motor and encoder turn, what it counts from, and the duty that is on the motor."""

    owner: int | None = None
    motor: bool = False
    encoder: bool = False
    resolution: float = 1.0
    preset: int = 0
    begun: float = 0.0
    duty: int = 0


@dataclass(slots=True)
class HapiBoard:
    """`feed` bytes and get the answer; `advance` moves the linkage under the torque that is on the motors.

    `firmware`: M0 or M3 (also the Development Kit). Shafts are by port, in the home pose when it is switched on.
    """

    mechanism: str = "2diy-plastic"
    firmware: str = "M3"
    ports: list[Port] = field(init=False)
    shafts: dict[int, Shaft] = field(init=False)
    directions: dict[str, list[int]] = field(init=False)
    sensors: dict[int, list[int]] = field(init=False)
    pins: dict[int, list[int]] = field(init=False)
    swallowed: int = 0
    torque_messages: int = 0
    setups: int = 0
    _held: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        """Place the shafts in the home pose and power up."""
        self.shafts = {port: Shaft(math.radians(one.home)) for port, one in WIRINGS[self.mechanism].items()}
        self.power_up()

    def power_up(self) -> None:
        """Reset ports, directions and pins, without torque; the linkage stays where it is."""
        count = PORTS[self.firmware]
        self.ports = [Port() for _ in range(count)]
        self.directions = {"motor": [0] * count, "encoder": [0] * count}
        self.sensors, self.pins = {}, {}
        self._held.clear()

    # ------------------------------------------------------------ what a test reads

    @property
    def duties(self) -> tuple[int, ...]:
        """Signed PWM duty of each port."""
        return tuple(port.duty for port in self.ports)

    def torque(self, port: int) -> float:
        """Return the clamped and quantised torque on the shaft of a port (from 1): N m, counter-clockwise."""
        one, wiring = self.ports[port - 1], WIRINGS[self.mechanism].get(port)
        if wiring is None:
            return 0.0
        sense = 1 if self.directions["motor"][port - 1] == 0 else -1
        return wiring.turns * sense * one.duty * MOST_TORQUE / DUTY_STEPS[self.firmware]

    @property
    def torques(self) -> tuple[float, ...]:
        """N m on each shaft, port by port."""
        return tuple(self.torque(port) for port in self.shafts)

    def angle(self, port: int) -> float:
        """Return the angle that the encoder of a port (from 1) reads: degrees, whole counts."""
        one, wiring = self.ports[port - 1], WIRINGS[self.mechanism].get(port)
        count = one.preset
        if wiring is not None:
            sense = 1 if self.directions["encoder"][port - 1] == 0 else -1
            turned = self.shafts[port].angle - one.begun
            count += math.floor(wiring.turns * sense * turned / (2 * math.pi) * one.resolution + 1e-9)
        return 360.0 * count / one.resolution

    # ------------------------------------------------------------ the world

    def advance(self, seconds: float) -> None:
        """Move the linkage by `seconds`."""
        for port, shaft in self.shafts.items():
            shaft.advance(self.torque(port), seconds)

    # ------------------------------------------------------------ bytes

    def feed(self, data: bytes) -> bytes:
        """Return the answer; an incomplete message waits for its remaining bytes."""
        self._held += data
        answer = bytearray()
        while self._held:
            length = self._length()
            if length is None or length > len(self._held):
                break
            message = bytes(self._held[:length])
            del self._held[:length]
            answer += self._act(message)
        return bytes(answer)

    def _length(self) -> int | None:
        """Return the length of the first message in bytes, None while it is unknown."""
        kind = self._held[0]
        if kind > 2:
            return 1
        if kind == 0:
            return 2
        if len(self._held) < 2:
            return None
        if kind == 2:
            device = self._held[1]
            return 2 + len(self.pins.get(device, ())) + 4 * len(self._owned(device, motor=True))
        return self._setup_length()

    def _setup_length(self) -> int | None:
        at, encoders = 2, 0
        for part in ("motor", "encoder", "sensor", "pin"):
            if at >= len(self._held):
                return None
            many = self._held[at]
            count = many.bit_count() if part in ("motor", "encoder") else many
            encoders = count if part == "encoder" else encoders
            at += 1 + count
        return at + 8 * encoders

    def _act(self, message: bytes) -> bytes:
        if message[0] == 0:
            self._reset()
        elif message[0] == 1:
            self._setup(message)
        elif message[0] == 2:
            return self._drive(message)
        else:
            self.swallowed += 1
        return b""

    def _reset(self) -> None:
        """Clear the owners of all ports; the PWM registers of the motors keep their values."""
        for port in self.ports:
            port.owner, port.motor, port.encoder = None, False, False
        self.pins, self.sensors = {}, {}

    def _setup(self, message: bytes) -> None:
        self.setups += 1
        device, at = message[1], 2
        masked: dict[str, list[int]] = {}
        for part in ("motor", "encoder"):
            masked[part] = [port for port in range(len(self.ports)) if message[at] >> port & 1]
            count = message[at].bit_count()
            stored = message[at + 1 : at + 1 + count][: len(self.ports)]
            self.directions[part][: len(stored)] = stored
            at += 1 + count
        for table in (self.sensors, self.pins):
            count = message[at]
            table[device] = sorted(message[at + 1 : at + 1 + count])
            at += 1 + count
        for index in masked["motor"]:
            self.ports[index].owner, self.ports[index].motor = device, True
        for index in masked["encoder"]:
            offset, resolution = struct.unpack_from("<2f", message, at)
            at += 8
            port = self.ports[index]
            port.owner, port.encoder = device, True
            port.resolution = resolution if math.isfinite(resolution) and resolution > 0 else 1.0
            port.preset = int(offset * port.resolution / 360) if math.isfinite(offset) else 0
            port.begun = self.shafts[index + 1].angle if index + 1 in self.shafts else 0.0

    def _drive(self, message: bytes) -> bytes:
        self.torque_messages += 1
        device = message[1]
        at = 2 + len(self.pins.get(device, ()))
        for index in self._owned(device, motor=True):
            (torque,) = struct.unpack_from("<f", message, at)
            at += 4
            torque = 0.0 if math.isnan(torque) else max(-MOST_TORQUE, min(MOST_TORQUE, torque))
            self.ports[index].duty = int(torque / MOST_TORQUE * DUTY_STEPS[self.firmware])
        angles = [self.angle(index + 1) for index in self._owned(device, motor=False)]
        values = [0.0] * len(self.sensors.get(device, ())) + angles
        return bytes((device,)) + struct.pack(f"<{len(values)}f", *values)

    def _owned(self, device: int, *, motor: bool) -> list[int]:
        return [
            index
            for index, port in enumerate(self.ports)
            if port.owner == device and (port.motor if motor else port.encoder)
        ]
