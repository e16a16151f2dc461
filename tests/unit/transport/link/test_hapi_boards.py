"""Reset and setup bytes of a hAPI board for each mechanism, and the mechanisms' parameters."""

from __future__ import annotations

import math

import pytest

from fastpath.codecs import hapi_py
from fastpath.testing.formulas import Mechanism
from transport.link.protocols.hapi.board import (
    BOARDS,
    Board,
    Joint,
    Turn,
    planar,
    reset_message,
    setup_message,
)
from transport.settings_catalog import SETTINGS_CATALOG

every_board = pytest.mark.parametrize("name", list(BOARDS))


def mechanism(board: Board) -> Mechanism:
    return Mechanism(kind="five_bar", shoulder=(board.base / 2, 0, 0), links=board.links, base=board.base)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("pantograph", "01 05 03 00 00 03 00 00 00 00 00 00 34 43 00 00 58 46 00 00 00 00 00 00 58 46"),
        ("2diy-metal", "01 05 03 01 01 03 01 01 00 00 00 00 74 c2 00 00 28 46 00 00 71 43 00 00 28 46"),
        ("2diy-plastic", "01 05 03 01 01 03 01 01 00 00 00 00 40 41 00 80 98 45 00 00 28 43 00 80 98 45"),
    ],
)
def test_setup_has_the_known_bytes(name: str, wanted: str) -> None:
    assert setup_message(BOARDS[name]) == bytes.fromhex(wanted)


def test_setup_contains_the_given_id() -> None:
    assert setup_message(BOARDS["pantograph"], 9)[:2] == b"\x01\x09"


@every_board
def test_the_setting_knows_every_mechanism(name: str) -> None:
    assert SETTINGS_CATALOG.find("devices/hapi/ports").parse([f"ttyACM0={name}"]) == (f"ttyACM0={name}",)


def test_reset_is_two_zero_bytes() -> None:
    assert reset_message() == b"\0\0"


@pytest.mark.parametrize("ports", [(2, 3), (1, 3), (1, 1), (0, 1)])
def test_ports_with_a_gap_are_refused(ports: tuple[int, int]) -> None:
    joints = (Joint(ports[0], Turn.CCW, 0.0, 4880), Joint(ports[1], Turn.CW, 0.0, 4880))

    with pytest.raises(ValueError, match="without a gap"):
        Board(joints=joints, links=(0.07, 0.09), base=0.0, peak_force=5.0, reach=planar(0.1, 0.04, 0.15, 0.005))


@every_board
def test_angles_are_sent_in_port_order(name: str) -> None:
    board = BOARDS[name]

    assert [board.joints[index].port for index in board.by_port] == [1, 2]
    assert board.by_port == ((0, 1) if name == "pantograph" else (1, 0))


@every_board
def test_middle_of_the_reach_is_regular_with_useful_force(name: str) -> None:
    board = BOARDS[name]
    there = mechanism(board)
    x, y, z = board.reach.centre

    for dx in (-0.02, 0.0, 0.02):
        for dy in (-0.015, 0.0, 0.015):
            p = (x + dx, y + dy, z)
            angles = there.inverse(p)
            assert there.forward(angles) == pytest.approx(p, abs=1e-9)
            for turn in range(0, 360, 30):
                unit = (math.cos(math.radians(turn)), math.sin(math.radians(turn)), 0.0)
                assert 1e-3 * hapi_py.TORQUE_LIMIT / max(abs(part) for part in there.torque(angles, unit)) > 0.8


@every_board
def test_count_moves_the_cursor_by_the_stated_resolution(name: str) -> None:
    board = BOARDS[name]
    rows = mechanism(board).jacobian(mechanism(board).inverse(board.reach.centre))
    count = 2 * math.pi / board.joints[0].counts_per_turn

    farthest = max(math.hypot(rows[0][joint], rows[1][joint]) * count for joint in range(2))

    assert 0.4 * farthest < board.step < 2.5 * farthest
