"""What the service tells whoever helps: the kept log, the redaction, and one support bundle at a time, made beside the event loop."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from actors.kit.errors import Busy
from transport.kept_log import KeptLog
from transport.log_format import Redaction

T = TypeVar("T")

DOCTOR_S: Final = 10.0
ANSWER_S: Final = "3"
NICENESS: Final = 10
THREAD: Final = "hd-bundle"
# The doctor finds the program as this process does, wherever it is installed.
RUN: Final = "import sys; sys.path[:] = {path!r}; from transport.main import main; sys.exit(main(sys.argv[1:]))"
OURS: Final = ("HAPTICD_", "_HAPTICD_", "NOTIFY_", "WATCHDOG_", "LISTEN_")


@dataclass(slots=True)
class Support:
    """Shared by all listeners; main thread only, but for what its thread is given."""

    kept_log: KeptLog = field(default_factory=KeptLog)
    redaction: Redaction = field(default_factory=Redaction)
    state_path: Path | None = None  # the state directory; None: there is none
    processors: int | None = None  # that the service may use, the loop's included; None: not known
    url: str = ""  # of this service, for a client on this machine; "" before the ports are open
    doctor: Callable[[Support], str] = field(default_factory=lambda: doctor_report)
    _making: bool = False

    def begin(self) -> None:
        """Begin a bundle; Busy while another one is made."""
        if self._making:
            raise Busy("A support bundle is being made already: ask again in a few seconds.")
        self._making = True

    def end(self) -> None:
        """Let the next bundle begin."""
        self._making = False


def on_thread(make: Callable[[], T]) -> asyncio.Future[T]:
    """Run `make` on a daemon thread of its own and return its future result: the end of the service does not wait for it."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(step: Callable[[Any], None], outcome: object) -> None:
        if not future.done():
            step(outcome)

    def run() -> None:
        try:
            step, outcome = future.set_result, make()
        except Exception as error:  # noqa: BLE001 - whoever awaits it gets it
            step, outcome = future.set_exception, error  # type: ignore[assignment]
        # RuntimeError: the event loop has closed.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, step, outcome)

    threading.Thread(target=run, name=THREAD, daemon=True).start()
    return future


def doctor_report(support: Support, within_s: float = DOCTOR_S) -> str:
    """Return what `hapticd doctor` says, run as a child process of this one at a low priority and killed after `within_s`.

    A process: it walks /proc and tries SCHED_FIFO, which this one's threads must not pay for. Blocks; not for the main thread.
    """
    if not support.url or support.state_path is None:
        return "The doctor was not asked: the service's ports are not open.\n"
    state = str(support.state_path)
    words = ["doctor", "--url", support.url, "--state-dir", state, "--timeout", ANSWER_S]
    if support.processors:
        words += ["--processors", str(support.processors)]
    if (support.state_path / "token").is_file():
        words += ["--token-file", str(support.state_path / "token")]
    try:
        child = subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", "-c", RUN.format(path=sys.path), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=environment(os.environ),
            start_new_session=True,
        )
    except OSError as error:
        return f"The doctor could not be started: {error.strerror}.\n"
    with child:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, child.pid, NICENESS)
        try:
            said, _ = child.communicate(timeout=within_s)
        except subprocess.TimeoutExpired:
            child.kill()
            return f"The doctor did not answer within {within_s:g} s: run hapticd doctor on this machine.\n"
    return said.decode("utf-8", "replace")


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the doctor: without settings, tokens and what the service manager gave the service."""
    return {name: value for name, value in variables.items() if not name.startswith(OURS)}
