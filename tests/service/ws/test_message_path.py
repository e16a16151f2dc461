"""A traced message passes through the edge's modules as docs/architecture.md draws it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.service.ws.conftest import Connect
from tests.service.ws.message_helpers import ARM, UP, arm
from tests.support.service.in_process_service import InProcessService

ROOT = Path(__file__).parents[3]
CHANNEL = "transport/ws/session.py"
MOST_FILES = 6


def drawn() -> set[str]:
    """Files of the drawing, from the channel on."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    section = page.split("## One message through the edge", 1)[1].split("\n## ", 1)[0]
    drawing = section.split("```")[1]
    return set(re.findall(r"transport/[\w/]+\.py", drawing[drawing.index(CHANNEL) :]))


def handed_on(service: InProcessService, session_id: int, text: str) -> list[tuple[str, str]]:
    """Calls from one file of transport into another while the channel answers `text`: caller and callee."""
    calls: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_back is not None:
            caller, callee = _file(frame.f_back), _file(frame)
            if caller != callee and callee.startswith("transport/"):
                calls.append((caller, callee))

    def answer() -> None:
        channel: Any = service.bridge.channels[session_id]
        sys.setprofile(note)
        try:
            channel.on_message(text)
        finally:
            sys.setprofile(None)

    service.on_edge(answer)
    return calls


def _file(frame: FrameType) -> str:
    path = Path(frame.f_code.co_filename)
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


@pytest.mark.parametrize("commands", [UP, {"set_angular_torques": {"torques": {"a0": 0.0, "a1": 0.0, "a2": 0.0}}}])
def test_command_passes_the_stages_of_the_page(
    connect: Connect, service: InProcessService, commands: dict[str, object]
) -> None:
    client, first = connect({"vocabulary": "neutral"})
    client.ask(arm(commands=commands))

    calls = handed_on(service, first["session_id"], json.dumps(arm(commands=commands)))

    assert client.frame()["arm"][0]["device_id"] == ARM
    entered = {callee for _, callee in calls}
    assert entered == drawn()
    assert len(entered) <= MOST_FILES
    assert {caller for caller, callee in calls if callee != CHANNEL} == {CHANNEL}
