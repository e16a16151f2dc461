"""Soak: AFL++ feeds the streaming thread's readers for half an hour, under AddressSanitizer: no crash and no hang.

AFL_SECONDS shortens it, to try the test itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from bench.support.result_table import Limit, ResultTable, Row, hold
from tests.support.clients.raw_websocket import PING, encode_frame

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "tests" / "realtime" / "stream_fuzz.c"
SECONDS: Final = int(os.environ.get("AFL_SECONDS", "1800"))
SECTION: Final = "fuzzing the streaming thread's readers of frames and messages"
NONE: Final = Limit(0, "≤", of="figure")
FORCE: Final = '{"arm":[{"device_id":"A001","commands":{"set_cursor_force":{"vector":{"x":0,"y":-0.5,"z":1e-3}}}}]}'
PLACE: Final = '{"arm":{"A001":{"commands":{"set_cursor_position":{"position":{"x":0.1,"y":-0.12,"z":1.25E-1}},"probe_position":{}}}}}'
SEEDS: Final = ("{}", FORCE, PLACE, '{"grip":[{"device_id":"B001","commands":{"probe_position":{}}}],"arm":{}}')

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(
        shutil.which("afl-fuzz") is None,
        reason="needs AFL++: apt-get install afl++ and the sanitizers of its clang, libclang-rt-14-dev",
    ),
]


def plain_key(frame: bytes, size: int) -> bytes:
    """The frame of a payload of that size with a key of zeros, so that the fuzzer sees the text."""
    return frame[: -size - 4] + bytes(4)


def test_afl_finds_no_crash(tmp_path: Path, results: ResultTable) -> None:
    program, seeds, found = tmp_path / "stream_fuzz", tmp_path / "seeds", tmp_path / "found"
    flags = ["-std=gnu11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run(
        ["afl-cc", *flags, f"-I{ROOT / 'fastpath'}", SOURCE, "-o", program, "-lm"], check=True, capture_output=True
    )
    seeds.mkdir()
    for number, text in enumerate(SEEDS):
        data = text.encode()
        (seeds / f"{number}").write_bytes(plain_key(encode_frame(data), len(data)) + data)
    (seeds / "pings").write_bytes(encode_frame(b"x", PING) + encode_frame(b"{}"))
    subprocess.run(
        ["afl-fuzz", "-i", seeds, "-o", found, "-V", str(SECONDS), "-m", "none", "--", program, "-"],
        check=True,
        capture_output=True,
        env={
            **os.environ,
            "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
            "AFL_SKIP_CPUFREQ": "1",
            "AFL_NO_AFFINITY": "1",
            "AFL_NO_UI": "1",
        },
    )
    lines = (found / "default" / "fuzzer_stats").read_text(encoding="utf-8").splitlines()
    statistics = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    tries = int(statistics["execs_done"])
    note = f"{tries:,} inputs in {SECONDS} s, {statistics['corpus_found']} that reached something new, {statistics['bitmap_cvg']} of the edges"
    crashes, hangs = (len(list((found / "default" / kind).glob("id:*"))) for kind in ("crashes", "hangs"))
    assert tries > SECONDS
    hold(
        results.add(Row(SECTION, "crashes", crashes, "", limit=NONE, note=note)),
        results.add(Row(SECTION, "hangs", hangs, "", limit=NONE)),
    )
