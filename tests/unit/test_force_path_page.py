"""The numbers of docs/force-path.md are those of the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from actors.device.params import SLEW_N_S, SLOW_SLEW_N_S
from actors.device.trips import CAUSES
from actors.values.kinds.arm import ARM
from actors.values.kinds.base import Heat, KindSpec
from actors.values.kinds.compact import COMPACT
from fastpath.arena.runtime import default_oscillation
from transport.cli.brakes import SAFE_SECONDS, SAFE_SPEED
from transport.settings_catalog import SETTINGS_CATALOG

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "force-path.md"
THRESHOLD: Final = re.compile(r"static const double HD_(\w+) = ([0-9.]+); /\* (.*) \*/")
REASON: Final = re.compile(r"^\* ([^:]+): ", re.MULTILINE)
PICTURE: Final = re.compile(r"!\[.+\]\((\S+)\)")


def table(*head: str) -> list[list[str]]:
    """Cells of the rows under the one table that begins with this head, without code marks."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    (start,) = [number for number, line in enumerate(lines) if cells(line)[: len(head)] == list(head)]
    rows: list[list[str]] = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append(cells(line))
    return rows


def cells(line: str) -> list[str]:
    return [cell.strip().strip("`") for cell in line.strip("|").split("|")] if line.startswith("|") else []


def test_filter_parameters_match_the_code() -> None:
    params = default_oscillation()
    rows = table("parameter", "default", "unit", "setting")

    assert [row[0] for row in rows] == list(params.dtype.names or ())
    assert {row[0]: float(row[1]) for row in rows} == {
        name: pytest.approx(float(params[name])) for name in params.dtype.names or ()
    }


def test_stage_gains_and_windows_match_the_parameters() -> None:
    params = default_oscillation()
    gains, windows = table("stage", "0")[:2]

    assert [float(cell) for cell in gains[1:]] == [
        pytest.approx(float(params["floor_gain"]) ** (1 - stage / 8), abs=6e-4) for stage in range(9)
    ]
    assert [float(cell) for cell in windows[1:-1]] == [
        pytest.approx(float(params["window"]) + stage * float(params["window_step"])) for stage in range(8)
    ]


def test_monitor_thresholds_match_the_page() -> None:
    header = (ROOT / "fastpath" / "tick" / "monitors.h").read_text(encoding="utf-8")
    thresholds = {name: (float(value), unit) for name, value, unit in THRESHOLD.findall(header)}
    shown = {name: (float(value), unit) for name, value, unit in table("threshold", "value", "unit")}

    assert thresholds
    assert shown == thresholds


def test_optional_thresholds_and_causes_match_the_page() -> None:
    header = (ROOT / "fastpath" / "tick" / "optional_monitors.h").read_text(encoding="utf-8")
    thresholds = {name: (float(value), unit) for name, value, unit in THRESHOLD.findall(header)}

    assert {
        name: (float(value), unit) for name, value, unit in table("optional threshold", "value", "unit")
    } == thresholds
    assert {row[0]: row[2] for row in table("cause", "value and limit")} == dict(CAUSES.values())


def test_settings_match_their_defaults_and_ranges() -> None:
    rows = table("setting", "default", "range", "unit")
    chain = ("filters/", "features/safe_trajectory/", "features/grip_hook/")
    assert sorted(row[0] for row in rows) == sorted(
        s.key for s in SETTINGS_CATALOG if any(part in s.key for part in chain)
    )
    by_key = {setting.key: setting for setting in SETTINGS_CATALOG}

    for key, default, between, unit in rows:
        setting = by_key[key]
        assert unit == (setting.unit or "")
        if isinstance(setting.default, bool):
            assert default == str(setting.default).lower()
            continue
        assert float(default) == setting.default
        assert [float(end) for end in between.split(" to ")] == [setting.constraint.least, setting.constraint.most]


@pytest.mark.parametrize(("column", "kind"), [(1, ARM), (2, COMPACT)])
def test_peak_force_and_torque_limit_match_the_kinds(column: int, kind: KindSpec) -> None:
    peak, limit = table("", "arm", "compact")

    assert kind.mechanism is not None
    assert (float(peak[column]), float(limit[column])) == (kind.mechanism.peak_force, kind.mechanism.torque_limit)


def test_slew_limits_match_the_device_parameters() -> None:
    shown = {row[0]: float(row[1]) for row in table("device parameter", "value", "unit")}

    assert shown == {"slew": SLEW_N_S, "slow_slew": SLOW_SLEW_N_S}


def test_motor_model_matches_the_kinds() -> None:
    heat = Heat()
    shown = {row[0]: float(row[1]) for row in table("motor", "value", "unit")}

    assert shown == {name: getattr(heat, name) for name in ("rise", "ratio", "winding", "housing", "ambient")}
    assert ARM.thermal == COMPACT.thermal == heat


def test_every_class_taken_often_has_its_reason() -> None:
    *often, _others = (row[0] for row in table("class", "taken"))
    reasons = PAGE.read_text(encoding="utf-8").split("Why, from the runs that were taken:")[1].split("**")[0]

    assert often
    assert REASON.findall(reasons) == often


def test_every_picture_of_the_page_exists() -> None:
    pictures = PICTURE.findall(PAGE.read_text(encoding="utf-8"))

    assert pictures
    assert all((PAGE.parent / picture).stat().st_size > 0 for picture in pictures)


def test_commands_name_the_speed_that_ends_the_e_brake() -> None:
    text = (ROOT / "fastpath" / "tick" / "monitors.h").read_text(encoding="utf-8")
    values = {name: float(value) for name, value, _ in THRESHOLD.findall(text)}

    assert values["SAFE_SPEED"] == SAFE_SPEED
    assert values["SAFE_SECONDS"] == SAFE_SECONDS
    for page in ("docs/operations.md", "docs/command-line.md", "ops/runbook.md"):
        assert "slower than 300 mm/s for 1 s" in " ".join((ROOT / page).read_text(encoding="utf-8").split()), page
