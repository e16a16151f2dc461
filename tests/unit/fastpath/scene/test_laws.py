"""What no field may do: feed the hand over closed ways, step the force, depend on the order of fields."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from fastpath.scene.values import Field
from tests.support.loop.scenes import Scened, X, Y, Z, field

FREQUENCY: Final = 8000.0
# So heavy that the loop adds no damping of its own, which would hide what a field does.
MASS: Final = 20.0
# J, N/s
LARGEST_GAIN: Final = 1e-3
STEP_RATE: Final = 3000.0
CENTRE: Final = np.array((X, Y, Z))

Draw = np.random.Generator
Path = NDArray[np.float64]


def unit(draw: Draw) -> tuple[float, float, float]:
    v = draw.normal(size=3)
    x, y, z = (v / np.linalg.norm(v)).tolist()
    return x, y, z


def near(draw: Draw, size: float = 0.03) -> tuple[float, float, float]:
    """A place around the centre."""
    x, y, z = (CENTRE + draw.uniform(-size, size, 3)).tolist()
    return x, y, z


def rubs(draw: Draw) -> dict[str, object]:
    """What every surface has, without a damper; half of them with friction."""
    static = float(draw.choice([0.0, draw.uniform(0.1, 1.0)]))
    return {
        "stiffness": float(draw.uniform(100, 1500)),
        "friction": (static, static * float(draw.uniform(0.5, 1.0))),
    }


def damper(draw: Draw) -> Field:
    """A passive symmetric part and a curl."""
    half = draw.normal(size=(3, 3))
    skew = draw.normal(size=(3, 3)) * 3
    matrix = half @ half.T + skew - skew.T
    return field("damper", matrix=tuple((matrix * 5 / max(np.abs(matrix).max(), 5)).ravel().tolist()))


FIELDS: Final[dict[str, Callable[[Draw], Field]]] = {
    "spring": lambda d: field(
        "spring",
        centre=near(d),
        axes=(("x", "y", "z"), ("x", "y"), ("z",))[d.integers(3)],
        stiffness=float(d.uniform(10, 500)),
        dead_zone=float(d.choice([0.0, 0.01])),
        largest=float(d.choice([40.0, 3.0])),
    ),
    "attract": lambda d: field(
        "attract",
        centre=near(d),
        axes=(("x", "y", "z"), ("x", "y"), ("z",))[d.integers(3)],
        range=float(d.uniform(0.01, 0.05)),
        stiffness=float(d.uniform(10, 500)),
        largest=float(d.choice([40.0, 3.0])),
    ),
    "damper": damper,
    "plane": lambda d: field("plane", point=near(d, 0.01), normal=unit(d), **rubs(d)),  # type: ignore[arg-type]
    "sphere": lambda d: field(
        "sphere",
        centre=near(d),
        radius=float(d.uniform(0.01, 0.04)),
        inside=bool(d.integers(2)),
        **rubs(d),  # type: ignore[arg-type]
    ),
    "box": lambda d: field(
        "box",
        centre=near(d),
        size=tuple(d.uniform(0.002, 0.06, 3).tolist()),
        rotation=tuple(d.normal(size=4).tolist()),
        inside=bool(d.integers(2)),
        **rubs(d),  # type: ignore[arg-type]
    ),
    "capsule": lambda d: field(
        "capsule",
        start=near(d),
        end=near(d),
        radius=float(d.uniform(0.005, 0.03)),
        inside=bool(d.integers(2)),
        **rubs(d),  # type: ignore[arg-type]
    ),
    "cylinder": lambda d: field(
        "cylinder",
        start=near(d),
        end=near(d),
        radius=float(d.uniform(0.005, 0.03)),
        inside=bool(d.integers(2)),
        **rubs(d),  # type: ignore[arg-type]
    ),
}


def closed_path(draw: Draw, seconds: float = 1.0) -> Path:
    """A smooth way of the hand that ends where it began: three harmonics, at most some 0.04 m from its start and 1 m/s."""
    turn = np.linspace(0, math.tau, round(seconds * FREQUENCY) + 1)
    path = np.zeros((len(turn), 3))
    for harmonic in (1, 2, 3):
        path += np.outer(np.sin(harmonic * turn), draw.normal(size=3)) / harmonic
        path += np.outer(np.cos(harmonic * turn) - 1, draw.normal(size=3)) / harmonic
    whole: Path = np.array(near(draw, 0.02)) + path * 0.04 / max(np.abs(path).max(), 1e-9)
    return whole


def rig_at(place: NDArray[np.float64], scene: dict[str, Field]) -> Scened:
    """An arm that has come to a place slowly, where its scene then appears and has come in."""
    rig = Scened(frequency=FREQUENCY, mass=MASS, peak_force=40.0)
    rig.go(place.tolist(), 0.3)
    rig.stay(0.05)
    rig.describe(scene)
    rig.stay(0.15)
    return rig


def forces_along(rig: Scened, path: Path) -> Path:
    forces = np.array([rig.at(place) for place in path.tolist()])
    # Forces of the scene alone: no monitor has engaged.
    assert rig.reader.snapshot()["safety"] == 0
    return forces


def gained(path: Path, forces: Path) -> float:
    """J that the forces gave to the hand on its way; trapezoidal, so that holding a force for a tick counts for nothing."""
    return float(np.sum(0.5 * (forces[1:] + forces[:-1]) * np.diff(path, axis=0)))


@pytest.mark.parametrize("kind", FIELDS)
def test_no_field_feeds_the_hand_over_a_closed_way(kind: str) -> None:
    draw = np.random.default_rng(31)
    worst = -math.inf
    for _ in range(6):
        path = closed_path(draw)
        rig = rig_at(path[0], {"f": FIELDS[kind](draw)})
        # Twice round: the second way begins with whatever the first one left loaded.
        before = rig.at(path[0].tolist())
        forces = np.vstack([before, forces_along(rig, path[1:])])
        first = gained(path, forces)
        again = np.vstack([forces[-1], forces_along(rig, path[1:])])
        worst = max(worst, first)
        if kind in ("spring", "damper"):
            worst = max(worst, gained(path, again))
    assert worst <= LARGEST_GAIN


def stiffness_of(one: Field) -> float:
    value = one.values.get("stiffness", 0.0)
    assert isinstance(value, float)
    return value


def scene_of(draw: Draw, count: int) -> dict[str, Field]:
    kinds = list(FIELDS)
    return {str(number): FIELDS[kinds[draw.integers(len(kinds))]](draw) for number in range(count)}


def test_no_change_of_a_scene_steps_the_force() -> None:
    draw = np.random.default_rng(7)
    for _ in range(6):
        path = closed_path(draw)
        rig = rig_at(path[0], {})
        last = np.array(rig.at(rig.place))
        scene: dict[str, Field] = {}
        stiffness = 0.0
        for tick, place in enumerate(path.tolist()):
            if tick % 160 == 0:
                name = str(draw.integers(6))
                if draw.integers(3):
                    scene = {**scene, name: scene_of(draw, 1)["0"]}
                else:
                    scene = {key: value for key, value in scene.items() if key != name}
                rig.describe(scene)
                stiffness = max(stiffness, sum(stiffness_of(f) for f in scene.values()))
            force = np.array(rig.at(place))
            speed = float(np.linalg.norm(rig.reader.snapshot()["velocity"]))
            assert np.linalg.norm(force - last) <= max(STEP_RATE, 1.5 * stiffness * speed) / FREQUENCY + 1e-9
            last = force


def test_forces_do_not_depend_on_the_order_of_fields() -> None:
    draw = np.random.default_rng(11)
    for _ in range(4):
        scene = scene_of(draw, 8)
        path = closed_path(draw)
        seen = []
        for names in (list(scene), list(reversed(scene))):
            rig = rig_at(path[0], {name: scene[name] for name in names})
            seen.append(forces_along(rig, path))
        assert np.abs(seen[0] - seen[1]).max() < 1e-9
