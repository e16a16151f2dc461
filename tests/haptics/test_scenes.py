"""A bare device on the surfaces of a scene: it comes to rest and gains no energy, however old its samples and at every rate."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest

from fastpath.scene.values import Field
from tests.support.loop.devices import ARM_CENTRE
from tests.support.loop.distant_device import BareMass, DistantDevice, rms
from tests.support.loop.held_device import COMBINATIONS, STIFFNESS, Pressed, described, press, settled
from tests.support.loop.monitored_arm import EBRAKE
from tests.support.loop.scenes import Scened, field

GRAVITY: Final = 9.80665
MASSES: Final = [0.05, 0.2]
RATES: Final = [300.0, 1_000.0, 4_000.0, 32_000.0]
AGES: Final = [0.0, 0.012, 0.100]
# m along x: where the wall stands, free on the near side.
WALL: Final = 0.01
FACE: Final = (WALL, 0.0, 0.0)


def wall(stiffness: float, damping: float = 0.0) -> Field:
    return field("plane", point=FACE, normal=(-1.0, 0.0, 0.0), stiffness=stiffness, damping=damping)


def plate(stiffness: float, friction: tuple[float, float] = (0.5, 0.4)) -> Field:
    """2 mm thick, its near face where the wall's is."""
    return field(
        "box", centre=(WALL + 0.001, *ARM_CENTRE[1:]), size=(0.002, 0.1, 0.1), stiffness=stiffness, friction=friction
    )


SCENES: Final = {
    "wall": {"wall": wall(1000.0)},
    "damped wall": {"wall": wall(2000.0, 20.0)},
    "plate with friction": {"plate": plate(2000.0)},
    "four walls and a damper": {
        **{str(number): wall(1000.0) for number in range(4)},
        "damper": field("damper", damping=5.0),
    },
}


def before(mass: BareMass, frequency: float, every: float, scene: dict[str, Field]) -> DistantDevice:
    """A device whose client lives, before a scene."""
    rig = DistantDevice(mass, frequency, every)
    rig.runtime.publish_loop(frequency=frequency, command_timeout=0.5, scene_timeout=60.0)
    rig.writer.set_scene(scene)
    assert rig.writer.publish(refresh=False)
    return rig


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
@pytest.mark.parametrize("every", AGES)
@pytest.mark.parametrize("frequency", RATES)
def test_bare_device_pressed_into_a_scene_comes_to_rest(
    frequency: float, every: float, scene: dict[str, Field]
) -> None:
    for kilograms in MASSES if frequency < 32_000 else MASSES[:1]:
        rig = before(BareMass(kilograms, kilograms * GRAVITY, ARM_CENTRE[0] + WALL), frequency, every, scene)
        rig.run(2.0)

        assert rms(rig.run(0.5)) <= 5.0, kilograms
        assert rig.safety() & EBRAKE == 0


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
@pytest.mark.parametrize("every", AGES[:-1])
@pytest.mark.parametrize("frequency", RATES)
def test_bare_device_leaves_a_surface_no_faster_than_it_came(
    frequency: float, every: float, scene: dict[str, Field]
) -> None:
    for kilograms in MASSES:
        mass = BareMass(kilograms, 0.0, ARM_CENTRE[0] - 0.01, velocity=0.15)
        seen = before(mass, frequency, every, scene).run(1.0)

        assert max(map(abs, seen)) <= 0.15 * 1.01


@pytest.mark.parametrize("stiffness", [200.0, 2000.0])
@pytest.mark.parametrize("every", AGES)
@pytest.mark.parametrize("frequency", RATES)
def test_bare_device_on_a_spring_comes_to_rest(frequency: float, every: float, stiffness: float) -> None:
    spring = field("spring", centre=(ARM_CENTRE[0] + 0.02, *ARM_CENTRE[1:]), stiffness=stiffness, damping=1.0)
    rig = before(BareMass(0.2, 0.5, ARM_CENTRE[0]), frequency, every, {"spring": spring})
    rig.run(3.0)

    assert rms(rig.run(0.5)) <= 5.0
    assert rig.safety() & EBRAKE == 0


@pytest.mark.parametrize("curl", [5.0, 10.0, 20.0])
@pytest.mark.parametrize("kilograms", [0.05, 0.2])
@pytest.mark.parametrize("frequency", [1_000.0, 4_000.0])
def test_curl_does_not_feed_a_bare_device(frequency: float, kilograms: float, curl: float) -> None:
    matrix = (0.0, curl, 0.0, -curl, 0.0, 0.0, 0.0, 0.0, 0.0)
    rig = Scened({"curl": field("damper", matrix=matrix)}, frequency=frequency, mass=kilograms)
    rig.stay(0.2)
    # On a plane, without any friction, under the order of the tick before.
    place, velocity, force = np.array(rig.place), np.array((0.1, 0.0, 0.0)), np.zeros(3)
    for _ in range(round(frequency)):
        for _ in range(16):
            velocity = velocity + force / (kilograms * 16 * frequency)
            place = place + velocity / (16 * frequency)
        force = np.array(rig.at(place.tolist()))
        assert np.linalg.norm(velocity) <= 0.1 * 1.001
    assert np.linalg.norm(velocity) < 0.02


@pytest.mark.parametrize("pressed", COMBINATIONS, ids=str)
def test_wall_of_a_client_at_20_hz_is_at_rest_in_every_hand(pressed: Pressed) -> None:
    velocities, depths = press(pressed, described, 20.0)

    assert settled(velocities) <= 5.0
    assert max(depths) <= 1.5 * pressed.press / STIFFNESS + 1e-3


def test_wall_keeps_its_stiffness_on_new_samples() -> None:
    rig = before(BareMass(0.2, 0.2 * GRAVITY, ARM_CENTRE[0] + WALL), 4_000.0, 0.0, {"wall": wall(1000.0)})
    rig.run(2.0)

    assert rig.mass.position - WALL == pytest.approx(0.2 * GRAVITY / 1000, rel=0.05)
