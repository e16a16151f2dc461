"""A client in a thread that pushes one device without a pause and keeps the time and force of every frame."""

from __future__ import annotations

import json
import math
import threading
from types import TracebackType
from typing import Any, Self

from websockets.sync.client import connect


class PushingClient:
    """Context manager: inside, the device is commanded `newtons` along z. Needs `serialization/timestamps`."""

    def __init__(self, url: str, kind: str, device_id: str, newtons: float = 1.0) -> None:
        self._url = f"{url}/?vocabulary=neutral"
        self._kind, self._device_id = kind, device_id
        push = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": newtons}}}
        self._message = json.dumps({kind: [{"device_id": device_id, "commands": push}]})
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pushing-client", daemon=True)
        # (time of the service, s since the epoch; |force|, N), oldest first
        self.seen: list[tuple[float, float]] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def force(self) -> float:
        """The newest force, N; 0 before the first frame."""
        return self.seen[-1][1] if self.seen else 0.0

    def zero_since(self) -> float | None:
        """Time of the first frame of the zero force that still holds; None while there is force."""
        since = None
        for time, force in reversed(self.seen):
            if force > 0:
                break
            since = time
        return since

    def _run(self) -> None:
        with connect(self._url) as session:
            session.recv()
            while not self._stop.is_set():
                session.send(self._message)
                frame: dict[str, Any] = json.loads(session.recv())
                for entry in frame[self._kind]:
                    if entry["device_id"] == self._device_id:
                        force = entry["state"]["current_cursor_force"]
                        self.seen.append((frame["time"], math.hypot(*force.values())))
