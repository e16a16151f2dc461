# Signed distances of navigation shapes for Python: validation and tests use the same C as the loop.

from collections.abc import Sequence
from typing import final

from fastpath.navigation.values import BubbleShape

# One primitive in its shape space. ValueError for parameters that form no shape, KeyError for a missing one.
@final
class Solid:
    def __new__(cls, wanted: BubbleShape) -> Solid: ...
    # Distance from the surface, m, negative inside.
    def distance(self, p: Sequence[float]) -> float: ...
    # Gradient of the distance, a unit vector.
    def gradient(self, p: Sequence[float]) -> tuple[float, float, float]: ...
