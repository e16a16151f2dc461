"""WebSocket parser: the same messages from any fragmentation; protocol errors raise Broken with their code."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.clients.raw_websocket import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, encode_frame
from transport.ws.incoming import BROKEN_RULES, NO_UTF8, TOO_BIG, Broken, Incoming

LONGEST = 256 * 1024
payloads = st.binary(max_size=300) | st.integers(0, 70_000).map(lambda size: b"x" * size)
controls = st.tuples(st.sampled_from([PING, PONG]), st.binary(max_size=125))


@st.composite
def streams(draw: st.DrawFn) -> tuple[bytes, list[tuple[int, bytes]]]:
    """Bytes of some messages, cut into fragments with control frames between, and what they come to."""
    stream, expected = b"", []
    for _ in range(draw(st.integers(0, 4))):
        opcode, parts = draw(st.sampled_from([TEXT, BINARY])), draw(st.lists(payloads, min_size=1, max_size=3))
        for index, part in enumerate(parts):
            last = index == len(parts) - 1
            stream += encode_frame(part, CONTINUATION if index else opcode, final=last)
            if last:
                expected.append((opcode, b"".join(parts)))
            for control in draw(st.lists(controls, max_size=2)):
                stream += encode_frame(control[1], control[0])
                expected.append(control)
    return stream, expected


def read(pieces: Iterable[bytes], longest: int = LONGEST) -> list[tuple[int, bytes]]:
    """What is whole; the fragments of what is not are left out."""
    incoming = Incoming(longest)
    return [frame for piece in pieces for frame in incoming.take(piece) if frame[0] != CONTINUATION]


def test_each_fragment_yields_so_that_parsing_can_be_interrupted() -> None:
    stream = (
        encode_frame(b"a", final=False)
        + encode_frame(b"", CONTINUATION, final=False) * 2
        + encode_frame(b"b", CONTINUATION)
    )

    assert list(Incoming(LONGEST).take(stream)) == [(CONTINUATION, b"")] * 3 + [(TEXT, b"ab")]


def broken(stream: bytes, longest: int = LONGEST) -> int:
    with pytest.raises(Broken) as caught:
        read([stream], longest)
    return caught.value.code


@given(streams(), st.data())
def test_messages_are_equal_for_any_fragmentation_of_bytes(
    stream: tuple[bytes, list[tuple[int, bytes]]], data: st.DataObject
) -> None:
    whole, expected = stream
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]

    assert read([whole]) == expected
    assert read(pieces) == expected


def test_messages_are_equal_byte_by_byte() -> None:
    whole = (
        encode_frame(b"{}") + encode_frame(b"y" * 200) + encode_frame(b"", PING) + encode_frame(b"z" * 66_000, BINARY)
    )

    assert read(whole[at : at + 1] for at in range(len(whole))) == [
        (TEXT, b"{}"), (TEXT, b"y" * 200), (PING, b""), (BINARY, b"z" * 66_000)
    ]  # fmt: skip


@given(st.binary(max_size=200), st.integers(1, 50))
@example(b"\x81\x7f" + b"\xff" * 8, 3)
def test_any_bytes_give_messages_or_broken(stream: bytes, size: int) -> None:
    def outcome(pieces: Iterable[bytes]) -> tuple[list[tuple[int, bytes]], int]:
        incoming = Incoming(100)
        frames: list[tuple[int, bytes]] = []
        try:
            for piece in pieces:
                frames.extend(incoming.take(piece))
        except Broken as error:
            return frames, error.code
        return frames, 0

    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    whole, cut = outcome([stream]), outcome(pieces)

    assert whole[1] == cut[1]
    assert cut[0] == whole[0] or not whole[1]


@pytest.mark.parametrize(
    ("stream", "code"),
    [
        (b"\x81\x02{}", BROKEN_RULES),
        (b"\x81\x02", BROKEN_RULES),
        (encode_frame(b"{}", reserved=1), BROKEN_RULES),
        (encode_frame(b"{}", 3), BROKEN_RULES),
        (encode_frame(b"{}", 11), BROKEN_RULES),
        (encode_frame(b"x" * 126, PING), BROKEN_RULES),
        (encode_frame(b"x", PING, final=False), BROKEN_RULES),
        (encode_frame(b"x", CLOSE, final=False), BROKEN_RULES),
        (encode_frame(b"{}", CONTINUATION), BROKEN_RULES),
        (encode_frame(b"{", final=False) + encode_frame(b"}", TEXT), BROKEN_RULES),
        (encode_frame(b"\x03", CLOSE), BROKEN_RULES),
        (encode_frame(b"\x03\xe8\xff", CLOSE), NO_UTF8),
        (b"\x81\xff" + (2**63 - 1).to_bytes(8, "big"), TOO_BIG),
        (b"\x81\xff" + (2**64 - 1).to_bytes(8, "big"), BROKEN_RULES),
        (b"\x81\xfe\x00\x7d", BROKEN_RULES),
        (b"\x81\xff\x00\x00\x00\x00\x00\x00\xff\xff", BROKEN_RULES),
    ],
    ids=[
        "unmasked", "unmasked, two bytes", "reserved", "opcode", "control", "long ping", "cut ping", "cut close", "nothing to go on",
        "two at once", "half a code", "no UTF-8", "2^63 - 1", "2^64", "two bytes for 125", "eight bytes for 65535",
    ],
)  # fmt: skip
def test_forbidden_frames_raise_broken(stream: bytes, code: int) -> None:
    assert broken(stream) == code


@pytest.mark.parametrize("number", [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535])
def test_invalid_close_code_raises_broken(number: int) -> None:
    assert broken(encode_frame(number.to_bytes(2, "big"), CLOSE)) == BROKEN_RULES


@pytest.mark.parametrize("number", [1000, 1001, 1003, 1007, 1014, 3000, 4999])
def test_valid_close_code_is_read(number: int) -> None:
    payload = number.to_bytes(2, "big") + b"geht"

    assert read([encode_frame(payload, CLOSE)]) == [(CLOSE, payload)]


def test_fragmented_message_has_the_same_length_limit() -> None:
    assert read([encode_frame(b"x" * 100)], 100) == [(TEXT, b"x" * 100)]
    assert broken(encode_frame(b"x" * 200), 199) == TOO_BIG
    assert broken(encode_frame(b"x" * 60, final=False) + encode_frame(b"x" * 41, CONTINUATION), 100) == TOO_BIG
    assert broken(encode_frame(b"x" * 60, final=False) + encode_frame(b"x" * 150, CONTINUATION)[:8], 200) == TOO_BIG
