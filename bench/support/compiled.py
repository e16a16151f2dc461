"""Compile the C references and clients of the benchmarks, once for each source."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

BUILT: Final = Path(__file__).parents[2] / "build" / "bench"


def compiled(source: Path, *, library: bool = False) -> Path:
    """Return the program, or the shared library, of a C file; raise FileNotFoundError without a compiler."""
    target = BUILT / (source.stem + (".so" if library else ""))
    if target.exists() and target.stat().st_mtime > source.stat().st_mtime:
        return target
    compiler = shutil.which("cc")
    if compiler is None:
        raise FileNotFoundError("there is no C compiler for the benchmarks' references: install gcc")
    BUILT.mkdir(parents=True, exist_ok=True)
    new = target.with_suffix(".new")
    kind = ["-shared", "-fPIC"] if library else []
    subprocess.run([compiler, "-O2", "-Wall", "-Werror", *kind, "-o", new, source, "-lpthread"], check=True)
    new.replace(target)
    return target
