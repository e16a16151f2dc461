"""Replace or compare a generated section of a page in docs/, between its two marks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class PageSection:
    """The part of a page between two marks that name what it shows."""

    page: Path
    name: str

    @property
    def begin(self) -> str:
        """Mark before the section."""
        return f"<!-- {self.name}: written by make docs -->\n"

    @property
    def end(self) -> str:
        """Mark behind the section."""
        return f"<!-- end of the {self.name} -->\n"

    def replaced(self, text: str, content: str) -> str:
        """Return the page's text with this content between the marks; ValueError unless both are there exactly once."""
        block = f"{self.begin}{content}{self.end}"
        found, count = re.subn(
            f"{re.escape(self.begin)}.*?{re.escape(self.end)}", lambda _: block, text, flags=re.DOTALL
        )
        if count != 1:
            raise ValueError(f"{self.page} has {count} places for the {self.name}: keep its two marks exactly once")
        return found

    def write(self, content: str) -> None:
        """Write the content into the page; ValueError."""
        self.page.write_text(self.replaced(self.page.read_text(encoding="utf-8"), content), encoding="utf-8")
