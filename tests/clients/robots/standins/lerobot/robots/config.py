"""RobotConfig."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

C = TypeVar("C", bound=type)


@dataclass(kw_only=True)
class RobotConfig:
    id: str | None = None

    @classmethod
    def register_subclass(cls, name: str) -> Callable[[C], C]:
        del name
        return lambda kind: kind
