"""pyproject.toml declares what the service imports, with a lower and an upper bound, and requirements/ is current with it."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from tests.support.suite.import_floors import PACKAGES, imports_of, sources

ROOT = Path(__file__).parents[1]
MAKE_LOCK = "run make lock"
WITH_CYTHON = {"cython", "libc", "libcpp", "cpython"}


def declared() -> set[str]:
    """Normalised names of the run-time dependencies, those of the extra `usb` too."""
    with (ROOT / "pyproject.toml").open("rb") as text:
        project = tomllib.load(text)["project"]
    requirements: list[str] = [*project["dependencies"], *project["optional-dependencies"]["usb"]]
    return {normal(re.split(r"[\s<>=!~;\[]", requirement, maxsplit=1)[0]) for requirement in requirements}


def imported() -> set[str]:
    """Normalised names of the distributions that the sources import."""
    texts = sources(ROOT)
    tops = {found.module.split(".")[0] for path, text in texts.items() for found in imports_of(path, text, frozenset())}
    foreign = tops - set(PACKAGES) - WITH_CYTHON - set(sys.stdlib_module_names)
    known = packages_distributions()
    return {normal(known.get(top, [top])[0]) for top in foreign}


def ranges(*extras: str) -> dict[str, str]:
    """Range of each library that pyproject.toml names for the build, the service and `extras`, by normalised name."""
    with (ROOT / "pyproject.toml").open("rb") as text:
        found = tomllib.load(text)
    requirements: list[str] = [*found["build-system"]["requires"], *found["project"]["dependencies"]]
    for extra in extras:
        requirements += found["project"]["optional-dependencies"][extra]
    return {normal(name): bounds for name, bounds in (re.split(r"(?=[<>=!~])", r, maxsplit=1) for r in requirements)}


def pinned(file: str) -> dict[str, tuple[str, str]]:
    """Version and range of each library that `file` pins and pyproject.toml named when it was written."""
    lines = (ROOT / "requirements" / file).read_text(encoding="utf-8").splitlines()
    found = (re.fullmatch(r"(\S+)==(\S+)  # (.+)", line) for line in lines)
    return {line[1]: (line[2], line[3]) for line in found if line is not None}


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


@pytest.mark.parametrize(("name", "bounds"), ranges("usb", "test", "dev", "docs").items())
def test_a_dependency_has_a_lower_and_an_upper_bound(name: str, bounds: str) -> None:
    assert sorted(bound.operator for bound in SpecifierSet(bounds)) == ["<", ">="], f"{name}{bounds}"


@pytest.mark.parametrize(
    ("file", "extras"), [("lock.txt", ("usb", "test", "dev", "docs")), ("oldest.txt", ("usb", "test"))]
)
def test_the_pinned_versions_are_of_the_ranges_in_pyproject(file: str, extras: tuple[str, ...]) -> None:
    assert {name: bounds for name, (_, bounds) in pinned(file).items()} == ranges(*extras), MAKE_LOCK
    assert [name for name, (version, bounds) in pinned(file).items() if version not in SpecifierSet(bounds)] == []


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    lowest = {name: Version(bounds.split(",")[0].removeprefix(">=")) for name, bounds in ranges("usb", "test").items()}

    assert {name: Version(version) for name, (version, _) in pinned("oldest.txt").items()} == lowest, MAKE_LOCK
