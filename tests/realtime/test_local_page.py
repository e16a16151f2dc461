"""A client's page under full-speed writes: what the loop copies is whole and runs forwards. A C harness, plain and under sanitizers."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "tests" / "realtime" / "local_page_stress.c"
RECORDS = 3_000
TIMEOUT_S = 100
MISSING = re.compile(r"cannot find .*[atu]b?san|libclang_rt|unsupported option")
SANITIZERS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.mark.parametrize("flags", [("-O2",), ("-O3",), SANITIZERS], ids=["O2", "O3", "sanitized"])
def test_records_that_are_taken_are_whole_and_run_forwards(flags: tuple[str, ...], tmp_path: Path) -> None:
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[:1]
    program = tmp_path / "stress"
    words = [
        *compiler,
        "-std=gnu11",
        "-Wall",
        "-Wextra",
        "-Werror",
        *flags,
        f"-I{ROOT / 'fastpath'}",
        str(SOURCE),
        "-o",
        str(program),
        "-pthread",
    ]
    built = subprocess.run(words, capture_output=True, text=True, check=False)
    if MISSING.search(built.stderr):
        pytest.skip("the sanitizers' libraries are not installed")
    assert built.returncode == 0, built.stderr

    done = subprocess.run([str(program), str(RECORDS)], capture_output=True, text=True, check=False, timeout=TIMEOUT_S)

    assert done.returncode == 0, done.stderr
    reads, seen, torn, backwards, _ = (int(word) for word in done.stdout.split())
    assert reads >= seen == RECORDS
    assert (torn, backwards) == (0, 0)
