"""Generate the table of device commands in docs/wire.md: `python -m tests.support.suite.command_table`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from actors.values.commands import PROBE_COMMANDS, SET_POINT_COMMANDS, SET_TRANSFORM
from actors.values.kinds.registry import specs
from tests.support.suite.page_section import PageSection

SECTION: Final = PageSection(Path("docs/wire.md"), "table of commands")


def table() -> str:
    """Return the table: name, body, unit and kinds of each command; the probes share a line."""
    lines = ["| Command | Body | Unit | Devices |", "|---|---|---|---|"]
    for row in (*SET_POINT_COMMANDS, SET_TRANSFORM):
        kinds = ", ".join(spec.name for spec in specs() if row.taken_by(spec))
        lines.append(f"| `{row.name}` | `{row.body}` | {row.unit} | {kinds} |")
    probes = ", ".join(f"`{row.name}`" for row in PROBE_COMMANDS)
    lines.append(f"| {probes} | anything | | all |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    SECTION.write(table())
