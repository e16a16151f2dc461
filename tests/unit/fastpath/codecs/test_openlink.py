"""Codec of the open link protocol: every message round trip, and damaged bytes."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.codecs import openlink_messages as m
from fastpath.codecs import openlink_py
from fastpath.codecs.openlink_messages import Message, State, StateFlag
from fastpath.codecs.openlink_py import Counts, Decoder, Frame, encode

U8 = st.integers(0, 2**8 - 1)
U16 = st.integers(0, 2**16 - 1)
U32 = st.integers(0, 2**32 - 1)
F32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
SHARE = st.floats(0, 1, width=32)
THREE = st.tuples(F32, F32, F32)
UNIT = st.sampled_from([(0.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (0.5, -0.5, 0.5, -0.5)])
FAULTS = st.builds(m.FaultFlag, U16)
IDS = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=8)
CONFIGURE = st.builds(
    m.Configure,
    st.builds(m.ConfigureField, U16),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    F32,
    THREE,
)
IDENTITY = st.builds(
    m.Identity,
    kind=st.sampled_from(m.DeviceKind),
    wireless=st.booleans(),
    firmware_major=U8,
    firmware_minor=U8,
    firmware_patch=U8,
    hardware=U8,
    mechanism=U8,
    slots=st.integers(0, 8),
    capabilities=st.builds(m.Capability, U32),
    rate_hz=U16,
    settle_ms=U16,
    device_id=IDS,
    uuid=st.binary(min_size=16, max_size=16),
    shoulder=THREE,
    link=st.tuples(F32, F32),
    counts_per_turn=F32,
    torque_limit=F32,
    peak_force=F32,
    reach_low=THREE,
    reach_high=THREE,
)
STATE = st.builds(
    State,
    clock_us=U32,
    command=U16,
    flags=st.builds(StateFlag, U16),
    faults=FAULTS,
    buttons=U16,
    joint=st.tuples(*3 * [st.floats(-36000, 36000, width=32)]),
    position=st.tuples(*3 * [st.floats(-10, 10, width=32)]),
    orientation=UNIT,
    hall=SHARE,
    battery_level=SHARE,
    battery_voltage=F32,
    temperature=F32,
)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.just(m.Identify()),
    st.builds(m.Wake, st.booleans(), U16),
    st.builds(m.Command, st.sampled_from(m.CommandMode), THREE),
    CONFIGURE,
    st.builds(m.Calibrate, st.booleans(), U8),
    st.builds(m.Led, st.sampled_from(m.LedMode), U8, U8, U8),
    IDENTITY,
    st.builds(m.Settle, st.sampled_from(m.SettlePhase), U16, U16, U16),
    STATE,
    st.builds(m.Configuration, U16, st.sampled_from(m.ConfigureResult), CONFIGURE),
    st.builds(m.Calibration, U16, st.sampled_from(m.CalibrationProgress), st.sampled_from(m.CalibrationReason)),
    st.builds(m.Heartbeat, U32, SHARE),
    st.builds(m.Fault, U32, FAULTS, FAULTS),
    st.builds(m.Presence, U8, U8),
    st.builds(m.Refused, U16, U8, st.sampled_from(m.RefusedReason), U8),
)
FRAMES = st.builds(Frame, U8, U16, MESSAGES)
DAMAGES = ("flip", "lose", "double", "stray")
FRAMES_SENT = 400


def wire(frame: Frame) -> bytes:
    return encode(frame.message, device=frame.device, sequence=frame.sequence)


def sealed(raw: bytes) -> bytes:
    """Raw bytes with their CRC, coded by hand."""
    rest = raw + struct.pack("<H", openlink_py.crc(raw)) + b"\0"
    return b"\0" + b"".join(bytes([len(run) + 1]) + run for run in rest.split(b"\0")[:-1]) + b"\0"


@given(FRAMES)
def test_every_message_round_trips(frame: Frame) -> None:
    assert Decoder().feed(wire(frame)) == [frame]


@given(FRAMES)
def test_frame_has_zeros_only_at_its_ends(frame: Frame) -> None:
    sent = wire(frame)

    assert sent[0] == sent[-1] == 0
    assert 0 not in sent[1:-1]


@given(st.lists(FRAMES, max_size=6), st.data())
def test_stream_may_be_split_anywhere(frames: list[Frame], data: st.DataObject) -> None:
    stream = b"".join(wire(frame) for frame in frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    decoder = Decoder()

    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]

    assert [frame for piece in pieces for frame in decoder.feed(piece)] == frames


@given(st.binary(max_size=600), FRAMES)
def test_noise_before_a_frame_does_not_cost_it(noise: bytes, frame: Frame) -> None:
    assert Decoder().feed(noise + wire(frame))[-1:] == [frame]


class Line:
    """A serial line that damages one byte in `one_in`; it remembers which frames it hit."""

    def __init__(self, seed: int, one_in: int = 100) -> None:
        self._random = random.Random(seed)
        self._one_in = one_in
        self.hit: set[int] = set()

    def carry(self, number: int, sent: bytes) -> bytes:
        return b"".join(self._byte(number, sent[at : at + 1]) for at in range(len(sent)))

    def _byte(self, number: int, byte: bytes) -> bytes:
        if self._random.randrange(self._one_in):
            return byte
        self.hit.add(number)
        match self._random.choice(DAMAGES):
            case "flip":
                return bytes([byte[0] ^ self._random.randrange(1, 256)])
            case "lose":
                return b""
            case "double":
                return byte + byte
            case _:
                return bytes([self._random.randrange(256)]) + byte


def states() -> Iterator[State]:
    for number in range(FRAMES_SENT):
        yield State(number, number, StateFlag.AWAKE, joint=(number / 4, 0.0, -1.0), orientation=(1.0, 0.0, 0.0, 0.0))


# The draws are fixed: a CRC of 16 bits lets one of 65,536 frames pass that were damaged in several places.
@pytest.mark.parametrize("seed", range(12))
def test_damaged_bytes_never_change_a_state_and_cost_at_most_the_frame_they_hit(seed: int) -> None:
    line, decoder = Line(seed), Decoder()
    sent = list(states())

    came: list[Message] = [
        frame.message
        for number, state in enumerate(sent)
        for frame in decoder.feed(line.carry(number, encode(state, sequence=number)))
    ]

    assert came == [state for state in sent if state in came]
    assert {number for number, state in enumerate(sent) if state not in came} <= line.hit
    assert line.hit
    assert decoder.counts().bad > 0


@pytest.mark.parametrize("damage", range(256))
def test_flipped_byte_of_a_command_is_detected(damage: int) -> None:
    sent = encode(m.Command(m.CommandMode.FORCE, (1.5, -0.25, 0.0)), sequence=258)

    for at in range(len(sent)):
        flipped = bytearray(sent)
        flipped[at] ^= damage
        came = Decoder().feed(bytes(flipped) + b"\0")
        assert came == [] or (damage == 0 or at in {0, len(sent) - 1})


def test_crc_matches_the_catalogue() -> None:
    assert openlink_py.crc(b"123456789") == 0x29B1


@pytest.mark.parametrize(
    ("newest", "sequence", "newer"),
    [
        (5, 5, False),
        (5, 6, True),
        (5, 4, False),
        (0, 65535, False),
        (65535, 0, True),
        (100, 37, False),
        (100, 36, True),
    ],
)
def test_frame_up_to_64_behind_the_newest_counts_as_late(newest: int, sequence: int, newer: bool) -> None:
    assert openlink_py.newer(newest, sequence) is newer


def test_longer_payload_is_read_up_to_the_known_fields() -> None:
    later = sealed(bytes([1, 0x85, 0, 9, 7, 0]) + struct.pack("<HBB", 4, 2, 0) + b"\1\2\3\4\5")

    assert Decoder().feed(later) == [Frame(0, 7, m.Calibration(4, m.CalibrationProgress.DONE))]


@pytest.mark.parametrize(
    ("raw", "counts"),
    [
        (bytes([1, 0x85, 0, 3, 7, 0, 4, 0, 2]), Counts(0, 1, 0, 0, 0)),  # shorter than the table
        (bytes([1, 0x85, 0, 9, 7, 0, 4, 0, 2, 0]), Counts(0, 1, 0, 0, 0)),  # not its length
        (bytes([1, 0x85, 0]), Counts(0, 1, 0, 0, 0)),  # no header
        (bytes([2, 0x85, 0, 4, 7, 0, 4, 0, 2, 0]), Counts(0, 0, 1, 0, 0)),
        (bytes([1, 0x7F, 0, 0, 7, 0]), Counts(0, 0, 0, 1, 0)),
        (bytes([1, 0x85, 0, 4, 7, 0, 4, 0, 99, 0]), Counts(0, 0, 0, 0, 1)),
        (bytes([1, 0x03, 0, 16, 7, 0, 1, 0, 0, 0]) + struct.pack("<3f", 1, float("nan"), 0), Counts(0, 0, 0, 0, 1)),
        (bytes([1, 0xC1, 3, 8, 7, 0]) + struct.pack("<If", 5, 1.5), Counts(0, 0, 0, 0, 1)),
    ],
)
def test_invalid_frames_are_counted_by_cause(raw: bytes, counts: Counts) -> None:
    decoder = Decoder()

    assert decoder.feed(sealed(raw)) == []
    assert decoder.counts() == counts


def test_unterminated_frame_is_dropped_and_the_next_is_read() -> None:
    decoder = Decoder()

    assert decoder.feed(b"\x01" * 5000) == []
    assert decoder.feed(encode(m.Identify(), sequence=3)) == [Frame(0, 3, m.Identify())]
    assert decoder.counts() == Counts(1, 1, 0, 0, 0)


@pytest.mark.parametrize(
    "message",
    [
        m.Command(m.CommandMode.FORCE, (float("inf"), 0.0, 0.0)),
        m.Command(m.CommandMode.FORCE, (1e300, 0.0, 0.0)),
        m.Wake(rate_hz=70_000),
        m.Led(red=-1),
        State(orientation=(1.0, 1.0, 0.0, 0.0)),
        State(battery_level=1.5),
        State(position=(0.0, 10.5, 0.0)),
        State(position=(0.0, 0.0, -3e38)),
        State(joint=(-36001.0, 0.0, 0.0)),
        m.Identity(m.DeviceKind.ARM, device_id="much too long"),
        m.Identity(m.DeviceKind.ARM, device_id=""),
        m.Identity(m.DeviceKind.ARM, uuid=b"short"),
        m.Identity(m.DeviceKind.RECEIVER, slots=9),
    ],
)
def test_value_out_of_range_is_not_encoded(message: Message) -> None:
    with pytest.raises(ValueError):
        encode(message)


def test_unknown_message_is_not_encoded() -> None:
    with pytest.raises(TypeError, match="no message of the open link protocol"):
        encode("wake")  # type: ignore[arg-type]
