"""Answers to a client that polls a device between its connection and its first reading."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final, Self

import pytest

from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import exchange
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.board_service import BoardService
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

CRITICAL: Final = "device-battery-critical"
CHARGED: Final = 0.9


class Watcher:
    """Context manager: a session that asks for frame after frame, and what was wrong in them."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.wrong: list[Any] = []
        self.seen: set[str] = set()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watcher")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def sees(self, *device_ids: str) -> None:
        """Wait until these are ready in a frame."""
        eventually(lambda: self.seen.issuperset(device_ids), f"{device_ids} are ready in frames", pause_s=0.01)

    def _watch(self) -> None:
        with RawWebSocket(self._url) as peer:
            frame = peer.frame()
            while not self._ended.is_set():
                for group in ("arm", "compact", "grip", "pen"):
                    for entry in frame[group]:
                        self._judge(group, entry)
                frame = peer.ask({})

    def _judge(self, group: str, entry: Any) -> None:
        state, ready = entry["state"], entry["status"]["ready"]
        turned = state["orientation" if group in ("grip", "pen") else "body_orientation"]
        norm = sum(value**2 for value in turned.values())
        empty = ready and state.get("battery_level", CHARGED) == 0
        if abs(norm - 1) > 1e-3 or empty:
            self.wrong.append(entry)
        if ready:
            self.seen.add(entry["device_id"])


@pytest.mark.promise(127)
@pytest.mark.promise(200)
def test_receiver_grips_show_no_zero_values_before_their_first_packet(tmp_path: Path) -> None:
    """Frames have unit quaternions, and no battery event comes, before the first reading of real grips and arms."""
    ids = ("W1", "W2", "W3", "W4")
    with BoardService(tmp_path, "arm:A1", f"receiver:{','.join(ids)}", away=(0, 1)) as setup:
        for device in range(len(ids)):
            setup.boards.set("battery", CHARGED, 1, device)
        with Watcher(setup.service.ws) as watcher:
            setup.boards.plug(0)
            setup.boards.plug(1)
            watcher.sees("A1", *ids)
        assert watcher.wrong == []

        setup.boards.set("battery", 0.03, 1, 0)
        said = setup.wait_for_event(CRITICAL)
        assert (said["data"]["device_id"], round(said["data"]["battery_level"], 3)) == ("W1", 0.03)


@pytest.mark.promise(127)
@pytest.mark.promise(200)
def test_simulated_devices_show_no_zero_values_before_their_first_tick(tmp_path: Path) -> None:
    """Frames have unit quaternions, and no battery event comes, before the first tick of simulated devices."""
    with InProcessService(tmp_path, simulated=(), settings={"control/frequency": 500}) as service, ExitStack() as stack:
        events = stack.enter_context(EventClient(service.events, since="2000-01-01T00:00:00%2B00:00"))
        with Watcher(service.ws) as watcher:
            for number in range(10):
                body = {"type": "grip" if number else "arm", "device_id": f"D{number}"}
                reply = exchange(service.http, "POST", "/simulation/devices", body)
                assert reply.status == 200, reply.body
                assert sum(value**2 for value in _turned(reply.json)) > 0.99
                if number:
                    shown = exchange(service.http, "GET", f"/simulation/grip/D{number}").json
                    assert shown["battery_level"] > CHARGED - 0.1
            watcher.sees(*(f"D{number}" for number in range(10)))
        assert watcher.wrong == []

        exchange(service.http, "POST", "/simulation/grip/D1", {"battery_level": 0.03})
        said = events.wait_for_event(CRITICAL)
        assert (said["data"]["device_id"], round(said["data"]["battery_level"], 3)) == ("D1", 0.03)


def _turned(record: Any) -> list[float]:
    state = record["state"]
    return list((state.get("orientation") or state["body_orientation"]).values())
