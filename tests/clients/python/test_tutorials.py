"""The tutorials, followed as they are written: their programs, and the commands between them, beside a real service."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.python.programs import Program, until_no_session
from tests.clients.python.test_pages import DOCS, programs, run
from tests.support.service.polling import TIMEOUT_S, eventually
from tests.support.service.process import RunningService

ROOT = DOCS.parent
FOLDER = "/tmp/my-board"  # noqa: S108 (as the tutorial says)
BOARD = "B0A7"
CALM = 0.97  # share of turns on time, from which on a wall is as stiff as it was asked for


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService(simulate="arm,grip") as running:
        yield running


def commands(page: str) -> list[str]:
    """The commands that a reader types, one a line."""
    return re.findall(r"^    (\.venv/bin/.+)$", (DOCS / page).read_text("utf-8"), re.MULTILINE)


def test_first_experiment_writes_a_file_that_the_second_program_reads(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    experiment, reading = programs("tutorials/first-experiment.md")
    hand = _hand(service)

    out = run(service, experiment, tmp_path)
    assert len(re.findall(r"^trial \d: \d+ N/m, [\d.]+ mm deep, [\d.]+ N$", out, re.MULTILINE)) == 6
    depths = [float(found) for found in re.findall(r"N/m: ([\d.]+) mm", run(service, reading, tmp_path))]
    assert len(depths) == 3
    with (tmp_path / "trials.csv").open(newline="") as file:
        calm = all(float(trial["on_time"]) > CALM for trial in csv.DictReader(file))
    if calm:  # a force that fades between late turns is another wall
        assert depths == sorted(depths, reverse=True), "the stiffer, the less deep"
    assert _hand(service) == hand, "it is put back as it was"
    until_no_session(service)


@pytest.mark.parametrize("number", range(2))
def test_two_hands_feel_each_other(number: int, tmp_path: Path) -> None:
    with RunningService(simulate="arm,arm") as two:
        out = run(two, programs("tutorials/two-hands.md")[number], tmp_path)
    if number == 0:
        found = re.search(r"are (\d+) mm apart, and each feels ([\d.]+) N", out)
        assert found is not None
        assert 0 < float(found[2]) <= 3
    else:
        found = re.fullmatch(r"tied for (\d+) turns, waited for 0\n", out)
        assert found is not None
        assert int(found[1]) > 0


def test_device_of_ones_own_is_listed_checked_and_felt(service: RunningService, tmp_path: Path) -> None:
    emulate, *typed = commands("tutorials/own-device.md")
    environment = {**os.environ, "HAPTICD_URL": service.http}
    words = emulate.replace(FOLDER, str(tmp_path / "board")).split()

    def shell(command: str) -> subprocess.CompletedProcess[str]:
        line = command.replace(FOLDER, str(tmp_path / "board")).replace(".venv/bin/hapticd", hapticd)
        typed_line = ["sh", "-c", line]  # as a reader types it
        return subprocess.run(
            typed_line, env=environment, capture_output=True, text=True, timeout=3 * TIMEOUT_S, check=False
        )

    hapticd = str(Path(sys.executable).with_name("hapticd"))
    with subprocess.Popen([sys.executable, *words[1:]], cwd=ROOT, stdin=subprocess.PIPE, text=True) as board:
        try:
            assert board.stdin is not None
            name, show, check, take_away = typed
            assert shell(name).returncode == 0
            eventually(lambda: BOARD in shell(show).stdout, "it is listed", pause_s=0.1)
            eventually(lambda: service.request("GET", f"/arm/{BOARD}")[1]["status"]["ready"], "ready", pause_s=0.1)
            assert (done := shell(check)).returncode == 0, done.stdout + done.stderr
            (text,) = programs("tutorials/own-device.md")
            assert "it pushed with up to" in run(service, text.replace("seconds=30", "seconds=3"), tmp_path)
            script = tmp_path / "again.py"
            script.write_text(text.replace("seconds=30", "seconds=60"), "utf-8")
            with Program(service, "socket", path=script) as again:
                eventually(lambda: _sessions(service) == 1, "it is connected", pause_s=0.05)
                board.stdin.write("unplug 0\n")
                board.stdin.flush()
                code, _, errors = again.ended_by_itself()
            assert code == 1
            assert "DeviceGone" in errors.splitlines()[-1]
            assert shell(take_away).returncode == 0
            port = re.escape(str(tmp_path / "board" / "0"))
            eventually(
                lambda: re.search(rf"{port} +no device", shell(".venv/bin/hapticd ports").stdout),
                "no device",
                pause_s=0.1,
            )
        finally:
            board.terminate()


def _hand(service: RunningService) -> Any:
    """What the simulated hand of the only simulated arm is told to do."""
    (arm,) = service.request("GET", "/devices?vocabulary=neutral")[1]["arm"]
    return service.request("GET", f"/simulation/arm/{arm['device_id']}")[1]["hand"]


def _sessions(service: RunningService) -> int:
    return int(service.request("GET", "/sessions")[1]["session_count"])
