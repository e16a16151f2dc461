"""A session's lock under stress, plain and under ThreadSanitizer: no torn record, no lost turn, no race."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "tests" / "realtime" / "session_lock_stress.c"
ROUNDS = 20_000
RACE = 66
TIMEOUT_S = 100
SANITIZED = ("-O1", "-g", "-fno-builtin", "-Wno-unknown-warning-option", "-Wno-tsan", "-fsanitize=thread")


def built(where: Path, *flags: str) -> Path:
    """The harness; skips where the sanitizer's library is not installed."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[:1]
    program = where / "stress"
    words = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", *flags, f"-I{ROOT / 'fastpath'}"]
    done = subprocess.run(
        [*compiler, *words, str(SOURCE), "-o", str(program), "-pthread"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0 and re.search(r"cannot find .*tsan|libclang_rt.tsan|unsupported option", done.stderr):
        pytest.skip("ThreadSanitizer's library is not installed")
    assert done.returncode == 0, done.stderr
    return program


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("plain"), "-O2")


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("watched"), *SANITIZED)


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """One run; without address-space randomisation where that can be had, because ThreadSanitizer may need it so."""
    still = ["setarch", "-R"]
    if shutil.which("setarch") is None or subprocess.run([*still, "true"], check=False).returncode != 0:
        still = []
    return subprocess.run([*still, program, *arguments], capture_output=True, text=True, check=False, timeout=TIMEOUT_S)


@pytest.mark.parametrize("program", ["plain", "watched"])
def test_records_stay_whole_and_no_turn_is_lost(program: str, request: pytest.FixtureRequest) -> None:
    done = run(request.getfixturevalue(program), str(ROUNDS))

    assert done.stderr == ""
    counts = re.fullmatch(r"streamed (\d+) configured (\d+) read (\d+) torn 0 lost 0\n", done.stdout)
    assert counts is not None, done.stdout
    assert (int(counts[1]), int(counts[2])) == (ROUNDS, ROUNDS)
    assert int(counts[3]) > 0
    assert done.returncode == 0


def test_sanitizer_detects_a_write_without_the_lock(watched: Path) -> None:
    done = run(watched, "500", "careless")

    assert "data race" in done.stderr
    assert done.returncode == RACE


def test_stress_detects_a_turn_that_nobody_tells_of(plain: Path) -> None:
    assert re.search(r"lost [1-9]", run(plain, str(ROUNDS), "deaf").stdout)
