"""Mechanisms of hAPI boards as data, and the setup and reset messages for them.

The board says nothing of itself and knows no mechanism: which ports have motors and encoders, which way they turn and what the
encoders read in the home pose comes from here. The third message, torques, is `fastpath/codecs/hapi.pxd`.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from actors.values.spatial import Reach

if TYPE_CHECKING:
    from collections.abc import Mapping

# Any number does, as long as both sides use the same; 5 is what the makers' own examples use.
BOARD_ID: Final = 5
PORTS: Final = 4
# N.m that the firmware clamps each motor to.
MOTOR_TORQUE: Final = 0.123

RESET: Final = 0
SETUP: Final = 1
TORQUES: Final = 2


class Turn(IntEnum):
    """Which way counts as positive, in the firmware's numbers."""

    CW = 0
    CCW = 1


@dataclass(frozen=True, slots=True)
class Joint:
    """One motor with its encoder on one port (1 to 4): both turn one way; `home_deg` is what the encoder reads in the home pose."""

    port: int
    turn: Turn
    home_deg: float
    counts_per_turn: int


@dataclass(frozen=True, slots=True)
class Board:
    """One mechanism: joints in their order, proximal and distal link and the way between the motors (m), what it gives and reaches.

    `peak_force` in N; `reach` in the device frame, its origin half-way between the motors.
    """

    joints: tuple[Joint, ...]
    links: tuple[float, float]
    base: float
    peak_force: float
    reach: Reach

    def __post_init__(self) -> None:
        """ValueError unless the ports are 1, 2, …: the firmware stores directions from port 1 on, whatever the ports in use."""
        if sorted(joint.port for joint in self.joints) != list(range(1, len(self.joints) + 1)):
            raise ValueError("a board's joints are on ports 1, 2, … without a gap")

    @property
    def by_port(self) -> tuple[int, ...]:
        """Which joint (0, 1, …) each port has: torques and angles travel in this order."""
        order = sorted(range(len(self.joints)), key=lambda index: self.joints[index].port)
        return tuple(order)

    @property
    def step(self) -> float:
        """The farthest that one encoder count moves the cursor (m), in the middle of the reach: one proximal link's way."""
        return 2 * math.pi / min(joint.counts_per_turn for joint in self.joints) * self.links[0]


def planar(side: float, near: float, far: float, zone: float) -> Reach:
    """That many metres to either side, from `near` to `far` in front of the motors, with a zone of that width on the open sides."""
    return Reach((-side, -far, 0.0), (side, -near, 0.0), (zone, zone, 0.0), (zone, zone, 0.0))


BOARDS: Final[Mapping[str, Board]] = MappingProxyType(
    {
        "pantograph": Board(
            joints=(Joint(1, Turn.CW, 180.0, 13824), Joint(2, Turn.CW, 0.0, 13824)),
            links=(0.05, 0.07),
            base=0.02,
            peak_force=5.0,
            reach=planar(0.085, 0.037, 0.119, 0.005),
        ),
        "2diy-metal": Board(
            joints=(Joint(2, Turn.CCW, 241.0, 10752), Joint(1, Turn.CCW, -61.0, 10752)),
            links=(0.07, 0.09),
            base=0.0,
            peak_force=5.0,
            reach=planar(0.110, 0.045, 0.159, 0.005),
        ),
        "2diy-plastic": Board(
            joints=(Joint(2, Turn.CCW, 168.0, 4880), Joint(1, Turn.CCW, 12.0, 4880)),
            links=(0.07, 0.09),
            base=0.038,
            peak_force=5.0,
            reach=planar(0.110, 0.045, 0.158, 0.005),
        ),
    }
)


def reset_message() -> bytes:
    """Releases ports and PWM pins; motors keep their torque, nothing is answered."""
    return bytes((RESET, 0))


def setup_message(board: Board, board_id: int = BOARD_ID) -> bytes:
    """Who is on which port; presets every encoder to its home angle, nothing is answered."""
    joints = [board.joints[index] for index in board.by_port]
    mask = sum(1 << (joint.port - 1) for joint in joints)
    directions = bytes(joint.turn for joint in joints)
    message = bytes((SETUP, board_id)) + 2 * (bytes((mask,)) + directions) + bytes((0, 0))
    return message + b"".join(struct.pack("<2f", joint.home_deg, joint.counts_per_turn) for joint in joints)


def zero_message(board: Board, board_id: int = BOARD_ID) -> bytes:
    """No torque on any motor; answered with the angles."""
    return bytes((TORQUES, board_id)) + bytes(4 * len(board.joints))


def codec_config(board: Board, board_id: int = BOARD_ID) -> bytes:
    """What `fastpath/codecs/hapi.pxd` has to know of it: id, counts of what is wired, and the joint of each port."""
    joints = bytes(board.by_port) + bytes(PORTS - len(board.joints))
    return bytes((board_id, len(board.joints), len(board.joints), 0, 0)) + joints + joints
