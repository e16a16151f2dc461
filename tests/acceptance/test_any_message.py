"""Thousands of invalid messages over one connection: one frame each, in order, no effect on another client."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.acceptance.conftest import Join
from tests.support.clients.any_message import messages
from tests.support.clients.raw_websocket import RawWebSocket, encode_frame
from tests.support.service.in_process_service import InProcessService

BATCH = 200
# 20,000 messages, 200,000 where there are more examples of everything.
BATCHES = max(100, min(settings().max_examples, 1_000))
MARK_EVERY = 20
TICKS = 4
GROUPS = {"arm", "compact", "grip", "pen"}
PUSH = {"x": 0.125, "y": -0.25, "z": 0.5}
GOOD = {"compact": [{"device_id": "C001", "commands": {"set_cursor_force": {"vector": PUSH}}}]}


@pytest.fixture
def hostile(join: Join) -> RawWebSocket:
    """The client that sends them, to the arm and the wired grip, and to devices that there are not."""
    return join(vocabulary="neutral")[0]


@pytest.fixture
def session_ids(hostile: RawWebSocket, client: RawWebSocket) -> tuple[int, int]:
    return hostile.ask({})["session_id"], client.ask({})["session_id"]


def check(frame: Any, session_id: int) -> None:
    """AssertionError unless it is a whole frame of that session with legible errors."""
    assert frame.keys() - {"errors"} == {"session_id", *GROUPS}
    assert frame["session_id"] == session_id
    assert [len(frame[group]) for group in ("arm", "compact", "grip", "pen")] == [1, 1, 2, 0]
    errors = frame.get("errors", [])
    assert len(errors) <= 8
    for error in errors:
        assert error.keys() == {"path", "reason"}
        assert 0 < len(error["reason"]) <= 100
        assert "memory" not in error["reason"]
        assert len(error["path"]) <= 100


def test_each_invalid_message_gets_one_frame_in_order_and_other_clients_are_unaffected(
    service: InProcessService,
    hostile: RawWebSocket,
    client: RawWebSocket,
    session_ids: tuple[int, int],
    caplog: pytest.LogCaptureFixture,
) -> None:
    mine, good = session_ids
    different: set[bytes] = set()
    frames = 0

    @settings(max_examples=BATCHES, phases=[Phase.explicit, Phase.reuse, Phase.generate])
    @given(seed=st.integers(0, 2**48))
    def each_gets_one_frame(seed: int) -> None:
        nonlocal frames
        batch = messages(seed, BATCH, ("A001", "B001", "A999", "", "é"))
        before = int(service.runtime.loop_state()["ticks"])
        with caplog.at_level(logging.WARNING):
            wanted: list[str | None] = []
            out = bytearray()
            for index, sent in enumerate(batch):
                different.add(sent.payload)
                out += encode_frame(sent.payload, sent.opcode)
                wanted.append(None)
                if index % MARK_EVERY == 0:
                    out += encode_frame(json.dumps({f"mark {index}": 1}))
                    wanted.append(f"mark {index}")
            hostile.write(bytes(out))
            for mark in wanted:
                frame = hostile.frame()
                check(frame, mine)
                frames += 1
                if mark is not None:
                    assert [error["path"] for error in frame["errors"]] == [mark]
            hostile.check_nothing_unread()

            check(client.ask(GOOD), good)
            service.step(TICKS)

        assert int(service.runtime.loop_state()["ticks"]) == before + TICKS
        assert list(service.state("C001")["force"]) == list(PUSH.values())
        assert service.fatal == []
        assert [
            record.getMessage() for record in caplog.records if record.exc_info or record.levelno >= logging.ERROR
        ] == []

    each_gets_one_frame()
    assert frames >= BATCHES * (BATCH + BATCH // MARK_EVERY)
    assert len(different) > frames // 2
