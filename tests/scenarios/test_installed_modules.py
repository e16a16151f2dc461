"""Third-party modules in the service: the documented example works, a broken one is logged, a clash exits with 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.clients.http_client import HttpClient
from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.addresses import FREE_PORTS
from tests.support.service.example_module import install, shown_source
from tests.support.service.process import RunningService

CLASHING = """
from actors.modules.module import LISTED, Part, WordTable


class Module:
    name = "wheel"
    setting = LISTED
    words = WordTable(commands=("{word}",))

    def read(self, sent):
        return sent.value["not there"]

    def open(self, session):
        return Part()
"""


def mark(device_id: str, label: object) -> dict[str, Any]:
    """The message of the page, for a device that is there."""
    entry = {"configure": {"mark_prefix": {"prefix": "step "}}, "commands": {"mark": {"label": label}}}
    return {"arm": [{"device_id": device_id, **entry}]}


@pytest.mark.promise(50, "A module of another package adds its command, configure field and state to the frames")
def test_documented_module_adds_a_command_a_field_and_a_state(tmp_path: Path) -> None:
    folder = install(tmp_path, "marks", shown_source(), "marks:Marks")
    install(folder, "torn", "def made():\n    raise RuntimeError('torn')\n", "torn_module:made")
    install(folder, "wheel", CLASHING.format(word="turn"), "wheel_module:Module")
    with RunningService(environment={"PYTHONPATH": str(folder)}, state_dir=tmp_path / "state") as service:
        http = HttpClient(service.http)
        with RawWebSocket(service.ws) as client:
            before = client.frame()
            arm = before["arm"][0]["device_id"]
            refused = client.ask(mark(arm, "one"))
            http.post("/settings/features/modules/enabled", {"value": ["marks", "wheel"]})
            shown = client.ask(mark(arm, "one"))
            bad = client.ask({"arm": [{"device_id": arm, "commands": {"mark": {"label": 3}, "turn": 1}}]})
            http.post("/settings/features/modules/enabled", {"value": []})
            after = client.ask({})

    assert [error["reason"] for error in refused["errors"]] == [
        "mark_prefix is of module marks: put marks in features/modules/enabled first",
        "mark is of module marks: put marks in features/modules/enabled first",
    ]
    assert "errors" not in shown
    assert shown["arm"][0]["state"]["marks"] == {"count": 1, "last": "step one"}
    assert list(shown["arm"][0]["state"])[-1] == "marks"
    assert [error["path"] for error in bad["errors"]] == ["arm[0].commands.mark.label", "arm[0].commands.turn"]
    assert bad["errors"][1]["reason"] == "module wheel failed: look at the log"
    for frame in (before, refused, after):
        assert "marks" not in frame["arm"][0]["state"]
    assert "module torn (torn_module:made) is left out: RuntimeError: torn" in service.log


def test_module_with_a_name_clash_stops_the_start_with_one_sentence(tmp_path: Path) -> None:
    folder = install(tmp_path, "wheel", CLASHING.format(word="hfx"), "wheel_module:Module")
    chosen = [part for key, value in FREE_PORTS.items() for part in ("--set", f"{key}={value}")]
    command = [str(Path(sys.executable).with_name("hapticd")), "run", "--state-dir", str(tmp_path / "state"), *chosen]

    ended = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr == (
        "hapticd: Module wheel takes commands.hfx, which is hfx's: uninstall the module or rename the word.\n"
    )
