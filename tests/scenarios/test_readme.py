"""The README's first client, ended by Ctrl-C, and each of its curl lines work against the running service."""

from __future__ import annotations

import os
import re
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


def first_client() -> str:
    blocks: list[str] = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (block,) = blocks
    return block


def test_the_first_client_prints_and_pushes_the_arm_until_ctrl_c_ends_it(
    service: RunningService, tmp_path: Path
) -> None:
    script, text = tmp_path / "first.py", first_client()
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
