"""The emulated hAPI board behaves like its firmware: state machine, ports, directions, quantisation, no watchdog."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.emulators.hapi import DUTY_STEPS, MOST_TORQUE, HapiBoard
from transport.link.protocols.hapi.board import BOARDS, reset_message, setup_message

ID = 5
SETUP = setup_message(BOARDS["2diy-plastic"])


def torques(*values: float, device: int = ID) -> bytes:
    return bytes((2, device)) + struct.pack(f"<{len(values)}f", *values)


def angles(reply: bytes, device: int = ID) -> tuple[float, ...]:
    assert reply[0] == device
    return struct.unpack(f"<{len(reply) // 4}f", reply[1:])


def ready(mechanism: str = "2diy-plastic", firmware: str = "M3") -> HapiBoard:
    board = HapiBoard(mechanism, firmware)
    assert board.feed(reset_message() + setup_message(BOARDS[mechanism])) == b""
    return board


def set_up(mask: int, *directions: int, pins: tuple[int, ...] = (), sensors: tuple[int, ...] = ()) -> bytes:
    encoders = b"".join(struct.pack("<2f", 10.0 * k, 3600.0) for k in range(len(directions)))
    half = bytes((mask, *directions))
    return bytes((1, ID)) + 2 * half + bytes((len(sensors), *sensors, len(pins), *pins)) + encoders


def test_emulator_answers_the_documented_bytes() -> None:
    board = HapiBoard()
    encoders = struct.pack("<4f", 128.0, 3600.0, 52.0, 3600.0)

    board.feed(bytes((1, ID, 3, 1, 1, 3, 1, 1, 0, 0)) + encoders)
    reply = board.feed(bytes.fromhex("02 05 0a d7 23 3c 0a d7 23 bc"))

    assert reply == bytes.fromhex("05 00 00 00 43 00 00 50 42")
    assert board.torques == pytest.approx((0.01, -0.01), abs=MOST_TORQUE / DUTY_STEPS["M3"])


def test_angles_start_at_home_in_port_order_as_whole_counts() -> None:
    for name, wanted in {"pantograph": (180, 0), "2diy-metal": (-61, 241), "2diy-plastic": (12, 168)}.items():
        reply = ready(name).feed(torques(0.0, 0.0))
        resolution = BOARDS[name].joints[0].counts_per_turn
        assert len(reply) == 9
        for angle, home in zip(angles(reply), wanted, strict=True):
            assert angle == pytest.approx(home, abs=360 / resolution)
            assert angle * resolution / 360 == pytest.approx(round(angle * resolution / 360), abs=1e-3)


@pytest.mark.parametrize("mechanism", list(BOARDS))
def test_a_positive_torque_turns_the_shaft_of_its_port_counter_clockwise_and_the_angle_says_so(mechanism: str) -> None:
    board = ready(mechanism)
    before = angles(board.feed(torques(0.05, 0.0)))

    for _ in range(20):
        board.advance(0.001)
    after = angles(board.feed(torques(0.0, 0.0)))

    assert after[0] > before[0] + 0.5
    assert after[1] == before[1]


@pytest.mark.parametrize("firmware", ["M0", "M3"])
def test_torque_is_clamped_and_comes_in_quanta(firmware: str) -> None:
    board = ready("2diy-plastic", firmware)
    quantum = MOST_TORQUE / DUTY_STEPS[firmware]

    board.feed(torques(5.0, -5.0))
    assert board.torques == pytest.approx((MOST_TORQUE, -MOST_TORQUE))
    board.feed(torques(2.6 * quantum, -2.6 * quantum))
    assert board.torques == pytest.approx((2 * quantum, -2 * quantum))


def test_invalid_torque_counts_as_zero() -> None:
    board = ready()

    board.feed(torques(math.nan, math.inf))

    assert board.torques == pytest.approx((0, MOST_TORQUE))


def test_only_a_torque_message_ends_a_torque() -> None:
    board = ready()
    board.feed(torques(0.05, 0.05))

    board.feed(reset_message())
    board.advance(10.0)

    assert min(board.torques) > 0.049
    assert board.feed(torques(0.0, 0.0)[:2]) == bytes((ID,))


def test_setup_presets_the_encoders_wherever_the_linkage_is() -> None:
    board = ready()
    board.shafts[1].angle += 0.5

    board.feed(SETUP)

    assert angles(board.feed(torques(0.0, 0.0))) == pytest.approx((12, 168), abs=0.08)


def test_directions_are_stored_from_port_one_on_whatever_the_ports_are() -> None:
    board = HapiBoard()

    board.feed(set_up(0b0110, 1, 0))

    assert board.directions["motor"] == [1, 0, 0, 0]


def test_the_smaller_board_has_no_third_port() -> None:
    board = HapiBoard(firmware="M0")

    assert board.feed(set_up(0b0011, 1, 1) + torques(0.01, 0.01))[0] == ID
    assert len(board.duties) == 2


def test_pins_come_before_torques_and_sensors_before_angles() -> None:
    board = HapiBoard()
    board.feed(set_up(0b0001, 0, pins=(9, 3), sensors=(54, 55, 56)))

    reply = board.feed(bytes((2, ID, 10, 20)) + struct.pack("<f", 0.06))

    assert len(reply) == 1 + 4 * (3 + 1)
    assert board.torques[0] != 0


def test_unknown_types_are_skipped_one_byte_at_a_time() -> None:
    board = ready()

    reply = board.feed(b"\x07\xff\x80" + torques(0.0, 0.0))

    assert len(reply) == 9
    assert board.swallowed == 3


def test_message_for_another_owner_moves_nothing() -> None:
    board = ready()
    board.feed(torques(0.05, 0.05))

    assert board.feed(bytes((2, 6))) == b"\x06"
    assert min(board.torques) > 0.049


@given(cuts=st.lists(st.integers(1, 7), min_size=1, max_size=60))
def test_partial_message_waits_for_the_rest(cuts: list[int]) -> None:
    board, stream = HapiBoard(), reset_message() + SETUP + 3 * torques(0.01, -0.01)
    answer = b""
    for cut in cuts:
        answer += board.feed(stream[:cut])
        stream = stream[cut:]
    answer += board.feed(stream)

    assert len(answer) == 27
    assert board.torque_messages == 3
    assert board.setups == 1


@given(st.binary(max_size=200))
def test_any_bytes_keep_the_emulator_consistent(data: bytes) -> None:
    board = HapiBoard()

    board.feed(data)
    board.advance(0.001)

    assert all(abs(torque) <= MOST_TORQUE for torque in board.torques)


def test_a_small_torque_does_not_overcome_friction_and_a_larger_one_does() -> None:
    board = ready()
    still = board.shafts[1].angle

    board.feed(torques(0.001, 0.0))
    board.advance(1.0)
    assert board.shafts[1].angle == still
    board.feed(torques(0.01, 0.0))
    board.advance(0.1)

    assert board.shafts[1].angle > still + 0.1


def test_a_hand_holds_a_shaft_against_the_motor() -> None:
    board = ready()
    shaft = board.shafts[1]
    shaft.stiffness, shaft.held = 1.0, shaft.angle

    board.feed(torques(0.05, 0.0))
    for _ in range(3000):
        board.advance(0.001)

    assert shaft.angle - shaft.held == pytest.approx(0.05, abs=0.004)
