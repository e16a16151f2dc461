"""Find and read the token of a service on this machine. Reading creates and changes nothing; root may read that of every user."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from actors.kit.errors import HapticError
from actors.settings.file import NO_LINK
from actors.settings.state_directory import NotAPlainFile, StateNotPrivate, default_state_path, read_token

if sys.platform != "win32":
    import fcntl

# Where the installed service and the container keep their state.
INSTALLED: Final = Path("/var/lib/hapticd")


class NoToken(HapticError):
    """There is no token that can be read."""


def stored_token(path: Path) -> str:
    """Return the token of the state directory `path`; NoToken, NotAPlainFile, StateNotPrivate, TokenUnusable."""
    file = path / "token"
    try:
        found = file.lstat()
        if not stat.S_ISREG(found.st_mode):
            raise NotAPlainFile(file, "no plain file")
        if os.geteuid() not in (0, found.st_uid):
            raise NoToken(
                f"{file} belongs to {_user(found.st_uid)}: read it as that user or as root, such as sudo hapticd token."
            )
        if stat.S_IMODE(found.st_mode) & stat.S_IWOTH:
            raise StateNotPrivate(file, "can be written by everybody", f"chmod 600 {file}")
        return read_token(file)
    except FileNotFoundError:
        raise NoToken(
            f"There is no token in {path}: a service makes it when it starts with this state directory."
        ) from None
    except NotADirectoryError:
        raise NoToken(f"{path} is no folder: give the state directory of the service with --state-dir.") from None
    except PermissionError:
        raise NoToken(f"{file} may not be read by this user: use sudo hapticd token.") from None


def state_path_in_use(candidates: Iterable[Path] | None = None) -> Path:
    """Return the state directory of the service that runs, else the first that has a token, else the user's own."""
    own = default_state_path()
    found = tuple((own, INSTALLED) if candidates is None else candidates)
    running = [path for path in found if is_locked(path)]
    kept = [path for path in found if _has_token(path)]
    return next(iter([*running, *kept, *found]))


def is_locked(path: Path) -> bool:
    """Return whether a service holds the state directory; its lock file is only looked at."""
    if sys.platform == "win32":
        return False
    with suppress(OSError):
        descriptor = os.open(path / "lock", os.O_RDONLY | NO_LINK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
    return False


def _has_token(path: Path) -> bool:
    try:
        return stat.S_ISREG((path / "token").lstat().st_mode)
    except PermissionError:
        # It is another user's: who may not look must be told so, and not be given a token of somebody else.
        return True
    except OSError:
        return False


def _user(number: int) -> str:
    with suppress(ImportError, KeyError):
        import pwd

        return pwd.getpwuid(number).pw_name
    return f"user {number}"
