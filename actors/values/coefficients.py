"""Round coefficients that clients configure (damping, gains, factors) to the step that is stored."""

from __future__ import annotations

from typing import Final

DECIMALS: Final = 5


def kept(value: float) -> float:
    """Return the value rounded to 0.00001, so that at most 8 characters show it (0 to 99): docs/decisions/0032."""
    return round(value, DECIMALS)
