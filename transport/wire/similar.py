"""`actors.values.similar` for the operators' commands, which know the words of the wire only."""

from __future__ import annotations

from actors.values.similar import nearest, similar

__all__ = ["nearest", "similar"]
