"""Compute each open link message's layout from the table in `openlink_messages`; pack values into a payload and unpack them."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Final, get_args, get_type_hints

from fastpath.codecs.openlink_messages import MESSAGES, Message

SIZES: Final = MappingProxyType({"u8": 1, "u16": 2, "u32": 4, "f32": 4})
CODES: Final = MappingProxyType({"u8": "B", "u16": "H", "u32": "I", "f32": "f"})
TYPE_OF: Final = MappingProxyType({message: code for code, message in MESSAGES.items()})
RESERVED: Final = "reserved"
WIRE_TYPE: Final = re.compile(r"(u8|u16|u32|f32)(?:\[(\d+)\])?")


@dataclass(frozen=True, slots=True)
class WireField:
    """One field of a payload, or the reserved bytes of a gap."""

    name: str
    kind: str  # u8, u16, u32 or f32; empty for a message within a message
    count: int
    offset: int
    python: Any  # type of its value
    nested: Layout | None = None

    @property
    def size(self) -> int:
        """Return the size in bytes."""
        return self.nested.size if self.nested else SIZES[self.kind] * self.count

    @property
    def format(self) -> str:
        """Return this field's part of the format string of `struct`."""
        if self.nested:
            return self.nested.format
        if self.name == RESERVED:
            return f"{self.count}x"
        if self.python in (str, bytes):
            return f"{self.count}s"
        return f"{self.count}{CODES[self.kind]}"


@dataclass(frozen=True, slots=True)
class Layout:
    """All fields of one message in wire order, reserved bytes included."""

    fields: tuple[WireField, ...]
    size: int
    alignment: int

    @property
    def format(self) -> str:
        """Return the format string of `struct` for the payload, without byte order."""
        return "".join(field.format for field in self.fields)


def layout_of(message: type[Any]) -> Layout:
    """Return the layout of one class of `openlink_messages`."""
    hints = get_type_hints(message, include_extras=True)
    found: list[WireField] = []
    offset, alignment = 0, 1
    for field in fields(message):
        entry = _field(field.name, hints[field.name])
        wide = entry.nested.alignment if entry.nested else SIZES[entry.kind]
        if offset % wide:
            found.append(_gap(offset, wide))
            offset += found[-1].size
        found.append(replace(entry, offset=offset))
        offset += entry.size
        alignment = max(alignment, wide)
    if offset % alignment:
        found.append(_gap(offset, alignment))
        offset += found[-1].size
    return Layout(tuple(found), offset, alignment)


def _field(name: str, hint: Any) -> WireField:
    annotated = get_args(hint)
    if not annotated:
        return WireField(name, "", 1, 0, hint, layout_of(hint))
    match = WIRE_TYPE.fullmatch(annotated[1])
    if match is None:
        raise TypeError(f"{annotated[1]} of {name} is no wire type: write u8, u16, u32 or f32, with [n] for a row of n")
    return WireField(name, match[1], int(match[2] or 1), 0, annotated[0])


def _gap(offset: int, alignment: int) -> WireField:
    return WireField(RESERVED, "u8", -offset % alignment, offset, int)


LAYOUTS: Final = MappingProxyType({message: layout_of(message) for message in MESSAGES.values()})


def pack(message: Message) -> bytes:
    """Return the payload. Raise ValueError for a value that its wire type cannot hold, TypeError for another object."""
    if type(message) not in TYPE_OF:
        raise TypeError(f"{message!r} is no message of the open link protocol")
    try:
        return struct.pack(f"<{LAYOUTS[type(message)].format}", *_flat(message))
    except (struct.error, OverflowError) as error:
        raise ValueError(f"a value of {type(message).__name__} does not fit: {error}") from None


def unpack(code: int, payload: bytes) -> Message:
    """Return the message of a type's payload. Raise ValueError for a value that its enumeration or text cannot hold."""
    message = MESSAGES[code]
    numbers = iter(struct.unpack(f"<{LAYOUTS[message].format}", payload))
    found: Message = _value_of(message, numbers)
    return found


def _flat(message: Any) -> Iterator[Any]:
    for field in LAYOUTS[type(message)].fields:
        if field.name == RESERVED:
            continue
        value = getattr(message, field.name)
        if field.nested:
            yield from _flat(value)
        elif field.python is str:
            yield _of_length(value.encode("ascii"), 1, field)
        elif field.python is bytes:
            yield _of_length(value, field.count, field)
        elif field.count > 1:
            yield from _of_length(value, field.count, field)
        else:
            yield value


def _of_length(value: Any, least: int, field: WireField) -> Any:
    if not least <= len(value) <= field.count:
        raise ValueError(f"{field.name} needs {field.count} values at most and {least} at least, not {len(value)}")
    return value


def _value_of(message: type[Any], numbers: Iterator[Any]) -> Any:
    values: dict[str, Any] = {}
    for field in LAYOUTS[message].fields:
        if field.name == RESERVED:
            continue
        if field.nested:
            values[field.name] = _value_of(field.python, numbers)
        elif field.python is str:
            values[field.name] = _printable(next(numbers))
        elif field.python is bytes:
            values[field.name] = next(numbers)
        elif field.count > 1:
            values[field.name] = tuple(next(numbers) for _ in range(field.count))
        else:
            values[field.name] = field.python(next(numbers))
    return message(**values)


def _printable(raw: bytes) -> str:
    text = raw.split(b"\0", 1)[0].decode("ascii")
    if not (text and text.isprintable()):
        raise ValueError("a device id needs one to eight printable characters")
    return text
