"""The real wheels and the real Debian package: what is built starts and serves, with nothing of this checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ops import deb, wheels
from tests.support.service.process import RunningService

PYTHON = "/usr/bin/python3"
FOUND = [path for path in (wheels.interpreter(version) for version in wheels.VERSIONS) if path is not None]

pytestmark = pytest.mark.soak


@pytest.mark.skipif(not FOUND, reason="no Python of 3.11 to 3.13 with venv and headers is here")
def test_wheel_of_each_python_says_its_version_in_an_empty_environment(tmp_path: Path) -> None:
    assert wheels.main(["--out", str(tmp_path / "dist"), *FOUND]) == 0

    built = sorted((tmp_path / "dist").glob("*.whl"))
    # And that of the Python client, which fits each of them.
    assert len(built) == len(FOUND) + 1
    for python in FOUND:
        home = tmp_path / f"venv-{wheels.version_of(python)}"
        tag = f"cp{wheels.version_of(python).replace('.', '')}"
        (wheel,) = [path for path in built if f"-{tag}-" in path.name]
        subprocess.run([python, "-m", "venv", home], check=True)
        subprocess.run([home / "bin/pip", "install", "--quiet", f"{wheel}[usb]"], check=True)
        said = subprocess.run(
            [home / "bin/hapticd", "--version"],
            cwd=tmp_path,
            env={"PATH": "/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert said.stdout == f"hapticd {deb.version()}\n"


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not installed (package dpkg)")
@pytest.mark.skipif(wheels.interpreter(PYTHON) is None, reason=f"{PYTHON} is not there, or has no venv and headers")
def test_program_of_the_package_serves(tmp_path: Path) -> None:
    assert deb.main(["--out", str(tmp_path), "--python", PYTHON]) == 0
    (package,) = tmp_path.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", package, tmp_path / "root"], check=True)
    program = tmp_path / "root/usr/lib/hapticd/bin"

    # Its first line names /usr/lib/hapticd, where it is not here.
    command = [str(program / "python"), str(program / "hapticd")]
    with RunningService(command=command, environment={"PYTHONPATH": "", "PATH": os.defpath}) as service:
        status, version = service.request("GET", "/version")

    assert (status, version["project_version"]) == (200, deb.version())
