"""The panel in a real notebook, run by nbclient; `make test-robots` has what this needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from hapticd_client import testing

for needed in ("anywidget", "nbclient", "ipykernel"):
    pytest.importorskip(needed, reason=f"make test-robots installs {needed}")

CELL = """
import hapticd_client as haptics
from hapticd_client.notebook import Panel

with haptics.connect() as service:
    display(Panel(service))
    for turn in service.loop(rate=500, seconds=0.5):
        service.arm.force = 0, 0, 0.2
    print(service.loop_statistics.turns > 0)
"""


def test_panel_is_shown_while_a_loop_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat: Any = import_module("nbformat.v4")
    nbclient: Any = import_module("nbclient")
    book = nbformat.new_notebook(cells=[nbformat.new_code_cell(CELL)])
    with testing.service(simulate="arm") as service:
        monkeypatch.setenv("HAPTICD_URL", service.url)
        nbclient.NotebookClient(book, timeout=120).execute()

    outputs = book.cells[0].outputs
    shown = [one for one in outputs if "application/vnd.jupyter.widget-view+json" in one.get("data", {})]
    assert len(shown) == 1
    assert [one.text for one in outputs if one.output_type == "stream"] == ["True\n"]
    (state,) = [one["state"] for one in book.metadata["widgets"].values()]
    assert any(one["state"].get("http", "").startswith("http://") for one in state.values())
