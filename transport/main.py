"""The command `hapticd`: nothing is imported before the signals are held, so that none ends the process halfway through its start."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code: 0 done, 1 the service failed, 2 it could not do what was asked."""
    # numpy is used for records, not for algebra: its library must not start a thread for each processor.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.platform == "win32":
        from transport.command_line import run

        return run(arguments)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
    try:
        from transport.command_line import run

        return run(arguments)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


if __name__ == "__main__":
    sys.exit(main())
