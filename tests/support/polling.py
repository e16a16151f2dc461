"""Bounded waiting for what another process does; inside one process tests use a manual clock and events instead."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def eventually(look: Callable[[], T | None], what: str, *, tries: int = 300, pause_s: float = 0.1) -> T:
    """First answer of `look` that is neither None nor False; AssertionError naming `what` after `tries` looks."""
    for _ in range(tries):
        answer = look()
        if answer is not None and answer is not False:
            return answer
        time.sleep(pause_s)
    raise AssertionError(f"{what}: not within {tries} looks, {pause_s:g} s apart")
