"""The README's first client, ended by Ctrl-C, and each of its curl lines work against the running service."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clients.curl import parse_curl
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from tests.support.service.terminal import CTRL_C, on_terminal

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
BASE = "localhost:10001"
CURL_LINES = re.findall(r"^ {4}(curl .+?)(?:\s+#.*)?$", README, re.MULTILINE)


@pytest.fixture(scope="module", params=["neutral", "inverse"])
def service(request: pytest.FixtureRequest) -> Iterator[RunningService]:
    """What people type works whichever words the service speaks."""
    with RunningService("--vocabulary", request.param) as running:
        yield running


FIRST_CLIENT, OTHER_CLIENT = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_first_client_pushes_the_arm_prints_and_ends(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "first.py"
    assert "seconds=20" in FIRST_CLIENT
    script.write_text(FIRST_CLIENT.replace("seconds=20", "seconds=4"), encoding="utf-8")
    monkeypatch.setenv("HAPTICD_URL", service.ws)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    *heights, figures = done.stdout.splitlines()
    assert heights
    assert all(re.fullmatch(r"height +\d+\.\d mm, push \d\.\d\d N", line) for line in heights), done.stdout
    assert "of 1000 turns/s" in figures


def test_first_client_ends_quietly_at_ctrl_c(service: RunningService, tmp_path: Path) -> None:
    script = tmp_path / "first.py"
    script.write_text(FIRST_CLIENT, encoding="utf-8")

    code, shown = on_terminal(
        [sys.executable, str(script)],
        " N",
        lambda _, keyboard: os.write(keyboard, CTRL_C),
        folder=tmp_path,
        environment={**os.environ, "HAPTICD_URL": service.ws},
    )

    assert "Traceback" not in shown
    assert all(line.startswith("height ") or line == "^C" for line in shown.splitlines()), shown
    assert code == 0


def test_client_without_the_package_prints_and_pushes_the_arm_until_ctrl_c_ends_it(
    service: RunningService, tmp_path: Path
) -> None:
    script, text = tmp_path / "first.py", OTHER_CLIENT
    assert "ws://localhost:10001/" in text
    script.write_text(text.replace("ws://localhost:10001", service.ws), encoding="utf-8")

    def pushed() -> bool:
        _, devices = service.request("GET", "/devices?vocabulary=neutral")
        return bool(devices["arm"][0]["state"]["current_cursor_force"]["z"] > 0)

    def interrupt(_: int, keyboard: int) -> None:
        eventually(pushed, "the arm gets a force")
        os.write(keyboard, CTRL_C)

    code, shown = on_terminal([sys.executable, str(script)], " N", interrupt, folder=tmp_path)

    assert "Traceback" not in shown
    assert re.match(r"height +\d+\.\d mm, push \d\.\d\d N\r\n", shown)
    assert shown.endswith("closed: the force ends with the session\r\n")
    assert code == 0


@pytest.mark.parametrize("line", CURL_LINES)
def test_curl_line_is_answered_as_written(service: RunningService, line: str) -> None:
    status, answer = service.request(*parse_curl(line, BASE))

    assert status == 200, answer
    assert answer


def test_curl_lines_are_found_on_the_page() -> None:
    assert {parse_curl(line, BASE)[:2] for line in CURL_LINES} >= {
        ("GET", "/version"),
        ("GET", "/devices"),
        ("POST", "/stop"),
    }
