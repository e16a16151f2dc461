"""Spatial values that transport and actors exchange (vectors, bases, transforms); the formulas on them are in fastpath."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

Vec3: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]
Axes: TypeAlias = tuple[int, int, int]

ORIGIN: Final[Vec3] = (0.0, 0.0, 0.0)
ONES: Final[Vec3] = (1.0, 1.0, 1.0)
NO_ROTATION: Final[Quaternion] = (1.0, 0.0, 0.0, 0.0)

MICROMETRE: Final = 6

_TERM: Final = re.compile(r"([+-]?)([XYZ])")
_PERMUTATION: Final = re.compile(r"(?:[+-]?[XYZ]){3}")


@dataclass(frozen=True, slots=True)
class Basis:
    """Signed permutation of axes: application axis i is signs[i] times device axis axes[i]."""

    axes: Axes = (0, 1, 2)
    signs: Axes = (1, 1, 1)

    @classmethod
    def parse(cls, text: str) -> Basis:
        """Parse a text such as `XZY` or `X-YZ`; ValueError unless it names each axis once."""
        if not _PERMUTATION.fullmatch(text):
            raise ValueError("a permutation names X, Y and Z once each, with optional signs, such as XZ-Y")
        terms = _TERM.findall(text)
        axes = tuple("XYZ".index(letter) for _, letter in terms)
        if sorted(axes) != [0, 1, 2]:
            raise ValueError("a permutation names each of X, Y and Z once, such as XZ-Y")
        signs = tuple(-1 if sign == "-" else 1 for sign, _ in terms)
        return cls((axes[0], axes[1], axes[2]), (signs[0], signs[1], signs[2]))

    @property
    def inverse(self) -> Basis:
        """The inverse basis: its transpose."""
        axes, signs = [0, 0, 0], [1, 1, 1]
        for row, (axis, sign) in enumerate(zip(self.axes, self.signs, strict=True)):
            axes[axis], signs[axis] = row, sign
        return Basis((axes[0], axes[1], axes[2]), (signs[0], signs[1], signs[2]))

    def __str__(self) -> str:
        """Return the text that `parse` reads, without plus signs."""
        return "".join(
            ("-" if sign < 0 else "") + "XYZ"[axis] for axis, sign in zip(self.axes, self.signs, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Transform:
    """T(position) R(rotation) S(scale)."""

    position: Vec3 = ORIGIN  # m
    rotation: Quaternion = NO_ROTATION  # unit quaternion w, x, y, z
    scale: Vec3 = ONES  # positive factors


@dataclass(frozen=True, slots=True)
class PartialTransform:
    """The parts of a transform in a message; None: not sent."""

    position: Vec3 | None = None
    rotation: Quaternion | None = None
    scale: Vec3 | None = None

    def over(self, base: Transform, travelled: Vec3 = ORIGIN) -> Transform:
        """Return `base` with the sent parts replaced; `travelled` has no effect."""
        del travelled
        return Transform(
            base.position if self.position is None else self.position,
            base.rotation if self.rotation is None else self.rotation,
            base.scale if self.scale is None else self.scale,
        )


class WorkspaceChange(Protocol):
    """A change of a workspace transform whose result depends on the present one."""

    def over(self, base: Transform, travelled: Vec3 = ORIGIN) -> Transform:
        """Return `base` changed; `travelled` (m) is what navigation adds to every position."""
        ...


@dataclass(frozen=True, slots=True)
class Reach:
    """Reach box and widths of its safety-spring zones, m, device frame."""

    low: Vec3
    high: Vec3
    zone_low: Vec3  # widths at the low side of each axis
    zone_high: Vec3  # widths at the high side of each axis

    @property
    def centre(self) -> Vec3:
        """Centre of the reach without the zones."""
        x, y, z = (
            round((low + near + high - far) / 2, MICROMETRE)
            for low, near, high, far in zip(self.low, self.zone_low, self.high, self.zone_high, strict=True)
        )
        return x, y, z

    @property
    def centre_with_zones(self) -> Vec3:
        """Centre of the reach with the zones: the origin of the centred presets before interface 3.5.3."""
        x, y, z = (round((low + high) / 2, MICROMETRE) for low, high in zip(self.low, self.high, strict=True))
        return x, y, z
