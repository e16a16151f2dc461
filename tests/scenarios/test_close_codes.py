"""A client that violates the WebSocket protocol gets the matching close code, and its session ends normally."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clients.bad_streams import last
from tests.support.clients.raw_websocket import CLOSE, CONTINUATION, PING, TEXT, RawWebSocket, encode_frame
from tests.support.service.in_process_service import InProcessService


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    folder: Path = tmp_path_factory.mktemp("state")
    with InProcessService(folder, settings={"control/frequency": 1000}) as running:
        yield running


@pytest.mark.parametrize("events", [False, True], ids=["sessions", "events"])
@pytest.mark.parametrize(
    ("stream", "code"),
    [
        (encode_frame(b"\xff\xfe"), 1007),
        (encode_frame(b"{", final=False) + encode_frame(b"\xff", CONTINUATION), 1007),
        (encode_frame(b"{}", reserved=4), 1002),
        (encode_frame(b"{}", 3), 1002),
        (encode_frame(b"{}", 11), 1002),
        (encode_frame(b"{}", CONTINUATION), 1002),
        (encode_frame(b"{", final=False) + encode_frame(b"{}", TEXT), 1002),
        (encode_frame(b"x" * 126, PING), 1002),
        (encode_frame(b"x", PING, final=False), 1002),
        (encode_frame(b"{}", masked=False), 1002),
        (encode_frame(b"\x03", CLOSE), 1002),
        (encode_frame(b"\x03\xed", CLOSE), 1002),
        (encode_frame(b"\x03\xe8\xff\xfe", CLOSE), 1007),
    ],
    ids=[
        "text",
        "fragments",
        "reserved",
        "opcode",
        "control",
        "nothing to go on",
        "two at once",
        "long",
        "cut ping",
        "unmasked",
        "half a code",
        "1005",
        "reason",
    ],
)
def test_protocol_violation_gets_the_matching_close_code(
    service: InProcessService, stream: bytes, code: int, events: bool
) -> None:
    with RawWebSocket(service.events if events else service.ws) as peer:
        if not events:
            peer.frame()
        peer.write(stream)

        closed = last(peer)

    assert closed is not None
    assert closed.close_code == code
    service.wait_for_sessions()


def test_non_text_session_id_counts_as_malformed(service: InProcessService) -> None:
    with RawWebSocket(service.ws, {"session_id": b"\xff"}) as peer:
        assert peer.frame()["session_id"] > 0
    service.wait_for_sessions()
