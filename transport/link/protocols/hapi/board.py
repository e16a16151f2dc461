"""Mechanisms of hAPI boards as data, and the setup and reset messages for them.

The board reports nothing about itself; which ports have motors and encoders, their directions and the encoders' angles in the
home pose are defined here. The third message, torques, is in `fastpath/codecs/hapi.pxd`.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from actors.values.spatial import Reach
from fastpath.codecs import hapi_py

if TYPE_CHECKING:
    from collections.abc import Mapping

# Any number works if both sides use it; the makers' examples use 5.
BOARD_ID: Final = 5

RESET: Final = 0
SETUP: Final = 1


class Turn(IntEnum):
    """Positive direction of rotation, in the firmware's numbers."""

    CW = 0
    CCW = 1


@dataclass(frozen=True, slots=True)
class Joint:
    """One motor and its encoder on one port; both have the same direction."""

    port: int  # 1 to 4
    turn: Turn
    home_deg: float  # encoder angle in the home pose, degrees
    counts_per_turn: int


@dataclass(frozen=True, slots=True)
class Board:
    """One mechanism."""

    joints: tuple[Joint, ...]  # in order of the kinematics
    links: tuple[float, float]  # m, proximal and distal
    base: float  # m, distance between the motors
    peak_force: float  # N
    reach: Reach  # device frame; origin half-way between the motors

    def __post_init__(self) -> None:
        """Raise ValueError unless the ports are 1, 2, …: the firmware stores directions from port 1 on."""
        if sorted(joint.port for joint in self.joints) != list(range(1, len(self.joints) + 1)):
            raise ValueError("a board's joints are on ports 1, 2, … without a gap")

    @property
    def by_port(self) -> tuple[int, ...]:
        """Index of the joint on each port: torques and angles are sent in this order."""
        order = sorted(range(len(self.joints)), key=lambda index: self.joints[index].port)
        return tuple(order)

    @property
    def step(self) -> float:
        """Largest motion of the cursor by one encoder count (m), in the middle of the reach."""
        return 2 * math.pi / min(joint.counts_per_turn for joint in self.joints) * self.links[0]


def planar(side: float, near: float, far: float, zone: float) -> Reach:
    """Return a planar reach: `side` to both sides, `near` to `far` in front of the motors, `zone` wide on the open sides (m)."""
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
    """Return the message that releases ports and PWM pins; motors keep their torque, there is no answer."""
    return bytes((RESET, 0))


def setup_message(board: Board, board_id: int = BOARD_ID) -> bytes:
    """Return the message that assigns the ports and sets every encoder to its home angle; there is no answer."""
    joints = [board.joints[index] for index in board.by_port]
    mask = sum(1 << (joint.port - 1) for joint in joints)
    directions = bytes(joint.turn for joint in joints)
    message = bytes((SETUP, board_id)) + 2 * (bytes((mask,)) + directions) + bytes((0, 0))
    return message + b"".join(struct.pack("<2f", joint.home_deg, joint.counts_per_turn) for joint in joints)


def zero_message(board: Board, board_id: int = BOARD_ID) -> bytes:
    """Return the message with zero torques; answered with the angles."""
    return hapi_py.zero_message(board_id, len(board.joints))


def codec_config(board: Board, board_id: int = BOARD_ID) -> bytes:
    """Return the configuration of `fastpath/codecs/hapi.pxd`: id, number of motors and encoders, joint of each port."""
    return hapi_py.config(board_id, board.by_port)
