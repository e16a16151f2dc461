"""Every package that the service imports is declared in pyproject.toml, and nothing is declared that it does not import."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from tests.support.import_floors import PACKAGES, imports_of, sources

ROOT = Path(__file__).parents[1]
WITH_CYTHON = {"cython", "libc", "libcpp", "cpython"}


def declared() -> set[str]:
    """Normalised names of the run-time dependencies."""
    with (ROOT / "pyproject.toml").open("rb") as text:
        requirements: list[str] = tomllib.load(text)["project"]["dependencies"]
    return {normal(re.split(r"[\s<>=!~;\[]", requirement, maxsplit=1)[0]) for requirement in requirements}


def imported() -> set[str]:
    """Normalised names of the distributions that the sources import."""
    texts = sources(ROOT)
    tops = {found.module.split(".")[0] for path, text in texts.items() for found in imports_of(path, text, frozenset())}
    foreign = tops - set(PACKAGES) - WITH_CYTHON - set(sys.stdlib_module_names)
    known = packages_distributions()
    return {normal(known.get(top, [top])[0]) for top in foreign}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_declared_dependencies_are_those_that_are_imported() -> None:
    assert imported() == declared()


def test_makefile_and_readme_name_the_oldest_python_that_the_package_declares() -> None:
    with (ROOT / "pyproject.toml").open("rb") as text:
        oldest: str = tomllib.load(text)["project"]["requires-python"].removeprefix(">=")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    assert f"sys.version_info < ({oldest.replace('.', ', ')})" in makefile
    assert f"needs Python {oldest} or newer" in makefile
    assert f"Python {oldest} or newer" in (ROOT / "README.md").read_text(encoding="utf-8")
