"""Wait with a time limit for another process or thread; tests in one process use a manual clock instead."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil
from typing import Final, TypeVar

T = TypeVar("T")

# Limit of every wait: long enough for a busy machine.
TIMEOUT_S: Final = 60.0


def eventually(look: Callable[[], T | None], what: str, *, tries: int = 300, pause_s: float = 0.1) -> T:
    """First answer of `look` that is not None, False, or empty; AssertionError naming `what` after `tries` looks, with pauses after TIMEOUT_S."""
    if pause_s > 0:
        tries = max(tries, ceil(TIMEOUT_S / pause_s))
    for _ in range(tries):
        answer = look()
        if answer is not None and answer is not False and not (isinstance(answer, list | tuple) and not answer):
            return answer
        time.sleep(pause_s)
    raise AssertionError(f"{what}: not within {tries} looks, {pause_s:g} s apart")
