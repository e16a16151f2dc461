"""The index of the decision records names each of them, and each has the three parts."""

from __future__ import annotations

import re
from pathlib import Path

DECISIONS = Path(__file__).parents[1] / "docs" / "decisions"


def records() -> list[Path]:
    return sorted(path for path in DECISIONS.glob("[0-9]*.md") if not path.name.startswith("0000"))


def test_the_index_names_every_record_with_its_title() -> None:
    index = re.findall(
        r"^\* \[(.+)\]\((.+\.md)\)$", (DECISIONS / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )

    assert index == [(title(path), path.name) for path in records()]


def test_every_record_has_the_three_parts() -> None:
    for path in records():
        parts = re.findall(r"^\*\*(\w+)\.\*\* ", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert parts == ["Context", "Decision", "Consequences"], path.name
        assert title(path).startswith(f"{path.name[:4]}: "), path.name


def title(path: Path) -> str:
    return path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
