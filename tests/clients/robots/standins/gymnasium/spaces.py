"""Box and Dict."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Box:
    def __init__(self, low: float, high: float, shape: tuple[int, ...], dtype: Any) -> None:
        self.low: NDArray[Any] = np.full(shape, low, dtype)
        self.high: NDArray[Any] = np.full(shape, high, dtype)

    def contains(self, value: NDArray[Any]) -> bool:
        return value.dtype == self.low.dtype and bool(np.all((self.low <= value) & (value <= self.high)))


class Dict:
    def __init__(self, spaces: dict[str, Box]) -> None:
        self.spaces = spaces

    def contains(self, value: dict[str, NDArray[Any]]) -> bool:
        return value.keys() == self.spaces.keys() and all(
            self.spaces[name].contains(one) for name, one in value.items()
        )
