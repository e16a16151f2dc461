"""A stepped service with one session client and one event subscriber, for scenarios in virtual time."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

from websockets.sync.client import connect

from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import Reply, exchange
from tests.support.service.in_process_service import ARM_AND_GRIP, InProcessService
from tests.support.service.polling import TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from actors.device.messages import SimulatedSpec


class SteppedService:
    """Context manager; settings by key with `__` for each slash; `first` is the full frame sent when the session opened."""

    first: Any
    service: InProcessService
    events: EventClient

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, object] | None = None,
        *,
        simulated: tuple[SimulatedSpec, ...] = ARM_AND_GRIP,
        chain: bool = False,
    ) -> None:
        """`chain`: forces go through the whole force chain."""
        self._folder, self._simulated, self._chain = folder, simulated, chain
        self._settings = {key.replace("__", "/"): value for key, value in (settings or {}).items()}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            service = InProcessService(
                self._folder, simulated=self._simulated, stepping=True, chain=self._chain, settings=self._settings
            )
            self.service = stack.enter_context(service)
            self._channel = stack.enter_context(connect(self.service.ws, proxy=None, open_timeout=TIMEOUT_S))
            self.first = json.loads(self._channel.recv())
            self.events = stack.enter_context(EventClient(self.service.events))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def ask(self, method: str, path: str, body: object = None) -> Reply:
        """One HTTP exchange."""
        return exchange(self.service.http, method, path, body)

    def frame_for(self, message: object = None) -> Any:
        """Send one message and return the frame that answers it."""
        self._channel.send(json.dumps(message or {}))
        return json.loads(self._channel.recv())
