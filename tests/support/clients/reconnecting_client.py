"""Client that repeatedly opens a session, commands a force on every arm, and disconnects."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests.support.service.polling import TIMEOUT_S


class ReconnectingClient:
    """Context manager: it pushes inside; `frames` counts what it was shown."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pusher")
        self.frames = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.is_set():
            with (
                suppress(WebSocketException, OSError),
                connect(self._url, proxy=None, open_timeout=TIMEOUT_S) as channel,
            ):
                for _ in range(100):
                    self._send_force(channel.recv(), channel.send)
                    if self._end.wait(0.01):
                        break

    def _send_force(self, words: str | bytes, send: Any) -> None:
        frame = json.loads(words)
        self.frames += 1
        force = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 0.5}}}
        message = {
            kind: [{"device_id": one["device_id"], "commands": force} for one in frame.get(kind, ())]
            for kind in ("arm", "compact")
        }
        send(json.dumps({kind: entries for kind, entries in message.items() if entries}))
