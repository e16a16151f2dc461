"""The installed command `hapticd` in its own process, with free ports and its own state directory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from tests.support.service.addresses import FREE_PORTS, PATIENT, STREAMING, WithAddresses, parse_ready
from tests.support.wire.session_zero import free_of_zero

# For the threads of a service that does not end to be written into its log.
SHOWN_S = 2.0


class RunningService(WithAddresses):
    """Context manager: the service answers inside, is stopped as by Ctrl-C on leaving, and shows its log when the test failed."""

    def __init__(
        self,
        *arguments: str,
        simulate: str = "arm,grip",
        settings: Mapping[str, object] | None = None,
        state_dir: Path | None = None,
        command: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_s: float = 60.0,
    ) -> None:
        """`settings` go to --set (FREE_PORTS unless given), `arguments` behind them; `environment` on top of ours less HAPTICD_*.

        With an empty `simulate` nothing is simulated, however long real devices take.
        """
        self._arguments = arguments
        self._simulate = simulate
        unless_given = FREE_PORTS if simulate else {**FREE_PORTS, "devices/simulated": "[]"}
        self._settings = {
            **unless_given,
            **{key: str(value) for key, value in {**STREAMING, **PATIENT, **(settings or {})}.items()},
        }
        self._given_state_dir = state_dir
        self._command = list(command or [str(Path(sys.executable).with_name("hapticd"))])
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("HAPTICD_")}
        self._environment = {**inherited, **(environment or {})}
        self._timeout_s = timeout_s
        self._cleanup = ExitStack()
        self._lines: list[str] = []
        self._ready_line: str | None = None
        self._ready_or_gone = threading.Event()
        self._readers: list[threading.Thread] = []
        self._process: subprocess.Popen[str] | None = None
        self.state_dir = state_dir or Path()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self._dispose()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            code = self.stop() if self.is_running() else 0
        finally:
            self._dispose()
        if kind is not None:
            sys.stdout.write(f"--- log of the service ---\n{self.log}\n")
        elif code != 0:
            raise AssertionError(f"the service stopped with exit code {code}:\n{self.log}")

    def start(self) -> None:
        """Start (again, after stop or kill, in the same state directory) and wait for the ready line; AssertionError with the log without one."""
        if self._given_state_dir is None and self._process is None:
            self.state_dir = Path(self._cleanup.enter_context(tempfile.TemporaryDirectory(prefix="hapticd-")))
        self._ready_line = None
        self._ready_or_gone.clear()
        process = subprocess.Popen(
            self.command_line(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._process = process
        self._readers = [self._reader(process.stdout, wait_for_ready=True), self._reader(process.stderr)]
        self._addresses = parse_ready(self._wait_for_ready_line())

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Ask to stop, wait, and return the exit code; AssertionError (and a kill) when it does not end."""
        self.process.send_signal(number)
        return self.wait()

    def kill(self) -> None:
        """Send SIGKILL."""
        self.process.kill()
        self.wait()

    def wait(self) -> int:
        """Exit code once the process has ended by itself; AssertionError (and a kill) when it does not."""
        try:
            code = self.process.wait(self._timeout_s)
        except subprocess.TimeoutExpired:
            self._show_threads()
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the service did not end within {self._timeout_s:g} s:\n{self.log}") from None
        finally:
            for reader in self._readers:
                reader.join(self._timeout_s)
        return code

    def command_line(self) -> list[str]:
        """What is started, in full."""
        chosen = [part for key, value in self._settings.items() for part in ("--set", f"{key}={value}")]
        simulated = ["--simulate", self._simulate] if self._simulate else []
        return [*self._command, "run", *simulated, "--state-dir", str(self.state_dir), *chosen, *self._arguments]

    def request(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON body of one HTTP exchange (text where it is no JSON); `path` begins with a slash."""
        status, raw = self.request_raw(method, path, body)
        try:
            return status, json.loads(free_of_zero(raw))
        except ValueError:
            return status, raw

    def request_raw(self, method: str, path: str, body: object = None) -> tuple[int, str]:
        """Status and text of one HTTP exchange."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.http + path, data=data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_s) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()

    def metrics(self) -> str:
        """The page at /metrics."""
        status, page = self.request_raw("GET", "/metrics")
        assert status == 200, page
        return page

    @property
    def process(self) -> subprocess.Popen[str]:
        """The process, also after it ended."""
        assert self._process is not None, "start() comes first"
        return self._process

    def is_running(self) -> bool:
        """Return whether the process is alive."""
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> str:
        """Everything that all starts so far have printed, standard output and standard error as they came."""
        return "".join(self._lines)

    def _wait_for_ready_line(self) -> str:
        came = self._ready_or_gone.wait(self._timeout_s)
        if self._ready_line is not None:
            return self._ready_line
        self.kill()
        why = f"ended with exit code {self.process.returncode}" if came else f"was silent for {self._timeout_s:g} s"
        raise AssertionError(f"the service {why} before its ready line:\n{self.log}")

    def _reader(self, stream: IO[str] | None, *, wait_for_ready: bool = False) -> threading.Thread:
        assert stream is not None

        def read() -> None:
            with stream:
                for line in stream:
                    self._lines.append(line)
                    ready = ready_line(line)
                    if ready is not None:
                        self._ready_line = ready
                        self._ready_or_gone.set()
            if wait_for_ready:
                self._ready_or_gone.set()

        thread = threading.Thread(target=read, name="service-output", daemon=True)
        thread.start()
        return thread

    def _show_threads(self) -> None:
        """Make the process log the stack of each of its threads."""
        self.process.send_signal(signal.SIGUSR1)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(SHOWN_S)

    def _dispose(self) -> None:
        if self.is_running():
            self.kill()
        self._cleanup.close()


def ready_line(line: str) -> str | None:
    """The ready line in a line of output, where it may be the message of a line of JSON; None in any other."""
    if line.startswith("{") and '"event": "ready"' in line:
        line = json.loads(line)["message"]
    return line.strip() if line.split(maxsplit=1)[:1] == ["ready"] else None
