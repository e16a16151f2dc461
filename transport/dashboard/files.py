"""Static files of the dashboard, looked up by their exact name and read once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

FOLDER: Final = Path(__file__).with_name("static")
CONTENT_TYPES: Final = MappingProxyType(
    {
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".json": "application/json",
        ".svg": "image/svg+xml",
        ".txt": "text/plain; charset=utf-8",
    }
)


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One file as it is served."""

    content: bytes
    content_type: str
    etag: str  # strong, with its quotes


class StaticFiles:
    """The files below a folder; a name is found only as it stands in the listing, so no path leads out. Main thread only."""

    def __init__(self, folder: Path = FOLDER) -> None:
        """List `folder`; a file that is added later is not found."""
        found = (path for path in folder.rglob("*") if path.is_file() and path.suffix in CONTENT_TYPES)
        self._paths = {path.relative_to(folder).as_posix(): path for path in found}
        self._read: dict[str, StaticFile] = {}

    @property
    def names(self) -> frozenset[str]:
        """Names relative to the folder, with slashes."""
        return frozenset(self._paths)

    def find(self, name: str) -> StaticFile | None:
        """Return a file, read at its first request; None if there is no such name. OSError."""
        if name not in self._paths:
            return None
        if name not in self._read:
            path = self._paths[name]
            content = path.read_bytes()
            etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
            self._read[name] = StaticFile(content, CONTENT_TYPES[path.suffix], etag)
        return self._read[name]


def matches(if_none_match: str, etag: str) -> bool:
    """Whether an If-None-Match header names the entity tag (RFC 9110, 13.1.2: the comparison is weak)."""
    tags = (tag.strip().removeprefix("W/") for tag in if_none_match.split(","))
    return any(tag in {"*", etag} for tag in tags)
