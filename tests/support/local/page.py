"""A client's side of the shared memory in Python, as docs/local.md describes it: struct formats and places, and nothing of the service."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Mapping
from typing import Final

import numpy as np

PAGE_BYTES: Final = 16 * 2112
# sequence, generation, commands, set_points
RECORD: Final = struct.Struct("<QII12d")
CELL_BYTES: Final = 2112
PLACES: Final = 16
RECORDS_AT: Final = 64
RECORD_BYTES: Final = 128
# tick, time_ns, generation, flags, mode, safety, position … torques, orientation, hall, buttons
STATE: Final = struct.Struct("<QqIIII3d3d3d3d3d3d4ddQ")
TICK_AT: Final = 16
NAMES_AT: Final = 128
NAME_BYTES: Final = 88
NAME: Final = struct.Struct("<Q48s24s")
SHOWN_AT: Final = NAMES_AT + 16 * NAME_BYTES
SHOWN_BYTES: Final = 8 + STATE.size
SEATS_AT: Final = SHOWN_AT + 16 * SHOWN_BYTES
SEAT_BYTES: Final = 64 + 16 * 32
# taken, records, refused, reason, in_force
ANSWER: Final = struct.Struct("<QQQII")
FORCE, POSITION, TORQUE, ANGLE = 1, 2, 4, 8
NONE: Final[Mapping[int, tuple[float, float, float]]] = {}


class Page:
    """One client's page, mapped for writing."""

    def __init__(self, descriptor: int) -> None:
        self.memory = mmap.mmap(descriptor, PAGE_BYTES, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        self._words = np.frombuffer(self.memory, np.uint64)
        self._next = dict.fromkeys(range(16), 0)

    def command(
        self,
        slot: int,
        generation: int,
        points: Mapping[int, tuple[float, float, float]],
        *,
        commands: int | None = None,
        sequence: int | None = None,
        inner: int | None = None,
    ) -> int:
        """Write one record, `points` by bit of their command; return its sequence. The rest replaces what belongs there."""
        number = self._next[slot] + 1 if sequence is None else sequence
        self._next[slot] = number
        bits = sum(points) if commands is None else commands
        numbers = [part for bit in (FORCE, POSITION, TORQUE, ANGLE) for part in points.get(bit, (0.0, 0.0, 0.0))]
        at = slot * CELL_BYTES
        RECORD.pack_into(
            self.memory,
            at + RECORDS_AT + (number % PLACES) * RECORD_BYTES,
            number if inner is None else inner,
            generation,
            bits,
            *numbers,
        )
        # As one word: struct would write it byte by byte.
        self._words[at // 8] = number
        return number

    def force(self, slot: int, generation: int, *force: float) -> int:
        """Command a force (N) and nothing else."""
        x, y, z = force
        return self.command(slot, generation, {FORCE: (x, y, z)})

    def scribble(self, data: bytes) -> None:
        """Overwrite the page from its begin."""
        self.memory[: len(data)] = data


class States:
    """The area of states, mapped for reading."""

    def __init__(self, descriptor: int) -> None:
        self.memory = mmap.mmap(descriptor, os.fstat(descriptor).st_size, mmap.MAP_SHARED, mmap.PROT_READ)

    @property
    def tick(self) -> int:
        """Number of the newest tick."""
        return int(struct.unpack_from("<Q", self.memory, TICK_AT)[0])

    def state(self, slot: int) -> tuple[float, ...]:
        """The numbers of a device's state: position at 6, velocity 9, force 12, angles 15, angular velocities 18, torques 21."""
        return STATE.unpack_from(self.memory, SHOWN_AT + slot * SHOWN_BYTES + 8)

    def force(self, slot: int) -> tuple[float, ...]:
        """The force that the motors got, N."""
        return self.state(slot)[12:15]

    def answer(self, seat: int, slot: int) -> tuple[int, int, int, int, int]:
        """Sequence taken, number of records taken and refused, reason, commands in force."""
        return ANSWER.unpack_from(self.memory, SEATS_AT + seat * SEAT_BYTES + 64 + slot * 32)

    def session(self, seat: int) -> int:
        """Number of the session of a seat; 0 once it has ended."""
        return int(struct.unpack_from("<Q", self.memory, SEATS_AT + seat * SEAT_BYTES)[0])
