"""Play every wire case in every vocabulary and version over a real socket and a stepped loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support.clients.bad_streams import Stream
from tests.support.clients.listener import Listener
from tests.support.clients.peer import TEXT, Peer, encoded
from tests.support.service.inside import ServiceInside
from tests.support.wire.cases import Story, cases, in_ways, payload
from tests.support.wire.frames import check_answer, check_frame
from tests.support.wire.words import DEVICES, Object, Way

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


@pytest.mark.parametrize(("case", "way"), in_ways(*STORIES))
def test_a_story(service: ServiceInside, listener: Listener, case: Object, way: Way) -> None:
    Story(service, way, listener).play(case)


class Pairs:
    """For each way, a client that sends what is bad beside one that holds a force and a position."""

    def __init__(self, service: ServiceInside, cleanup: ExitStack) -> None:
        self._service = service
        self._cleanup = cleanup
        self._open: dict[Way, tuple[Peer, Peer]] = {}

    def take(self, way: Way) -> tuple[Peer, Peer]:
        """The good and the bad one; they are opened anew unless they are given back."""
        return self._open.pop(way, None) or (self._peer(way), self._peer(way))

    def give_back(self, way: Way, good: Peer, bad: Peer) -> None:
        self._open[way] = good, bad

    def _peer(self, way: Way) -> Peer:
        url = self._service.ws_v30 if way.version == "3.0" else self._service.ws
        peer = self._cleanup.enter_context(Peer(url, {"vocabulary": way.vocabulary}))
        peer.frame()
        return peer


@pytest.fixture(scope="module")
def pairs(service: ServiceInside) -> Iterator[Pairs]:
    with ExitStack() as cleanup:
        yield Pairs(service, cleanup)
    service.sessions_gone()


@pytest.mark.parametrize(("case", "way"), in_ways("bad_messages"))
def test_a_bad_message_is_named_in_its_one_frame_and_changes_nothing_else(
    service: ServiceInside, pairs: Pairs, case: Object, way: Way
) -> None:
    good, bad = pairs.take(way)
    assert "errors" not in good.ask(HELD)
    service.step()

    bad.write(encoded(*payload(case, way)))
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
    bad.owes_nothing()
    good.owes_nothing()
    pairs.give_back(way, good, bad)


@pytest.mark.parametrize("case", cases("bad_streams"))
def test_a_bad_stream_ends_as_it_should_and_changes_nothing_else(service: ServiceInside, case: Object) -> None:
    others = len(service.system.sessions.value.sessions)
    with Peer(service.ws) as good:
        good.frame()
        good.ask(HELD)
        service.step()
        stream = Stream(service.ws, case)
        try:
            stream.play()
            service.step()
            held = check_frame(good.ask({}), Way("3.1", "neutral", TEXT))
        finally:
            stream.drop()
        good.owes_nothing()
    service.sessions_gone(left=others)

    assert held["A001"]["state"]["current_cursor_force"] == {"x": 0, "y": 0.5, "z": 0}
    assert held["A002"]["state"]["current_cursor_position"] == {"x": 0.01, "y": -0.12, "z": 0.135}
    assert held["A002"]["state"]["control_mode"] == "position"
