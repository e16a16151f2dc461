"""Repair messages that are JSON except for NaN, Infinity or numbers such as 1e400.

The fast parser refuses such a message whole. Read once more, it says which part is bad, and its good parts count.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

_NO_NUMBER: Final = re.compile(r"NaN|Infinity|[0-9][eE]\+?[0-9]{3}|[0-9]{309}")


def repair_nan(data: str | bytes) -> Any:
    r"""Return the JSON value with float nan and inf in it; None when the text has other errors too.

    A text with \u escapes is not read again: a surrogate without its half would be taken here and could not be shown.
    """
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        if "\\u" in text or _NO_NUMBER.search(text) is None:
            return None
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
