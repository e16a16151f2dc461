"""Module `workspace_zoom`: scale and rotate a session's workspace about a pivot that keeps its place on the screen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from actors.kit.errors import InvalidInput
from actors.modules.module import Part, WordTable
from actors.values.kinds.nouns import takers_of
from actors.values.spatial import ORIGIN, PartialTransform, Transform, Vec3
from fastpath.space.spatial_py import transform_point, transform_point_back

if TYPE_CHECKING:
    from actors.modules.module import ModuleInput, Session

BOTH: Final = "pivot and position exclude each other: the pivot says where the workspace goes"


@dataclass(frozen=True, slots=True)
class Zoom:
    """A change of rotation and scale that keeps `pivot` at the same point of the device."""

    change: PartialTransform
    pivot: Vec3  # m, application space

    def over(self, base: Transform, travelled: Vec3 = ORIGIN) -> Transform:
        """Return T' with c the pivot: c - R'(s' u), u = (R^T(c - t)) / s; without a new rotation c + R((s'/s) R^T(t - c))."""
        cx, cy, cz = (c - n for c, n in zip(self.pivot, travelled, strict=True))
        u = transform_point_back((base.position, base.rotation, base.scale), (cx, cy, cz))
        after = replace(self.change.over(base), position=ORIGIN)
        x, y, z = transform_point((after.position, after.rotation, after.scale), u)
        return replace(after, position=(cx - x, cy - y, cz - z))


class WorkspaceZoom:
    """`pivot` in set_transform and state/transform, for kinds that have the area `pivot`."""

    name = "workspace_zoom"
    setting = "features/workspace_zoom/enabled"
    words = WordTable(set_transform=("pivot",))

    def read(self, sent: ModuleInput) -> Zoom:
        """Parse `{x, y, z}` in application space; a position beside it is refused."""
        if sent.kind is None or not sent.kind.spec.has("pivot"):
            raise InvalidInput(f"only {takers_of('pivot')} has a pivot: leave it out", sent.path)
        if sent.change.position is not None:
            raise InvalidInput(BOTH, sent.path)
        return Zoom(sent.change, sent.point())

    def open(self, session: Session) -> Part:
        """Return a part without state."""
        del session
        return Part()
