"""Entry point of the command `hapticd`: block signals first, then import, so that no signal ends the process half-way through its start."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Final

from transport.cli.table import asks_service, words_given

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code, one of `transport.cli.exit_codes`."""
    if asks_service(words := words_given(arguments)):
        return _ask(words)
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


def _ask(words: Sequence[str]) -> int:
    """Run a command that is a client of a service; Ctrl-C may come at any time, also during the imports."""
    try:
        from transport.cli.program import run

        return run(words)
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
