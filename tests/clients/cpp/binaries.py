"""The C++ client compiled for tests, once in a process: the test program and the example, with sanitizers."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

from tests.support.local.connection import ROOT, compiled

PACKAGES: Final = "libboost-dev nlohmann-json3-dev"
HEADERS: Final = "#include <boost/beast/websocket.hpp>\n#include <nlohmann/json.hpp>\n"
FOLDER: Final = ROOT / "clients/cpp"
FLAGS: Final = (f"-I{FOLDER}", "-Wpedantic")
SANITIZERS: Final = ("-O0", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

_folder = TemporaryDirectory(prefix="hapticd-cpp-")


@cache
def sanitized_program() -> Path:
    """The test program."""
    return _binary(Path(__file__).with_name("program.cpp"))


@cache
def example() -> Path:
    """The example of the client's folder."""
    return _binary(FOLDER / "wall.cpp")


def _binary(source: Path) -> Path:
    """A program with every warning an error, and every fault of memory or of the language the end of the process."""
    probe = subprocess.run(["c++", "-E", "-x", "c++", "-"], input=HEADERS, capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        pytest.skip(f"headers are missing: apt-get install {PACKAGES}")
    return compiled(source, Path(_folder.name) / source.stem, "c++", *FLAGS, *SANITIZERS)
