"""Build of the extensions in fastpath and of the build record that `GET /version` shows; all other metadata is in pyproject.toml."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sysconfig
from datetime import UTC, datetime
from pathlib import Path

from Cython.Build import cythonize
from Cython.Build.Dependencies import create_dependency_tree
from setuptools import Command, Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
FASTPATH = ROOT / "fastpath"
BUILD_RECORD = Path("transport") / "_build_info.json"

# No -ffast-math: it removes the NaN checks. No contraction: a*b+c must give the same bits on every machine.
FLAGS = ["-O2", "-Wall", "-ffp-contract=off"]
LANGUAGE_FLAGS = {"c": ["-std=gnu11"], "c++": ["-std=c++17"]}
# A section for each function and datum of the loop, and of the ports' threads, lets the symbol check follow its calls one by
# one. Nobody reads errno or floating-point flags in the loop: without them the compiler computes the same bits in fewer steps.
# Its loops over three numbers stay what they are instead of becoming string instructions that take longer to start than to run.
SECTIONS = ["-ffunction-sections", "-fdata-sections"]
LOOP_FLAGS = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-fno-tree-loop-distribute-patterns"]
EXTENSION_FLAGS = {"loop": [*SECTIONS, *LOOP_FLAGS], "port_thread": SECTIONS, "streaming": SECTIONS}
INCLUDE_DIRS = ["fastpath"]
HEADERS = (".h", ".hpp")
# `cdef extern from "x.h"` and `#include "x.h"`; Cython itself does not look into headers.
INCLUDED = re.compile(r"""^\s*(?:cdef\s+extern\s+from|\#\s*include)\s+["']([^"'*]+)["']""", re.MULTILINE)
# Set by the Makefile, which has built them in place: an editable install would compile every one of them once more.
EXTENSIONS_ARE_BUILT = "HAPTICD_EXTENSIONS_ARE_BUILT"
MINIMUM_GCC = 11
MINIMUM_CLANG = 16

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
}

GIT_FACTS = {
    "git_hash": ["rev-parse", "HEAD"],
    "git_branch": ["rev-parse", "--abbrev-ref", "HEAD"],
    "git_tag": ["describe", "--tags", "--exact-match"],
    "git_describe": ["describe", "--tags", "--always", "--dirty"],
}


def extensions() -> list[Extension]:
    """One extension for each .pyx below fastpath; `# distutils:` lines in the source are honoured."""
    found = [
        Extension(
            ".".join(source.relative_to(ROOT).with_suffix("").parts),
            [str(source.relative_to(ROOT))],
            include_dirs=INCLUDE_DIRS,
            depends=sorted(path for path in dependencies(str(source.relative_to(ROOT))) if path.endswith(HEADERS)),
            extra_compile_args=FLAGS + EXTENSION_FLAGS.get(source.stem, []),
        )
        for source in sorted(FASTPATH.rglob("*.pyx"))
    ]
    if not found:
        return []
    return cythonize(found, build_dir="build/cython", compiler_directives=DIRECTIVES, include_path=["."])


def dependencies(source: str) -> set[str]:
    """Paths of everything that `source` cimports or includes, directly or not, and of itself; nothing of Cython or the system.

    All paths are relative to the working directory, which is the root of the sources.
    """
    files = [Path(path) for path in create_dependency_tree(quiet=True).all_dependencies(source)]
    found = {os.path.normpath(path) for path in files if not path.is_absolute()} | {source}
    waiting = [Path(path) for path in found]
    while waiting:
        path = waiting.pop()
        for name in INCLUDED.findall(path.read_text(encoding="utf-8")):
            places = (os.path.normpath(folder / name) for folder in (path.parent, *map(Path, INCLUDE_DIRS)))
            header = next((place for place in places if Path(place).is_file()), None)
            if header is not None and header not in found:
                found.add(header)
                waiting.append(Path(header))
    return found


class BuildExtensions(build_ext):
    """Adds the language standard of each extension and refuses a C++ compiler without float `std::to_chars`."""

    def build_extensions(self) -> None:
        if any(e.language == "c++" for e in self.extensions):
            require_cxx17_number_text()
        for extension in self.extensions:
            extension.extra_compile_args += LANGUAGE_FLAGS[extension.language or "c"]
        super().build_extensions()


class BuildRecord(Command):
    """Writes transport/_build_info.json: into the build, or beside the sources when they are used in place."""

    description = "record when and from which commit this was built"
    user_options = []

    def initialize_options(self) -> None:
        self.build_lib: str | None = None
        self.editable_mode = False

    def finalize_options(self) -> None:
        self.set_undefined_options("build_py", ("build_lib", "build_lib"))

    def run(self) -> None:
        in_place = self.editable_mode or "build" not in self.distribution.have_run
        write_build_record(ROOT if in_place else Path(self.build_lib or ""))

    def get_outputs(self) -> list[str]:
        return [] if self.editable_mode else [str(Path(self.build_lib or "") / BUILD_RECORD)]

    def get_output_mapping(self) -> dict[str, str]:
        return {}

    def get_source_files(self) -> list[str]:
        return []


class BuildWithRecord(build):
    """`build` and the build record."""

    sub_commands = [*build.sub_commands, ("build_record", None)]


class SourceDistribution(sdist):
    """Source archive with the build record inside: it has no git history to ask."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        write_build_record(Path(base_dir))


def write_build_record(root: Path) -> None:
    """Time of this build (ISO 8601, UTC) and git's facts, `unknown` where nothing tells; `SOURCE_DATE_EPOCH` is honoured."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    record = {"build_time": moment.isoformat(timespec="seconds"), **git_facts()}
    target = root / BUILD_RECORD
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)  # a release tree may hold a hard link to the source file
    target.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def git_facts() -> dict[str, str]:
    """From this checkout; else from the record that a source archive carries; else `unknown`."""
    if git("rev-parse", "--show-toplevel") == str(ROOT):
        return {name: git(*arguments) or "" for name, arguments in GIT_FACTS.items()}
    carried = ROOT / BUILD_RECORD
    known = json.loads(carried.read_text(encoding="utf-8")) if carried.exists() else {}
    return {name: known.get(name, "unknown") for name in GIT_FACTS}


def git(*arguments: str) -> str | None:
    """Output of one git command; None when git, the history or the fact is not there."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def require_cxx17_number_text() -> None:
    """Exit with one sentence when the C++ compiler is missing, or older than GCC 11 / Clang 16."""
    compiler = shlex.split(os.environ.get("CXX") or sysconfig.get_config_var("CXX") or "g++")
    wanted = (
        f"install GCC {MINIMUM_GCC} or Clang {MINIMUM_CLANG} or newer, or name one in the CXX environment variable."
    )
    try:
        done = subprocess.run(
            [*compiler, "-x", "c++", "-dM", "-E", os.devnull], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit(f"The C++ compiler {compiler[0]!r} does not run: {wanted}") from None
    macros = {name: value for _, name, value in (f"{line}  ".split(" ", 2) for line in done.stdout.splitlines())}
    name, minimum, macro = (
        ("Clang", MINIMUM_CLANG, "__clang_major__") if "__clang__" in macros else ("GCC", MINIMUM_GCC, "__GNUC__")
    )
    version = int(macros[macro])
    if version < minimum:
        raise SystemExit(f"{name} {version} has no std::to_chars for floating point: {wanted}")


if __name__ == "__main__":
    setup(
        ext_modules=[] if os.environ.get(EXTENSIONS_ARE_BUILT) else extensions(),
        cmdclass={
            "build": BuildWithRecord,
            "build_ext": BuildExtensions,
            "build_record": BuildRecord,
            "sdist": SourceDistribution,
        },
    )
