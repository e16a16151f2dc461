"""Scene of a device: force fields that are described once, and that the service's loop renders. Pure.

Positions in m, application space of the session; forces N, stiffness N/m, damping N·s/m at the device, whatever the scale of the space is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final

import numpy as np

from hapticd_client.core.vectors import WXYZ, XYZ, is_number, three
from hapticd_client.errors import InvalidCommand

POINTS: Final = frozenset({"point", "centre", "start", "end", "normal", "force", "size"})


@dataclass(frozen=True)
class Field:
    """One field of a scene; what is left out has the default of the service. Units as above; errors come as FrameErrors with the next turn."""

    word: ClassVar[str] = ""

    def document(self) -> dict[str, Any]:
        """Return the field as the wire has it. InvalidCommand."""
        made: dict[str, Any] = {"field": self.word}
        for row in fields(self):
            value = getattr(self, row.name)
            if value is None:
                continue
            try:
                made[row.name] = _written(self.word, row.name, value)
            except (TypeError, ValueError):
                raise InvalidCommand(f"{row.name} of a {self.word} cannot be {value!r}") from None
        return made


def _written(word: str, name: str, value: Any) -> Any:
    """Return one parameter as the wire has it."""
    if name in POINTS or (name == "damping" and not is_number(value)):
        return dict(zip(XYZ, three(value, f"{name} of a {word}", "x, y, z"), strict=True))
    if name == "rotation":
        parts = [float(part) for part in value]
        if len(parts) != len(WXYZ):
            raise InvalidCommand(f"rotation of a {word} is a quaternion w, x, y, z, and this is {value!r}")
        return dict(zip(WXYZ, parts, strict=True))
    if name == "friction":
        parts = [value, value] if is_number(value) else list(value)
        if len(parts) != 2:
            raise InvalidCommand(f"friction of a {word} is one number, or static and dynamic, and this is {value!r}")
        return {"static": float(parts[0]), "dynamic": float(parts[1])}
    if name == "matrix":
        return np.asarray(value, dtype=np.float64).ravel().tolist()
    if name == "axes":
        return list(value)
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True)
class Constant(Field):
    """`force`, N, three numbers, wherever the cursor is."""

    word: ClassVar[str] = "constant"
    force: Iterable[float]


@dataclass(frozen=True)
class Spring(Field):
    """A spring to `centre` (m) on some `axes`: `stiffness` N/m, `damping` N·s/m; nothing within `dead_zone` (m), at most `largest` N."""

    word: ClassVar[str] = "spring"
    centre: Iterable[float]
    stiffness: float
    axes: Iterable[str] | None = None
    damping: float | None = None
    dead_zone: float | None = None
    largest: float | None = None


@dataclass(frozen=True)
class Attract(Field):
    """A spring to `centre` (m) that ends at a `range` (m) from it: to a point, with two `axes` to a line, with one to a plane; the rest as of `Spring`."""

    word: ClassVar[str] = "attract"
    centre: Iterable[float]
    range: float
    stiffness: float
    axes: Iterable[str] | None = None
    damping: float | None = None
    largest: float | None = None


@dataclass(frozen=True)
class Damper(Field):
    """`damping` N·s/m for all axes or three numbers, or a `matrix` of three rows of three, whose skew part is a curl field that does no work."""

    word: ClassVar[str] = "damper"
    damping: float | Iterable[float] | None = None
    matrix: Any = None


@dataclass(frozen=True)
class Plane(Field):
    """A wall: a `point` of it (m), its `normal` towards the free side; `stiffness` N/m, `damping` N·s/m, `friction` static and dynamic."""

    word: ClassVar[str] = "plane"
    point: Iterable[float]
    normal: Iterable[float]
    stiffness: float
    damping: float | None = None
    friction: float | tuple[float, float] | None = None


@dataclass(frozen=True)
class Sphere(Field):
    """A ball about `centre` with a `radius` (m), free outside, or `inside`; the rest as of `Plane`."""

    word: ClassVar[str] = "sphere"
    centre: Iterable[float]
    radius: float
    stiffness: float
    inside: bool | None = None
    damping: float | None = None
    friction: float | tuple[float, float] | None = None


@dataclass(frozen=True)
class Box(Field):
    """A box about `centre`, of a `size` (m, three edges), turned by a `rotation` w, x, y, z; free outside, or `inside`; the rest as of `Plane`."""

    word: ClassVar[str] = "box"
    centre: Iterable[float]
    size: Iterable[float]
    stiffness: float
    rotation: Iterable[float] | None = None
    inside: bool | None = None
    damping: float | None = None
    friction: float | tuple[float, float] | None = None


@dataclass(frozen=True)
class Capsule(Field):
    """All within `radius` of the way from `start` to `end` (m); free outside, or `inside`; the rest as of `Plane`."""

    word: ClassVar[str] = "capsule"
    start: Iterable[float]
    end: Iterable[float]
    radius: float
    stiffness: float
    inside: bool | None = None
    damping: float | None = None
    friction: float | tuple[float, float] | None = None


@dataclass(frozen=True)
class Cylinder(Field):
    """A cylinder with flat ends at `start` and `end` (m) and a `radius` (m); free outside, or `inside`; the rest as of `Plane`."""

    word: ClassVar[str] = "cylinder"
    start: Iterable[float]
    end: Iterable[float]
    radius: float
    stiffness: float
    inside: bool | None = None
    damping: float | None = None
    friction: float | tuple[float, float] | None = None


class Scene(MutableMapping[str, Any]):
    """Fields by id: assign a field or the object of one, `del` removes it; it goes with the next turn or `update`."""

    def __init__(self, shown: Mapping[str, Any], change: Callable[[str, dict[str, Any] | None], None]) -> None:
        """`shown`: what is there; `change` takes an id and its new document, or None."""
        self._shown = shown
        self._change = change

    def __getitem__(self, name: str) -> Any:
        """Return the field as the wire has it; KeyError."""
        return self._shown[name]

    def __setitem__(self, name: str, value: Field | Mapping[str, Any]) -> None:
        """Add or change one field. InvalidCommand."""
        self._change(name, document(value))

    def __delitem__(self, name: str) -> None:
        """Remove one field; KeyError."""
        if name not in self._shown:
            raise KeyError(name)
        self._change(name, None)

    def __iter__(self) -> Iterator[str]:
        """Yield the ids."""
        return iter(self._shown)

    def __len__(self) -> int:
        """Return how many fields there are."""
        return len(self._shown)


def document(value: object) -> dict[str, Any]:
    """Return a field as the wire has it. InvalidCommand."""
    if isinstance(value, Field):
        return value.document()
    if isinstance(value, Mapping):
        return dict(value)
    raise InvalidCommand(f"a scene is made of fields, such as Plane or Spring, and this is {value!r}")


def documents(value: object) -> dict[str, dict[str, Any]]:
    """Return a whole scene as the wire has it: fields by id, or a list, whose ids are "1", "2" and so on. InvalidCommand."""
    if isinstance(value, Mapping):
        return {str(name): document(one) for name, one in value.items()}
    if isinstance(value, str | bytes | Field) or not isinstance(value, Iterable):
        raise InvalidCommand(f"a scene is a list of fields, or fields by id, and this is {value!r}")
    return {str(number): document(one) for number, one in enumerate(value, start=1)}
