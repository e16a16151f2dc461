"""The systemd unit: accepted by systemd, with the settings that a shutdown to zero force needs."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

UNIT = Path(__file__).parents[3] / "ops" / "systemd" / "hapticd.service"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    placed = tmp_path / UNIT.name
    text = UNIT.read_text(encoding="utf-8").replace("/opt/hapticd/bin/hapticd", sys.executable)
    placed.write_text(text, encoding="utf-8")

    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(placed)], capture_output=True, text=True, check=False
    )

    complaints = [line for line in done.stderr.splitlines() if UNIT.name in line]
    assert complaints == []


def test_stop_signals_only_the_service_and_usage_errors_are_not_retried() -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # keys are case sensitive
    unit.read(UNIT, encoding="utf-8")
    service = unit["Service"]

    assert service["KillMode"] == "mixed"
    assert service["RestartPreventExitStatus"] == "2"
    assert int(service["LimitRTPRIO"]) >= 80
    assert (service["Type"], service["NotifyAccess"]) == ("notify", "main")
    assert 5 <= int(service["WatchdogSec"]) <= 30
    assert service["ExecStart"] == "/opt/hapticd/bin/hapticd run --state-dir ${STATE_DIRECTORY}"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_scores_the_unit_as_hardened() -> None:
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", str(UNIT)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd-analyze has no --offline (systemd 250)")

    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Overall exposure level for hapticd\.service: [01]\.\d OK", done.stdout), done.stdout


def test_user_and_groups_of_the_unit_are_made_at_installation() -> None:
    made = (UNIT.parents[1] / "sysusers" / "hapticd.conf").read_text(encoding="utf-8")
    unit = UNIT.read_text(encoding="utf-8")
    (groups,) = re.findall(r"^SupplementaryGroups=(.+)$", unit, re.MULTILINE)

    assert "\nUser=hapticd\nGroup=hapticd\n" in unit
    assert re.search(r"^u hapticd - ", made, re.MULTILINE)
    for group in groups.split():
        assert re.search(rf"^g {group} ", made, re.MULTILINE)
        assert re.search(rf"^m hapticd {group}$", made, re.MULTILINE)


def test_service_groups_may_open_the_ports_of_the_udev_rules() -> None:
    unit = UNIT.read_text(encoding="utf-8")
    rules = (UNIT.parents[1] / "udev" / "70-hapticd.rules").read_text(encoding="utf-8")
    allowed = set(re.findall(r"^DeviceAllow=char-(\w+) rw$", unit, re.MULTILINE))
    (groups,) = re.findall(r"^SupplementaryGroups=(.+)$", unit, re.MULTILINE)

    assert "DevicePolicy=closed" in unit
    assert {"ttyACM", "ttyUSB", "hidraw", "usb_device"} <= allowed
    assert set(re.findall(r'KERNEL=="(\w+)\*"', rules)) <= allowed
    assert set(re.findall(r'GROUP="(\w+)"', rules)) == set(groups.split())
