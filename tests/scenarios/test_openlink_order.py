"""How many packets lie between a tick of the loop and a board's motor: counted at both ends of the line, so no clock is in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from websockets.sync.client import ClientConnection, connect

from actors.device.messages import Phase, SimulatedSpec
from actors.values.identity import Connection, Kind
from tests.emulators.boards import Boards
from tests.support.board_links import BoardsAt
from tests.support.inside import ServiceInside
from tests.support.polling import PATIENCE_S, eventually

BOARD, SIMULATED = "A1", "A001"
TURNS: Final = 100
# To and fro, and so little that the board stays where it is.
FORCE: Final = 0.02
PERIODS: Final = 2


class Line:
    """A stepped service at 4 kHz with an emulated arm at a terminal and a simulated one, which one client commands."""

    def __init__(self, boards: Boards, service: ServiceInside, channel: ClientConnection) -> None:
        self.boards = boards
        self.service = service
        self.channel = channel

    def order(self, force: float) -> Any:
        """Command both arms; the loop does not tick meanwhile."""
        commands = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": force}}}
        entries = [{"device_id": one, "commands": commands} for one in (BOARD, SIMULATED)]
        self.channel.send(json.dumps({"arm": entries}))
        frame = json.loads(self.channel.recv())
        assert "errors" not in frame
        return frame

    def sent(self) -> int:
        """Commands that have left for the board."""
        held = self.service.system.links.find("board0")
        assert held is not None
        return held.link.facts().counters.frames_out

    def shown(self) -> list[float]:
        return [float(self.service.state(one)["force"][2]) for one in (BOARD, SIMULATED)]


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Line]:
    settings = {"control/frequency": 4000, "devices/detection/period": 100, "simulation/settle_time": 0.05}
    simulated = (SimulatedSpec(Kind.ARM, Connection.SIMULATED, SIMULATED),)
    with Boards("arm:A1") as boards:
        boards.set("settle_ms", 1)
        with ServiceInside(
            tmp_path,
            simulated=simulated,
            settings=settings,
            stepping=True,
            settled=False,
            links=BoardsAt(boards.path()),
        ) as service:

            def ready() -> bool:
                service.step(4)
                here = {one.device_id for one in service.system.inventory.value.devices if one.phase is Phase.READY}
                return here == {BOARD, SIMULATED}

            eventually(ready, "both are ready", pause_s=0.001)
            with connect(service.ws, proxy=None, open_timeout=PATIENCE_S) as channel:
                channel.recv()
                yield Line(boards, service, channel)


def test_what_a_tick_orders_is_in_the_second_packet_behind_it_at_the_latest(line: Line) -> None:
    counted = 0
    for turn in range(TURNS):
        trips, force = line.boards.see().trips, FORCE * (-1) ** turn
        line.order(force)
        line.service.step()
        # Every packet that leaves from here on was made behind that tick.
        sent = line.sent()
        assert line.shown() == pytest.approx([force, force], abs=1e-6)
        eventually(lambda: line.boards.see().driven, "its motors are on", pause_s=0.001)
        seen = line.boards.see()
        line.order(0.0)
        line.service.step()
        eventually(lambda: not line.boards.see().driven, "its motors are off", pause_s=0.001)
        # A watchdog that bit on a busy machine has taken the force away, and another packet has brought it back.
        if line.boards.see().trips == trips:
            counted += 1
            assert seen.driven_command - sent <= PERIODS
    assert counted > 0
