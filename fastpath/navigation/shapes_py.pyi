# Signed distances of navigation shapes for Python: validation and tests use the same C as the loop.

from collections.abc import Sequence
from typing import final

from fastpath.navigation.values import BubbleShape

# One primitive about the origin of its shape space. ValueError when it is no shape, KeyError when a parameter is missing.
@final
class Solid:
    def __new__(cls, wanted: BubbleShape) -> Solid: ...
    # m from the surface, negative inside.
    def distance(self, p: Sequence[float]) -> float: ...
    # Unit vector along which the distance grows.
    def gradient(self, p: Sequence[float]) -> tuple[float, float, float]: ...
