"""What holds for all tests: hypothesis without a wall-clock deadline, `fuzz` for `make fuzz`, and Ctrl-C for the programs that they start."""

from __future__ import annotations

import signal

from hypothesis import settings

settings.register_profile("suite", deadline=None, max_examples=50)
settings.register_profile("fuzz", deadline=None, max_examples=10_000)
settings.load_profile("suite")

# A shell without job control has what it starts with & ignore Ctrl-C, and every program that starts from there.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
