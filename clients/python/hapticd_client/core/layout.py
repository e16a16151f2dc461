"""Layout of the memory that the service shares with local clients, as docs/local.md describes it; no I/O."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from hapticd_client.core.state import DeviceState
from hapticd_client.core.vectors import Vector

VERSION: Final = 1
MAGIC: Final = 0x314C434F4C445048
SLOTS: Final = 16
PAGE_BYTES: Final = 16 * 2112
CELL_BYTES: Final = 2112
PLACES: Final = 16
RECORDS_AT: Final = 64
RECORD_BYTES: Final = 128
# sequence, generation, commands, set_points
RECORD: Final = struct.Struct("<QII12d")
# magic, version, bytes, tick, tick_ns, period_ns, timeout_ns
HEADER: Final = struct.Struct("<QIIQqqq")
TICK_AT: Final = 16
NAMES_AT: Final = 128
NAME_BYTES: Final = 88
# sequence, generation, device_id, kind
NAME: Final = struct.Struct("<QQ48s24s")
SHOWN_AT: Final = NAMES_AT + SLOTS * NAME_BYTES
STATE_BYTES: Final = 224
SHOWN_BYTES: Final = 8 + STATE_BYTES
GENERATION_AT: Final = 16
SEATS_AT: Final = SHOWN_AT + SLOTS * SHOWN_BYTES
SEAT_BYTES: Final = 64 + 16 * 32
# taken, records, refused, reason, in_force
ANSWER: Final = struct.Struct("<QQQII")
ANSWERS_AT: Final = 64
MODES: Final = ("idle", "force", "position")
CALIBRATED: Final = 1
READY: Final = 4
ATTACHED: Final = 64
BITS: Final[Mapping[str, int]] = MappingProxyType(
    {"set_cursor_force": 0, "set_cursor_position": 1, "set_angular_torques": 2, "set_angular_position": 3}
)
REASONS: Final = (
    "taken",
    "its sequence is not above the last one",
    "it was made for another device, which had this slot before",
    "it has a bit that is no command",
    "a number in it is not finite, or beyond 1e6",
)
BUTTONS: Final = ("a", "b", "c")
NO_POINTS: Final = (0.0,) * 12


class SharedState(DeviceState):
    """A copy of one device's state. Arrays are views of it, in the device frame."""

    __slots__ = ("_kind", "_numbers", "_raw")

    def __init__(self, raw: bytes, kind: str) -> None:
        """`raw`: the 224 bytes of a state."""
        self._raw = raw
        self._numbers: Vector = np.frombuffer(raw, np.float64)
        self._kind = kind

    @property
    def generation(self) -> int:
        """Changes when the slot gets another device."""
        return int.from_bytes(self._raw[16:20], "little")

    @property
    def tick(self) -> int:
        """Number of the tick that it is of."""
        return int.from_bytes(self._raw[:8], "little")

    @property
    def _flags(self) -> int:
        return int.from_bytes(self._raw[20:24], "little")

    @property
    def position(self) -> Vector:
        """Cursor, m, device frame."""
        return self._numbers[4:7]

    @property
    def velocity(self) -> Vector:
        """Velocity of the cursor, m/s."""
        return self._numbers[7:10]

    @property
    def force(self) -> Vector:
        """Force as the motors got it, N."""
        return self._numbers[10:13]

    @property
    def angles(self) -> Vector:
        """Joint angles, degrees."""
        return self._numbers[13:16]

    @property
    def angular_velocity(self) -> Vector:
        """Joint velocities, degrees/s."""
        return self._numbers[16:19]

    @property
    def torques(self) -> Vector:
        """Torques, N·mm."""
        return self._numbers[19:22]

    @property
    def orientation(self) -> Vector:
        """Quaternion w, x, y, z."""
        return self._numbers[22:26]

    @property
    def mode(self) -> str:
        """`idle`, `force` or `position`."""
        return MODES[self._raw[24]] if self._raw[24] < len(MODES) else MODES[0]

    @property
    def hall(self) -> float:
        """Reading of the hall sensor."""
        return float(self._numbers[26])

    @property
    def buttons(self) -> Mapping[str, bool]:
        """Buttons by name; empty for an arm or compact."""
        if self._kind in {"arm", "compact"}:
            return MappingProxyType({})
        pressed = int.from_bytes(self._raw[216:224], "little")
        return MappingProxyType({name: bool(pressed >> bit & 1) for bit, name in enumerate(BUTTONS)})

    @property
    def ready(self) -> bool:
        """Whether the device takes commands."""
        return bool(self._flags & READY)

    @property
    def calibrated(self) -> bool:
        """Whether it is calibrated."""
        return bool(self._flags & CALIBRATED)

    @property
    def attached(self) -> bool:
        """Whether a grip or pen is attached."""
        return bool(self._flags & ATTACHED)


def seat_in(size: int, seat: int) -> int:
    """Return where a seat begins in an area of so many bytes; ValueError when it is not in it."""
    at = SEATS_AT + seat * SEAT_BYTES
    if seat < 0 or size < at + SEAT_BYTES:
        raise ValueError(f"{size} bytes have no seat {seat}")
    return at


def record(number: int, generation: int, points: Mapping[str, tuple[float, float, float]]) -> bytes:
    """Return a record with all that is in force from the next tick on; no points: everything is released."""
    numbers, bits = list(NO_POINTS), 0
    for name, vector in points.items():
        bit = BITS[name]
        bits |= 1 << bit
        numbers[3 * bit : 3 * bit + 3] = vector
    return RECORD.pack(number, generation, bits, *numbers)


def header_of(memory: Any) -> tuple[int, int, int, int, int]:
    """Return magic, version, number of the newest tick, its period and the time-out of commands, ns."""
    magic, version, _, tick, _, period, timeout = HEADER.unpack_from(memory, 0)
    return magic, version, tick, period, timeout
