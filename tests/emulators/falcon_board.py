"""Emulated Novint Falcon behind its FTDI chip: boot loader, firmware, homing, and a light plant held by a spring.

Each command that the firmware takes advances the plant by `period`, so that a run is the same however long it takes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

from fastpath.codecs import falcon_py

RESET, MODEM, BAUD, LATENCY = 0, 1, 3, 9
DTR_HIGH: Final = 0x0101
BOOT_BAUD, UPLOAD_BAUD, RUN_BAUD = 0x4138, 0x15, 0x2
MASS, FRICTION, HAND_STIFFNESS, HAND_DAMPING = 0.2, 2.0, 200.0, 4.0
SUBSTEPS: Final = 8
FRAME: Final = 16

Vector = tuple[float, float, float]

REST: Final[Vector] = (0.0, -0.125, 0.0)
OUT: Final[Vector] = (0.0, -0.178, 0.0)
IN: Final[Vector] = (0.0, -0.075, 0.0)


@dataclass
class FalconBoard:
    """One board, just powered. Positions are those of its mechanism with the base at the origin, metres."""

    serial: str = "FL010203"
    loaded: bool = False
    period: float = 0.002
    counts_per_nm: float = 10_000.0
    hand: Vector = REST
    buttons: int = 0
    echo_flips: int | None = None
    boot_deaf: int = 0
    hung: bool = False
    position: Vector = REST
    velocity: Vector = (0.0, 0.0, 0.0)
    motors: Vector = (0.0, 0.0, 0.0)
    lights: int = 0
    homed: int = 0
    image: bytearray = field(default_factory=bytearray)
    controls: list[tuple[int, int]] = field(default_factory=list)
    writes: list[bytes] = field(default_factory=list)
    commands: int = 0
    uploads: int = 0

    def __post_init__(self) -> None:
        """Encoders begin at zero wherever the cranks stand; homing finds their true zero."""
        self.delta = falcon_py.Delta()
        self.outgoing = bytearray()
        self._held = bytearray()
        self._baud = RUN_BAUD
        self._booting = False
        self._uploading = False
        self._spoilt = False
        self._lines = 0
        self._passed_out = 0
        self._offsets: tuple[int, ...] = tuple(-count for count in self._true_counts())

    def find_zero(self) -> None:
        """Home all legs at once."""
        self.homed = falcon_py.HOMED
        self._offsets = (0, 0, 0)

    # ------------------------------------------------------------ what the wire does

    def control(self, request: int, value: int) -> None:
        """Handle one vendor request of the FTDI chip."""
        self.controls.append((request, value))
        if request == RESET and value in (0, 1):
            self.outgoing.clear()
        elif request == BAUD:
            self._set_baud(value)
        elif request == MODEM:
            if value == DTR_HIGH and self._lines != DTR_HIGH and self._baud == BOOT_BAUD:
                self._booting, self._uploading, self._spoilt = True, False, False
                self.loaded = False
                self.image.clear()
            self._lines = value

    def write(self, data: bytes) -> None:
        """Handle bytes from the host."""
        if self._booting:
            self.writes.append(data)
            self._boot(data)
        elif self.loaded and self._baud == RUN_BAUD:
            self._run(data)

    def _set_baud(self, value: int) -> None:
        if self._booting and self._uploading and value == RUN_BAUD and self.image and not self._spoilt:
            self._booting = self._uploading = False
            self.loaded = True
            self.uploads += 1
        self._baud = value

    def _boot(self, data: bytes) -> None:
        if self._baud == BOOT_BAUD and data == b"\x0aC\x0d":
            if self.boot_deaf:
                self.boot_deaf -= 1
            else:
                self.outgoing += b"\x00\x0aD,\x0d"
        elif self._baud == UPLOAD_BAUD and not self._uploading:
            if data == b"A":
                self._uploading = True
                self.outgoing += b"A"
        elif self._uploading:
            start = len(self.image)
            self.image += data
            echo = bytearray(data)
            if self.echo_flips is not None and start <= self.echo_flips < start + len(data):
                echo[self.echo_flips - start] ^= 0x40
                self._spoilt = True
            self.outgoing += echo

    # ------------------------------------------------------------ what the firmware does

    def _run(self, data: bytes) -> None:
        for byte in data:
            if byte == ord("<"):
                self._held.clear()
            self._held.append(byte)
            if len(self._held) == FRAME and self._held[0] == ord("<") and byte == ord(">"):
                self._obey(bytes(self._held))
                self._held.clear()

    def _obey(self, frame: bytes) -> None:
        self.commands += 1
        words = [sum((frame[1 + 4 * i + k] - 0x41) << 4 * k for k in range(4)) for i in range(3)]
        self.motors = _vector(word - 0x10000 if word >= 0x8000 else word for word in words)
        self.lights = frame[13] - 0x41
        self._move()
        if self.lights & 1:
            self._home()
        counts = [count + offset for count, offset in zip(self._true_counts(), self._offsets, strict=True)]
        clipped = [min(max(count, -0x8000), 0x7FFF) for count in counts]
        status = 0x41 + (self.homed << 4 | self.buttons)
        self.outgoing += falcon_py.command(clipped)[:13] + bytes([status]) + b"A>"

    def _move(self) -> None:
        torque = _vector(motor / self.counts_per_nm for motor in self.motors)
        force = self.delta.force(self.position, torque)
        dt = self.period / SUBSTEPS
        position, velocity = list(self.position), list(self.velocity)
        for _ in range(SUBSTEPS):
            for i in range(3):
                held = HAND_STIFFNESS * (self.hand[i] - position[i]) - (HAND_DAMPING + FRICTION) * velocity[i]
                velocity[i] += dt * (force[i] + held) / MASS
                position[i] += dt * velocity[i]
        there = _vector(position)
        if self.delta.cranks(there) is None:
            self.velocity = (0.0, 0.0, 0.0)
            return
        self.position, self.velocity = there, _vector(velocity)

    def _home(self) -> None:
        """Home each leg that has been all the way out and then in; its count jumps to the true one."""
        for leg, count in enumerate(self._true_counts()):
            bit = 1 << leg
            if count > 900:
                self._passed_out |= bit
            elif count < -500 - 100 * leg and self._passed_out & bit and not self.homed & bit:
                self.homed |= bit
                self._offsets = tuple(0 if i == leg else offset for i, offset in enumerate(self._offsets))

    def _true_counts(self) -> tuple[int, int, int]:
        angles = self.delta.inverse(self.position)
        assert angles is not None, "the plant keeps within the reach"
        first, second, third = (round(falcon_py.count(math.degrees(angle))) for angle in angles)
        return first, second, third


def _vector(parts: object) -> Vector:
    x, y, z = (float(part) for part in parts)  # type: ignore[attr-defined]
    return x, y, z
