"""Stop one thread of another process, as a scheduler does that gives it no turn, while the others run on (Linux, ptrace)."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

SEIZE: Final = 0x4206
INTERRUPT: Final = 0x4207
DETACH: Final = 17
WAIT_ALL: Final = 0x40000000
REFUSED: Final = (errno.EPERM, errno.EACCES, errno.ENOSYS)

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_libc.ptrace.restype = ctypes.c_long


def thread_of(pid: int, name: str) -> int:
    """The thread of a process that has this name; ValueError unless there is just one."""
    (found,) = (
        int(task.name)
        for task in Path(f"/proc/{pid}/task").iterdir()
        if (task / "comm").read_text("utf-8") == f"{name}\n"
    )
    return found


def _request(request: int, thread: int) -> None:
    if _libc.ptrace(request, thread, None, None) == 0:
        return
    number = ctypes.get_errno()
    if number in REFUSED:
        pytest.skip("stopping one thread of another process is not permitted here")
    raise OSError(number, os.strerror(number))


@contextmanager
def stopped(thread: int) -> Generator[None, None, None]:
    """Stop a thread of a child process while the context lasts; skips where that is not permitted."""
    _request(SEIZE, thread)
    _request(INTERRUPT, thread)
    os.waitpid(thread, WAIT_ALL)
    try:
        yield
    finally:
        _request(DETACH, thread)
