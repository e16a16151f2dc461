"""docs/link-protocol.md agrees with the codec: tables, known bytes, C header."""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

from fastpath.codecs import openlink_py
from fastpath.codecs.openlink_header import ENUMERATIONS, header
from fastpath.codecs.openlink_layout import LAYOUTS, Layout
from fastpath.codecs.openlink_messages import MESSAGES
from fastpath.codecs.openlink_py import Decoder, encode

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "link-protocol.md").read_text(encoding="utf-8")
HEADER = ROOT / "fastpath" / "codecs" / "openlink_messages.h"
SECTION = re.compile(r"^### 0x([0-9A-F]{2}) ([A-Z]+)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (\d+) \| (u8|u16|u32|f32)(?:\[(\d+)\])? \| (\w+) \|", re.MULTILINE)
WORKED = re.compile(r"^```text\n(device = .*?)\n((?:(?:[0-9a-f]{2} ?)+\n)+)```$", re.MULTILINE | re.DOTALL)
CODES = {"u8": "B", "u16": "H", "u32": "I", "f32": "f"}


@dataclass(frozen=True)
class Section:
    """One message of the page: its rows (offset, type, count, field), the values and the bytes of its example."""

    code: int
    name: str
    text: str
    rows: tuple[tuple[int, str, int, str], ...]
    values: dict[str, Any]
    wire: bytes


def section(code: str, name: str, text: str) -> Section:
    worked = WORKED.search(text)
    assert worked is not None, name
    pairs = [pair.split(" = ") for line in worked[1].splitlines() for pair in line.split("; ")]
    values = {field: ast.literal_eval(value) for field, value in pairs}
    rows = tuple((int(at), kind, int(count or 1), field) for at, kind, count, field in ROW.findall(text))
    return Section(int(code, 16), name, text, rows, values, bytes.fromhex(worked[2]))


SECTIONS = [section(*found) for found in SECTION.findall(PAGE)]
EACH = pytest.mark.parametrize("told", SECTIONS, ids=lambda told: told.name)


def raw_of(wire: bytes) -> bytes:
    """The raw bytes of one frame, taken out of their COBS code by hand."""
    rest, raw = wire[1:-1], b""
    while rest:
        raw += rest[1 : rest[0]] + b"\0"
        rest = rest[rest[0] :]
    return raw[:-1]


def crc_of(data: bytes) -> int:
    """The CRC bit by bit, as the page tells it."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


def fields_of(told: Section) -> dict[str, Any]:
    """The payload of an example, taken apart by the table of its page."""
    payload = raw_of(told.wire)[6:-2]
    found: dict[str, Any] = {}
    for offset, kind, count, field in told.rows:
        numbers = struct.unpack_from(f"<{count}{CODES[kind]}", payload, offset)
        found[field] = numbers if count > 1 else numbers[0]
    if told.name == "IDENTITY":
        found["device_id"] = bytes(found["device_id"]).rstrip(b"\0").decode()
        found["uuid"] = bytes(found["uuid"]).hex()
    return {field: value for field, value in found.items() if field != "reserved"}


def shown(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def flat(message: Any) -> dict[str, Any]:
    """The fields of a message as the page writes them; those of a message within it beside them."""
    found: dict[str, Any] = {}
    for field in fields(message):
        value = getattr(message, field.name)
        found |= flat(value) if is_dataclass(value) else {field.name: shown(value)}
    return found


def test_the_page_has_a_section_for_each_message_of_the_table() -> None:
    assert {told.code: told.name for told in SECTIONS} == {
        code: message.__name__.upper() for code, message in MESSAGES.items()
    }
    assert len(SECTIONS) == len(MESSAGES)


@EACH
def test_the_rows_of_a_section_are_the_fields_of_the_table(told: Section) -> None:
    layout = LAYOUTS[MESSAGES[told.code]]

    assert list(told.rows) == list(rows_of(layout))
    assert raw_of(told.wire)[3] == layout.size == len(raw_of(told.wire)) - 8


def rows_of(layout: Layout, start: int = 0) -> Iterator[tuple[int, str, int, str]]:
    """Offset, type, count and name of each field; those of a message within a message in its place."""
    for field in layout.fields:
        if field.nested:
            yield from rows_of(field.nested, start + field.offset)
        else:
            yield start + field.offset, field.kind, field.count, field.name


def test_the_c_header_is_the_one_that_the_table_makes() -> None:
    assert HEADER.read_text(encoding="utf-8") == header(), "run make build"


@EACH
def test_header_and_crc_of_an_example_are_as_written(told: Section) -> None:
    raw = raw_of(told.wire)

    assert raw[:3] == bytes([1, told.code, told.values["device"]])
    assert struct.unpack_from("<H", raw, 4)[0] == told.values["sequence"]
    assert struct.unpack("<H", raw[-2:])[0] == crc_of(raw[:-2]) == openlink_py.crc(raw[:-2])


@EACH
def test_the_table_finds_the_values_of_the_example_in_its_bytes(told: Section) -> None:
    said = {field: value for field, value in told.values.items() if field not in {"device", "sequence"}}

    assert fields_of(told) == said


@EACH
def test_the_codec_reads_and_writes_the_bytes_of_the_example(told: Section) -> None:
    (frame,) = Decoder().feed(told.wire)
    place = {"device": told.values["device"], "sequence": told.values["sequence"]}

    assert type(frame.message).__name__ == told.name.capitalize()
    assert flat(frame.message) | place == told.values
    assert encode(frame.message, **place) == told.wire


@pytest.mark.parametrize("words", [words for words, _prefix in ENUMERATIONS])
def test_every_enumeration_value_is_on_the_page(words: type[IntEnum]) -> None:
    for member in words:
        number = f"(?:{member.value}|0x{member.value:X})"
        assert re.search(rf"\b{number} {member.name.replace('_', '[ _]')}\b", PAGE, re.IGNORECASE), member


def test_check_values_of_the_page_are_right() -> None:
    assert f"`0x{crc_of(b'123456789'):04X}`" in PAGE
    assert raw_of(bytes.fromhex("00 02 11 01 02 22 00")) == bytes.fromhex("11 00 00 22")
    assert "Raw `11 00 00 22` becomes `02 11 01 02 22`." in PAGE
    assert f"**{openlink_py.WATCHDOG_S * 1000:.0f} ms**: zero force" in PAGE
    assert f"Every **{openlink_py.HEARTBEAT_S * 1000:.0f} ms** by a grip" in PAGE
    assert f"0 to {openlink_py.LATE_WINDOW - 1} behind" in PAGE
