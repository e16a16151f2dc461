"""The streaming thread's readers of frames and messages never leave their buffers: mutated input, under AddressSanitizer."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROUNDS = 300_000
TIMEOUT_S = 100
FLAGS = [
    "-std=gnu11",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-O1",
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The harness; skips where the sanitizers' libraries are not installed."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[:1]
    built = tmp_path_factory.mktemp("stream") / "stream_fuzz"
    source = ROOT / "tests" / "realtime" / "stream_fuzz.c"
    done = subprocess.run(
        [*compiler, *FLAGS, f"-I{ROOT / 'fastpath'}", str(source), "-o", str(built), "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 and re.search(r"cannot find .*[au]b?san|libclang_rt|unsupported option", done.stderr):
        pytest.skip("the libraries of AddressSanitizer and UndefinedBehaviorSanitizer are not installed")
    assert done.returncode == 0, done.stderr
    return built


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=TIMEOUT_S)


def test_mutated_frames_are_read_within_their_bytes(program: Path) -> None:
    done = run(program, str(ROUNDS))

    assert (done.returncode, done.stderr) == (0, "")
    counts = re.fullmatch(r"rounds (\d+) messages (\d+) plain (\d+)\n", done.stdout)
    assert counts is not None, done.stdout
    rounds, messages, plain = (int(count) for count in counts.groups())
    assert rounds == ROUNDS
    assert messages > ROUNDS // 2
    assert plain > ROUNDS // 10


def test_sanitizer_detects_a_planted_read_beyond_the_message(program: Path) -> None:
    done = run(program, "10000", "planted")

    assert "heap-buffer-overflow" in done.stderr
    assert done.returncode != 0
