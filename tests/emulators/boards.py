"""Emulated boards of the open link protocol on pseudo-terminals: one C process, started and controlled from Python."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import signal
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[2]
SOURCES = [
    *sorted(Path(__file__).parent.glob("*.[ch]")),
    *sorted((ROOT / "fastpath" / "codecs").glob("openlink*.h")),
]
FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'fastpath'}"]
ANSWER_S = 10.0


def program() -> Path:
    """The boards, compiled once for each text of their sources."""
    text = b"".join(source.read_bytes() for source in SOURCES)
    made = ROOT / "build" / "emulators" / f"boards-{hashlib.sha256(text).hexdigest()[:16]}"
    if not made.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[:1]
        source = Path(__file__).parent / "boards.c"
        with tempfile.TemporaryDirectory(dir=made.parent) as folder:
            fresh = Path(folder) / "boards"
            subprocess.run([*compiler, *FLAGS, str(source), "-o", str(fresh), "-lm"], check=True)
            fresh.replace(made)
    return made


@dataclass(frozen=True)
class Seen:
    """What one board shows of itself; times are `now_ns` of this machine, 0 for never."""

    phase: int
    mode: int
    motor: list[float]
    joint: list[float]
    trips: int
    tripped: int
    commands: int
    states: int
    command_ns: int
    driven_ns: int
    zeroed_ns: int
    woken_ns: int
    gap_ns: int
    wakes: int
    bad: int
    frames: int
    unsent: int
    left_handed: int
    torque_scaling: int
    gravity_enabled: int
    gravity_scale: float
    home_return: int
    saved: int
    damping: list[float]
    led: list[int]
    rate_hz: int
    calibrates: int
    calibrating: int
    calibrated_ns: int
    calm: int
    pushed: int
    driven_command: int
    # N mm, what the motors last began with after they had none
    begun: list[float]

    @property
    def driven(self) -> bool:
        """Whether a motor has torque."""
        return any(self.motor)


class Boards:
    """`arm:ID`, `compact:ID`, `grip:ID`, `pen:ID`, `receiver:ID,ID`: port i is at `path(i)` while board i is plugged in."""

    def __init__(self, *boards: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="boards")
        self._process = subprocess.Popen(
            [str(program()), self._folder.name, *boards], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._answer() == "ready"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Process id of the emulator; all boards run in this one process."""
        return self._process.pid

    def path(self, port: int = 0) -> str:
        """Return the path of the board's terminal, plugged in or not."""
        return f"{self._folder.name}/{port}"

    def see(self, port: int = 0, device: int = 0) -> Seen:
        """Return the present state of one device."""
        found: dict[str, Any] = json.loads(self._say(f"get {port} {device}"))
        return Seen(**found)

    def obeys(self, port: int = 0, device: int = 0) -> bool:
        """Return whether its watchdog is not tripped; on a busy machine it may trip, the next command resets it."""
        return not self.see(port, device).tripped

    def set(self, control: str, value: float, port: int = 0, device: int = 0) -> None:
        """Set one control of `boards.c`."""
        self._do(f"set {port} {device} {control} {value}")

    def damage(self, share: float, port: int = 0) -> None:
        """Flip, lose, double and stray bytes: `share` of them, one way and the other."""
        for control in ("flip", "lose", "twice", "stray"):
            self.set(control, share * 1e6 / 4, port)

    def reboot(self, port: int = 0) -> None:
        """Restart the board: it loses its configuration, its port stays."""
        self._do(f"reboot {port}")

    def unplug(self, port: int = 0) -> None:
        """Remove the port."""
        self._do(f"unplug {port}")

    def plug(self, port: int = 0) -> None:
        """Restore the port at the same path."""
        self._do(f"plug {port}")

    def loop(self, times: int, gap_s: float, port: int = 0) -> None:
        """Unplug and plug again `times` times, `gap_s` seconds apart, without further commands."""
        self._do(f"loop {port} {times} {gap_s * 1000}")

    def freeze(self) -> None:
        """Pause the process of all boards (SIGSTOP)."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Resume the process of all boards (SIGCONT)."""
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kill the process of all boards: every port disappears at once."""
        self._process.kill()
        self._process.wait(ANSWER_S)

    def close(self) -> None:
        """End the process of all boards and remove its folder."""
        self.thaw()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(ANSWER_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._folder.cleanup()

    def _do(self, command: str) -> None:
        answer = self._say(command)
        assert answer == "done", f"{command}: {answer}"

    def _say(self, command: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip("\n")
