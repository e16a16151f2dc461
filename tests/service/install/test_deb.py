"""The Debian package: its control data, what is where, and that install, upgrade, remove and purge do what they say."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ops import deb, wheels
from tests.support.service.stub_wheel import stub_wheel

PYTHON = "/usr/bin/python3"
SCRIPTS = Path(deb.__file__).with_name("debian")

pytestmark = [
    pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not installed (package dpkg)"),
    pytest.mark.skipif(wheels.interpreter(PYTHON) is None, reason=f"{PYTHON} is not there, or has no venv and headers"),
    pytest.mark.timeout(300),
]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, built of a stub wheel."""
    folder = tmp_path_factory.mktemp("deb")
    assert deb.main(["--out", str(folder), "--python", PYTHON, "--wheel", str(stub_wheel(folder))]) == 0
    (built,) = folder.glob("*.deb")
    return built


def field(package: Path, name: str) -> str:
    return subprocess.run(["dpkg-deb", "-f", package, name], capture_output=True, text=True, check=True).stdout.strip()


def test_control_names_version_architecture_and_the_python_that_it_is_built_for(package: Path) -> None:
    version = wheels.version_of(PYTHON)
    major, minor = version.split(".")

    assert field(package, "Package") == "hapticd"
    assert field(package, "Version") == deb.version()
    assert f"python3 (>= {version}), python3 (<< {major}.{int(minor) + 1}~)" in field(package, "Depends")
    assert package.name == f"hapticd_{deb.version()}_{field(package, 'Architecture')}.deb"


def test_files_belong_to_root_and_nobody_else_may_write_them(package: Path) -> None:
    listed = subprocess.run(["dpkg-deb", "-c", package], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=5) for line in listed.splitlines()]

    assert {row[1] for row in rows} == {"root/root"}
    assert [row[5] for row in rows if row[0][5] == "w" or row[0][8] == "w" if row[0][0] != "l"] == []
    names = {row[5].removeprefix("./") for row in rows}
    assert {
        "usr/lib/hapticd/bin/hapticd",
        "usr/bin/hapticd -> ../lib/hapticd/bin/hapticd",
        "lib/systemd/system/hapticd.service",
        "lib/udev/rules.d/70-hapticd.rules",
        "usr/lib/sysusers.d/hapticd.conf",
        "usr/share/doc/hapticd/copyright",
        "usr/share/man/man1/hapticd.1",
        "usr/share/bash-completion/completions/hapticd",
        "etc/default/hapticd",
    } <= names


@pytest.mark.parametrize("name", deb.SCRIPTS)
def test_maintainer_scripts_are_valid_shell(name: str) -> None:
    subprocess.run(["sh", "-n", SCRIPTS / name], check=True)
    assert os.access(SCRIPTS / name, os.X_OK)


def test_service_that_was_removed_starts_again_when_it_is_installed_again(tmp_path: Path) -> None:
    """`apt remove` leaves the service enabled: dpkg gives the scripts of the next installation the version of the last one."""
    for name in ("systemctl", "systemd-sysusers", "udevadm"):
        stub = tmp_path / name
        stub.write_text(f'#!/bin/sh\necho {name} "$@"\n')
        stub.chmod(0o755)

    def said(*command: str) -> list[str]:
        environment = {"PATH": f"{tmp_path}{os.pathsep}{os.defpath}", "DPKG_ROOT": ""}
        script = (SCRIPTS / command[0]).read_text(encoding="utf-8")
        # As on a machine whose systemd runs.
        script = script.replace("/run/systemd/system", str(tmp_path)).replace(
            "/usr/lib/hapticd", str(tmp_path / "none")
        )
        done = subprocess.run(
            ["sh", "-c", script, *command], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()

    assert "systemctl enable hapticd.service" in said("postinst", "configure", "")
    assert said("prerm", "remove") == ["systemctl stop hapticd.service"]
    again = said("postinst", "configure", "1.0")
    assert again[-2:] == [
        "systemctl --quiet is-enabled hapticd.service",
        "systemctl restart hapticd.service",
    ]
    assert said("prerm", "upgrade", "2.0") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="dpkg installs as root only")
def test_remove_keeps_state_and_purge_removes_it(package: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    machine(root)

    dpkg(root, "--install", str(package))
    assert "hapticd" in (root / "etc/passwd").read_text(encoding="utf-8")
    assert {"dialout", "plugdev"} <= {line.split(":")[0] for line in (root / "etc/group").read_text().splitlines()}
    program = root / "usr/lib/hapticd"
    assert (program / "bin/hapticd").read_text(encoding="utf-8").startswith("#!/usr/lib/hapticd/bin/python")
    assert "_HAPTICD_COMPLETE" in (root / "usr/share/bash-completion/completions/hapticd").read_text(encoding="utf-8")
    settings = root / "etc/default/hapticd"
    settings.write_text("HAPTICD_MISC__LOG_LEVEL=debug\n", encoding="ascii")
    enabled = root / "etc/systemd/system/multi-user.target.wants/hapticd.service"
    enabled.parent.mkdir(parents=True)
    enabled.symlink_to("/lib/systemd/system/hapticd.service")
    state = root / "var/lib/hapticd/token"
    state.parent.mkdir(parents=True)
    state.write_text("kept", encoding="ascii")

    dpkg(root, "--install", str(package))
    assert state.exists(), "an upgrade keeps it"
    dpkg(root, "--remove", "hapticd")
    assert state.exists()
    assert settings.read_text(encoding="ascii") == "HAPTICD_MISC__LOG_LEVEL=debug\n"
    assert not program.exists()
    dpkg(root, "--purge", "hapticd")
    assert not state.parent.exists()
    assert not settings.exists()
    assert not enabled.is_symlink()


def machine(root: Path) -> None:
    """A root folder in which dpkg can install."""
    for folder in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "etc", "usr/lib", "lib"):
        (root / folder).mkdir(parents=True)
    for file in ("var/lib/dpkg/status", "etc/passwd", "etc/group"):
        (root / file).touch()


def dpkg(root: Path, *command: str) -> None:
    """Run dpkg there; its scripts run with the programs of this machine and are told the root by DPKG_ROOT."""
    options = [f"--root={root}", "--force-script-chrootless", "--force-depends", "--log=/dev/null"]
    # A shell of `su` without `-` has no sbin, where dpkg wants its programs.
    environment = os.environ | {"PATH": f"{os.environ['PATH']}:/usr/local/sbin:/usr/sbin:/sbin"}
    done = subprocess.run(["dpkg", *options, *command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
