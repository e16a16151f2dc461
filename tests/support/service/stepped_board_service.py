"""A stepped service with an emulated arm on a pseudo-terminal and a simulated arm; virtual time, real bytes."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from websockets.sync.client import ClientConnection, connect

from actors.device.messages import Phase, SimulatedSpec
from actors.values.identity import Connection, Kind
from tests.emulators.boards import Boards
from tests.support.boards.board_links import BoardsAt
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import TIMEOUT_S, eventually

BOARD, SIMULATED = "A1", "A001"
RATE_HZ: Final = 4000


class SteppedBoardService:
    """One client commands both arms; the loop ticks only by the service's `step`."""

    def __init__(self, boards: Boards, service: InProcessService, channel: ClientConnection) -> None:
        self.boards = boards
        self.service = service
        self._channel = channel

    def order(self, force: float) -> None:
        """Command both arms; the loop does not tick meanwhile."""
        commands = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": force}}}
        entries = [{"device_id": one, "commands": commands} for one in (BOARD, SIMULATED)]
        self._channel.send(json.dumps({"arm": entries}))
        frame: Any = json.loads(self._channel.recv())
        assert "errors" not in frame

    def sent(self) -> int:
        """Return the number of commands sent to the board."""
        held = self.service.system.links.find("board0")
        assert held is not None
        return held.link.facts().counters.frames_out

    def shown(self) -> list[float]:
        """The force along z on either arm, N."""
        return [float(self.service.state(one)["force"][2]) for one in (BOARD, SIMULATED)]


@contextmanager
def stepped_board_service(folder: Path) -> Generator[SteppedBoardService]:
    """Yield the service when both arms are ready."""
    settings = {"control/frequency": RATE_HZ, "devices/detection/period": 100, "simulation/settle_time": 0.05}
    simulated = (SimulatedSpec(Kind.ARM, Connection.SIMULATED, SIMULATED),)
    with Boards(f"arm:{BOARD}") as boards:
        boards.set("settle_ms", 1)
        links = BoardsAt(boards.path())
        with InProcessService(
            folder, simulated=simulated, settings=settings, stepping=True, settled=False, links=links
        ) as service:

            def ready() -> bool:
                service.step(4)
                here = {one.device_id for one in service.system.inventory.value.devices if one.phase is Phase.READY}
                return here == {BOARD, SIMULATED}

            eventually(ready, "both are ready", pause_s=0.001)
            with connect(service.ws, proxy=None, open_timeout=TIMEOUT_S) as channel:
                channel.recv()
                yield SteppedBoardService(boards, service, channel)
