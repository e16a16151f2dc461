"""An emulated hAPI board at 1 kHz for a minute: nearly every order is answered within a millisecond, and none out of step."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from bench.support.board import Board, Limit, Row, hold
from tests.support.port_tap import PortTap
from transport.link.protocols.hapi import RATE_HZ

SECTION: Final = "hAPI board · driver and emulator on a pseudo-terminal at 1 kHz for 60 s · reference: every order"
LIMIT: Final = Limit(0.99, "≥")
SECONDS: Final = 60.0
ORDER_BYTES: Final = 10
REPLY_BYTES: Final = 9
PROMPT_MS: Final = 1.0
ROOM: Final = 500_000
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


def test_replies_of_a_minute(board: Board, tmp_path: Path) -> None:
    tap = PortTap(tmp_path, ROOM)
    with emulated(tmp_path / "ttyACM7") as path:
        command = [sys.executable, "-m", "tests.support.driven_hapi", path, str(SECONDS)]
        driven = subprocess.run(
            command, stdout=subprocess.PIPE, env={**os.environ, **tap.environment}, check=True, timeout=10 * SECONDS
        )
    seen = json.loads(driven.stdout)
    took = tap.answers_ms(ORDER_BYTES, REPLY_BYTES)
    came = took[np.isfinite(took)]
    figures = ", ".join(f"p{share:g} {np.percentile(came, share):.3f}" for share in (50, 95, 99, 99.9))
    note = f"ms from order to reply: {figures}, most {came.max():.3f}; {took.size - came.size} without"
    rows = [
        board.add(Row(SECTION, "replies", seen["frames_in"], "", SECONDS * RATE_HZ, LIMIT)),
        board.add(Row(SECTION, "within 1 ms", int((took < PROMPT_MS).sum()), "", took.size, LIMIT, note)),
    ]
    assert took.size >= 0.99 * SECONDS * RATE_HZ
    assert seen["gone"] == ""
    assert seen["frames_bad"] == 0
    hold(*rows)
