"""Static files of the dashboard, read at the start and looked up by their exact name: a disk that hangs holds up no request."""

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
    """The files below a folder; a name is found only as it stands in the listing, so no path leads out."""

    def __init__(self, folder: Path = FOLDER) -> None:
        """Read `folder`; a file that is added or changed later is not seen. OSError."""
        found = (path for path in folder.rglob("*") if path.is_file() and path.suffix in CONTENT_TYPES)
        self._files = {path.relative_to(folder).as_posix(): _read(path) for path in found}

    @property
    def names(self) -> frozenset[str]:
        """Names relative to the folder, with slashes."""
        return frozenset(self._files)

    def find(self, name: str) -> StaticFile | None:
        """Return a file; None if there is no such name."""
        return self._files.get(name)


def matches(if_none_match: str, etag: str) -> bool:
    """Whether an If-None-Match header names the entity tag (RFC 9110, 13.1.2: the comparison is weak)."""
    tags = (tag.strip().removeprefix("W/") for tag in if_none_match.split(","))
    return any(tag in {"*", etag} for tag in tags)


def _read(path: Path) -> StaticFile:
    content = path.read_bytes()
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    return StaticFile(content, CONTENT_TYPES[path.suffix], etag)
