"""The built wheel, installed without the sources, starts the same service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from tests.support.service.process import RunningService

ROOT = Path(__file__).parents[2]
PACKAGES = ("actors", "fastpath", "transport")
NEVER_IN_A_WHEEL = (".c", ".cpp", ".o", ".pyc")

pytestmark = pytest.mark.timeout(600)


def build(kind: str, source: Path, target: Path) -> Path:
    """The one file that setuptools' own backend makes of `source`, `kind` being wheel or sdist, with what is installed here."""
    backend = f"import sys; from setuptools import build_meta; print(build_meta.build_{kind}(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", backend, str(target)],
        cwd=source,
        env={**os.environ, **in_a_hurry(target)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return target / done.stdout.splitlines()[-1]


def in_a_hurry(folder: Path) -> dict[str, str]:
    """The environment of a build that does not optimise and compiles two files at a time: what is packed is the same."""
    options = folder / "hurry.cfg"
    options.write_text("[build_ext]\nparallel = 2\n", encoding="utf-8")
    found = {"DIST_EXTRA_CONFIG": str(options)}
    for name, usual in (("CC", "cc"), ("CXX", "c++")):
        compiler = folder / f"hurried-{usual}"
        compiler.write_text(f'#!/bin/sh\nexec {os.environ.get(name, usual)} "$@" -O0\n', encoding="utf-8")
        compiler.chmod(0o755)
        found[name] = str(compiler)
    return found


@pytest.fixture(scope="module")
def source_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, unpacked."""
    target = tmp_path_factory.mktemp("sdist")
    subprocess.run(["tar", "-xf", build("sdist", ROOT, target), "-C", target], check=True)
    (unpacked,) = (entry for entry in target.iterdir() if entry.is_dir())
    return unpacked


@pytest.fixture(scope="module")
def wheel(source_archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source archive: what is missing there is missing here."""
    return build("wheel", source_archive, tmp_path_factory.mktemp("wheel"))


def test_wheel_contains_every_source_file(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    extension = sysconfig.get_config_var("EXT_SUFFIX")
    expected = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for pattern in ("*.py", "*.pyi", "*.pxd", "*.pyx", "*.h", "*.hpp", "py.typed")
        for path in (ROOT / package).rglob(pattern)
    }
    pages = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "transport" / "dashboard" / "static").rglob("*")
        if path.is_file()
    }
    built = {path.relative_to(ROOT).with_suffix(extension).as_posix() for path in (ROOT / "fastpath").rglob("*.pyx")}
    tops = {name.split("/", 1)[0] for name in names}

    assert expected - names == set()
    assert pages
    assert pages - names == set()
    assert built - names == set()
    assert {f"{package}/py.typed" for package in PACKAGES} - names == set()
    assert tops - {top for top in tops if top.endswith((".dist-info", ".data"))} == set(PACKAGES)
    # The man page and the udev rules, beside the packages.
    assert {PurePosixPath(name).name for name in names if ".data/" in name} == {"hapticd.1", "70-hapticd.rules"}
    assert [name for name in names if name.endswith(NEVER_IN_A_WHEEL)] == []


def test_wheel_has_the_commit_of_its_source_archive(source_archive: Path, wheel: Path) -> None:
    recorded = json.loads((source_archive / "transport" / "_build_info.json").read_text(encoding="utf-8"))
    shipped = json.loads(zipfile.ZipFile(wheel).read("transport/_build_info.json"))

    assert shipped["git_hash"] == recorded["git_hash"]
    assert is_a_commit_here(shipped["git_hash"])
    assert shipped["build_time"] >= recorded["build_time"]


def test_the_service_starts_from_an_installed_wheel(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "installed"
    venv.create(home, with_pip=False, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(home / "bin" / "python")]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True, cwd=tmp_path)
    # What the service stands on comes from this environment, the service itself from the wheel alone.
    (packages / "stands-on.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")

    said = subprocess.run(
        [home / "bin" / "hapticd", "--version"],
        cwd=tmp_path,
        env={"PATH": "/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == f"hapticd {wheel.name.split('-')[1]}\n"

    with RunningService(command=[str(home / "bin" / "hapticd")], environment={"PYTHONPATH": ""}) as service:
        status, version = service.request("GET", "/version")
        page = service.request_raw("GET", "/dashboard/")

    assert status == 200
    assert version["project_name"] == "hapticd"
    assert page[0] == 200
    assert "js/main.js" in page[1]
    assert version["git_hash"] == json.loads(zipfile.ZipFile(wheel).read("transport/_build_info.json"))["git_hash"]
    assert imported_from(home / "bin" / "python", tmp_path) == {str(packages / package) for package in PACKAGES}


def imported_from(python: Path, folder: Path) -> set[str]:
    """Folders from which an interpreter, started in `folder`, takes the three packages."""
    text = f"import importlib.util as u; print(*(u.find_spec(p).submodule_search_locations[0] for p in {PACKAGES}), sep='\\n')"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [str(python), "-c", text], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def is_a_commit_here(name: str) -> bool:
    """Whether this checkout has the commit; without a history `unknown` is the honest name."""
    if not (ROOT / ".git").exists():
        return name == "unknown"
    done = subprocess.run(["git", "cat-file", "-e", f"{name}^{{commit}}"], cwd=ROOT, capture_output=True, check=False)
    return done.returncode == 0
