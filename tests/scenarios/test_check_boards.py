"""`hapticd check` on an emulated board: a sound one passes, and each fault is named."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fastpath.layout.constants import SafetyBit
from tests.support.service.board_service import BoardService
from tests.support.service.polling import eventually

HAPTICD = str(Path(sys.executable).with_name("hapticd"))
ARM, GRIP = 0, 1
# The boards are emulated in this process: on a machine that keeps it waiting their link is late and they move late, and a check says so.
TRIES = 4


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoardService]:
    with BoardService(tmp_path_factory.mktemp("state"), "arm:A1", "grip:G1") as running:
        running.wait_for_pairs(A1="G1", G1="A1")
        yield running


def wait_for_rest(bench: BoardService) -> None:
    """Wait until the arm does not brake: a joint that was at fault may have thrown it."""
    eventually(
        lambda: not int(bench.service.state("A1")["safety"]) & SafetyBit.SAFETY_EBRAKE,
        "A1 brakes no more",
        pause_s=0.05,
    )


def check(bench: BoardService, *options: str) -> tuple[int, dict[str, str]]:
    """Exit code, and the sentence of each part that is wrong, of a check that begins when the arm does not brake."""
    wait_for_rest(bench)
    done = subprocess.run(
        [HAPTICD, "check", "A1", "--yes", "--json", "--url", bench.service.http, *options],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, {one["part"]: one["sentence"] for one in found["verdicts"] if one["grade"] == "wrong"}


def check_until(bench: BoardService, good: Callable[[int, dict[str, str]], bool]) -> tuple[int, dict[str, str]]:
    """The first check of TRIES that is good, else the last."""
    found = check(bench)
    for _ in range(TRIES - 1):
        if good(*found):
            break
        found = check(bench)
    return found


def test_sound_board_passes(bench: BoardService) -> None:
    found = check_until(bench, lambda code, wrong: (code, wrong) == (0, {}))

    assert found == (0, {})


@pytest.mark.parametrize(
    ("port", "controls", "part", "says"),
    [
        (ARM, {"dead": 1}, "joint a0", "motor is dead or its encoder stands still"),
        (ARM, {"dead": 2}, "joint a1", "motor is dead or its encoder stands still"),
        (ARM, {"dead": 4}, "joint a2", "motor is dead or its encoder stands still"),
        (ARM, {"reversed": 1}, "joint a0", "against its torque"),
        (ARM, {"reversed": 2}, "joint a1", "against its torque"),
        (ARM, {"reversed": 4}, "joint a2", "against its torque"),
        (ARM, {"stuck": 4}, "joint a2", "motor is dead or its encoder stands still"),
        (GRIP, {"buttons": 1}, "buttons", "pressed all the time"),
        (ARM, {"lose": 2000}, "link", "damaged"),
        (ARM, {"drop": 300_000}, "link", "are lost"),
        (ARM, {"faults": 1}, "device", "It reports"),
    ],
)
def test_fault_of_a_board_is_named(
    port: int, controls: dict[str, float], part: str, says: str, bench: BoardService
) -> None:
    for name, value in controls.items():
        bench.boards.set(name, value, port)

    def named(code: int, wrong: dict[str, str]) -> bool:
        joints = [one for one in wrong if one.startswith("joint")]
        return code == 1 and says in wrong.get(part, "") and joints in ([], [part])

    try:
        code, wrong = check_until(bench, named)
    finally:
        for name in controls:
            bench.boards.set(name, 0, port)

    assert named(code, wrong), (code, wrong)


@pytest.mark.parametrize(
    ("fault", "says"), [("dead", "motor is dead, or its cable"), ("stuck", "its encoder stands still")]
)
def test_hand_that_moves_the_board_tells_a_dead_motor_from_a_stuck_encoder(
    fault: str, says: str, bench: BoardService
) -> None:
    bench.boards.set(fault, 4, ARM)

    def said(end: str) -> str:
        verdicts = json.loads(end)["verdicts"] if end else []
        return "".join(one["sentence"] for one in verdicts if one["part"] == "joint a2")

    try:
        ends = [check_with_sway(bench)]
        while says not in said(ends[-1]) and len(ends) < TRIES:
            ends.append(check_with_sway(bench))
    finally:
        bench.boards.set("sway", 0, ARM)
        bench.boards.set(fault, 0, ARM)

    assert says in said(ends[-1])


def check_with_sway(bench: BoardService) -> str:
    """What a check prints whose request to move the handle is obeyed; "" when it ended before it asked."""
    bench.boards.set("sway", 0, ARM)
    wait_for_rest(bench)
    with subprocess.Popen(
        [HAPTICD, "check", "A1", "--yes", "--json", "--travel", "3", "--url", bench.service.http],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        while "Move the handle" not in (line := process.stderr.readline()):
            if not line:
                return ""
        bench.boards.set("sway", 20, ARM)
        return process.communicate(timeout=120)[0]
