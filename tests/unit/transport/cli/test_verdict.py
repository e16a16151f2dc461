"""The self-test's verdict names the part that is broken, for each fault alone, from measurements of a serial arm."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace

import pytest

from transport.cli.check.measured import Buttons, Link, Measured, Numbers, Push, Step, Travel
from transport.cli.check.measuring import Bench, Say
from transport.cli.check.verdict import Grade, correlation, judge, relation, wrong_parts

# Of a serial arm in its middle pose: cursor's move (m) for one degree of each joint.
JACOBIAN = ((0.0035, 0.0, 0.0), (0.0, -0.0002, 0.0035), (0.0, 0.0042, 0.0017))
FORCE = 0.8
GAIN = 400.0  # degrees for a torque of one N m/degree
NAMES = {0: "joint a0", 1: "joint a1", 2: "joint a2"}
GOOD_LINK = Link(6.0, received=6000, sent=6000)


def moved(turned: Numbers) -> Numbers:
    return tuple(sum(turned[joint] * JACOBIAN[joint][axis] for joint in range(3)) for axis in range(3))


def arm(motor: Numbers = (1, 1, 1), encoder: Numbers = (1, 1, 1), stiffness: float = 1.0) -> Measured:
    """What a test of this arm measures: factor of each motor's torque and of each encoder's reading."""
    pushes: list[Push] = []
    for axis in range(3):
        for sign in (1.0, -1.0):
            torque = [sign * FORCE * JACOBIAN[joint][axis] for joint in range(3)]
            shown = tuple(GAIN * stiffness * torque[joint] * motor[joint] * encoder[joint] * 1.5 for joint in range(3))
            pushes.append(Push(axis, sign * FORCE, moved(shown), shown))
    steps = tuple(Step(push.moved, push.turned) for push in pushes)
    return Measured("A1", "arm", moves=True, pushes=tuple(pushes), steps=steps, link=GOOD_LINK)


def wrong(found: Measured) -> dict[str, str]:
    return {one.part: one.sentence for one in judge(found) if one.grade is Grade.WRONG}


def with_factor(joint: int, factor: float) -> Numbers:
    return tuple(factor if place == joint else 1.0 for place in range(3))


def test_sound_arm_passes_in_every_part() -> None:
    grades = {one.part: one.grade for one in judge(arm())}

    assert grades == dict.fromkeys(("axis x", "axis y", "axis z", "joint a0", "joint a1", "joint a2", "link"), Grade.OK)


@pytest.mark.parametrize("joint", range(3))
def test_reversed_motor_is_named(joint: int) -> None:
    found = wrong(arm(motor=with_factor(joint, -1)))

    assert [part for part in found if part.startswith("joint")] == [NAMES[joint]]
    assert "turns against its torque" in found[NAMES[joint]]


@pytest.mark.parametrize("joint", range(3))
@pytest.mark.parametrize("fault", ["motor", "encoder"])
def test_joint_that_stands_still_is_named(joint: int, fault: str) -> None:
    still = with_factor(joint, 0)
    found = wrong(arm(motor=still) if fault == "motor" else arm(encoder=still))

    assert [part for part in found if part.startswith("joint")] == [NAMES[joint]]
    assert "motor is dead or its encoder stands still; --travel 10 tells which" in found[NAMES[joint]]


def test_parts_that_did_wrong_under_the_pushes_are_counted() -> None:
    assert wrong_parts(arm()) == 0
    assert wrong_parts(arm(motor=with_factor(1, 0))) < wrong_parts(arm(motor=(0, 0, 1)))
    assert wrong_parts(replace(arm(), link=Link(6.0, received=10, sent=6000))) == 0


class PlannedBench(Bench):
    """Measures what the test gives, round by round."""

    def __init__(self, *rounds: Measured) -> None:
        self._rounds = list(rounds)

    async def push_all(self, found: Measured, force: float, say: Say) -> Measured:
        del found, force, say
        return self._rounds.pop(0)


@pytest.mark.parametrize(
    ("rounds", "kept"),
    [
        ((arm(), arm(motor=(0, 1, 1))), 0),
        ((arm(motor=(0, 0, 1)), arm(motor=(0, 1, 1))), 1),
        ((arm(motor=(0, 1, 1)), arm(motor=(0, 0, 1))), 0),
        ((replace(arm(motor=(0, 1, 1)), ran_away=True), arm()), 0),
        ((arm(motor=(0, 1, 1)), replace(arm(), lost="gone")), 1),
    ],
    ids=["good at once", "second better", "second worse", "ran away", "lost in the second"],
)
def test_fault_of_a_joint_is_said_only_if_it_shows_twice(rounds: tuple[Measured, ...], kept: int) -> None:
    told: list[str] = []
    found = asyncio.run(PlannedBench(*rounds).push_surely(arm(), FORCE, told.append))

    assert found is rounds[kept]


@pytest.mark.parametrize("joint", range(3))
@pytest.mark.parametrize(("degrees", "says"), [(0.0, "its encoder stands still"), (40.0, "its motor is dead")])
def test_motion_by_hand_tells_a_dead_motor_from_a_stuck_encoder(joint: int, degrees: float, says: str) -> None:
    travel = Travel(5, (-0.1,) * 3, (0.1,) * 3, tuple(degrees if place == joint else 40.0 for place in range(3)))

    found = wrong(replace(arm(motor=with_factor(joint, 0)), travel=travel))

    assert says in found[NAMES[joint]]


def test_device_that_is_held_fast_is_wrong_on_every_axis() -> None:
    found = wrong(arm(stiffness=0.001))

    assert {"axis x", "axis y", "axis z"} <= set(found)
    assert "held fast" in found["axis x"]


def test_joint_that_a_hand_moves_is_unsure() -> None:
    pushes = tuple(Push(push.axis, push.force, push.moved, (5.0, *push.turned[1:])) for push in arm().pushes)

    grades = {one.part: one.grade for one in judge(replace(arm(), pushes=pushes))}

    assert grades["joint a0"] is Grade.UNSURE


@pytest.mark.parametrize(
    ("change", "part", "says"),
    [
        ({"ran_away": True}, "motors", "ran away"),
        ({"lost": "The device was gone."}, "motors", "The device was gone."),
        ({"reports": "overheated"}, "device", "It reports: overheated"),
        ({"reports": "\x1b[2J"}, "device", "\\x1b[2J"),
        ({"status": {"power_supply": False}}, "device", "power supply"),
        ({"status": {"calibrated": False}}, "device", "hapticd calibrate A1"),
        ({"battery": 0.1}, "battery", "10 %"),
        ({"link": Link(6, received=0, sent=6000)}, "link", "No packet arrived"),
        ({"link": Link(6, received=6000, sent=6000, bad=7)}, "link", "damaged"),
        ({"link": Link(6, received=5400, sent=6000)}, "link", "10 % of the packets are lost"),
        ({"link": Link(6, received=6000, sent=6000, errors=1)}, "link", "failed"),
        ({"buttons": Buttons(False, ("a",), frozenset("a"), frozenset())}, "buttons", "a: pressed all the time"),
        ({"buttons": Buttons(True, ("a", "b"), frozenset("a"), frozenset("ab"))}, "buttons", "b: never pressed"),
        ({"travel": Travel(5, (0, 0, 0), (0.1, 0.01, 0.1), (40, 40, 40))}, "travel", "Along y"),
        ({"travel": Travel(5, (0, 0, 0), (0.1, 0.1, 0.1), (40, 40, 40), jumps=2)}, "travel", "jumped 2 times"),
    ],
)
def test_fault_is_named(change: dict[str, object], part: str, says: str) -> None:
    found = wrong(replace(arm(), **change))  # type: ignore[arg-type]

    assert list(found) == [part]
    assert says in found[part]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"link": Link(6, received=6000, sent=6000, bad=5)}, "link"),
        ({"link": Link(6, received=5900, sent=6000)}, "link"),
        ({"buttons": Buttons(True, ("a",), frozenset("a"), frozenset("a"))}, "buttons"),
        ({"travel": Travel(5, (0, 0, 0), (0.1, 0.1, 0.1), (40, 40, 40))}, "travel"),
    ],
)
def test_good_part_is_ok(change: dict[str, object], part: str) -> None:
    grades = {one.part: one.grade for one in judge(replace(arm(), **change))}  # type: ignore[arg-type]

    assert grades[part] is Grade.OK


def test_late_orders_are_the_machine_s_doing_and_no_fault_of_the_device() -> None:
    (found,) = [
        one for one in judge(replace(arm(), link=Link(6, received=6000, sent=6000, late=100))) if one.part == "link"
    ]

    assert found.grade is Grade.UNSURE
    assert "hapticd doctor" in found.sentence


def test_simulated_device_has_no_link_to_judge() -> None:
    grades = {one.part: one.grade for one in judge(replace(arm(), link=Link(6)))}

    assert grades["link"] is Grade.UNSURE


def test_handle_without_motors_has_no_axis() -> None:
    found = judge(Measured("G1", "grip", moves=False, buttons=Buttons(False, ("a",), frozenset(), frozenset("a"))))

    assert [one.part for one in found] == ["buttons", "link"]


def test_relation_is_found_from_motions() -> None:
    found = relation([step.moved for step in arm().steps], [step.turned for step in arm().steps], 3)

    assert [[round(value, 6) for value in row] for row in found] == [list(row) for row in JACOBIAN]


def test_relation_of_joints_that_stand_still_is_zero() -> None:
    assert relation([(0.0, 0.0, 0.0)] * 4, [(0.0, 0.0, 0.0)] * 4, 3) == [(0.0, 0.0, 0.0)] * 3
    assert relation([], [], 2) == [(0.0, 0.0, 0.0)] * 2


def test_correlation_is_a_cosine() -> None:
    assert correlation([1, 2], [2, 4]) == pytest.approx(1)
    assert correlation([1, 2], [-1, -2]) == pytest.approx(-1)
    assert correlation([0, 0], [1, 2]) == 0
    assert math.isclose(correlation([1, 0], [1, 1]), math.sqrt(0.5))
