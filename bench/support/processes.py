"""Start and stop the processes of a benchmark: the driving client and the reference servers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeAlias

ROOT: Final = Path(__file__).parents[2]
STOP_S: Final = 10.0

Echo: TypeAlias = Literal["tornado", "picows", "epoll"]


@dataclass(frozen=True, slots=True)
class Drive:
    """Measurements of one set of clients in one drive."""

    trips: int
    seconds: float
    p50_us: float
    p99_us: float
    worst_gap_ms: float
    frame_bytes: float
    slowest_share: float  # trips of the slowest client, against the mean of all
    lost: int  # messages that were not answered

    @property
    def rate(self) -> float:
        """Return the round trips of all clients per second."""
        return self.trips / self.seconds


class ClientProcess:
    """Context manager: the client process, with one method for each order."""

    def __init__(self) -> None:
        self._process = _start("bench.support.client", [])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        _end(self._process)

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def open(self, name: str, url: str, clients: int) -> Any:
        """Connect a set of clients; return the first frame of the first client."""
        return json.loads(self._order(do="open", set=name, url=url, clients=clients)["greeting"])

    def close(self, name: str) -> None:
        """Disconnect a set."""
        self._order(do="close", set=name)

    def ask(self, name: str, message: str) -> str:
        """Send one message; return the reply."""
        return str(self._order(do="ask", set=name, message=message)["reply"])

    def drive(self, name: str, messages: Sequence[str], seconds: float, rate: float = 0.0) -> Drive:
        """Let every client of a set send and wait for the reply, for some seconds: `rate` times a second each, 0: again and again."""
        return Drive(**self._order(do="drive", set=name, messages=list(messages), seconds=seconds, rate=rate))

    def fall_silent(self, name: str, group: str, message: str, seconds: float) -> float:
        """Return the milliseconds from the last command of the set's first client to its second client's first frame without force."""
        return float(
            self._order(do="fall_silent", set=name, group=group, message=message, seconds=seconds)["milliseconds"]
        )

    def _order(self, **order: object) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline() or '{"error": "the client process ended"}')
        if "error" in answer:
            raise RuntimeError(f"the client could not {order['do']}: {answer['error']}")
        return answer


@contextmanager
def echo_server(frame: str, folder: Path, kind: Echo = "tornado") -> Generator[tuple[int, str]]:
    """Run an echo server of this frame; yield its process id and address."""
    path = folder / "frame.json"
    path.write_text(frame, encoding="utf-8")
    with _server(f"bench.support.{kind}_echo", path) as found:
        yield found


@contextmanager
def body_server(bodies: Mapping[str, bytes], folder: Path) -> Generator[tuple[int, str]]:
    """Run a server that answers GET of `/NAME` with these bodies; yield its process id and address."""
    for name, body in bodies.items():
        (folder / name).write_bytes(body)
    with _server("bench.support.body_server", folder) as found:
        yield found


@contextmanager
def _server(module: str, path: Path) -> Generator[tuple[int, str]]:
    process = _start(module, [str(path)])
    try:
        assert process.stdout is not None
        words = process.stdout.readline().split()
        if words[:1] != ["ready"]:
            raise RuntimeError(f"a reference server did not start: run python -m {module} to see why")
        yield process.pid, words[1]
    finally:
        _end(process)


def _start(module: str, arguments: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _end(process: subprocess.Popen[str]) -> None:
    """Terminate a process, wait for it, and close its pipes."""
    process.terminate()
    with process:
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
