"""Messages and programs of docs/coming-from.md work as they stand: on a running service, without errors, until the force ends."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

PAGE: Final = (Path(__file__).parents[2] / "docs" / "coming-from.md").read_text(encoding="utf-8")
MESSAGES: Final = re.findall(r"^```json client\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
URL: Final = "ws://localhost:10001"
# What a program calls the helper of the page with: a floor that is above the hand, renewed while the program runs.
PUSHES: Final = """
haptics = Haptics(URL + "/?vocabulary=neutral", "Y-XZ")
haptics.start()
print("started", flush=True)
while input():
    haptics.push(0, 0, 0.5)
haptics.closing = True
haptics.join()
"""


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with RunningService(simulate="arm") as running:
        yield running


def blocks(language: str) -> list[str]:
    """Return the programs of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def force(service: RunningService) -> float:
    """Return the force along z that the loop applies, in N."""
    _, devices = service.request("GET", "/devices?vocabulary=neutral")
    return float(devices["arm"][0]["state"]["current_cursor_force"]["z"])


def test_page_has_messages() -> None:
    assert len(MESSAGES) >= 6


@pytest.mark.parametrize("text", MESSAGES)
def test_message_of_the_page_has_no_errors_in_its_frame(service: RunningService, text: str) -> None:
    with RawWebSocket(service.ws, {"vocabulary": "neutral"}) as peer:
        device_id = peer.frame()["arm"][0]["device_id"]
        peer.send_text(text.replace("049D", device_id))
        frame: Any = peer.frame()

    assert json.loads(text)
    assert "errors" not in frame


def test_javascript_pushes_the_hand_and_its_end_ends_the_force(service: RunningService, tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed: apt-get install nodejs")
    (text,) = blocks("js")
    assert URL in text
    script = tmp_path / "floor.mjs"
    # The floor is above the hand's whole circle, so that it pushes always.
    script.write_text(text.replace(f'("{URL}/', f'("{service.ws}/').replace("0.12 - z", "0.3 - z"), encoding="utf-8")
    command = ["node", "--experimental-websocket", str(script)]
    if subprocess.run([*command[:2], "-e", ""], capture_output=True, check=False).returncode != 0:
        pytest.skip("this node has no --experimental-websocket: version 20.10 or newer has")

    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("height 0.")
            eventually(lambda: force(service) > 0, "the program pushes", pause_s=0.01)
        finally:
            process.kill()
    eventually(lambda: force(service) == 0, "the force ends with the connection", pause_s=0.01)


def test_python_helper_pushes_until_it_is_not_renewed(service: RunningService) -> None:
    helper = blocks("python")[0].replace(f'"{URL}/?vocabulary=neutral"', "URL + '/'")
    script = f"URL = {service.ws!r}\n{helper}\n{PUSHES}"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        keyboard = process.stdin
        assert process.stdout.readline() == "started\n"

        def pushed() -> bool:
            keyboard.write("again\n")
            return force(service) > 0

        eventually(pushed, "the helper pushes", pause_s=0.01)
        eventually(lambda: force(service) == 0, "a force that is not renewed is zero", pause_s=0.01)
        assert service.request("GET", "/sessions")[1]["session_count"] == 1
        keyboard.write("\n")
        assert process.wait(30) == 0
