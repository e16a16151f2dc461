"""No torn reads of cells: a C harness, plain and under ThreadSanitizer, and Python against the running loop."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from fastpath.arena.runtime import Runtime
from fastpath.layout.dtypes import DEVICE_STATE
from tests.support.loop.devices import ARM_LINKS, ARM_SHOULDER, arm_params

ROOT = Path(__file__).parents[2]
READS = 1_000_000
RACE = 66
WARNINGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"]
STRESS_TIMEOUT_S = 100
CELLS = ["triple", "seqlock", "both"]
NO_SANITIZER = "ThreadSanitizer's library is not installed"


@dataclass(frozen=True)
class Outcome:
    """What one run of the harness counted; `code` is 66 when ThreadSanitizer saw a race."""

    code: int
    reads: int
    values: int
    torn: int
    backwards: int
    stderr: str


def build(where: Path, name: str, *flags: str) -> Path | None:
    """The harness compiled with some flags; None when the linker does not find what they need."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[:1]
    program = where / name
    source = ROOT / "tests" / "realtime" / "cells_stress.c"
    done = subprocess.run(
        [*compiler, *WARNINGS, *flags, f"-I{ROOT / 'fastpath'}", str(source), "-o", str(program), "-pthread"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 and re.search(r"cannot find .*tsan|libclang_rt.tsan|unsupported option", done.stderr):
        return None
    assert done.returncode == 0, done.stderr
    return program


def run(program: Path, cell: str, reads: int = READS) -> Outcome:
    """One run; without address-space randomisation where that can be had, because ThreadSanitizer may need it so."""
    still = ["setarch", "-R"]
    if shutil.which("setarch") is None or subprocess.run([*still, "true"], check=False).returncode != 0:
        still = []
    done = subprocess.run(
        [*still, str(program), cell, str(reads)],
        capture_output=True,
        text=True,
        check=False,
        timeout=STRESS_TIMEOUT_S,
    )
    counts = re.fullmatch(r"reads (\d+) values (\d+) torn (\d+) backwards (\d+)\n", done.stdout)
    assert counts is not None, done.stdout + done.stderr
    reads_made, values, torn, backwards = (int(count) for count in counts.groups())
    return Outcome(done.returncode, reads_made, values, torn, backwards, done.stderr)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = build(tmp_path_factory.mktemp("cells"), "plain", "-O2")
    assert program is not None
    return program


def sanitized(where: Path, *flags: str) -> Path:
    """Built-in copies are not instrumented, so memcpy stays a call."""
    program = build(
        where,
        "sanitized",
        "-O1",
        "-g",
        "-fno-builtin",
        "-Wno-unknown-warning-option",
        "-Wno-tsan",
        "-fsanitize=thread",
        *flags,
    )
    if program is None:
        pytest.skip(NO_SANITIZER)
    return program


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sanitized(tmp_path_factory.mktemp("cells"))


@pytest.mark.parametrize("cell", CELLS)
def test_million_reads_against_a_full_speed_writer_are_not_torn(plain: Path, cell: str) -> None:
    outcome = run(plain, cell)

    assert outcome.reads >= READS
    assert outcome.values >= READS // 1000 - 3
    assert (outcome.code, outcome.torn, outcome.backwards) == (0, 0, 0)


@pytest.mark.parametrize("cell", ["triple-shared", "seqlock-blind", "both-apart"])
def test_stress_program_detects_a_planted_tear(plain: Path, cell: str) -> None:
    outcome = run(plain, cell)

    assert outcome.torn > 0
    assert outcome.code == 1


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS)
def test_million_reads_have_no_data_race(watched: Path, cell: str) -> None:
    # Readers of two cells repeat far more often under the sanitizer.
    reads = READS // 5 if cell == "both" else READS
    outcome = run(watched, cell, reads)

    assert outcome.reads >= reads
    assert outcome.stderr == ""
    assert (outcome.code, outcome.torn, outcome.backwards) == (0, 0, 0)


@pytest.mark.parametrize("cell", ["triple-shared", "seqlock-plain"])
def test_sanitizer_detects_a_planted_race(watched: Path, cell: str) -> None:
    outcome = run(watched, cell, 20_000)

    assert "data race" in outcome.stderr
    assert outcome.code == RACE


def test_sanitizer_detects_a_missing_memory_order(tmp_path: Path) -> None:
    weakened = sanitized(tmp_path, "-U__ATOMIC_ACQ_REL", "-D__ATOMIC_ACQ_REL=__ATOMIC_RELAXED")

    outcome = run(weakened, "triple", 20_000)

    assert "data race" in outcome.stderr
    assert outcome.code == RACE


def torn_states(states: np.ndarray[tuple[int], np.dtype[np.void]]) -> int:
    """States whose cursor, joints, force and torques do not belong together."""
    yaw, shoulder, elbow = np.radians(states["joint"]).T
    (near, far), (x, y, z) = ARM_LINKS, ARM_SHOULDER
    far_r, far_h = far * np.cos(shoulder + elbow), far * np.sin(shoulder + elbow)
    r, h = near * np.cos(shoulder) + far_r, near * np.sin(shoulder) + far_h
    cursor = np.stack([x + r * np.sin(yaw), y - r * np.cos(yaw), z + h], axis=1)
    fx, fy, fz = states["force"].T
    radial = fx * np.sin(yaw) - fy * np.cos(yaw)
    tangential = fx * np.cos(yaw) + fy * np.sin(yaw)
    torque = 1000 * np.stack([r * tangential, r * fz - h * radial, far_r * fz - far_h * radial], axis=1)
    whole = (
        np.all(np.abs(cursor - states["position"]) < 1e-9, axis=1)
        & np.all(np.abs(torque - states["torque"]) < 1e-6, axis=1)
        & (fx == fy)
        & (fy == fz)
    )
    return int(np.sum(~whole))


def test_million_snapshots_of_the_running_loop_are_not_torn() -> None:
    runtime = Runtime(realtime=False)
    runtime.publish_loop(frequency=32_000, command_timeout=0.5)
    device, session = runtime.lease_device("arm"), runtime.lease_session("1")
    runtime.publish_device(device, arm_params(peak_force=1e6, torque_limit=1e9, hand={"period": 0.5}))
    reader, writer = runtime.reader(device), runtime.writer(session, device)
    batch = np.empty(10_000, dtype=DEVICE_STATE)
    seen: set[int] = set()
    last_tick, last_ns, torn, reads = 0, 0, 0, 0
    runtime.start()
    try:
        while reads < READS or len(seen) < 1000:
            for index in range(len(batch)):
                if index % 4 == 0:
                    # So little that no monitor acts, however long one force stays.
                    newton = (reads + index) % 977 / 1e4
                    writer.force(newton, newton, newton)
                    writer.publish()
                reader.snapshot(batch[index : index + 1])
            runtime.beat()
            ticking = batch[batch["tick"] > 0]
            assert not ticking["safety"].any()
            if len(ticking) == 0:
                continue
            reads += len(ticking)
            torn += torn_states(ticking)
            assert np.all(np.diff(ticking["tick"].astype(np.int64), prepend=last_tick) >= 0)
            assert np.all(np.diff(ticking["time_ns"], prepend=last_ns) >= 0)
            same_tick = np.diff(ticking["tick"]) == 0
            assert np.all(np.diff(ticking["time_ns"])[same_tick] == 0)
            last_tick, last_ns = int(ticking["tick"][-1]), int(ticking["time_ns"][-1])
            seen.update(np.unique(ticking["tick"]).tolist())
    finally:
        runtime.stop()

    assert torn == 0
    assert np.any(batch["force"] > 0)


def test_state_invariant_detects_a_torn_state() -> None:
    runtime = Runtime(stepping=True)
    device, session = runtime.lease_device("arm"), runtime.lease_session("1")
    runtime.publish_device(device, arm_params())
    reader, writer = runtime.reader(device), runtime.writer(session, device)
    states = np.empty(2, dtype=DEVICE_STATE)
    for index in range(2):
        writer.force(1.0 + index, 1.0 + index, 1.0 + index)
        writer.publish()
        runtime.step(100)
        reader.snapshot(states[index : index + 1])
    assert torn_states(states) == 0

    for field in ("position", "joint", "torque", "force"):
        mixed = states.copy()
        mixed[0][field] = states[1][field]
        assert torn_states(mixed) == 1
