"""An emulated hAPI board at 1 kHz for a minute: nearly every order is answered within a millisecond, and none out of step."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Final

import pytest

from actors.kit.published import Published
from actors.port.link import Patience
from bench.support.board import Board, Limit, Row, hold
from fastpath.arena import Runtime
from tests.emulators.hapi import HapiBoard
from tests.emulators.pty_port import PtyPort
from tests.support.devices import fill, still_arm_params
from tests.support.slices import settings_view
from transport.link.protocols.hapi import RATE_HZ, HapiBoards

SECTION: Final = "hAPI board · driver and emulator on a pseudo-terminal at 1 kHz for 60 s · reference: every order"
LIMIT: Final = Limit(0.99, "≥")
SECONDS: Final = 60.0

pytestmark = [pytest.mark.soak, pytest.mark.realtime]


def test_replies_of_a_minute(board: Board, tmp_path: Path) -> None:
    with PtyPort(HapiBoard(), link=tmp_path / "ttyACM7") as port:
        runtime = Runtime()
        runtime.publish_loop(frequency=4000.0, command_timeout=0.5)
        settings = Published(settings_view({"devices/hapi/ports": [f"{port.path}=2diy-plastic"]}))
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
