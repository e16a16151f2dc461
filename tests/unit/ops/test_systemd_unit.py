"""The systemd unit: accepted by systemd, with the settings that a shutdown to zero force needs."""

from __future__ import annotations

import configparser
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
    assert "WatchdogSec" not in service


def test_service_groups_may_open_the_ports_of_the_udev_rules() -> None:
    unit = UNIT.read_text(encoding="utf-8")
    rules = (UNIT.parents[1] / "udev" / "70-hapticd.rules").read_text(encoding="utf-8")
    allowed = set(re.findall(r"^DeviceAllow=char-(\w+) rw$", unit, re.MULTILINE))
    (groups,) = re.findall(r"^SupplementaryGroups=(.+)$", unit, re.MULTILINE)

    assert "DevicePolicy=closed" in unit
    assert {"ttyACM", "ttyUSB", "hidraw", "usb_device"} <= allowed
    assert set(re.findall(r'KERNEL=="(\w+)\*"', rules)) <= allowed
    assert set(re.findall(r'GROUP="(\w+)"', rules)) == set(groups.split())
