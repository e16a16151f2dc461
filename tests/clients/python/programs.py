"""Programs of users in their own processes, beside a real service."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.support.service.addresses import WithAddresses
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import TIMEOUT_S, eventually
from tests.support.service.process import RunningService

WALL: Final = Path(__file__).with_name("wall.py")


class Program:
    """A process; killed on leaving."""

    def __init__(
        self, service: WithAddresses, transport: str, *words: str, path: Path = WALL, compiled: bool = False
    ) -> None:
        """`words` follow the path, and with `compiled` the service's address before them."""
        url = url_of(service, transport)
        environment = {**os.environ, "HAPTICD_URL": url, "HAPTICD_HTTP": service.http}
        command = [str(path), url] if compiled else [sys.executable, str(path)]
        self.process = subprocess.Popen(
            [*command, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def line(self) -> str:
        """The next line that it prints, "" at its end."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def session(self) -> int:
        """Number of its session, once its force is felt."""
        line = self.line()
        assert line.startswith("pushing in session "), (line, self.ended() if not line else "")
        return int(line.rsplit(maxsplit=1)[1])

    def say(self, line: str) -> None:
        """Write a line to its input."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def ended_by_itself(self) -> tuple[int, str, str]:
        """Wait, with its input open; exit code, output, errors."""
        self.process.wait(TIMEOUT_S)
        return self.ended()

    def ended(self) -> tuple[int, str, str]:
        """Close its input and wait; exit code, output, errors."""
        out, errors = self.process.communicate(timeout=TIMEOUT_S)
        return self.process.returncode, out, errors

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self.process.wait()


def url_of(service: WithAddresses, transport: str) -> str:
    """The address of a service for `connect`."""
    if transport == "socket":
        return service.ws
    if isinstance(service, InProcessService):
        return f"local:{service.local.path.parent}"
    assert isinstance(service, RunningService)
    return f"local:{service.state_dir}"


def arm_force(service: RunningService) -> float:
    """The force along z that the arm gets, N."""
    _, devices = service.request("GET", "/devices")
    return float(devices["arm"][0]["state"]["current_cursor_force"]["z"])


def until_zero(service: RunningService) -> None:
    """Wait until the arm gets none."""
    eventually(lambda: arm_force(service) == 0, "zero force", pause_s=0.005)


def until_no_session(service: RunningService) -> None:
    """Wait until no session is open."""
    eventually(lambda: service.request("GET", "/sessions")[1]["session_count"] == 0, "no session", pause_s=0.01)
