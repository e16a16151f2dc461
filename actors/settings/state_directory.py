"""The state directory: created at first use, locked by one service at a time, holds the bearer token."""

from __future__ import annotations

import logging
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

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
    """Another service holds the state directory."""

    def __init__(self, path: Path, holder: str) -> None:
        """`holder` is what the lock file says, "" when it says nothing."""
        who = f"process {holder}" if holder.isdecimal() else "another process"
        super().__init__(
            f"The state directory {path} is in use by {who}: stop that hapticd, or give this one its own with --state-dir."
        )
        self.path = path
        self.holder = holder


class NotAPlainFile(HapticError):
    """Something else stands where the service keeps a file."""

    def __init__(self, path: Path, found: str) -> None:
        """`found` names what stands there."""
        super().__init__(f"{path} is {found}, and a file belongs there: move it away, or choose another --state-dir.")
        self.path = path


class StateNotPrivate(HapticError):
    """Somebody else may write where the service remembers, the token and the stop latch included."""

    def __init__(self, path: Path, finding: str, cure: str) -> None:
        """`finding` says who may write it, `cure` is a command."""
        super().__init__(f"{path} {finding}: {cure}, or choose another --state-dir.")
        self.path = path


class TokenUnusable(HapticError):
    """The token file holds nothing that could be a token."""

    def __init__(self, path: Path, reason: str) -> None:
        """`reason` says what is wrong with it."""
        super().__init__(f"The token file {path} {reason}: delete it, and a new token is made.")
        self.path = path


class StateDirectory:
    """Paths, lock and token; usable as a context manager that holds the lock."""

    def __init__(self, path: Path) -> None:
        """Nothing is touched before `open` or `token`."""
        self.path = path
        self.settings = path / "settings.json"
        self.ledger = path / "ledger.json"
        self._lock: int | None = None

    def open(self) -> None:
        """Make the folder with mode 0700 and hold it. StateLocked names the other holder, StateNotWritable the reason, NotAPlainFile and StateNotPrivate the file."""
        self._look(FILES)
        self._make()
        self._lock = self._writing(self._take)

    def close(self) -> None:
        """Let go of the folder; closing twice is harmless."""
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
        """The bearer token, made at first use in a file with mode 0600; needs no lock. StateNotWritable, NotAPlainFile, StateNotPrivate, TokenUnusable."""
        self._look(("token",))
        self._make()
        return self._writing(self._token)

    def _look(self, names: Iterable[str]) -> None:
        """Judge the files that are there: NotAPlainFile for what is none, a link included, StateNotPrivate; nothing is opened and nothing changed."""
        for name in names:
            path = self.path / name
            with suppress(OSError):
                found = path.lstat()
                if not stat.S_ISREG(found.st_mode):
                    raise NotAPlainFile(path, next((word for test, word in OTHERS if test(found.st_mode)), "no file"))
                _judge(path, found)

    def _make(self) -> None:
        """Make the folder, or judge the one that is there. The folder itself may be a link, as that of a systemd unit is."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = self.path.stat()
        except FileExistsError:
            raise StateNotWritable(str(self.path), "it is no folder") from None
        except OSError as error:
            raise StateNotWritable(str(self.path), error.strerror or str(error)) from error
        _judge(self.path, found)

    def _writing(self, action: Callable[[], T]) -> T:
        try:
            return action()
        except OSError as error:
            raise StateNotWritable(str(self.path), error.strerror or str(error)) from error

    def _take(self) -> int:
        """The descriptor that holds the lock; the file in it names this process for whoever comes second."""
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | NO_LINK, 0o600)
        try:
            _hold(descriptor)
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
                return _read_token(path)
            _make_token(path)
        return _read_token(path)


def default_state_path(platform: str, environ: Mapping[str, str], home: Path) -> Path:
    """Where the service remembers when nobody says; `platform` is `sys.platform`."""
    if platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "hapticd"
    if platform == "darwin":
        return home / "Library" / "Application Support" / "hapticd"
    state = Path(environ.get("XDG_STATE_HOME", ""))
    return (state if state.is_absolute() else home / ".local" / "state") / "hapticd"


def _judge(path: Path, found: os.stat_result) -> None:
    """StateNotPrivate when others than this user and root may write `path`; a group may when it is this process's own."""
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


def _hold(descriptor: int) -> None:
    """Lock the file until the descriptor is closed or the process ends; BlockingIOError when another has it."""
    if sys.platform == "win32":
        logger.warning("The state directory is not locked on this system: start one hapticd only.")
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _make_token(path: Path) -> None:
    """A new token under `path`, whole or not at all; whoever was first wins."""
    temporary = path.with_name(f"token.{secrets.token_hex(4)}.tmp")
    try:
        write_file(temporary, f"{secrets.token_urlsafe(32)}\n".encode())
        with suppress(FileExistsError):
            path.hardlink_to(temporary)
    finally:
        with suppress(OSError):
            temporary.unlink()
    sync_folder(path.parent)


def _read_token(path: Path) -> str:
    """The token in `path`; a file that others may read is closed to them."""
    if sys.platform != "win32" and path.stat().st_mode & 0o077:
        logger.warning("The token file %s could be read by others: its mode is 0600 now.", path)
        path.chmod(0o600)
    token = read_file(path).decode("ascii", "replace").strip()
    if len(token) < TOKEN_LENGTH or not all("!" <= letter <= "~" for letter in token):
        raise TokenUnusable(path, f"does not hold one word of {TOKEN_LENGTH} or more ASCII characters")
    return token
