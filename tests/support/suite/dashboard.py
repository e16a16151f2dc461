"""The Grafana dashboard of ops/grafana as JSON, and its expressions without variables."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).parents[3] / "ops" / "grafana" / "hapticd.json"
# Grafana's own variables.
BUILT_IN: Final = {"__rate_interval": "1m"}


def read_dashboard() -> dict[str, Any]:
    """Return the dashboard."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def plain(board: dict[str, Any], expression: str) -> str:
    """Return the expression with a value in the place of each variable; AssertionError for an unknown one."""
    variables = {one["name"] for one in board["templating"]["list"]}
    for name in re.findall(r"\$(\w+)", expression):
        assert name in variables | BUILT_IN.keys(), name
        expression = re.sub(rf"\${name}\b", BUILT_IN.get(name, ".*"), expression)
    return expression


def expressions(board: dict[str, Any]) -> list[str]:
    """Return every expression of the dashboard's panels, without variables."""
    panels = (panel for panel in board["panels"] if panel["type"] != "row")
    return [plain(board, target["expr"]) for panel in panels for target in panel["targets"]]
