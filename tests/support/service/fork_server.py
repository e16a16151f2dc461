"""Fork server of test processes: one parent imports everything once, and forks each process that a test kills.

Run as a program, with the path of the file whose `serve(*words)` each process runs: the parent of all of them.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final, Self

ROOT: Final = Path(__file__).parents[3]
TIMEOUT_S: Final = 60.0


class ForkServer:
    """Context manager: a process that forks one process for each call of `fork`."""

    def __init__(self, source: str) -> None:
        """`source`: the path of the file that has `serve`."""
        self._folder = TemporaryDirectory(prefix="fork-server-")
        self._sockets = 0
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "tests.support.service.fork_server", source],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._parent.communicate()
        self._folder.cleanup()

    def fork(self, *words: str) -> ForkedProcess:
        """Fork a process that runs `serve(*words)`."""
        self._sockets += 1
        address = str(Path(self._folder.name) / str(self._sockets))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen(1)
            listener.settimeout(TIMEOUT_S)
            pid = int(self._request([address, *words]))
            connection, _ = listener.accept()
        return ForkedProcess(self, pid, connection)

    def wait(self, pid: int) -> int:
        """Wait until a process ends; return its exit code, or the negative number of the signal that killed it."""
        return int(self._request(pid))

    def _request(self, request: object) -> str:
        assert self._parent.stdin
        assert self._parent.stdout
        self._parent.stdin.write(f"{json.dumps(request)}\n")
        self._parent.stdin.flush()
        return self._parent.stdout.readline()


class ForkedProcess:
    """A forked process; its standard input and output are one socket."""

    def __init__(self, server: ForkServer, pid: int, connection: socket.socket) -> None:
        connection.settimeout(TIMEOUT_S)
        self._server, self._pid, self._connection = server, pid, connection
        self.output = connection.makefile("rb")

    def send(self, text: str) -> None:
        """Write to its standard input."""
        self._connection.sendall(text.encode())

    def kill(self) -> None:
        """Send SIGKILL."""
        os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> int:
        """Wait until it ends; return its exit code as `ForkServer.wait`."""
        code = self._server.wait(self._pid)
        self.output.close()
        self._connection.close()
        return code


def fork_process(serve: Any, address: str, words: list[str]) -> int:
    """Fork; in the child run `serve(*words)` on a socket connected to `address`, in the parent return the child's id."""
    pid = os.fork()
    if pid:
        return pid
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        for number in (0, 1):
            os.dup2(connection.fileno(), number)
    sys.stdin, sys.stdout = os.fdopen(0, "r", closefd=False), os.fdopen(1, "w", closefd=False)
    serve(*words)
    sys.stdout.flush()
    os._exit(0)


def main(source: str) -> None:
    """Fork for each list of words, wait for each number, until the end of standard input."""
    spec = importlib.util.spec_from_file_location("served", source)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["served"] = module
    spec.loader.exec_module(module)
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, int):
            _, status = os.waitpid(request, 0)
            answer = os.waitstatus_to_exitcode(status)
        else:
            answer = fork_process(module.serve, request[0], request[1:])
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
