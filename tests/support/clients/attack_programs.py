"""Start and stop the programs `session_attack` and `steady_client` as context managers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

ROOT: Final = Path(__file__).parents[3]
END_S: Final = 30.0


class Program:
    """A module of tests/support/clients in a process of its own, that ends with its standard input."""

    def __init__(self, module: str, *arguments: object) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"tests.support.clients.{module}", *map(str, arguments)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._process:
            self._input.close()
            try:
                self._process.wait(END_S)
            except subprocess.TimeoutExpired:
                self._process.kill()

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def line(self) -> str:
        """The next line that the program prints; AssertionError when it has ended."""
        line = self._output.readline()
        assert line, "the program has ended"
        return line.strip()


class SteadyClientProgram(Program):
    """A steady client: a session that commands a force at a fixed rate."""

    def __init__(self, url: str, device_id: str, rate_hz: float) -> None:
        super().__init__("steady_client", url, device_id, rate_hz)
        self.report()

    def report(self) -> dict[str, Any]:
        """Figures since the last report: `frames`, `rate`, `longest_gap_ms`, `p50_ms`, `p99_ms`."""
        self._input.write("\n")
        self._input.flush()
        figures: dict[str, Any] = json.loads(self.line())
        return figures


class PipelineAttack(Program):
    """Sessions that send messages without waiting for frames."""

    def __init__(self, url: str, sessions: int, at_once: int) -> None:
        super().__init__("session_attack", url, sessions, at_once)
        assert self.line() == "open"

    def stop(self) -> int:
        """End; the number of frames that came."""
        self._input.close()
        return int(self.line())
