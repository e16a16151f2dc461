"""Scenes for tests of the loop: fields with their defaults, and an arm whose session has a scene."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fastpath.scene.values import FIELDS, Field, Scene, Touched, Value
from tests.support.loop.devices import ARM_CENTRE
from tests.support.loop.placed_arm import PlacedArm, Vector

X, Y, Z = ARM_CENTRE
FLOOR: Final = (0.0, 0.0, Z)
UP: Final = (0.0, 0.0, 1.0)


def field(kind: str, **values: Value) -> Field:
    """A field; what is left out has its default."""
    rows = FIELDS[kind]
    defaults = {name: row.default for name, row in rows.items() if row.default is not None}
    return Field(kind, {**defaults, **values})


def plane(
    stiffness: float = 500.0, damping: float = 2.0, *, point: Vector = FLOOR, normal: Vector = UP, **more: Value
) -> Field:
    """A floor at the height of the arm's centre."""
    return field("plane", point=point, normal=normal, stiffness=stiffness, damping=damping, **more)


def below(depth: float, x: float = X, y: float = Y) -> Vector:
    """The place so deep (m) below the floor."""
    return (x, y, Z - depth)


def far(number: int) -> tuple[float, float, float]:
    return X, Y, Z - 1.0 - number


# Of each kind one: the plane with friction is touched, the other surfaces are where the hand is not.
ONE_OF_EACH: Final[Scene] = {
    "constant": field("constant", force=(0.0, 0.0, 0.01)),
    "spring": field("spring", centre=(X, Y, Z), stiffness=20.0),
    "damper": field("damper", damping=0.1),
    "plane": field("plane", point=(X, Y, Z + 0.01), normal=(0.0, 0.0, 1.0), stiffness=100.0, friction=(0.5, 0.4)),
    "sphere": field("sphere", centre=far(1), radius=0.03, stiffness=500.0),
    "box": field("box", centre=far(2), size=(0.1, 0.1, 0.1), stiffness=500.0),
    "capsule": field("capsule", start=far(3), end=far(4), radius=0.1, stiffness=100.0),
    "cylinder": field("cylinder", start=far(5), end=far(6), radius=0.1, stiffness=100.0),
}


class Scened(PlacedArm):
    """An arm whose first session lives on: its client is heard at every tick, unless `heard` is False."""

    heard = True

    def __init__(self, scene: Mapping[str, Field] | None = None, **changes: object) -> None:
        super().__init__(**changes)  # type: ignore[arg-type]
        self.describe(scene or {})

    def describe(self, scene: Mapping[str, Field]) -> None:
        """Describe the whole scene."""
        self.writer.set_scene(scene)
        assert self.writer.publish(refresh=False)

    def at(self, place: object) -> Vector:
        if self.heard and hasattr(self, "writer"):
            self.runtime.hear(self.session)
        return super().at(place)  # type: ignore[arg-type]

    def touched(self) -> Touched:
        """What is touched of the scene that there is."""
        found = self.reader.touched(self.writer)
        assert found is not None
        return found
