"""The state directory: created at first use, locked by one service at a time; also holds the bearer token."""

from __future__ import annotations

import logging
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from platformdirs import user_state_path

from actors.kit.errors import HapticError, StateNotWritable
from actors.settings.file import NO_LINK, read_file, sync_folder, write_file

if sys.platform != "win32":
    import fcntl

T = TypeVar("T")

TOKEN_LENGTH: Final = 16
FILES: Final = ("lock", "token", "settings.json", "settings.json.tmp", "ledger.json", "ledger.json.tmp")
OTHERS: Final = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)

logger = logging.getLogger(__name__)


class StateLocked(HapticError):
    """Another service has locked the state directory."""

    def __init__(self, path: Path, holder: str) -> None:
        """`holder` is the content of the lock file, "" if empty."""
        who = f"process {holder}" if holder.isdecimal() else "another process"
        super().__init__(
            f"The state directory {path} is in use by {who}: stop that hapticd, or give this one its own with --state-dir."
        )
        self.path = path
        self.holder = holder


class NotAPlainFile(HapticError):
    """The path of one of the service's files is not a plain file."""

    def __init__(self, path: Path, found: str) -> None:
        """`found` names what it is."""
        super().__init__(f"{path} is {found}, and a file belongs there: move it away, or choose another --state-dir.")
        self.path = path


class StateNotPrivate(HapticError):
    """Another user may write the state directory or a file in it, for instance the token."""

    def __init__(self, path: Path, finding: str, cure: str) -> None:
        """`finding` says which user may write it, `cure` is a command."""
        super().__init__(f"{path} {finding}: {cure}, or choose another --state-dir.")
        self.path = path


class TokenUnusable(HapticError):
    """The token file does not contain a valid token."""

    def __init__(self, path: Path, reason: str) -> None:
        """`reason` says what is wrong with it."""
        super().__init__(f"The token file {path} {reason}: delete it, and a new token is made.")
        self.path = path


class StateDirectory:
    """Paths, lock and token of the directory; as a context manager it holds the lock."""

    def __init__(self, path: Path) -> None:
        """Does not touch the disk before `open` or `token`."""
        self.path = path
        self.settings = path / "settings.json"
        self.ledger = path / "ledger.json"
        self._lock: int | None = None

    def open(self) -> None:
        """Create the folder with mode 0700 and lock it: StateLocked, StateNotWritable, NotAPlainFile, StateNotPrivate."""
        self._check_files(FILES)
        self._make_folder()
        self._lock = self._writing(self._lock_file)

    def close(self) -> None:
        """Release the lock; a second call does nothing."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def token(self) -> str:
        """Return the bearer token, created at first use (mode 0600); needs no lock.

        StateNotWritable, NotAPlainFile, StateNotPrivate, TokenUnusable.
        """
        self._check_files(("token",))
        self._make_folder()
        return self._writing(self._token)

    def _check_files(self, names: Iterable[str]) -> None:
        """Check existing files without opening them: NotAPlainFile (also for a link), StateNotPrivate."""
        for name in names:
            path = self.path / name
            with suppress(OSError):
                found = path.lstat()
                if not stat.S_ISREG(found.st_mode):
                    raise NotAPlainFile(path, next((word for test, word in OTHERS if test(found.st_mode)), "no file"))
                _check_private(path, found)

    def _make_folder(self) -> None:
        """Create the folder, or check the existing one. The folder itself may be a link, such as that of a systemd unit."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = self.path.stat()
        except FileExistsError:
            raise StateNotWritable(str(self.path), "it is no folder") from None
        except OSError as error:
            raise StateNotWritable(str(self.path), error.strerror or str(error)) from error
        _check_private(self.path, found)

    def _writing(self, action: Callable[[], T]) -> T:
        try:
            return action()
        except OSError as error:
            raise StateNotWritable(str(self.path), error.strerror or str(error)) from error

    def _lock_file(self) -> int:
        """Return the descriptor that holds the lock; the file contains this process's id."""
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | NO_LINK, 0o600)
        try:
            _flock(descriptor)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise StateLocked(self.path, holder) from None
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def _token(self) -> str:
        path = self.path / "token"
        for _ in range(2):
            with suppress(FileNotFoundError):
                return _kept_token(path)
            _make_token(path)
        return _kept_token(path)


def default_state_path() -> Path:
    """Return the platform's folder for a user's state, with `hapticd` in it; a relative XDG_STATE_HOME counts as none."""
    path = user_state_path("hapticd", appauthor=False)
    return path if path.is_absolute() else Path.home() / ".local" / "state" / "hapticd"


def _check_private(path: Path, found: os.stat_result) -> None:
    """Raise StateNotPrivate if others than this user and root may write `path`; the process's own group may."""
    if sys.platform == "win32":
        return
    user = os.geteuid()
    if found.st_uid not in (user, 0):
        raise StateNotPrivate(
            path, f"belongs to user {found.st_uid}, and the service runs as user {user}", f"chown it to {user}"
        )
    mode = stat.S_IMODE(found.st_mode)
    if mode & stat.S_IWOTH or (mode & stat.S_IWGRP and found.st_gid != os.getegid()):
        raise StateNotPrivate(path, f"can be written by others (mode {mode:04o})", f"chmod go-w {path}")


def _flock(descriptor: int) -> None:
    """Lock the file until the descriptor is closed; BlockingIOError if another process has it."""
    if sys.platform == "win32":
        logger.warning("The state directory is not locked on this system: start one hapticd only.")
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _make_token(path: Path) -> None:
    """Create a token at `path`, all or nothing; an existing one is kept."""
    temporary = path.with_name(f"token.{secrets.token_hex(4)}.tmp")
    try:
        write_file(temporary, f"{secrets.token_urlsafe(32)}\n".encode())
        with suppress(FileExistsError):
            path.hardlink_to(temporary)
    finally:
        with suppress(OSError):
            temporary.unlink()
    sync_folder(path.parent)


def _kept_token(path: Path) -> str:
    """Return the token in `path`; set its mode to 0600 if others may read it."""
    if sys.platform != "win32" and path.stat().st_mode & 0o077:
        logger.warning("The token file %s could be read by others: its mode is 0600 now.", path)
        path.chmod(0o600)
    return read_token(path)


def read_token(path: Path) -> str:
    """Return the token in the file `path`, and change nothing; OSError, TokenUnusable."""
    token = read_file(path).decode("ascii", "replace").strip()
    if len(token) < TOKEN_LENGTH or not all("!" <= letter <= "~" for letter in token):
        raise TokenUnusable(path, f"does not hold one word of {TOKEN_LENGTH} or more ASCII characters")
    return token
