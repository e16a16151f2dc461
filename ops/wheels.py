"""Build the wheel for each Python that is asked for, from one source archive, and those of the clients in Python: `make wheels`.

Each interpreter builds in a virtual environment of its own, with what pyproject.toml says that the build stands on. The wheels fit this
machine's C library and newer ones; they are not manylinux wheels.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
CLIENTS: Final = ("python", "gym", "lerobot")
VERSIONS: Final = ("3.11", "3.12", "3.13")
PROBE: Final = (
    "import ensurepip, os, sys, sysconfig, venv\n"
    "os.stat(os.path.join(sysconfig.get_path('include'), 'Python.h'))\n"
    "print(sys.version_info >= (3, 11, 2))"
)
VERSION: Final = "import sys; print('%d.%d' % sys.version_info[:2])"


def main(arguments: list[str]) -> int:
    """Build and return the exit code: 1 when a version that was asked for has no interpreter here."""
    parser = argparse.ArgumentParser(description="Build wheels into dist/.", allow_abbrev=False)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the wheels (dist)")
    parser.add_argument(
        "versions", nargs="*", help=f"3.12, or the path of an interpreter; those of {VERSIONS} that are here"
    )
    chosen = parser.parse_args(arguments)
    found = [(name, interpreter(name)) for name in chosen.versions or VERSIONS]
    missing = [name for name, path in found if path is None]
    for name in missing:
        sys.stderr.write(f"no Python {name} with venv and headers is here\n")
    usable = [path for _, path in found if path is not None]
    if not usable or (missing and chosen.versions):
        return 1
    with TemporaryDirectory(prefix="hapticd-wheels-") as folder:
        archive = source_archive(Path(folder))
        for path in usable:
            sys.stdout.write(f"{wheel(path, archive, chosen.out)}\n")
            sys.stdout.flush()
    for name in CLIENTS:
        sys.stdout.write(f"{client_wheel(name, chosen.out)}\n")
    return 0


def source_archive(folder: Path) -> Path:
    """Build the source archive of this tree into `folder` and return it."""
    command = [sys.executable, "-m", "build", "--sdist", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (archive,) = folder.glob("*.tar.gz")
    return archive


def wheel(python: str, archive: Path, out: Path) -> Path:
    """Build the wheel of a source archive with an interpreter; return its path in `out`."""
    with TemporaryDirectory(prefix="hapticd-wheel-") as folder:
        subprocess.run([python, "-m", "venv", f"{folder}/venv"], check=True)
        pip = [f"{folder}/venv/bin/python", "-m", "pip", "--disable-pip-version-check", "--quiet"]
        subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", f"{folder}/out", str(archive)], check=True)
        (built,) = Path(folder, "out").glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(built, out / built.name))


def client_wheel(name: str, out: Path) -> Path:
    """Build the wheel of clients/`name`, which fits every Python; return its path in `out`."""
    with TemporaryDirectory(prefix="hapticd-wheel-") as folder:
        # In a copy: setuptools leaves its files beside the sources.
        source = Path(shutil.copytree(ROOT / "clients" / name, Path(folder, "source")))
        command = [sys.executable, "-m", "build", "--wheel", "--outdir", f"{folder}/out", str(source)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (built,) = Path(folder, "out").glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(built, out / built.name))


def interpreter(name: str) -> str | None:
    """Return the path of an interpreter of this version (or at this path) that can build; None without one."""
    for path in candidates(name):
        said = subprocess.run([path, "-c", PROBE], capture_output=True, text=True, check=False).stdout.strip()
        if said == "True" and (os.sep in name or version_of(path) == name):
            return path
    return None


def version_of(path: str) -> str:
    """Return `3.12` of an interpreter."""
    return subprocess.run([path, "-c", VERSION], capture_output=True, text=True, check=True).stdout.strip()


def candidates(name: str) -> Iterator[str]:
    """Yield existing paths where an interpreter may be: the path itself, the system's, those on PATH, those of pyenv."""
    if os.sep in name:
        found = [name]
    else:
        on_path = [shutil.which(f"python{name}")]
        pyenv = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{name}.*/bin/python"))
        found = ["/usr/bin/python3", f"/usr/bin/python{name}", *(path for path in on_path if path), *map(str, pyenv)]
    yield from (path for path in found if Path(path).exists())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
