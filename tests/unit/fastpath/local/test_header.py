"""The header of local clients: it compiles alone, in C and C++, without a warning, and its layout is what docs/local.md says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fastpath.layout.constants import MAX_DEVICES, Command
from fastpath.local.seats import PAGE_BYTES, SEATS, STATES_BYTES, VERSION
from tests.support.local import page as layout
from tests.support.local.connection import SOURCE, compiled

ROOT = Path(__file__).parents[4]
HEADER = ROOT / "fastpath" / "local" / "hapticd_local.h"
EXAMPLE = ROOT / "docs" / "examples" / "local_wall.c"
PAGE = (ROOT / "docs" / "local.md").read_text(encoding="utf-8")

# what a client in another language counts on: struct, member, place
PLACES = [
    ("hapticd_local_cell", "records", layout.RECORDS_AT),
    ("hapticd_local_record", "generation", 8),
    ("hapticd_local_record", "commands", 12),
    ("hapticd_local_record", "set_points", 16),
    ("hapticd_local_states", "tick", layout.TICK_AT),
    ("hapticd_local_states", "tick_ns", 24),
    ("hapticd_local_states", "period_ns", 32),
    ("hapticd_local_states", "timeout_ns", 40),
    ("hapticd_local_states", "names", layout.NAMES_AT),
    ("hapticd_local_states", "devices", layout.SHOWN_AT),
    ("hapticd_local_states", "seats", layout.SEATS_AT),
    ("hapticd_local_shown", "state", 8),
    ("hapticd_local_state", "generation", 16),
    ("hapticd_local_state", "position", 32),
    ("hapticd_local_state", "force", 80),
    ("hapticd_local_state", "orientation", 176),
    ("hapticd_local_seat", "devices", 64),
    ("hapticd_local_answer", "in_force", 28),
]
SIZES = [
    ("hapticd_local_record", layout.RECORD_BYTES),
    ("hapticd_local_cell", layout.CELL_BYTES),
    ("hapticd_local_page", PAGE_BYTES),
    ("hapticd_local_name", layout.NAME_BYTES),
    ("hapticd_local_shown", layout.SHOWN_BYTES),
    ("hapticd_local_answer", layout.ANSWER.size),
    ("hapticd_local_seat", layout.SEAT_BYTES),
    ("hapticd_local_states", STATES_BYTES),
]


@pytest.mark.parametrize(
    "flags", [(), ("-std=c++11", "-Wpedantic", "-Wshadow"), ("-Wpedantic", "-Wshadow", "-Wconversion")]
)
@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("source", [EXAMPLE, SOURCE], ids=["example", "test client"])
def test_header_compiles_without_a_warning(source: Path, language: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    if language == "c" and "-std=c++11" in flags:
        flags = flags[1:]
    if source == SOURCE and "-Wconversion" in flags:
        flags = flags[:-1]

    compiled(source, tmp_path / "program", language, *flags)


@pytest.mark.parametrize("language", ["c", "c++"])
def test_layout_is_that_of_the_page_in_docs(language: str, tmp_path: Path) -> None:
    word = "_Static_assert" if language == "c" else "static_assert"
    checks = [f'{word}(offsetof({struct}, {member}) == {at}, "{struct}.{member}");' for struct, member, at in PLACES]
    checks += [f'{word}(sizeof({struct}) == {size}, "{struct}");' for struct, size in SIZES]
    numbers = {
        "HAPTICD_LOCAL_VERSION": VERSION,
        "HAPTICD_LOCAL_DEVICES": MAX_DEVICES,
        "HAPTICD_LOCAL_SEATS": SEATS,
        "HAPTICD_LOCAL_FORCE": 1 << Command.COMMAND_FORCE,
        "HAPTICD_LOCAL_POSITION": 1 << Command.COMMAND_POSITION,
        "HAPTICD_LOCAL_TORQUE": 1 << Command.COMMAND_TORQUE,
        "HAPTICD_LOCAL_ANGLE": 1 << Command.COMMAND_ANGLE,
    }
    checks += [f'{word}({name} == {value}, "{name}");' for name, value in numbers.items()]
    source = tmp_path / "layout.c"
    body = "\n".join(checks)
    source.write_text(
        f'#include <stddef.h>\n#include "hapticd_local.h"\n{body}\nint main(void) {{ return 0; }}\n', encoding="utf-8"
    )

    compiled(source, tmp_path / "layout", language)


def test_the_page_in_docs_names_the_sizes_of_the_header() -> None:
    for sentence in (
        f"one cell of {layout.CELL_BYTES} bytes for each of {MAX_DEVICES} slots",
        f"{layout.PLACES} records of {layout.RECORD_BYTES} bytes",
        f"begins with {layout.NAMES_AT} bytes",
        f"{MAX_DEVICES} names of {layout.NAME_BYTES} bytes",
        f"{MAX_DEVICES} states of {layout.SHOWN_BYTES} bytes",
        f"{SEATS} seats of {layout.SEAT_BYTES} bytes",
        f"np.frombuffer(states, np.uint64, {layout.SHOWN_BYTES // 8}, {layout.SHOWN_AT})",
        f"mmap.mmap(page, {PAGE_BYTES})",
    ):
        assert sentence in " ".join(PAGE.split()), sentence


def test_every_function_of_the_header_that_clients_use_is_on_the_page() -> None:
    functions = set(
        re.findall(r"^static inline \w+ (hapticd_local_\w+)\(", HEADER.read_text(encoding="utf-8"), re.MULTILINE)
    )
    helpers = {f"hapticd_local_{name}" for name in ("fails", "line", "number", "copy", "now", "text")}

    assert {name for name in functions - helpers if name not in PAGE} == set()
