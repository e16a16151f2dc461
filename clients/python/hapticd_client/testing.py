"""A real service for tests: its own process, free ports, its own state directory, simulated devices."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from hapticd_client import aio
from hapticd_client.errors import NoService
from hapticd_client.service import Service, connect

FREE_PORTS: Final = ("communication/websocket/port", "communication/websocket/legacy_port", "communication/events/port")
ADDRESS: Final = re.compile(r"(http|ws)://\S+")
TIMEOUT_S: Final = 120.0  # a busy machine takes its time


class TestService:
    """A running service; `service` makes it."""

    __test__ = False  # no test, whatever its name

    def __init__(self, command: Sequence[str], directory: Path) -> None:
        """`state_directory`: where it keeps its settings; `url`: of the session channel, frames v3.1; `http`: of the HTTP interface."""
        self._command = list(command)
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._lines: list[str] = []
        self._ready = threading.Event()
        self._kept = False
        self.state_directory = directory
        self.url = ""
        self.http = ""

    @property
    def local(self) -> str:
        """Address of its shared memory."""
        return f"local:{self.state_directory}"

    @property
    def log(self) -> str:
        """Everything that it has printed so far."""
        return "".join(self._lines)

    @property
    def process(self) -> subprocess.Popen[str]:
        """The process of the last start."""
        if self._process is None:
            raise NoService("The service has not been started: call start().")
        return self._process

    def connect(self, *, local: bool = False, **arguments: Any) -> Service:
        """Return a blocking service object, over a socket or shared memory; `arguments` are those of `connect`."""
        given: dict[str, Any] = {"http": self.http, **arguments}
        return connect(self.local if local else self.url, **given)

    def connect_aio(self, *, local: bool = False, **arguments: Any) -> aio.Service:
        """Return an asyncio service object."""
        given: dict[str, Any] = {"http": self.http, **arguments}
        return aio.connect(self.local if local else self.url, **given)

    def start(self) -> None:
        """Start it (again, on the same ports and state directory). NoService with its log when it does not get ready."""
        self._ready.clear()
        environment = {key: value for key, value in os.environ.items() if not key.startswith("HAPTICD_")}
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._ready.wait(TIMEOUT_S)
        if self._process.poll() is not None or not self._ready.is_set():
            self.kill()
            raise NoService(f"The service did not get ready:\n{self.log}")
        ready = next(line for line in reversed(self._lines) if line.startswith("ready "))
        found = [match[0].rstrip("/") for match in ADDRESS.finditer(ready)]
        self.http, self.url = found[0], found[1]
        if not self._kept:
            # Clients come back to the address that they know.
            self._command, self._kept = [*self._command, *_ports(found)], True

    def stop(self) -> int:
        """Stop it as Ctrl-C does; return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self._ended()

    def kill(self) -> int:
        """Kill it; return the exit code."""
        self.process.kill()
        return self._ended()

    def close(self) -> None:
        """Stop it if it runs."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGCONT)
            self.stop()

    def _ended(self) -> int:
        try:
            return self.process.wait(TIMEOUT_S)
        finally:
            if self._reader is not None:
                self._reader.join(TIMEOUT_S)

    def _read(self) -> None:
        stream = self.process.stdout
        if stream is None:
            return
        with stream:
            for line in stream:
                self._lines.append(line)
                if line.startswith("ready "):
                    self._ready.set()
        self._ready.set()


@contextmanager
def service(
    simulate: str = "arm,grip",
    settings: Mapping[str, object] | None = None,
    command: Sequence[str] | None = None,
    *,
    stepped: bool = False,
) -> Generator[TestService]:
    """Start a service with simulated devices and yield it; it is stopped behind the block. NoService.

    `simulate`: kinds, such as `arm,arm,grip`; `settings`: by key; `command`: the program, `hapticd` beside this interpreter or on PATH
    unless given. `stepped`: time stands still, and the loop ticks by `step` of a service object alone, as often as it says: the same
    program gives the same numbers, on any machine. Such a service is for sockets: over shared memory a loop that stands still counts
    as gone.
    """
    # The path of a Unix socket is short.
    with tempfile.TemporaryDirectory(prefix="hapticd-") as directory:
        time: dict[str, object] = {"simulation/stepped": True} if stepped else {}
        chosen: dict[str, object] = {**dict.fromkeys(FREE_PORTS, 0), **time, **(settings or {})}
        words = [part for key, value in chosen.items() for part in ("--set", f"{key}={_text(value)}")]
        program = list(command or [_program()])
        running = TestService(
            [*program, "run", "--simulate", simulate, "--state-dir", directory, *words], Path(directory)
        )
        try:
            running.start()
            yield running
        finally:
            running.close()


def _program() -> str:
    beside = Path(sys.executable).with_name("hapticd")
    found = str(beside) if beside.exists() else shutil.which("hapticd")
    if found is None:
        raise NoService("There is no hapticd beside this Python or on PATH: install the service, or give command=.")
    return found


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _ports(found: Sequence[str]) -> list[str]:
    """Return the options that keep the ports of a first start."""
    ports = [address.rpartition(":")[2] for address in found[1:4]]
    return [part for key, port in zip(FREE_PORTS, ports, strict=True) for part in ("--set", f"{key}={port}")]
