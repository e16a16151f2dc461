"""What docs/local.md shows works as it stands: the wall in C, and the ten lines of Python."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.local.connection import LocalConnection, compiled
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "local.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService(simulate="arm") as running:
        yield running


def pushed(service: RunningService) -> bool:
    return bool(service.request("GET", "/devices")[1]["arm"][0]["state"]["current_cursor_force"]["z"] > 0)


def test_the_wall_in_c_pushes_the_hand_and_ends_by_sigint(service: RunningService, tmp_path: Path) -> None:
    program = compiled(ROOT / "docs" / "examples" / "local_wall.c", tmp_path / "local_wall")
    with subprocess.Popen([str(program), str(service.state_dir)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("floor at")
            eventually(lambda: pushed(service), "the floor pushes", pause_s=0.01)
        finally:
            process.send_signal(2)
        assert process.wait(30) == 0


def test_the_ten_lines_of_python_push_the_hand(service: RunningService) -> None:
    (block,) = re.findall(r"<!-- python -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    endless = block.replace(
        "for number in range(1, 20001):", "import itertools\nfor number in itertools.count(1):"
    ).replace("0.1 - z", "0.3 - z")
    assert endless.count("itertools") == 2
    assert "0.3 - z" in endless
    script = f"STATE_DIR = {str(service.state_dir)!r}\n{endless}"
    with subprocess.Popen([sys.executable, "-c", script]) as process:
        try:
            eventually(lambda: pushed(service), "the script pushes", pause_s=0.01)
        finally:
            process.kill()
    eventually(
        lambda: service.request("GET", "/sessions")[1]["session_count"] == 0, "its session is gone", pause_s=0.01
    )


def test_names_of_devices_are_shown(service: RunningService) -> None:
    (arm,) = service.request("GET", "/devices")[1]["arm"]
    with LocalConnection(service.state_dir).begin() as client:
        slot, generation = client.slot(arm["device_id"])

        assert client.states.state(slot)[2] == generation
