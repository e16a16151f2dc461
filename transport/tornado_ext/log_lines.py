"""Take what clients sent out of Tornado's own log lines: its text of a fault quotes header values and names, which may hold a token."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import logging

MALFORMED: Final = "Malformed HTTP message from %s: %s"
# Templates whose values are an address, a number or an error of the operating system.
OWN_VALUES: Final = frozenset(
    {"Timeout reading body from %s", "Got events for closed stream %s", "Write error on %s: %s"}
)
# Beginnings of Tornado's texts of a malformed request, each up to what it quotes.
FAULTS: Final = (
    "Content-Length too long",
    "Invalid Host header",
    "Invalid header name",
    "Invalid header value",
    "Invalid query string",
    "Malformed HTTP request line",
    "Message with both Transfer-Encoding and Content-Length",
    "Missing Host header",
    "Multiple host headers not allowed",
    "Multiple unequal Content-Lengths",
    "Only integer Content-Length is allowed",
    "Unexpected HTTP version",
    "Unsupported Transfer-Encoding",
    "chunked body too large",
    "header line cannot start with whitespace, folding not supported",
    "improperly terminated chunk",
    "improperly terminated chunked request",
    "invalid chunk size",
    "no colon in header line",
)
UNKNOWN_FAULT: Final = "it is no HTTP"

_VALUE: Final = re.compile(r"%[-#0 +]*\d*(?:\.\d+)?[a-zA-Z]")


def text_of(record: logging.LogRecord) -> str:
    """Return the text of a line of `tornado.general` without what a client sent; a malformed request's line gets the field `client`."""
    if record.msg == MALFORMED and isinstance(record.args, tuple) and len(record.args) == 2:
        client, error = record.args
        record.client = str(client)
        return f"a request of {client} cannot be read and gets 400: {fault_of(str(error))}"
    if record.args and record.msg not in OWN_VALUES:
        return _VALUE.sub("…", str(record.msg))
    return record.getMessage()


def fault_of(text: str) -> str:
    """Return Tornado's text of a malformed request without what it quotes."""
    return max((fault for fault in FAULTS if text.startswith(fault)), key=len, default=UNKNOWN_FAULT)
