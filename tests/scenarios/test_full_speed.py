"""Ten thousand messages sent at full speed get ten thousand frames in the order of the messages."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from tests.support.clients.client_requests import DEVICES, GROUPS, read_requests
from tests.support.clients.raw_websocket import BINARY, TEXT, ConnectionEnded, RawWebSocket, encode_frame
from tests.support.service.in_process_service import InProcessService
from tests.support.service.process import RunningService
from tests.support.wire.frames import entries

MANY = 10_000
AT_ONCE = 100


@contextmanager
def flowing(peer: RawWebSocket, messages: Iterable[bytes]) -> Generator[None]:
    """Messages are written on a thread of their own, without waiting for any frame."""
    failed: list[BaseException] = []

    def write() -> None:
        try:
            waiting = iter(messages)
            while piece := b"".join(islice(waiting, AT_ONCE)):
                peer.write(piece)
        except (ConnectionEnded, OSError) as error:
            failed.append(error)

    writer = threading.Thread(target=write, name="writer")
    writer.start()
    try:
        yield
    finally:
        writer.join(60)
    assert failed == []


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService(settings={"serialization/timestamps": "true"}) as running:
        yield running


@pytest.mark.parametrize("version", ["3.0", "3.1"])
def test_ten_thousand_messages_get_ten_thousand_frames_in_order(service: RunningService, version: str) -> None:
    def number(place: int) -> bytes:
        """A message whose frame shows its number: as the workspace of the arm, and as the path of an error."""
        move = {"set_transform": {"transform": {"position": {"x": place, "y": 0, "z": 0}}}}
        text = json.dumps({f"m{place}": 0, "arm": [{"device_id": arm, "commands": move}]})
        return encode_frame(text, BINARY if place % 2 else TEXT)

    with RawWebSocket(service.ws_v30 if version == "3.0" else service.ws) as peer:
        first = peer.frame()
        ((_, arm, _),) = entries(first, ["arm"])
        tick: int = first["tick"]
        with flowing(peer, map(number, range(1, MANY + 1))):
            for place in range(1, MANY + 1):
                frame = peer.frame()
                ((_, _, entry),) = entries(frame, ["arm"])
                assert entry["state"]["transform"] == {"position": {"x": place, "y": 0, "z": 0}}
                assert [error["path"] for error in frame["errors"]] == [f"m{place}"]
                assert frame["tick"] >= tick
                tick = frame["tick"]
        peer.check_nothing_unread()

    assert tick > first["tick"]


def test_ten_thousand_messages_of_public_clients_get_ten_thousand_frames(tmp_path: Path) -> None:
    requests = read_requests()
    settings = {"serialization/vocabulary": "inverse", "serialization/timestamps": "true"}
    with InProcessService(tmp_path, simulated=DEVICES, settings=settings) as service, RawWebSocket(service.ws) as peer:
        tick: int = peer.frame()["tick"]
        sent = list(islice(cycle(requests), MANY))
        with flowing(peer, (encode_frame(request.text, request.opcode) for request in sent)):
            for request in sent:
                frame = peer.frame()
                found: dict[str, Any] = {name: entry for _, name, entry in entries(frame, GROUPS)}
                assert {name for name, entry in found.items() if "config" in entry} == request.full
                assert [error["path"] for error in frame.get("errors", [])] == request.errors
                assert frame["tick"] >= tick
                tick = frame["tick"]
        peer.check_nothing_unread()
