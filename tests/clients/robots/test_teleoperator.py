"""The LeRobot teleoperator: what leads the robot, what the hand feels, and that nothing outlives it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import hapticd_client as haptics
from hapticd_client import testing
from lerobot_teleoperator_hapticd import Hapticd, HapticdConfig
from lerobot_teleoperator_hapticd.clutch import Clutch
from tests.support.service.polling import eventually


@pytest.fixture(scope="module")
def service() -> Iterator[testing.TestService]:
    with testing.service(simulate="arm,grip", stepped=True) as running:
        yield running


@pytest.fixture
def watch(service: testing.TestService) -> Iterator[haptics.Service]:
    """A session that commands nothing and lets time pass."""
    with service.connect() as watching:
        yield watching


@pytest.fixture
def leader(service: testing.TestService, watch: haptics.Service) -> Iterator[Hapticd]:
    del watch
    made = Hapticd(HapticdConfig(id="left", url=service.url))
    made.connect()
    yield made
    made.disconnect()
    made.disconnect()


def force(watch: haptics.Service) -> float:
    """The force along z that the arm gets, N, a moment later."""
    watch.step(8)
    return float(watch.arm.force[2])


def test_features_can_be_asked_for_without_a_service_and_match_an_action(leader: Hapticd) -> None:
    known = Hapticd(HapticdConfig()).action_features

    assert known.keys() == leader.get_action().keys()
    assert set(known.values()) == {float}
    assert set(Hapticd(HapticdConfig()).feedback_features) == {"ee.fx", "ee.fy", "ee.fz"}
    assert all(isinstance(value, float) for value in leader.get_action().values())


def test_feedback_of_long_ago_is_not_felt(leader: Hapticd, watch: haptics.Service) -> None:
    leader.send_feedback({"ee.fz": 0.5})
    assert force(watch) == 0.5
    leader._fed -= 1

    leader.get_action()

    assert force(watch) == 0


def test_goal_follows_the_hand_while_the_button_is_pressed(leader: Hapticd, watch: haptics.Service) -> None:
    def goal(z: float, *, pressed: bool) -> float:
        watch.arm.simulate(hand={"position": {"x": 0, "y": -0.12, "z": z}})
        watch.grip.simulate(buttons={"a": pressed})
        watch.step(4000)
        found = leader.get_action()
        assert (found["clutch"], found["button.a"]) == (pressed, pressed)
        return found["ee.z"]

    goal(0.12, pressed=False)
    assert goal(0.15, pressed=False) == 0  # let go: the hand may be anywhere
    begun = goal(0.15, pressed=True)
    assert begun == 0
    up = goal(0.17, pressed=True)
    assert up == pytest.approx(0.02, abs=0.005)
    assert goal(0.12, pressed=False) == up
    assert goal(0.14, pressed=True) == pytest.approx(up, abs=0.005)


def test_feedback_is_felt_through_the_next_action_and_no_longer(leader: Hapticd, watch: haptics.Service) -> None:
    leader.send_feedback({"ee.fz": 1.0})
    assert force(watch) == 1
    leader.get_action()
    assert force(watch) == 1
    leader.get_action()
    assert force(watch) == 0


def test_long_feedback_is_shortened_and_keeps_its_direction(leader: Hapticd, watch: haptics.Service) -> None:
    leader.send_feedback({"ee.fx": 300.0, "ee.fz": 400.0})

    assert force(watch) == pytest.approx(2.4)


@pytest.mark.parametrize("feedback", [{"ee.fz": float("nan")}, {"ee.fz": float("inf")}, {"fz": 1.0}, {"ee.fz": "one"}])
def test_feedback_that_is_none_is_refused_and_not_felt(
    leader: Hapticd, watch: haptics.Service, feedback: dict[str, object]
) -> None:
    with pytest.raises(ValueError, match=r"feedback|convert"):
        leader.send_feedback(feedback)
    leader.get_action()

    assert force(watch) == 0


def test_disconnecting_leaves_zero_and_no_session(leader: Hapticd, watch: haptics.Service) -> None:
    leader.send_feedback({"ee.fz": 1.0})
    assert force(watch) == 1

    leader.disconnect()

    eventually(lambda: force(watch) == 0, "zero", pause_s=0.005)
    assert not leader.is_connected
    for act in (leader.get_action, lambda: leader.send_feedback({})):
        with pytest.raises(RuntimeError, match="not connected"):
            act()


def test_service_that_is_not_there_is_one_clear_error() -> None:
    leader = Hapticd(HapticdConfig(url="ws://127.0.0.1:9"))

    with pytest.raises(haptics.NoService):
        leader.connect()
    assert not leader.is_connected


def test_device_that_is_not_there_is_named(service: testing.TestService) -> None:
    leader = Hapticd(HapticdConfig(url=service.url, device="FFFF"))

    with pytest.raises(haptics.NoSuchDevice, match="FFFF"):
        leader.connect()
    assert not leader.is_connected


def test_connecting_twice_is_refused(leader: Hapticd) -> None:
    with pytest.raises(RuntimeError, match="already"):
        leader.connect()
    assert leader.is_connected


@pytest.mark.parametrize("wrong", [HapticdConfig(scale=float("nan")), HapticdConfig(max_force=-1.0)])
def test_configuration_that_is_none_is_refused(wrong: HapticdConfig) -> None:
    with pytest.raises(ValueError, match="finite"):
        Hapticd(wrong)


def test_clutch_ignores_a_hand_that_is_not_known() -> None:
    clutch = Clutch(2.0)
    clutch.follow(np.zeros(3), engaged=True)
    clutch.follow(np.full(3, np.nan), engaged=True)
    clutch.follow(np.ones(3), engaged=True)

    assert clutch.follow(np.array([1.0, 1.0, 1.1]), engaged=True) == pytest.approx([0, 0, 0.2])
