"""The README's first client and each of its curl lines work against the running service."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clients.curl import parse_curl
from tests.support.service.process import RunningService

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


def test_the_first_client_has_ten_lines() -> None:
    assert len([line for line in first_client().splitlines() if line.strip()]) == 10


def test_the_first_client_pushes_the_arm(service: RunningService, tmp_path: Path) -> None:
    text = first_client()
    assert "ws://localhost:10001" in text
    assert "while True:" in text
    script = tmp_path / "client.py"
    bounded = text.replace("ws://localhost:10001", service.ws).replace("while True:", "for _ in range(1_000_000):")
    seen = '        if frame["arm"][0]["state"]["current_cursor_force"]["z"] > 0: break\n    else: raise SystemExit("no force")\n'
    script.write_text(bounded + seen, encoding="utf-8")

    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=100, check=False)

    assert done.returncode == 0, done.stderr


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
