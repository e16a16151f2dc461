"""Run a command in a pseudo-terminal of its own, where Ctrl-C sends an interrupt."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

CTRL_C = b"\x03"
# A shell's background job ignores interrupts, and so would what it starts.
TAKE_TERMINAL = (
    "import fcntl, os, signal, sys, termios; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
)


def on_terminal(
    command: Sequence[str],
    cue: str,
    act: Callable[[int, int], object],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Exit code (minus N when signal N ended it) and output; `act` gets (process id, terminal) when `cue` is in the output."""
    keyboard, terminal = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, *command],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
    finally:
        os.close(terminal)
    shown = b""
    acted = False
    while chunk := _read(keyboard):
        shown += chunk
        if not acted and cue.encode() in shown:
            acted = True
            act(process.pid, keyboard)
    os.close(keyboard)
    return process.wait(), shown.decode(errors="replace")


def _read(keyboard: int) -> bytes:
    """Return the next output; empty once the terminal is closed."""
    try:
        return os.read(keyboard, 4096)
    except OSError:
        return b""
