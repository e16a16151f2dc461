"""A traced message passes through the edge's functions and files as docs/architecture.md draws it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.service.ws.conftest import Connect
from tests.service.ws.message_helpers import ARM, UP, arm, xyz
from tests.support.service.in_process_service import InProcessService

ROOT = Path(__file__).parents[3]
CHANNEL = "transport/ws/session.py"
BEFORE_THE_CHANNEL = 2
MESSAGES: dict[str, dict[str, Any]] = {
    "force": arm(commands=UP),
    "torque": arm(commands={"set_angular_torques": {"torques": {"a0": 0.0, "a1": 0.0, "a2": 0.0}}}),
    "held position": arm(commands={"set_cursor_position": {"position": xyz(0.0, -0.1, 0.15)}}),
    "full frame": {"session": {"force_render_full_state": {}}},
    "deprecated `values`": arm(commands={"set_cursor_force": {"values": xyz(0.0, 0.0, 1.0)}}),
    "bad number": arm(commands={"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": "far"}}}),
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessService]:
    """The event loop answers every message, also what the streaming thread would answer by itself."""
    settings = {"simulation/settle_time": 0.01, "communication/streaming/native": False}
    with InProcessService(tmp_path_factory.mktemp("state"), stepping=True, settings=settings) as running:
        yield running


@dataclass(frozen=True, slots=True)
class Call:
    """One call from one file into another."""

    caller: str
    callee: str
    function: str


def section() -> str:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    return page.split("## One message through the edge", 1)[1].split("\n## ", 1)[0]


def drawn() -> list[tuple[str, str]]:
    """Files and functions of the drawing that the channel calls, in order."""
    return re.findall(r"──> (transport/[\w/]+\.py) +(\w+)\(\)", section().split("```")[1])


def further_files() -> dict[str, set[str]]:
    """Files beside the drawn ones by message, from the table."""
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", section(), re.MULTILINE)[1:]
    return {name: {f"transport/{path}" for path in re.findall(r"`([\w/]+\.py)`", files)} for name, files in rows}


def handed_on(service: InProcessService, session_id: int, message: str) -> list[Call]:
    """Calls from one file into another of transport while the channel answers `message`."""
    calls: list[Call] = []

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_back is not None:
            caller, callee = _file(frame.f_back), _file(frame)
            if caller != callee and callee.startswith("transport/"):
                calls.append(Call(caller, callee, frame.f_code.co_name))

    def answer() -> None:
        channel: Any = service.bridge.channels[session_id]
        sys.setprofile(note)
        try:
            channel.on_message(message)
        finally:
            sys.setprofile(None)

    service.on_edge(answer)
    return calls


def _file(frame: FrameType) -> str:
    path = Path(frame.f_code.co_filename)
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def traced(connect: Connect, service: InProcessService, name: str) -> list[Call]:
    """Calls for the second of two equal messages: the first one after a change of the inventory does more."""
    client, first = connect({"vocabulary": "neutral"})
    client.ask(MESSAGES[name])

    calls = handed_on(service, first["session_id"], json.dumps(MESSAGES[name]))

    assert client.frame()["arm"][0]["device_id"] == ARM
    return calls


@pytest.mark.parametrize("name", ["force", "torque"])
def test_channel_calls_the_functions_of_the_drawing_in_order(
    connect: Connect, service: InProcessService, name: str
) -> None:
    calls = traced(connect, service, name)

    assert [(call.callee, call.function) for call in calls if call.caller == CHANNEL] == drawn()


@pytest.mark.parametrize("name", MESSAGES)
def test_message_passes_the_files_of_the_page(connect: Connect, service: InProcessService, name: str) -> None:
    stages = {path for path, _ in drawn()}
    optional = {"transport/session/command_gap.py"} if name == "full frame" else set()

    calls = traced(connect, service, name)

    assert {call.callee for call in calls} == ({CHANNEL} | stages | further_files()[name]) - optional
    assert {call.caller for call in calls if call.callee in stages} == {CHANNEL}


def test_page_has_the_traced_messages_and_the_number_of_files() -> None:
    files = {CHANNEL} | {path for path, _ in drawn()}

    assert set(further_files()) == set(MESSAGES)
    assert f"A force passes {len(files) + BEFORE_THE_CHANNEL} files" in section()
