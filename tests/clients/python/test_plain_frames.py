"""The small codec of whole text frames, beside that of websockets."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from hapticd_client.core.plain_frames import PlainFrames
from tests.clients.python.hostile_server import text

MOST = 1024 * 1024


@pytest.mark.parametrize("size", [0, 1, 3, 125, 126, 127, 5000, 65535, 65536, 70000])
def test_frame_is_read_by_websockets_as_it_was_sent(size: int) -> None:
    frames, server = PlainFrames(MOST), ServerProtocol(state=OPEN)
    payload = bytes(number % 251 for number in range(size))

    for _ in range(2):
        server.receive_data(frames.encode(payload))

    for event in server.events_received():
        assert isinstance(event, Frame)
        assert (event.opcode, event.fin, bytes(event.data)) == (Opcode.TEXT, True, payload)


def test_each_frame_has_a_mask_of_its_own() -> None:
    frames = PlainFrames(MOST)

    assert len({frames.encode(b"aaaa")[2:6] for _ in range(2000)}) == 2000


@given(
    st.lists(st.sampled_from([0, 1, 2, 125, 126, 127, 300, 65535]), max_size=5),
    st.lists(st.integers(1, 70000), max_size=20),
)
def test_frames_are_found_however_the_bytes_are_cut(sizes: list[int], cuts: list[int]) -> None:
    payloads = [bytes([number]) * size for number, size in enumerate(sizes)]
    stream = b"".join(map(text, payloads))
    frames, messages = PlainFrames(MOST), deque[bytes]()

    at = 0
    for cut in [*cuts, len(stream)]:
        if stream[at : at + cut]:
            assert frames.take(stream[at : at + cut], messages) is None
        at += cut

    assert list(messages) == payloads
    assert frames.rest == b""


@pytest.mark.parametrize(
    "other",
    [
        b"\x89\x00",
        b"\x01\x01a",
        b"\x82\x01a",
        b"\xc1\x01a",
        b"\x81\x81abcda",
        b"\x81\x7f" + b"\0" * 8,
        b"\x81\x7e\0\x01a",
    ],
)
def test_anything_but_a_whole_text_frame_is_handed_back_from_its_begin(other: bytes) -> None:
    frames, messages = PlainFrames(MOST), deque[bytes]()
    stream = text(b"one") + other + text(b"two")

    assert frames.take(stream, messages) == other + text(b"two")
    assert list(messages) == [b"one"]


def test_end_hands_back_the_begin_of_a_frame() -> None:
    frames, messages = PlainFrames(MOST), deque[bytes]()

    assert frames.take(text(b"whole") + b"\x81\x05ha", messages) is None
    assert frames.take(b"", messages) == b"\x81\x05ha"
