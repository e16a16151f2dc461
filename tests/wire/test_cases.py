"""Play every wire case in every vocabulary and version over a real socket and a stepped loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support.clients.bad_streams import Stream
from tests.support.clients.event_client import EventClient
from tests.support.clients.raw_websocket import TEXT, RawWebSocket, encode_frame
from tests.support.service.in_process_service import InProcessService
from tests.support.wire.cases import CasePlayer, case_variants, cases, payload
from tests.support.wire.frames import check_answer, check_frame
from tests.support.wire.wire_variants import DEVICES, Object, WireVariant

WAYS = ("streaming thread", "event loop")
SERVED = DEVICES

STORIES = (
    "holding",
    "forces",
    "positions",
    "view",
    "full_frames",
    "legacy",
    "groups",
    "order",
    "presets",
    "filters",
    "serialization",
    "session",
    "reconnect",
    "probes",
    "navigation",
    "contact",
    "rates",
    "numbers",
)

HELD: Object = {
    "arm": [
        {"device_id": "A001", "commands": {"set_cursor_force": {"vector": {"x": 0, "y": 0.5, "z": 0}}}},
        {"device_id": "A002", "commands": {"set_cursor_position": {"position": {"x": 0.01, "y": -0.12, "z": 0.135}}}},
    ]
}
RELEASED: Object = {"arm": [{"device_id": "A001", "commands": {}}]}


@pytest.mark.parametrize(("case", "way"), case_variants(*STORIES))
def test_session_case_plays_as_written(
    service: InProcessService, listener: EventClient, case: Object, way: WireVariant
) -> None:
    CasePlayer(service, way, listener).play(case)


class Pairs:
    """For each way, a client that sends what is bad beside one that holds a force and a position."""

    def __init__(self, service: InProcessService, cleanup: ExitStack) -> None:
        self._service = service
        self._cleanup = cleanup
        self._open: dict[WireVariant, tuple[RawWebSocket, RawWebSocket]] = {}

    def take(self, way: WireVariant) -> tuple[RawWebSocket, RawWebSocket]:
        """The good and the bad one; they are opened anew unless they are given back."""
        return self._open.pop(way, None) or (self._peer(way), self._peer(way))

    def give_back(self, way: WireVariant, good: RawWebSocket, bad: RawWebSocket) -> None:
        self._open[way] = good, bad

    def _peer(self, way: WireVariant) -> RawWebSocket:
        url = self._service.ws_v30 if way.version == "3.0" else self._service.ws
        peer = self._cleanup.enter_context(RawWebSocket(url, {"vocabulary": way.vocabulary}))
        peer.frame()
        return peer


@pytest.fixture(scope="module")
def pairs(service: InProcessService) -> Iterator[Pairs]:
    with ExitStack() as cleanup:
        yield Pairs(service, cleanup)
    service.wait_for_sessions()


@pytest.mark.parametrize(("case", "way"), case_variants("bad_messages"))
def test_bad_message_is_named_in_its_one_frame_and_changes_nothing(
    service: InProcessService, pairs: Pairs, case: Object, way: WireVariant
) -> None:
    good, bad = pairs.take(way)
    assert "errors" not in good.ask(HELD)
    service.step()

    bad.write(encode_frame(*payload(case, way)))
    frame = bad.frame()

    check_answer(frame, check_frame(frame, way), case, way)
    service.step()
    held = check_frame(good.ask({}), way)
    extra = case.get("force", (0, 0, 0))
    assert held["A001"]["state"]["current_cursor_force"] == dict(zip("xyz", (extra[0], 0.5, extra[2]), strict=True))
    assert held["A001"]["state"]["control_mode"] == "force"
    assert held["A002"]["state"]["control_mode"] == "position"
    assert held["A002"]["state"]["current_cursor_position"] == {"x": 0.01, "y": -0.12, "z": 0.135}
    assert "errors" not in bad.ask(RELEASED)
    good.ask(RELEASED)
    bad.check_nothing_unread()
    good.check_nothing_unread()
    pairs.give_back(way, good, bad)


@pytest.mark.parametrize("case", cases("bad_streams"))
def test_bad_stream_ends_as_specified_and_changes_nothing(service: InProcessService, case: Object) -> None:
    others = len(service.system.sessions.value.sessions)
    with RawWebSocket(service.ws) as good:
        good.frame()
        good.ask(HELD)
        service.step()
        stream = Stream(service.ws, case)
        try:
            stream.play()
            service.step()
            held = check_frame(good.ask({}), WireVariant("3.1", "neutral", TEXT))
        finally:
            stream.drop()
        good.check_nothing_unread()
    service.wait_for_sessions(left=others)

    assert held["A001"]["state"]["current_cursor_force"] == {"x": 0, "y": 0.5, "z": 0}
    assert held["A002"]["state"]["current_cursor_position"] == {"x": 0.01, "y": -0.12, "z": 0.135}
    assert held["A002"]["state"]["control_mode"] == "position"
