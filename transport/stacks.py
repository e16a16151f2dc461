"""Write the stacks of all threads when SIGUSR1 comes, by a thread that waits for it.

A signal handler would read the stacks of threads while they run, and end the process by a fault now and then.
"""

from __future__ import annotations

import faulthandler
import signal
import threading
import time
from typing import Final

NUMBER: Final = signal.SIGUSR1
THREAD: Final = "hd-stacks"
# Stacks of all threads are some thousand bytes: signals in a row must not fill the log.
PAUSE_S: Final = 1.0


def write_on_signal(descriptor: int) -> None:
    """Write the stacks to `descriptor` at each SIGUSR1 from now on. Call it before any other thread starts: all inherit that it is blocked.

    Signals that come while stacks are written, or within PAUSE_S after them, count as one, shown then. The thread needs the interpreter: stacks come late, or not, while another
    thread keeps that.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {NUMBER})
    # One that waits when the process ends must not end it another way; a blocked one still reaches `sigwait`.
    signal.signal(NUMBER, signal.SIG_IGN)
    threading.Thread(target=_write, args=(descriptor,), name=THREAD, daemon=True).start()


def _write(descriptor: int) -> None:
    while True:
        signal.sigwait({NUMBER})
        faulthandler.dump_traceback(descriptor, all_threads=True)
        time.sleep(PAUSE_S)
