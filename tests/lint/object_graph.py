"""Reference graph of a compiled object file, read from objdump: which function refers to which function or datum."""

from __future__ import annotations

import re
import subprocess
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

RELOCATIONS_OF = re.compile(r"^RELOCATION RECORDS FOR \[(.+)\]:$")
RELOCATION = re.compile(r"^[0-9a-f]+\s+R_\S+\s+(\S+?)(?:[+-]0x[0-9a-f]+)?$")
SYMBOL = re.compile(r"^[0-9a-f]{8,} .{7} (\S+)\t[0-9a-f]+\s+(?:\.\w+ )?(\S+)$")
DISASSEMBLY_OF = re.compile(r"^Disassembly of section (.+):$")
CALL_THROUGH_POINTER = re.compile(r"\t(?:call[ql]?\s+\*|blr\s|blra)")
KNOWN_TARGET = re.compile(r"GOTPCREL")
UNDEFINED = "*UND*"


@dataclass(frozen=True, slots=True)
class Reached:
    """One name on the way from a start: the sections that lead to it, and whether another object must define it."""

    way: tuple[str, ...]
    name: str
    outside: bool


@dataclass(frozen=True, slots=True)
class ObjectGraph:
    """`home`: section of each symbol; `refers`: what each section names; `pointer_calls`: sections that call through a pointer."""

    home: dict[str, str] = field(default_factory=dict[str, str])
    refers: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    pointer_calls: set[str] = field(default_factory=set[str])

    def section_of(self, module: str, function: str) -> str | None:
        """Section of a function under its C or C++ name or its Cython name in `module`; None when it is not there."""
        prefix = "__pyx_f_" + "".join(f"{len(part)}{part}_" for part in module.split("."))
        # C++ writes a local function's name with its length, and what it takes: _ZL9hd_exampleP3key.
        wanted = re.compile(rf"(?:_ZL?\d+)?(?:{prefix})?{re.escape(function)}(?:P?[\w]+)?(?:\.\w+\.\d+)*")
        for symbol, section in self.home.items():
            if section.startswith(".text") and wanted.fullmatch(symbol):
                return section
        return None

    def reach(self, start: str) -> Iterator[Reached]:
        """Every section reachable from `start`, itself first, by a shortest way; outside names once for each section that names them."""
        yield Reached((), start, outside=False)
        seen = {start}
        waiting: deque[tuple[str, ...]] = deque([(start,)])
        while waiting:
            way = waiting.popleft()
            for name in dict.fromkeys(self.refers.get(way[-1], [])):
                section = name if name.startswith(".") else self.home.get(name, UNDEFINED)
                if section == UNDEFINED:
                    yield Reached(way, name, outside=True)
                elif section not in seen:
                    seen.add(section)
                    yield Reached(way, section, outside=False)
                    waiting.append((*way, section))


def read_object(path: Path) -> ObjectGraph:
    """The graph of one object file compiled with -ffunction-sections -fdata-sections."""
    return ObjectGraph(
        home=parse_symbols(_objdump("-t", path)),
        refers=parse_relocations(_objdump("-r", path)),
        pointer_calls=parse_pointer_calls(_objdump("-dr", path)),
    )


def parse_symbols(text: str) -> dict[str, str]:
    """Section of each symbol, `*UND*` for those of other objects; from `objdump -t`."""
    return {found[2]: found[1] for line in text.splitlines() if (found := SYMBOL.match(line))}


def parse_relocations(text: str) -> dict[str, list[str]]:
    """Names that each section refers to; from `objdump -r`."""
    refers: dict[str, list[str]] = {}
    section = ""
    for line in text.splitlines():
        if header := RELOCATIONS_OF.match(line):
            section = header[1]
            refers.setdefault(section, [])
        elif relocation := RELOCATION.match(line):
            refers[section].append(relocation[1])
    return refers


def parse_pointer_calls(text: str) -> set[str]:
    """Sections with a call whose target is only known at run time; from `objdump -drw`."""
    calls: set[str] = set()
    section = ""
    for line in text.splitlines():
        if header := DISASSEMBLY_OF.match(line):
            section = header[1]
        elif CALL_THROUGH_POINTER.search(line) and not KNOWN_TARGET.search(line):
            calls.add(section)
    return calls


def _objdump(option: str, path: Path) -> str:
    return subprocess.run(["objdump", option, "-w", str(path)], capture_output=True, text=True, check=True).stdout
