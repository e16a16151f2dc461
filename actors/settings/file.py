"""One JSON file of the state directory: read tolerantly, written atomically and synced to the disk."""

from __future__ import annotations

import json
import logging
import math
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NoReturn, cast

from actors.kit.errors import StateNotWritable

FORMAT: Final = "format"
# A symbolic link in the folder must not redirect reads or writes; Windows has no such flag.
NO_LINK: Final[int] = getattr(os, "O_NOFOLLOW", 0)

Content = dict[str, Any]

logger = logging.getLogger(__name__)


class StateFile:
    """One flat JSON object with `"format"`; loaded and written by one thread at a time."""

    def __init__(
        self,
        path: Path,
        *,
        version: int = 1,
        migrations: Mapping[int, Callable[[Content], Content]] | None = None,
        check: Callable[[Content], None] | None = None,
    ) -> None:
        """`migrations[n]` converts format n to n + 1; `check` raises ValueError with the reason for invalid content."""
        self.path = path
        self._version = version
        self._migrations = dict(migrations or {})
        self._check = check
        self._found = version
        self.was_broken = False

    def load(self) -> Content:
        """Return the content without `"format"`: {} without a file, or for a broken one, which is renamed. Never raises."""
        self._found = self._version
        self.was_broken = False
        try:
            content = _decode(read_file(self.path))
            found = content.pop(FORMAT, self._version)
            if type(found) is not int or found < 1:
                _broken(f'"{FORMAT}" is no version number')
            for older in range(found, self._version):
                content = self._migrations[older](content)
            if self._check:
                self._check(content)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
            self.was_broken = True
            self._keep_aside(error)
            return {}
        self._found = found
        if found > self._version:
            logger.warning(
                "%s was written by a newer version (format %d, this one knows %d): what is known of it is used, the rest is kept",
                self.path,
                found,
                self._version,
            )
        return content

    def write(self, content: Mapping[str, object]) -> None:
        """Replace the file and sync it to the disk; StateNotWritable, then the old content remains."""
        version = max(self._found, self._version)
        data = _encode({FORMAT: version, **content})
        try:
            self._keep_older()
            replace_file(self.path, data)
        except OSError as error:
            raise StateNotWritable(str(self.path.parent), error.strerror or str(error)) from error
        self._found = version

    def _keep_aside(self, error: Exception) -> None:
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.broken-{number}")).exists():
            number += 1
        reason = error.strerror if isinstance(error, OSError) else error
        kept = f"kept as {aside.name}"
        try:
            self.path.rename(aside)
        except OSError as failure:
            kept = f"not kept aside, {failure.strerror}"
        logger.error("%s cannot be read (%s): %s, defaults are used", self.path, reason, kept)

    def _keep_older(self) -> None:
        """Keep the file of an older format once as `<name>.v<n>`."""
        if self._found < self._version:
            kept = self.path.with_name(f"{self.path.name}.v{self._found}")
            if self.path.exists() and not kept.exists():
                replace_file(kept, read_file(self.path))


def replace_file(path: Path, data: bytes) -> None:
    """Write `data` to `path`, mode 0600, all or nothing: temporary file, fsync, rename, fsync of the folder; OSError."""
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        write_file(temporary, data)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(path.parent)


def read_file(path: Path) -> bytes:
    """Return the content of one file; OSError, also for a symbolic link."""
    with open(os.open(path, os.O_RDONLY | NO_LINK), "rb") as file:  # noqa: PTH123
        return file.read()


def write_file(path: Path, data: bytes) -> None:
    """Write and fsync one file, mode 0600; OSError, also for a symbolic link."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_LINK, 0o600)
    with open(descriptor, "wb", buffering=0) as file:  # noqa: PTH123
        left = memoryview(data)
        while left:
            left = left[file.write(left) :]
        os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` durable over a power cut, where the system can; OSError."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _decode(data: bytes) -> Content:
    """Return the JSON object in `data`; ValueError for anything else, also NaN and infinity."""
    content: object = json.loads(data, parse_constant=_broken_constant, parse_float=_finite)
    if not isinstance(content, dict):
        _broken("it holds no JSON object")
    return cast("Content", content)


def _encode(content: Mapping[str, object]) -> bytes:
    """Return JSON with one key per line, readable and editable; ValueError for NaN."""
    lines = (f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in content.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _broken(f"{text} is too large")


def _broken_constant(text: str) -> NoReturn:
    _broken(f"{text} is no JSON")


def _broken(reason: str) -> NoReturn:
    raise ValueError(reason)
