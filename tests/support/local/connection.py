"""Local clients of a running service: in Python over the socket, and the test client in C."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

from tests.support.local.page import NAME, NAME_BYTES, NAMES_AT, Page, States
from tests.support.service.polling import eventually

ROOT = Path(__file__).parents[3]
SOURCE = Path(__file__).with_name("client.c")
FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'fastpath/local'}")
LANGUAGES = {"c": ("CC", "cc", "-std=c11"), "c++": ("CXX", "c++", "-std=c++17")}
EVERYTHING = ("set_cursor_force", "set_cursor_position", "set_angular_torques", "set_angular_position")
TIMEOUT_S = 30.0


def compiled(source: Path, target: Path, language: str = "c", *flags: str) -> Path:
    """Compile a client with every warning an error; AssertionError with what the compiler says."""
    variable, default, standard = LANGUAGES[language]
    compiler = shlex.split(os.environ.get(variable) or sysconfig.get_config_var(variable) or default)[:1]
    command = [*compiler, "-x", language, standard, *FLAGS, *flags, str(source), "-o", str(target), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


_folder = TemporaryDirectory(prefix="hapticd-local-")


@cache
def client_program() -> Path:
    """The test client, compiled once."""
    return compiled(SOURCE, Path(_folder.name) / "client")


class Program:
    """A process of the test client; killed on leaving."""

    def __init__(self, state_dir: Path, *words: str, program: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [str(program or client_program()), str(state_dir), *words], stdout=subprocess.PIPE, text=True
        )

    def word(self) -> str:
        """The next line that it prints; "" when it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kill it and wait for its end."""
        self.process.kill()
        self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        assert self.process.stdout is not None
        self.process.stdout.close()


class LocalConnection:
    """A local client in Python; `opened` and `begun` are the service's lines."""

    def __init__(
        self, state_dir: Path, *, name: str = "test", devices: object = "all", commands: Sequence[str] = EVERYTHING
    ) -> None:
        self.socket = raw(state_dir)
        self.say({"hapticd_local": 1, "name": name, "devices": devices, "commands": list(commands)})
        self.opened, descriptors = self._line()
        assert descriptors, self.opened
        self.page, self.states = Page(descriptors[0]), States(descriptors[1])
        for each in descriptors:
            os.close(each)
        self.seat = int(self.opened["seat"])
        self.session_id = int(self.opened["session_id"])

    def begin(self) -> Self:
        """Say that the memory is mapped, and wait until the loop reads it."""
        self.socket.sendall(b'{"mapped":true}\n')
        assert self.line() == {"ready": True}
        return self

    def say(self, document: object) -> None:
        """Send one line."""
        self.socket.sendall(json.dumps(document).encode() + b"\n")

    def line(self) -> Any:
        """The service's next line; None at the end."""
        return self._line()[0]

    def slot(self, device_id: str) -> tuple[int, int]:
        """Slot and generation of a device, as soon as it is shown."""

        def look() -> tuple[int, int] | None:
            for number in range(16):
                generation, text, _ = NAME.unpack_from(self.states.memory, NAMES_AT + number * NAME_BYTES + 8)
                if generation and text.rstrip(b"\0").decode() == device_id:
                    return number, generation
            return None

        return eventually(look, f"device {device_id}", pause_s=0.005)

    def close(self) -> None:
        """Close the connection."""
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _line(self) -> tuple[Any, list[int]]:
        text, found = b"", list[int]()
        while not text.endswith(b"\n"):
            data, descriptors, _, _ = socket.recv_fds(self.socket, 1, 2)
            found += descriptors
            if not data:
                return None, found
            text += data
        return json.loads(text), found


def raw(state_dir: Path) -> socket.socket:
    """A connection to the socket that has said nothing."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # With a time limit it would not wait for its place in a full backlog.
    made.connect(str(state_dir / "local.sock"))
    made.settimeout(TIMEOUT_S)
    return made


def answer_to(state_dir: Path, data: bytes) -> Any:
    """The line that answers a first line."""
    with raw(state_dir) as connection, connection.makefile("rb") as lines:
        connection.sendall(data)
        return json.loads(lines.readline())
