"""System calls of a service that a test holds up, by a library that is preloaded into it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sysconfig
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.service.polling import eventually

SOURCE: Final = Path(__file__).with_suffix(".c")


def build_library(folder: Path) -> Path:
    """Compile the library."""
    target = folder / "held_calls.so"
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[:1]
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-U_FORTIFY_SOURCE", "-shared", "-fPIC"]
    subprocess.run([*compiler, *flags, "-o", target, SOURCE, "-ldl"], check=True)
    return target


class HeldCalls:
    """The calls that `held_calls.c` names: none is held at first. `folder` is the caller's, and empty."""

    def __init__(self, library: Path, folder: Path) -> None:
        self._folder = folder
        self.environment: Mapping[str, str] = {"LD_PRELOAD": str(library), "HELD_CALLS": str(folder)}

    @contextmanager
    def hold(self, call: str, *paths: str | Path) -> Generator[None]:
        """Hold a call inside; `open` and `opendir` for paths that begin with one of `paths`."""
        held, fresh = self._folder / call, self._folder / f"{call}.new"
        fresh.write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
        fresh.rename(held)
        try:
            yield
        finally:
            held.unlink()

    def waits(self, call: str) -> bool:
        """Whether a call of this name was ever held up."""
        return (self._folder / f"{call}.waits").exists()

    def wait_for(self, call: str) -> None:
        """Wait until a call of this name is held up."""
        eventually(lambda: self.waits(call), f"{call} waits", pause_s=0.005)
