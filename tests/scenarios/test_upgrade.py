"""State of an earlier version holds after an upgrade, and what the newer one writes is what the earlier one reads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from websockets.sync.client import connect

from tests.support.service.process import RunningService

# As release 3.5.3.1 wrote them, before the log had a form to choose and state was found by a library.
SETTINGS: Final = '{\n"format": 1,\n"sessions/command_timeout": 0.1\n}\n'
LEDGER: Final = """{
"format": 1,
"next_session_id": 3,
"pairings": {"manual": []},
"stop": {"everything": true, "device_ids": [], "released": []},
"sessions": {"sessions": [[1, "default", null, false], [2, "default", null, false]], "versions": {}}
}
"""
TOKEN: Final = "a-token-of-an-earlier-version-0123456789"


def earlier(folder: Path, settings: str = SETTINGS) -> Path:
    """The state directory of the earlier version, in the default place below `folder`."""
    state = folder / "hapticd"
    state.mkdir(mode=0o700)
    for name, text in (
        ("settings.json", settings),
        ("ledger.json", LEDGER),
        ("token", f"{TOKEN}\n"),
        ("lock", "12345\n"),
    ):
        (state / name).write_text(text, encoding="utf-8")
        (state / name).chmod(0o600)
    return state


def test_upgrade_keeps_settings_stop_token_and_session_ids(tmp_path: Path) -> None:
    state = earlier(tmp_path)

    with RunningService(state_dir=state) as service:
        timeout = service.request("GET", "/settings/sessions/command_timeout")[1]["data"]["value"]
        stopped = service.request("GET", "/stop")[1]["everything"]
        with connect(f"{service.ws}/?vocabulary=neutral") as channel:
            session = json.loads(channel.recv())["session_id"]

    assert (timeout, stopped) == (0.1, True)
    assert session >= 3
    assert (state / "token").read_text(encoding="utf-8") == f"{TOKEN}\n"


def test_state_in_the_default_place_is_found_without_an_option(tmp_path: Path) -> None:
    earlier(tmp_path)
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}

    done = subprocess.run(
        [Path(sys.executable).with_name("hapticd"), "token"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == f"{TOKEN}\n"


def test_downgrade_reads_what_the_newer_version_wrote(tmp_path: Path) -> None:
    state = earlier(tmp_path, SETTINGS.replace("\n}", ',\n"section/of_a_newer_version": [1, {"a": null}]\n}'))

    with RunningService(state_dir=state) as service:
        assert service.request("POST", "/settings/misc/log_format", "json")[0] == 200
        assert service.request("POST", "/settings/sessions/command_timeout", 0.2)[0] == 200
        assert service.request("DELETE", "/stop")[0] == 200

    settings = json.loads((state / "settings.json").read_text(encoding="utf-8"))
    ledger = json.loads((state / "ledger.json").read_text(encoding="utf-8"))
    assert settings == {
        "format": 1,
        "sessions/command_timeout": 0.2,
        "section/of_a_newer_version": [1, {"a": None}],
        "misc/log_format": "json",
    }
    assert ledger["format"] == 1
    assert set(json.loads(LEDGER)) <= set(ledger)
    assert sorted(path.name for path in state.iterdir()) == ["ledger.json", "lock", "settings.json", "token"]
