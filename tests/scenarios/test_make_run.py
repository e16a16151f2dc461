"""`make run` starts the service, and Ctrl-C on the terminal ends both with exit code 0."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.support.service.addresses import FREE_PORTS
from tests.support.service.terminal import CTRL_C, on_terminal

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(300)
def test_make_run_starts_the_service_and_ctrl_c_ends_it_with_0(tmp_path: Path) -> None:
    ports = " ".join(f"--set {key}={value}" for key, value in FREE_PORTS.items())
    arguments = f"--simulate arm,grip --state-dir {tmp_path} {ports}"
    outer_make = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
    environment = {key: value for key, value in os.environ.items() if key not in outer_make}

    code, shown = on_terminal(
        ["make", "run", f"RUN_ARGS={arguments}"],
        "\nready ",
        lambda _, keyboard: os.write(keyboard, CTRL_C),
        folder=ROOT,
        environment=environment,
    )

    *_, hint, dashboard, devices = shown.replace("\r", "").split("\nready http://", maxsplit=1)[0].splitlines()
    assert re.fullmatch(r"dashboard: http://127\.0\.0\.1:\d+/dashboard/", dashboard)
    assert re.fullmatch(r"devices: arm \w+ \(.+\), grip \w+ \(.+\)", devices)
    assert hint.startswith("to try in another terminal: .venv/bin/hapticd monitor, ")
    assert "\nready http://" in shown
    assert "stopped: zero force on every device" in shown
    assert code == 0, shown
