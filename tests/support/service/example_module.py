"""Install the example module of docs/modules.md as a package in a test's folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).parents[3] / "docs" / "modules.md"
GROUP: Final = "hapticd.modules"


def shown_source() -> str:
    """The page's Python block."""
    found = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(found) == 1, "the page shows one module"
    return str(found[0])


def install(folder: Path, name: str, source: str, entry: str) -> Path:
    """A module in a package of its own, with the entry point `name = entry`; the folder to put on PYTHONPATH."""
    (folder / f"{entry.partition(':')[0]}.py").write_text(source, encoding="utf-8")
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {entry}\n", encoding="utf-8")
    return folder
