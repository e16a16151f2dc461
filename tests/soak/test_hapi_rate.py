"""An emulated hAPI board at 1 kHz for a minute: nearly every order is answered within a millisecond, and none out of step."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from actors.kit.published import Published
from actors.port.link import Patience
from bench.support.board import Board, Limit, Row, hold
from fastpath.arena import Runtime
from tests.support.devices import fill, still_arm_params
from tests.support.slices import settings_view
from transport.link.protocols.hapi import RATE_HZ, HapiBoards

SECTION: Final = "hAPI board · driver and emulator on a pseudo-terminal at 1 kHz for 60 s · reference: every order"
LIMIT: Final = Limit(0.99, "≥")
SECONDS: Final = 60.0
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
    with emulated(tmp_path / "ttyACM7") as path:
        runtime = Runtime()
        runtime.publish_loop(frequency=4000.0, command_timeout=0.5)
        settings = Published(settings_view({"devices/hapi/ports": [f"{path}=2diy-plastic"]}))
        family = HapiBoards(runtime, settings, list_ports=lambda: ())
        (candidate,) = family.candidates()
        link = family.open(candidate, Patience(), threading.Event())
        try:
            found = link.facts().devices[0]
            assert found.mechanism is not None
            params = still_arm_params(torque_limit=123.0, source=1, silence=0.02)
            fill(params["mechanism"], {"kind": 1, **found.mechanism.geometry})
            lease = runtime.lease_device(found.device_id)
            assert runtime.publish_device(lease, params)
            runtime.start()
            link.start({found.device_id: lease})
            time.sleep(SECONDS)
            seen = link.facts()
        finally:
            link.close()
            runtime.stop()
    row = board.add(Row(SECTION, "replies", seen.counters.frames_in, "", SECONDS * RATE_HZ, LIMIT))
    assert seen.gone == ""
    assert seen.counters.frames_bad == 0
    hold(row)
