"""TeleoperatorConfig."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

C = TypeVar("C", bound=type)


@dataclass(kw_only=True)
class TeleoperatorConfig:
    known: ClassVar[dict[str, type]] = {}
    id: str | None = None
    calibration_dir: Path | None = None

    @classmethod
    def register_subclass(cls, name: str) -> Callable[[C], C]:
        def keep(kind: C) -> C:
            cls.known[name] = kind
            return kind

        return keep
