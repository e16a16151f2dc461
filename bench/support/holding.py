"""Hold an actor of a running service in its handler, and let it go: see held_service.py."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, TypeAlias

from bench.support.held_service import FREE, HELD, PIPE
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

How: TypeAlias = Literal["wait", "spin"]


@dataclass(frozen=True, slots=True)
class HeldService:
    """A service whose event hub can be held."""

    service: RunningService
    pipe: IO[str]

    @contextmanager
    def held(self, how: How) -> Generator[None]:
        """Hold the hub inside: asleep, or running Python code without a pause; AssertionError when it was free before the end."""
        turns = self.service.log.count(HELD) + 1
        self.pipe.write(f"{how}\n")
        eventually(lambda: self.service.log.count(HELD) == turns, "a held hub", pause_s=0.01)
        yield
        assert self.service.log.count(FREE) < turns, "the hub was free before the turn was over"
        self.pipe.write("free\n")
        eventually(lambda: self.service.log.count(FREE) == turns, "a free hub", pause_s=0.01)


@contextmanager
def held_service(folder: Path, *, simulate: str = "arm,grip") -> Generator[HeldService]:
    """Run a service with a hub that can be held; the pipe lies in the folder."""
    pipe = folder / "hold"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "bench.support.held_service"]
    service = RunningService(simulate=simulate, command=command, environment={PIPE: str(pipe)})
    with service, pipe.open("w", encoding="ascii", buffering=1) as writing:
        yield HeldService(service, writing)
