"""Scene of one session on one device, as values: HTTP and frames show it, `Writer.set_scene` gives it to the loop.

Application space: positions m, directions of any length, rotations as unit quaternions w x y z. Forces N, stiffness N/m, damping
N.s/m, friction as a share of the normal force; these are at the device, whatever the scale of the space is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple

Vector = tuple[float, float, float]
Value = bool | float | tuple[float, ...] | tuple[str, ...]

# Fields of one session on one device, and characters of a field's id.
MOST_FIELDS: Final = 32
LONGEST_ID: Final = 40


class Form(Enum):
    """What a parameter of a field is made of."""

    POINT = "x, y, z in m"
    DIRECTION = "x, y, z, not all 0"
    FORCE = "x, y, z in N"
    SIZE = "x, y, z in m, each above 0"
    ROTATION = "quaternion w, x, y, z"
    NUMBER = "number"
    FLAG = "true or false"
    AXES = "list of x, y, z"
    FRICTION = "static and dynamic, the dynamic one not larger"
    DIAGONAL = "number, or x, y, z"
    MATRIX = "nine numbers, row by row"


@dataclass(frozen=True, slots=True)
class Parameter:
    """Form of one parameter; bounds of its numbers; what stands for one that is left out: None, it must be sent."""

    form: Form
    default: Value | None = None
    least: float = -1e6
    most: float = 1e6
    unit: str = ""
    optional: bool = False


_LENGTH: Final = 100.0
_POINT: Final = Parameter(Form.POINT, least=-_LENGTH, most=_LENGTH, unit="m")
_RADIUS: Final = Parameter(Form.NUMBER, least=1e-4, most=_LENGTH, unit="m")
_INSIDE: Final = Parameter(Form.FLAG, default=False)
# What every surface has beside its shape. Friction: largest tangential force at rest, and that while sliding, as shares of the normal force.
_SURFACE: Final[Mapping[str, Parameter]] = {
    "stiffness": Parameter(Form.NUMBER, least=0, most=2000, unit="N/m"),
    "damping": Parameter(Form.NUMBER, default=0.0, least=0, most=20, unit="N·s/m"),
    "friction": Parameter(Form.FRICTION, default=(0.0, 0.0), least=0, most=2),
}

# Parameters of each field, in the order of answers.
FIELDS: Final[Mapping[str, Mapping[str, Parameter]]] = {
    "constant": {"force": Parameter(Form.FORCE, least=-40, most=40, unit="N")},
    "spring": {
        "centre": _POINT,
        "axes": Parameter(Form.AXES, default=("x", "y", "z")),
        "stiffness": Parameter(Form.NUMBER, least=0, most=2000, unit="N/m"),
        "damping": Parameter(Form.NUMBER, default=0.0, least=0, most=20, unit="N·s/m"),
        "dead_zone": Parameter(Form.NUMBER, default=0.0, least=0, most=_LENGTH, unit="m"),
        "largest": Parameter(Form.NUMBER, default=40.0, least=0, most=40, unit="N"),
    },
    "attract": {
        "centre": _POINT,
        "axes": Parameter(Form.AXES, default=("x", "y", "z")),
        "range": Parameter(Form.NUMBER, least=1e-4, most=_LENGTH, unit="m"),
        "stiffness": Parameter(Form.NUMBER, least=0, most=2000, unit="N/m"),
        "damping": Parameter(Form.NUMBER, default=0.0, least=0, most=20, unit="N·s/m"),
        "largest": Parameter(Form.NUMBER, default=40.0, least=0, most=40, unit="N"),
    },
    "damper": {
        "damping": Parameter(Form.DIAGONAL, least=0, most=20, unit="N·s/m", optional=True),
        "matrix": Parameter(Form.MATRIX, least=-20, most=20, unit="N·s/m", optional=True),
    },
    "plane": {"point": _POINT, "normal": Parameter(Form.DIRECTION), **_SURFACE},
    "sphere": {"centre": _POINT, "radius": _RADIUS, "inside": _INSIDE, **_SURFACE},
    "box": {
        "centre": _POINT,
        "size": Parameter(Form.SIZE, least=1e-4, most=_LENGTH, unit="m"),
        "rotation": Parameter(Form.ROTATION, default=(1.0, 0.0, 0.0, 0.0), least=-1.001, most=1.001),
        "inside": _INSIDE,
        **_SURFACE,
    },
    "capsule": {"start": _POINT, "end": _POINT, "radius": _RADIUS, "inside": _INSIDE, **_SURFACE},
    "cylinder": {"start": _POINT, "end": _POINT, "radius": _RADIUS, "inside": _INSIDE, **_SURFACE},
}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of `FIELDS` with all its parameters; optional ones that were not sent are missing."""

    field: str
    values: Mapping[str, Value]


# Fields by id, in the order in which they were added.
Scene = Mapping[str, Field]
NO_SCENE: Final[Scene] = MappingProxyType({})


class Touched(NamedTuple):
    """What is touched of a scene, application space: ids of its fields, force of the whole scene (N), proxy (m) and depth (m) of the deepest."""

    fields: tuple[str, ...] = ()
    force: Vector = (0.0, 0.0, 0.0)
    proxy: Vector | None = None
    depth: float = 0.0
