"""The sources keep the text rules of tests/support, and the check finds violations."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import pytest

from tests.support.suite.import_floors import sources
from tests.support.suite.source_rules import takes_parts_of_options, unsorted_imports, vendor_words

ROOT = Path(__file__).parents[1]


def shipped() -> dict[PurePosixPath, str]:
    headers = {
        PurePosixPath(path.relative_to(ROOT).as_posix()): path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "fastpath").rglob("*.h"))
    }
    return sources(ROOT) | headers


def test_vendor_words_occur_only_in_specs_of_kinds() -> None:
    assert [sentence for path, text in shipped().items() for sentence in vendor_words(path, text)] == []


def test_every_command_line_parser_requires_full_option_names() -> None:
    by_hand = [*(ROOT / "docs").rglob("*.py"), *(ROOT / "ops").rglob("*.py"), *(ROOT / "tests/emulators").rglob("*.py")]
    texts = shipped() | {PurePosixPath(path.relative_to(ROOT).as_posix()): path.read_text("utf-8") for path in by_hand}

    assert any("ArgumentParser(" in text for text in texts.values())
    parsers = {path: text for path, text in texts.items() if path.suffix == ".py" and "argparse" in text}
    assert [sentence for path, text in parsers.items() for sentence in takes_parts_of_options(path, text)] == []


def test_no_text_has_the_marks_of_a_merge() -> None:
    pages = {
        PurePosixPath(path.relative_to(ROOT).as_posix()): path.read_text("utf-8") for path in ROOT.glob("docs/**/*.md")
    }
    texts = shipped() | pages

    assert [path for path, text in texts.items() if re.search(r"^(<{7}|>{7}) ", text, re.MULTILINE)] == []


@pytest.mark.parametrize("call", ["argparse.ArgumentParser()", "Parser(prog='x')", "commands.add_parser('run')"])
def test_parser_with_option_abbreviations_is_named(call: str) -> None:
    path = PurePosixPath("transport/command_line.py")

    (sentence,) = takes_parts_of_options(path, f"import argparse\n{call}\n")

    assert sentence.startswith("transport/command_line.py:2 ")
    assert takes_parts_of_options(path, f"{call[:-1]}{'' if call.endswith('()') else ', '}allow_abbrev=False)") == []


@pytest.mark.parametrize(
    "line",
    [
        "GROUP = 'inverse3'",
        "# an Inverse3x",
        "preset = 'minverse_zup'",
        "x = 'wireless_verse_grip'",
        "class VerseGrip: ...",
        "custom-verse-grip",
        "Haply",
    ],
)
def test_a_vendor_word_is_named_in_a_sentence(line: str) -> None:
    (sentence,) = vendor_words(PurePosixPath("actors/device/actor.py"), f"import math\n{line}\n")

    assert sentence.startswith("actors/device/actor.py:2 says ")
    assert sentence.endswith(".")


@pytest.mark.parametrize(
    "line", ["choices=('neutral', 'inverse')", "inverse = transpose(m)", "the universe", "traverse"]
)
def test_sources_without_vendor_words_pass(line: str) -> None:
    assert vendor_words(PurePosixPath("actors/settings/catalog.py"), line) == []


def test_spec_of_a_kind_may_contain_vendor_words() -> None:
    assert vendor_words(PurePosixPath("actors/values/kinds/arm.py"), "'inverse3'") == []


def test_the_imports_of_cython_sources_are_sorted() -> None:
    cython = {path: text for path, text in shipped().items() if path.suffix in {".pyx", ".pxd"}}

    assert cython
    assert [sentence for path, text in cython.items() for sentence in unsorted_imports(path, text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "from fastpath.b cimport x\nfrom fastpath.a cimport y\n",
        "import numpy as np\nfrom libc.math cimport sqrt\n",
        "from fastpath.a import x\nimport numpy as np\n",
        "cimport fastpath.b as b\nfrom fastpath.a cimport y\n",
        "from libc.stdint cimport int64_t, int8_t\n",
        "from fastpath.a cimport Struct, CONSTANT\n",
        "from fastpath.a cimport (\n    one, two,\n    three\n)\n",
    ],
)
def test_unsorted_imports_of_a_cython_source_are_named_in_one_sentence(text: str) -> None:
    (sentence,) = unsorted_imports(PurePosixPath("fastpath/tick/loop.pyx"), f'"""Loop."""\n{text}')

    assert sentence.startswith("fastpath/tick/loop.pyx:")
    assert sentence.endswith(".")


def test_sorted_imports_of_a_cython_source_pass() -> None:
    text = (
        "from libc.stdint cimport int8_t, uint32_t\nimport threading\n\nimport numpy as np\n\n"
        "cimport fastpath.a as a\nfrom fastpath.a.b cimport CONSTANT, Struct, take\nfrom fastpath.b import values\n\n"
        'cdef extern from "x.h":\n    int y\n'
    )

    assert unsorted_imports(PurePosixPath("fastpath/tick/loop.pyx"), text) == []
