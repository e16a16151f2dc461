"""Standard output whose reader has gone or whose disk is full. Imports no library."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import Final

UNWRITABLE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def forget_output() -> None:
    """Point standard output at nothing, so that the interpreter does not fail when it flushes it at the end."""
    with suppress(OSError, AttributeError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


def unwritable(error: OSError) -> str:
    """Return the sentence for output that cannot be written."""
    return f"The output cannot be written ({error.strerror or error}): free space there, or write it elsewhere."
