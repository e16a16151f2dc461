"""Write requirements/lock.txt and requirements/oldest.txt from the ranges in pyproject.toml: `make lock`.

lock.txt pins the newest allowed version of everything, oldest.txt the lower bound of each library that the service, its build
and its tests name, and the newest of what those need in turn. pip resolves both, for the Python that runs this.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = ROOT / "requirements"
# The checks of the sources (`dev`) and the site (`docs`) run with the newest versions only.
EXTRAS: Final = {"lock.txt": ("usb", "test", "dev", "docs"), "oldest.txt": ("usb", "test")}
LOWER_BOUND: Final = re.compile(r">=\s*([^,;\s]+)")


def ranges(file: str) -> dict[str, str]:
    """Return the version range of each library of pyproject.toml that `file` pins, by normalised name."""
    with (ROOT / "pyproject.toml").open("rb") as text:
        declared = tomllib.load(text)
    requirements: list[str] = [*declared["build-system"]["requires"], *declared["project"]["dependencies"]]
    for extra in EXTRAS[file]:
        requirements += declared["project"]["optional-dependencies"][extra]
    parts = (re.fullmatch(r"([\w.-]+)\s*(.*)", requirement) for requirement in requirements)
    return {normal(found[1]): found[2] for found in parts if found is not None}


def lower_bound(allowed: str) -> str:
    """Return the version `1.2` of a range `>=1.2,<2`."""
    found = LOWER_BOUND.search(allowed)
    if found is None:
        raise SystemExit(f"The range {allowed!r} has no lower bound: write it in pyproject.toml as >=1.2,<2.")
    return found[1]


def normal(name: str) -> str:
    """Return a distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def resolved(requirements: list[str]) -> dict[str, str]:
    """Return the versions that pip would install for these requirements, by normalised name."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-qq", "install", "--dry-run"]
    done = subprocess.run(
        [*command, "--ignore-installed", "--report", "-", *requirements], stdout=subprocess.PIPE, check=True
    )
    found = [item["metadata"] for item in json.loads(done.stdout)["install"]]
    return {normal(metadata["name"]): metadata["version"] for metadata in found}


def text(file: str) -> str:
    """Return the text of one file: a line for each library, with its range where pyproject.toml names it."""
    named = ranges(file)
    oldest = file == "oldest.txt"
    versions = resolved(
        [f"{name}=={lower_bound(allowed)}" if oldest else f"{name}{allowed}" for name, allowed in named.items()]
    )
    python = ".".join(map(str, sys.version_info[:2]))
    head = (
        f"# Written by `make lock` with Python {python}; the ranges behind the versions are those of pyproject.toml.\n"
    )
    lines = (
        f"{name}=={version}" + (f"  # {named[name]}" if name in named else "")
        for name, version in sorted(versions.items())
    )
    return head + "".join(f"{line}\n" for line in lines)


def main() -> None:
    """Write both files."""
    FOLDER.mkdir(exist_ok=True)
    for file in EXTRAS:
        (FOLDER / file).write_text(text(file), encoding="utf-8")


if __name__ == "__main__":
    main()
