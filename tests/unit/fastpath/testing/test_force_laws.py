"""Energy of force laws: conservative ones give back what they take, none but those that play or bounce give more."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from fastpath.testing.contact_trial import CONTACT, KINDS, LAW, LOOP, contact_trial, law_forces

Array = NDArray[np.float64]
STEPS: Final = 60000
DT: Final = 1 / 32000
NORMAL: Final = np.array((1.0, 2.0, -2.0)) / 3
CONSERVATIVE: Final[dict[str, dict[str, Any]]] = {
    "wall": {"kind": "wall", "stiffness": 3000.0},
    "spring to a point": {"kind": "spring", "stiffness": 800.0, "normal": 0.0},
    "spring to a plane with a gap": {"kind": "spring", "stiffness": 800.0, "size": 0.002},
    "limited spring": {"kind": "spring", "stiffness": 2000.0, "amplitude": 2.0},
    "sine": {"kind": "periodic", "form": 0, "size": 0.003, "amplitude": 0.5},
    "bumps": {"kind": "periodic", "form": 1, "size": 0.004, "amplitude": 0.5},
    "detents": {"kind": "periodic", "form": 2, "size": 0.005, "amplitude": 0.5},
    "well": {"kind": "snap", "size": 0.004, "amplitude": 1.0, "normal": 0.0},
    "button": {"kind": "button", "stiffness": 500.0, "size": 0.003, "share": 0.6, "second": 3000.0},
}
DISSIPATIVE: Final[dict[str, dict[str, Any]]] = {
    "wall with damping": {"kind": "wall", "stiffness": 3000.0, "damping": 5.0},
    "wall with friction": {"kind": "wall", "stiffness": 3000.0, "share": 0.4},
    "spring with damping": {"kind": "spring", "stiffness": 800.0, "damping": 3.0, "normal": 0.0},
    "viscous": {"kind": "viscous", "damping": 4.0, "normal": 0.0},
    "friction": {"kind": "friction", "stiffness": 1500.0, "amplitude": 0.8, "normal": 0.0},
    "plucked string": {"kind": "string", "stiffness": 400.0, "size": 0.004},
    "object": {"kind": "mass", "stiffness": 600.0, "damping": 2.0, "mass": 0.2, "normal": 0.0},
    "object at a wall": {"kind": "mass", "stiffness": 600.0, "damping": 2.0, "mass": 0.2, "second": 3000.0},
}


def row(kind: str, **values: Any) -> NDArray[np.void]:
    """Return one law whose plane goes through 0."""
    made = np.zeros(1, dtype=LAW)
    made["kind"], made["client"], made["end"], made["normal"] = KINDS[kind], LOOP, 1e9, NORMAL
    for name, value in values.items():
        made[name] = value
    return made


def closed_path(seed: int) -> Array:
    """Return a smooth path of a few centimetres (m) that ends where it begins, at rest."""
    random = np.random.default_rng(seed)
    phase = np.linspace(0, 2 * np.pi, STEPS + 1)
    # It begins and ends slowly, so that a law that follows the motion is at rest at both.
    phase = phase - np.sin(phase)
    waves = [random.normal(size=(3, 1)) * 0.012 / k * np.sin(k * phase + random.uniform(0, 6)) for k in range(1, 6)]
    return np.ascontiguousarray(sum(waves, np.zeros((3, 1))).T)


def work(law: NDArray[np.void], path: Array) -> tuple[float, float]:
    """Return what the law does on the path (J), and the same with every part counted as positive."""
    forces = law_forces(law, path, dt=DT)
    parts = np.sum(0.5 * (forces[1:] + forces[:-1]) * np.diff(path, axis=0), axis=1)
    return float(parts.sum()), float(np.abs(parts).sum())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", CONSERVATIVE)
def test_conservative_law_does_no_net_work_on_a_closed_path(name: str, seed: int) -> None:
    net, gross = work(row(**CONSERVATIVE[name]), closed_path(seed))

    assert gross > 1e-4
    assert abs(net) < 1e-4 * gross


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", DISSIPATIVE)
def test_dissipative_law_takes_energy_on_a_closed_path(name: str, seed: int) -> None:
    net, gross = work(row(**DISSIPATIVE[name]), closed_path(seed))

    assert net < -1e-3 * gross


def test_ball_on_a_still_paddle_comes_to_rest_with_its_weight() -> None:
    ball = row("ball", stiffness=2000.0, damping=4.0, mass=0.1, size=0.01, share=1.0)

    forces = law_forces(ball, np.zeros((96000, 3)), dt=DT) @ NORMAL

    assert forces.min() < -0.2 * 9.80665
    assert forces[-1000:] == pytest.approx(-0.1 * 9.80665, rel=0.02)


def test_played_law_comes_in_and_goes_out_between_begin_and_end() -> None:
    played = row("vibration", frequency=100.0, amplitude=2.0, begin=0.1, end=0.3)

    force = np.abs(law_forces(played, np.zeros((16000, 3)), dt=DT) @ NORMAL)

    assert force[: round(0.1 / DT)].max() == 0
    assert force[round(0.14 / DT) : round(0.26 / DT)].max() == pytest.approx(2, rel=1e-3)
    assert force[round(0.3 / DT) + 1 :].max() == 0


def still(**other: Any) -> NDArray[np.void]:
    """Return ten ms of a bare device that nothing moves."""
    values: dict[str, Any] = {"frequency": 1000, "encoder_step": 1e-6, **other}
    arguments = [
        values.pop(name, default) for name, default in (("hands", ()), ("laws", np.zeros(0, LAW)), ("clients", ()))
    ]
    return contact_trial(
        (0.2, 0.5, 0.1), arguments[0], np.zeros((1, 11, 3)), np.ones((1, 10)), *arguments[1:], **values
    )


def test_trial_without_laws_rests() -> None:
    samples = still()

    assert samples.dtype == CONTACT
    assert not samples["v"].any()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"frequency": 1500}, "multiple of 1000"),
        ({"frequency": 64000}, "multiple of 1000"),
        ({"mode": "off"}, "use one of free, filter"),
        ({"encoder_step": 0.0}, "encoder step above 0"),
        ({"latency": 8}, "latency of 0 to 7"),
        ({"hands": [(1, 1, 1, 1, 1)] * 3}, "at most two hands"),
        ({"clients": [(1e-3, 0, 0)] * 3}, "at most 12 laws and 2 clients"),
    ],
)
def test_impossible_trial_is_refused_with_what_to_give(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        still(**wrong)


def test_law_of_a_client_that_is_not_there_is_refused() -> None:
    law = row("wall")
    law["client"] = 0

    with pytest.raises(ValueError, match="give each law a client of this trial"):
        still(laws=law)
