"""Run a command as the terminal's foreground job and exit with its exit code; used by `make run`.

A terminal sends Ctrl-C to every process of the foreground job. Were `make` one of them, it would report an interrupt
however cleanly the service stopped; with a job of its own the service alone hears it, and its exit code is the answer.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys


def main(command: list[str]) -> int:
    """Run `command` and return its exit code; 128 + N when signal N ended it."""
    if not has_terminal():
        os.execvp(command[0], command)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # else taking the terminal back would stop this process
    child = subprocess.Popen(command, process_group=0, restore_signals=True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: child.send_signal(received))
    return follow(child.pid)


def has_terminal() -> bool:
    """Return whether standard input is the terminal that this job controls and can pass on."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:
        return False


def follow(job: int) -> int:
    """Give the terminal to `job` until it ends; take it back while the job is stopped (Ctrl-Z)."""
    while True:
        os.tcsetpgrp(sys.stdin.fileno(), job)
        os.killpg(job, signal.SIGCONT)
        _, status = os.waitpid(job, os.WUNTRACED)
        os.tcsetpgrp(sys.stdin.fileno(), os.getpgrp())
        if not os.WIFSTOPPED(status):
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        os.killpg(0, signal.SIGSTOP)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
