"""Module `contact`: a command of a wall or a ball that the loop renders by itself, felt without a client's own control loop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from actors.kit.errors import InvalidInput
from actors.modules.module import LARGEST, Part, Place, WordTable
from actors.values.kinds.nouns import any_of
from actors.values.spatial import Vec3

if TYPE_CHECKING:
    from actors.modules.module import Device, ModuleInput, Session

MOST_STIFFNESS: Final = 2000.0  # N/m
MOST_DAMPING: Final = 20.0  # N·s/m
LEAST_RADIUS: Final = 1e-3  # m
LAW: Final = ("stiffness", "damping")


@dataclass(frozen=True, slots=True)
class Plane:
    """A wall through a point, free on the side of its normal; m, application space; N/m and N·s/m at the device."""

    point: Vec3
    normal: Vec3
    stiffness: float
    damping: float

    def command(self, device: Device) -> None:
        """Write it to the session's record; ValueError."""
        device.writer.contact_plane(self.point, self.normal, self.stiffness, self.damping)


@dataclass(frozen=True, slots=True)
class Sphere:
    """A ball that is free outside; m, application space; N/m and N·s/m at the device."""

    centre: Vec3
    radius: float
    stiffness: float
    damping: float

    def command(self, device: Device) -> None:
        """Write it to the session's record; ValueError."""
        device.writer.contact_sphere(self.centre, self.radius, self.stiffness, self.damping)


Shape: TypeAlias = Plane | Sphere


class _Contacts(Part):
    def __init__(self, session: Session) -> None:
        self._session = session

    def take(self, place: Place, word: str, value: object, device: Device | None) -> None:
        """Command the contact; it replaces the last one of the device. InvalidInput."""
        del place, word
        if device is None:
            return
        if not device.accepts:
            raise InvalidInput(device.refusal)
        try:
            cast("Shape", value).command(device)
        except ValueError as error:
            raise InvalidInput(str(error)) from None

    def close(self) -> None:
        """Release every contact."""
        for device in self._session.devices.values():
            device.writer.release_contact()


class Contact:
    """`commands.set_contact`: `{"shape": "plane", "point", "normal"}` or `{"shape": "sphere", "centre", "radius"}`, stiffness, damping."""

    name = "contact"
    setting = "features/contact/enabled"
    words = WordTable(commands=("set_contact",))

    def read(self, sent: ModuleInput) -> Shape:
        """Return the shape; every member is needed."""
        spec = None if sent.kind is None else sent.kind.spec
        if spec is None or not (spec.has_cursor and spec.has_motors):
            takers = any_of(lambda kind: kind.has_cursor and kind.has_motors)
            raise InvalidInput(f"this device takes no set_contact: send it to {takers}", sent.path)
        members: object = sent.value if isinstance(sent.value, dict) else sent.fields()
        shape = cast("dict[str, object]", members).get("shape")
        if shape == "plane":
            return _plane(sent)
        if shape == "sphere":
            return _sphere(sent)
        raise InvalidInput("shape must be plane or sphere", f"{sent.path}.shape")

    def open(self, session: Session) -> Part:
        """Return a part without contacts."""
        return _Contacts(session)


def _plane(sent: ModuleInput) -> Plane:
    sent.fields("shape", "point", "normal", *LAW)
    point, normal = _vector(sent, "point"), _vector(sent, "normal")
    if not any(normal):
        raise InvalidInput("it is zero: send the direction from the wall to the free side", f"{sent.path}.normal")
    return Plane(point, normal, *_law(sent))


def _sphere(sent: ModuleInput) -> Sphere:
    sent.fields("shape", "centre", "radius", *LAW)
    return Sphere(_vector(sent, "centre"), sent.number("radius", LEAST_RADIUS, LARGEST), *_law(sent))


def _law(sent: ModuleInput) -> tuple[float, float]:
    """Return stiffness and damping."""
    return sent.number("stiffness", 0, MOST_STIFFNESS), sent.number("damping", 0, MOST_DAMPING)


def _vector(sent: ModuleInput, key: str) -> Vec3:
    """Return the three numbers under a key."""
    fields = cast("dict[str, object]", sent.value)
    if key not in fields:
        raise InvalidInput(f"{key} is missing", f"{sent.path}.{key}")
    return replace(sent, value=fields[key], path=f"{sent.path}.{key}").point()
