"""Registry of the kinds of devices, in the order of a frame's groups.

Tables of words, frames and settings derive from it at import, so the first read closes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from actors.values.kinds.arm import ARM
from actors.values.kinds.compact import COMPACT
from actors.values.kinds.grip import GRIP
from actors.values.kinds.pen import PEN

if TYPE_CHECKING:
    from actors.values.kinds.base import KindSpec

BUILT_IN: Final = (ARM, COMPACT, GRIP, PEN)


class KindRegistry:
    """Kinds by name; no kind can be added after the first read."""

    def __init__(self, built_in: tuple[KindSpec, ...] = BUILT_IN) -> None:
        self._specs = list(built_in)
        self._closed = False

    def register(self, spec: KindSpec) -> None:
        """Add a kind; ValueError if its name is taken, RuntimeError after the first read."""
        if self._closed:
            raise RuntimeError(f"register the kind {spec.name} before any other module of the service is imported")
        if any(spec.name == other.name for other in self._specs):
            raise ValueError(f"there is a kind {spec.name} already")
        self._specs.append(spec)

    def read(self) -> tuple[KindSpec, ...]:
        """Return all kinds in order, and close the registry."""
        self._closed = True
        return tuple(self._specs)


_REGISTRY: Final = KindRegistry()


def register(spec: KindSpec) -> None:
    """Add a kind to this process, before any other package is imported."""
    _REGISTRY.register(spec)


def specs() -> tuple[KindSpec, ...]:
    """Return all kinds of this process, in order."""
    return _REGISTRY.read()
