"""Shapes of Gymnasium's interface, as far as hapticd_gym uses it; `make test-robots` has the real one."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np

from . import spaces

O = TypeVar("O")
A = TypeVar("A")

registry: dict[str, str] = {}


def register(id: str, entry_point: str) -> None:
    registry[id] = entry_point


class Env(Generic[O, A]):
    metadata: dict[str, Any]
    render_mode: str | None
    action_space: spaces.Box
    observation_space: spaces.Dict
    np_random: np.random.Generator = np.random.default_rng(0)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[O, dict[str, Any]]:
        del options
        if seed is not None:
            self.np_random = np.random.default_rng(seed)
        return None, {}  # type: ignore[return-value]

    def step(self, action: A) -> tuple[O, float, bool, bool, dict[str, Any]]:
        raise NotImplementedError

    def close(self) -> None: ...


__all__ = ["Env", "register", "registry", "spaces"]
