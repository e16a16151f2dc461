"""Parse a curl command line of a page into the HTTP request that it sends."""

from __future__ import annotations

import json
import shlex
from typing import Any, NamedTuple


class Curl(NamedTuple):
    """A request; `path` has its query, `body` is read as JSON, None without one."""

    method: str
    path: str
    body: Any


def parse_curl(line: str, base: str) -> Curl:
    """The request of a line with `-X`, `-d`, `-OJ` and one URL that starts with `base`; ValueError for anything else."""
    words = iter(shlex.split(line))
    if next(words) != "curl":
        raise ValueError(f"no curl line: {line}")
    method, path, body = "GET", None, None
    for word in words:
        if word == "-X":
            method = next(words)
        elif word == "-d":
            body = json.loads(next(words))
        elif word == "-OJ":
            continue  # into a file of the name that the answer gives
        elif path is None and word.startswith(base):
            path = word.removeprefix(base)
        else:
            raise ValueError(f"{word!r} of {line}")
    if path is None:
        raise ValueError(f"no URL of {base}: {line}")
    return Curl(method, path, body)
