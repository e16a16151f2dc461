"""Soak: an emulated hAPI board at 1 kHz for a minute; nearly every order is answered within a millisecond."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.support.machine import ProcessorTime
from bench.support.result_table import Limit, ResultTable, Row, hold
from tests.support.boards.port_tap import PortTap

SECTION: Final = "hAPI board · driver and emulator on a pseudo-terminal at 1 kHz for 60 s · reference: every order"
LIMIT: Final = Limit(0.99, "≥")
RATE_HZ: Final = 1000
SECONDS: Final = 60.0
ORDER_BYTES: Final = 10
REPLY_BYTES: Final = 9
PROMPT_MS: Final = 1.0
ROOM: Final = 500_000
MOST_RUNS: Final = 3
LEAST_IDLE: Final = 20.0
CHRT: Final = shutil.which("chrt")
FIRST: Final = [CHRT, "-f", "20"] if CHRT and os.geteuid() == 0 else []

pytestmark = [pytest.mark.soak, pytest.mark.realtime]


@contextmanager
def emulated(link: Path) -> Generator[str]:
    """A board in a process of its own, before all others where that is allowed, as a board shares no processor; where its port is."""
    command = [*FIRST, sys.executable, "-m", "tests.emulators", "hapi", "--link", str(link)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@dataclass(frozen=True, slots=True)
class Minute:
    """What the link counted, ms from each order to its reply, and percent of the processors' time in which nothing ran."""

    replies: int
    bad: int
    gone: str
    took: NDArray[Any]
    idle: float


def driven(folder: Path) -> Minute:
    """One minute; the clock is CLOCK_MONOTONIC, read at the driver's own system calls."""
    folder.mkdir()
    tap, before = PortTap(folder, ROOM), ProcessorTime.now()
    with emulated(folder / "ttyACM7") as path:
        command = [sys.executable, "-m", "tests.support.boards.driven_hapi", path, str(SECONDS)]
        environment = {**os.environ, **tap.environment}
        ended = subprocess.run(command, stdout=subprocess.PIPE, env=environment, check=True, timeout=10 * SECONDS)
    seen, idle = json.loads(ended.stdout), ProcessorTime.now().idle_since(before)
    took = tap.answers_ms(ORDER_BYTES, REPLY_BYTES)
    return Minute(seen["frames_in"], seen["frames_bad"], seen["gone"], took, idle)


def undisturbed(folder: Path) -> Minute:
    """A minute in which the machine had time left: the kernel itself hands a pseudo-terminal's bytes on when it has; else the best of three."""
    minutes: list[Minute] = []
    while len(minutes) < MOST_RUNS and all(minute.idle < LEAST_IDLE for minute in minutes):
        minutes.append(driven(folder / str(len(minutes))))
    return max(minutes, key=lambda minute: minute.idle)


def test_hapi_board_replies_within_a_millisecond_for_a_minute(results: ResultTable, tmp_path: Path) -> None:
    minute = undisturbed(tmp_path)
    took, came = minute.took, minute.took[np.isfinite(minute.took)]
    figures = ", ".join(f"p{share:g} {np.percentile(came, share):.3f}" for share in (50, 95, 99, 99.9))
    note = f"ms from order to reply: {figures}, most {came.max():.3f}; {took.size - came.size} without; idle {minute.idle:.0f} %"
    hold(
        results.add(Row(SECTION, "replies", minute.replies, "", SECONDS * RATE_HZ, LIMIT)),
        results.add(Row(SECTION, "within 1 ms", int((took < PROMPT_MS).sum()), "", took.size, LIMIT, note)),
    )
    assert minute.gone == ""
    assert minute.bad == 0
