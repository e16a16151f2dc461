"""Context manager: the whole service with emulated boards at its ports, and HTTP reads of devices, pairs and calibration."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final, Self

from actors.device.messages import Phase
from tests.emulators.boards import Boards
from tests.support.boards.board_links import BoardsAt
from tests.support.clients.event_client import Event, EventClient
from tests.support.clients.exchange import Reply, exchange
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from actors.device.messages import SimulatedSpec

QUICK: Final[Mapping[str, object]] = {
    "control/frequency": 1000,
    "devices/detection/period": 100,
    # Heartbeats are late where the machine is.
    "devices/grip/detach_debounce": 2.0,
}
SETTLE_MS: Final = 10


class BoardService:
    """Context manager: all boards but `away` are plugged in from the start; each wakes up at once."""

    service: InProcessService
    events: EventClient

    def __init__(
        self, folder: Path, *boards: str, away: tuple[int, ...] = (), simulated: tuple[SimulatedSpec, ...] | None = ()
    ) -> None:
        """`boards` as in `Boards`, `away` are indices of theirs; `simulated` None: what the service chooses."""
        self._folder = folder
        self._names = boards
        self._away = away
        self._simulated = simulated
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self.boards = stack.enter_context(Boards(*self._names))
            for port, name in enumerate(self._names):
                for device in range(name.count(",") + 1):
                    self.boards.set("settle_ms", SETTLE_MS, port, device)
            for port in self._away:
                self.boards.unplug(port)
            self.start()
            stack.callback(self.stop)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def start(self) -> None:
        """Start the service with the stored state of the previous one; the boards stay connected."""
        paths = [self.boards.path(port) for port in range(len(self._names))]
        with ExitStack() as stack:
            links = BoardsAt(*paths)
            inside = InProcessService(
                self._folder, simulated=self._simulated, settings=QUICK, links=links, settled=False
            )
            self.service = stack.enter_context(inside)
            self.events = stack.enter_context(EventClient(self.service.events, since="2000-01-01T00:00:00%2B00:00"))
            self._running = stack.pop_all()

    def stop(self) -> None:
        """Stop the service."""
        self._running.close()

    # ------------------------------------------------------------ HTTP

    def ask(self, method: str, path: str, body: object = None) -> Reply:
        return exchange(self.service.http, method, path, body)

    def ask_ok(self, method: str, path: str, body: object = None) -> Any:
        """Return the JSON body; AssertionError unless the status is 200."""
        reply = self.ask(method, path, body)
        assert reply.status == 200, reply.body
        return reply.json

    def pairs(self) -> dict[str, str | None]:
        """Return the partner of every present device by id."""
        ids = [one.device_id for one in self.service.system.inventory.value.devices]
        shown = {one: self.ask("GET", f"/*/{one}/config/paired_with") for one in ids}
        return {one: reply.json["paired_with"] for one, reply in shown.items() if reply.status == 200}

    def wait_for_pairs(self, **pairs: str | None) -> None:
        """Wait until exactly these devices are present, ready and paired like this."""
        eventually(lambda: self._ready() == set(pairs) and self.pairs() == pairs, f"{pairs}", pause_s=0.02)

    def calibration(self, device_id: str) -> Any:
        return self.ask_ok("GET", f"/*/{device_id}/calibration")

    def wait_for_calibration(self, device_id: str, **state: str) -> None:
        """Wait until the calibration state equals `state`."""
        eventually(lambda: self.calibration(device_id) == state, f"{device_id} is {state}", pause_s=0.01)

    # ------------------------------------------------------------ boards

    def unplug(self, port: int, device_id: str) -> None:
        """Unplug a board; return when the event device-disconnected has come."""
        before = len(self.events.received_events("device-disconnected", device_id=device_id))
        self.boards.unplug(port)
        eventually(
            lambda: len(self.events.received_events("device-disconnected", device_id=device_id)) > before,
            "it is gone",
            pause_s=0.01,
        )

    def plug(self, port: int, device_id: str) -> None:
        """Plug a board in again; return when its device is ready."""
        self.boards.plug(port)
        self.wait_ready(device_id)

    def wait_ready(self, *device_ids: str) -> None:
        """Wait until these devices are present and ready."""
        eventually(lambda: set(device_ids) <= self._ready(), f"{device_ids} are ready", pause_s=0.01)

    def wait_for_event(self, name: str, **data: object) -> Event:
        return self.events.wait_for_event(name, **data)

    def _ready(self) -> set[str]:
        inventory = self.service.system.inventory.value
        return {one.device_id for one in inventory.devices if one.phase is Phase.READY}
