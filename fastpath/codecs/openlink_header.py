"""Generate `openlink_messages.h` from the table in `openlink_messages`: `python -m fastpath.codecs.openlink_header`."""

from __future__ import annotations

import sys
from enum import IntEnum, IntFlag
from types import MappingProxyType
from typing import Any, Final

from fastpath.codecs import openlink_messages as table
from fastpath.codecs.openlink_layout import LAYOUTS, WireField
from fastpath.codecs.openlink_messages import MESSAGES

C_TYPES: Final = MappingProxyType({"u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "f32": "float"})
# Enumeration and the prefix of its names in C, after OL_.
ENUMERATIONS: Final[tuple[tuple[type[IntEnum | IntFlag], str], ...]] = (
    (table.DeviceKind, "KIND_"),
    (table.Capability, "CAPABILITY_"),
    (table.CommandMode, ""),
    (table.SettlePhase, ""),
    (table.StateFlag, "STATE_"),
    (table.FaultFlag, "FAULT_"),
    (table.ConfigureField, "CONFIGURE_"),
    (table.ConfigureResult, "RESULT_"),
    (table.CalibrationProgress, "CALIBRATION_"),
    (table.CalibrationReason, "CALIBRATION_REASON_"),
    (table.LedMode, "LED_"),
    (table.RefusedReason, "REFUSED_"),
)
HEAD: Final = """\
/* Messages of the open link protocol: types, enumerations, structs, and for each a function that encodes or decodes its fields in wire order.
 *
 * Written by `make build` from openlink_messages.py; do not edit. Included by openlink.h.
 */
#ifndef HAPTICD_OPENLINK_MESSAGES_H
#define HAPTICD_OPENLINK_MESSAGES_H

"""


def header() -> str:
    """Return the text of the header."""
    parts = [HEAD, "enum {\n"]
    parts += [f"    OL_{_name(message).upper()} = 0x{code:02X},\n" for code, message in MESSAGES.items()]
    parts.append("};\n\n")
    parts += [_enumeration(words, prefix) for words, prefix in ENUMERATIONS]
    parts.append("\n")
    parts += [_struct(message) for message in _in_order()]
    parts.append("typedef union {\n")
    parts += [f"    ol_{_name(message)} {_name(message)};\n" for message in MESSAGES.values()]
    parts.append("} ol_body;\n\n")
    parts += [_walk(message) for message in _in_order()]
    parts.append("/* Encode or decode the body of a message of any type; 0 for an unknown type. */\n")
    parts.append("static inline int ol_walk_body(ol_cursor *c, uint8_t type, ol_body *body) {\n    switch (type) {\n")
    parts += [
        f"    case OL_{_name(message).upper()}: ol_walk_{_name(message)}(c, &body->{_name(message)}); return 1;\n"
        for message in MESSAGES.values()
    ]
    parts.append("    default: return 0;\n    }\n}\n\n#endif\n")
    return "".join(parts)


def _name(message: type[Any]) -> str:
    return message.__name__.lower()


def _in_order() -> list[type[Any]]:
    """Return every message class, nested ones first."""
    inner = [field.python for message in MESSAGES.values() for field in LAYOUTS[message].fields if field.nested]
    return [*inner, *(message for message in MESSAGES.values() if message not in inner)]


def _enumeration(words: type[IntEnum | IntFlag], prefix: str) -> str:
    shown = hex if issubclass(words, IntFlag) else str
    members = "".join(f"    OL_{prefix}{member.name} = {shown(member.value)},\n" for member in words)
    return f"enum {{\n{members}}};\n"


def _struct(message: type[Any]) -> str:
    layout = LAYOUTS[message]
    members = "".join(f"    {_member(field)}\n" for field in layout.fields) or "    uint8_t nothing;\n"
    return f"typedef struct {{\n{members}}} ol_{_name(message)}; /* {layout.size} bytes on the wire */\n"


def _member(field: WireField) -> str:
    if field.nested:
        return f"ol_{_name(field.python)} {field.name};"
    return f"{C_TYPES[field.kind]} {field.name}{f'[{field.count}]' if field.count > 1 else ''};"


def _walk(message: type[Any]) -> str:
    name, layout = _name(message), LAYOUTS[message]
    steps = "".join(f"    {_step(field)}\n" for field in layout.fields) or "    (void)c; (void)m;\n"
    return f"static inline void ol_walk_{name}(ol_cursor *c, ol_{name} *m) {{\n{steps}}}\n"


def _step(field: WireField) -> str:
    if field.nested:
        return f"ol_walk_{_name(field.python)}(c, &m->{field.name});"
    where = f"m->{field.name}" if field.count > 1 else f"&m->{field.name}"
    return f"ol_{field.kind}(c, {where}, {field.count});"


def main() -> int:
    """Print the header."""
    sys.stdout.write(header())
    return 0


if __name__ == "__main__":
    sys.exit(main())
