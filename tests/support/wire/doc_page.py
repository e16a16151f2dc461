"""Parse a documentation page into sections of example blocks and directions, for tests that run the examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from actors.device.messages import SimulatedSpec
from actors.values.identity import Connection, Kind

DOCS: Final = Path(__file__).parents[3] / "docs"
DEVICES: Final = (
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, "049D"),
    SimulatedSpec(Kind.GRIP, Connection.WIRELESS, "1605"),
)
"""The devices that the pages talk about."""

_PARTS: Final = re.compile(
    r"^```(?P<kind>\w+ \w+)\n(?P<text>.*?)^```$|^<!-- (?P<direction>(?!end of the |[^>]*: written by make docs).+?) -->$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page; `kind` is the text after its fence, such as `json client`, or `direction`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks under one heading of the second level."""

    title: str
    blocks: tuple[Block, ...]

    def __str__(self) -> str:
        return self.title


def sections(name: str) -> tuple[Section, ...]:
    """The sections of a page that have something to play."""
    page = (DOCS / name).read_text(encoding="utf-8")
    found: list[Section] = []
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        blocks = tuple(_blocks(text))
        if blocks:
            found.append(Section(title.strip(), blocks))
    return tuple(found)


def _blocks(text: str) -> Iterator[Block]:
    for part in _PARTS.finditer(text):
        if part["kind"] is None:
            yield Block("direction", part["direction"])
        else:
            yield Block(part["kind"], part["text"].strip())
