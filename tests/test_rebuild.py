"""A changed .pyx, .pxd or .h rebuilds the extensions that include it, directly or not, and no others."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.suite.setup_script import dependencies

ROOT = Path(__file__).parents[1]
FASTPATH = ROOT / "fastpath"
SOURCES = sorted(FASTPATH.rglob("*.pyx"))
LIST = """
import json, runpy, sys
script = runpy.run_path(sys.argv[1])
print(json.dumps({path: sorted(script["dependencies"](path)) for path in sys.argv[2:]}))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Dependencies of two extensions of a small tree, by source."""
    root = tmp_path_factory.mktemp("tree")
    texts = {
        "fastpath/__init__.py": "",
        "fastpath/arm.pyx": "from fastpath.space.turn cimport turned\n",
        "fastpath/text.pyx": "from fastpath.plain cimport width\n",
        "fastpath/plain.pxd": "cdef int width\n",
        "fastpath/space/__init__.py": "",
        "fastpath/space/turn.pxd": "from fastpath.space.axis cimport axis\ncdef int turned\n",
        "fastpath/space/axis.pxd": 'cdef extern from "cells.h" nogil:\n    int axis\n',
        "fastpath/cells.h": '#include <stdint.h>\n#  include "space/atomic.h"\n',
        "fastpath/space/atomic.h": '#include "width.h"\n',
        "fastpath/space/width.h": "",
        "fastpath/unused.h": "",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", LIST, ROOT / "setup.py", "fastpath/arm.pyx", "fastpath/text.pyx"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def test_an_extension_depends_on_direct_and_indirect_cimports_and_on_nested_headers(
    tree: dict[str, list[str]],
) -> None:
    assert tree["fastpath/arm.pyx"] == [
        "fastpath/arm.pyx",
        "fastpath/cells.h",
        "fastpath/space/atomic.h",
        "fastpath/space/axis.pxd",
        "fastpath/space/turn.pxd",
        "fastpath/space/width.h",
    ]


def test_an_extension_does_not_depend_on_files_that_it_does_not_include(tree: dict[str, list[str]]) -> None:
    assert tree["fastpath/text.pyx"] == ["fastpath/plain.pxd", "fastpath/text.pyx"]


def test_every_pxd_and_header_of_fastpath_is_a_dependency_of_an_extension() -> None:
    used = set().union(*(dependencies(source) for source in SOURCES))
    files = {str(path.relative_to(ROOT)) for suffix in ("pxd", "h", "hpp") for path in FASTPATH.rglob(f"*.{suffix}")}

    assert files - used == set()


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_the_headers_of_an_extension_are_those_that_its_c_file_includes(source: Path) -> None:
    name = source.relative_to(ROOT).with_suffix("")
    generated = next((c for end in (".c", ".cpp") if (c := ROOT / "build" / "cython" / f"{name}{end}").exists()), None)
    if generated is None:
        pytest.skip(f"{name} was not built here: run make build")
    quoted = re.findall(r'^\s*#\s*include "([^"]+)"', generated.read_text(encoding="utf-8"), re.MULTILINE)
    ours = {path.name for suffix in ("h", "hpp") for path in FASTPATH.rglob(f"*.{suffix}")}
    direct = {path.rpartition("/")[2] for path in quoted} & ours
    headers = {path.rpartition("/")[2] for path in dependencies(source) if path.endswith((".h", ".hpp"))}

    assert direct <= headers


@pytest.mark.parametrize("path", [*SOURCES, *sorted(FASTPATH.rglob("*.pxd"))], ids=lambda path: path.name)
def test_no_source_cimports_a_module_from_its_package(path: Path) -> None:
    """Cython 3.3's dependency tree does not see `a.b` in `from a cimport b`: write `cimport a.b as b`."""
    named = re.findall(r"^\s*from\s+(fastpath[\w.]*)\s+cimport\b", path.read_text(encoding="utf-8"), re.MULTILINE)

    assert [module for module in named if not (ROOT / f"{module.replace('.', '/')}.pxd").exists()] == []
