"""The types are what the service's documents say now, the client compiles under strict, and the dashboard agrees with the same types."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from ops import client_types
from tests.clients.typescript.conftest import tsc

PACKAGE = client_types.PACKAGE
MOST_LINES = 300


@pytest.mark.usefixtures("packages")
def test_types_are_current() -> None:
    for name, text in client_types.generated().items():
        assert (PACKAGE / "src" / name).read_text("utf-8") == text, "run make client-types"


@pytest.mark.usefixtures("packages")
def test_client_compiles_and_the_dashboard_agrees_with_its_types() -> None:
    for project in ("tsconfig.json", "tsconfig.dashboard.json"):
        done = tsc("--noEmit", "--project", str(PACKAGE / project))
        assert done.returncode == 0, done.stdout


@pytest.mark.usefixtures("packages")
def test_dashboard_that_reads_what_no_frame_has_is_found(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.js"
    types = PACKAGE / "src" / "channels"
    wrong.write_text(
        f'// @ts-check\n/** @param {{import("{types}").MoverFrame}} entry */\n'
        "export const at = (entry) => entry.state.cursor_place;\n",
        "utf-8",
    )
    done = tsc("--noEmit", "--allowJs", "--strict", "--target", "es2022", str(wrong))

    assert "cursor_place" in done.stdout


def test_loop_is_short_and_the_version_is_that_of_the_service() -> None:
    assert len((PACKAGE / "src" / "hapticd.ts").read_text("utf-8").splitlines()) <= MOST_LINES
    root = client_types.ROOT
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    # npm has three numbers and a word behind them.
    assert json.loads((PACKAGE / "package.json").read_text("utf-8"))["version"] == "-".join(version.rsplit(".", 1))
