"""Check that no text of the service names a session with the id 0."""

from __future__ import annotations

import re
from typing import Final

_ZERO: Final = re.compile(rb'"session_id"\s*:\s*-?0(?![0-9.])')


def free_of_zero(text: bytes | str) -> bytes | str:
    """The text itself; AssertionError when it shows a session with the id 0."""
    data = text.encode(errors="replace") if isinstance(text, str) else text
    found = _ZERO.search(data)
    assert found is None, f"session_id is 0 in {data[max(0, found.start() - 200) : found.end() + 100]!r}"
    return text
