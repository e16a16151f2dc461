"""A client that violates the WebSocket protocol gets the matching close code, and its session ends normally."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clients.bad_streams import last
from tests.support.clients.peer import CLOSE, CONTINUATION, PING, TEXT, Peer, encoded
from tests.support.service.inside import ServiceInside


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceInside]:
    folder: Path = tmp_path_factory.mktemp("state")
    with ServiceInside(folder, settings={"control/frequency": 1000}) as running:
        yield running


@pytest.mark.parametrize("events", [False, True], ids=["sessions", "events"])
@pytest.mark.parametrize(
    ("stream", "code"),
    [
        (encoded(b"\xff\xfe"), 1007),
        (encoded(b"{", final=False) + encoded(b"\xff", CONTINUATION), 1007),
        (encoded(b"{}", reserved=4), 1002),
        (encoded(b"{}", 3), 1002),
        (encoded(b"{}", 11), 1002),
        (encoded(b"{}", CONTINUATION), 1002),
        (encoded(b"{", final=False) + encoded(b"{}", TEXT), 1002),
        (encoded(b"x" * 126, PING), 1002),
        (encoded(b"x", PING, final=False), 1002),
        (encoded(b"{}", masked=False), 1002),
        (encoded(b"\x03", CLOSE), 1002),
        (encoded(b"\x03\xed", CLOSE), 1002),
        (encoded(b"\x03\xe8\xff\xfe", CLOSE), 1007),
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
def test_who_breaks_the_protocol_is_told_how(service: ServiceInside, stream: bytes, code: int, events: bool) -> None:
    with Peer(service.events if events else service.ws) as peer:
        if not events:
            peer.frame()
        peer.write(stream)

        closed = last(peer)

    assert closed is not None
    assert closed.close_code == code
    service.sessions_gone()


def test_a_session_id_that_is_no_text_is_a_malformed_one(service: ServiceInside) -> None:
    with Peer(service.ws, {"session_id": b"\xff"}) as peer:
        assert peer.frame()["session_id"] > 0
    service.sessions_gone()
