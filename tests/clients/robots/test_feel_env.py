"""The Gymnasium environment: an episode, what it pays, that seeds repeat it, and what it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hapticd_gym
from hapticd_gym.env import Action, Observation

README = Path(__file__).parents[3] / "clients" / "gym" / "README.md"
STIFFNESS = 300.0
HEIGHT = 0.12
MAX_FORCE = 4.0


@pytest.fixture(scope="module")
def env() -> Iterator[hapticd_gym.FeelEnv]:
    made = hapticd_gym.FeelEnv(seconds=0.5)
    yield made
    made.close()
    made.close()


def floor(seen: Observation) -> Action:
    """The force of the floor that is wanted."""
    depth = HEIGHT - float(seen["position"][2])
    push = STIFFNESS * depth - float(seen["velocity"][2]) if depth > 0 else 0.0
    return np.array([0, 0, max(0.0, push) / MAX_FORCE], np.float32)


def nothing(_seen: Observation) -> Action:
    return np.zeros(3, np.float32)


def episode(env: hapticd_gym.FeelEnv, act: Any) -> tuple[float, list[Observation]]:
    """What an episode pays, and what was seen in it."""
    seen, _ = env.reset(seed=3, options={"position": (0, -0.12, 0.11)})
    paid, found = 0.0, [seen]
    while True:
        seen, reward, terminated, truncated, _ = env.step(act(seen))
        assert not terminated
        paid += reward
        found.append(seen)
        if truncated:
            return paid, found


def test_floor_pays_more_than_nothing_and_is_felt(env: hapticd_gym.FeelEnv) -> None:
    of_floor, seen = episode(env, floor)
    of_nothing, _ = episode(env, nothing)

    assert of_floor > of_nothing
    assert of_nothing < -10
    assert max(float(one["force"][2]) for one in seen) > 1
    assert len(seen) == 51
    assert all(env.observation_space.contains(one) for one in seen)


def test_same_seed_and_actions_give_the_same_numbers(env: hapticd_gym.FeelEnv) -> None:
    first, again = episode(env, floor), episode(env, floor)

    assert first[0] == again[0]
    for one, other in zip(first[1], again[1], strict=True):
        for name, value in one.items():
            assert np.array_equal(value, other[name]), name


def test_seed_decides_where_the_hand_begins(env: hapticd_gym.FeelEnv) -> None:
    places = [tuple(env.reset(seed=seed)[0]["position"]) for seed in (1, 2, 1)]

    assert places[0] == places[2] != places[1]


def test_longer_forces_than_the_space_are_cut(env: hapticd_gym.FeelEnv) -> None:
    env.reset(seed=1)
    seen, *_ = env.step(np.array([0, 0, 1000], np.float32))

    assert float(seen["force"][2]) <= 4


@pytest.mark.parametrize("action", [[0, 0, np.nan], [0, 0, np.inf], [0, 0], 1.0])
def test_action_that_is_none_is_refused_and_the_episode_goes_on(env: hapticd_gym.FeelEnv, action: Any) -> None:
    env.reset(seed=1)
    before = env._number

    with pytest.raises(ValueError, match="three finite numbers"):
        env.step(np.array(action, np.float32))
    assert env._number == before


@pytest.mark.parametrize(
    "given",
    [
        {"rate": 1},
        {"rate": float("nan")},
        {"rate": 5000},
        {"seconds": 0},
        {"seconds": float("inf")},
        {"max_force": -1},
        {"render_mode": "human"},
    ],
)
def test_what_makes_no_episode_is_refused_before_a_service_starts(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"rate|seconds|render"):
        hapticd_gym.FeelEnv(command=["/nowhere"], **given)


@pytest.mark.parametrize("place", [(0, 0), (0, 0, float("nan")), "abc"])
def test_place_that_is_none_is_refused(env: hapticd_gym.FeelEnv, place: Any) -> None:
    with pytest.raises(ValueError, match=r"position|convert"):
        env.reset(options={"position": place})


def test_spring_pulls_to_its_centre() -> None:
    pull = hapticd_gym.spring((0, 0, 0.1), stiffness=50)(np.array([0, 0, 0.12]), np.zeros(3))

    assert pull == pytest.approx([0, 0, -1])


def test_program_of_the_page_runs_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("gymnasium.utils.env_checker", reason="make test-robots installs Gymnasium")
    (program,) = re.findall(r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)

    exec(program, {})  # noqa: S102 (the page's own)

    assert "beside what it shall be" in capsys.readouterr().out
