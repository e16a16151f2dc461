"""`make install-service` and `make uninstall-service` below a DESTDIR: where things go, upgrades, what stays, and refusals."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ops import install, wheels
from tests.support.service.stub_wheel import stub_wheel

ROOT = Path(__file__).parents[3]
PYTHON = "/usr/bin/python3"

pytestmark = [
    pytest.mark.skipif(wheels.interpreter(PYTHON) is None, reason=f"{PYTHON} is not there, or has no venv and headers"),
    pytest.mark.timeout(300),
]


def installer(*arguments: str) -> int:
    return install.main(["--python", PYTHON, *arguments])


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_install_upgrade_and_uninstall_below_a_destdir(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root, prefix = tmp_path / "root", Path("/srv/haptics")
    state = root / "var/lib/hapticd"
    state.mkdir(parents=True)
    (state / "token").write_text("kept", encoding="ascii")
    options = ["--destdir", str(root), "--prefix", str(prefix)]

    assert installer(*options, "--wheel", str(stub_wheel(tmp_path, "1.0"))) == 0

    program = root / "srv/haptics"
    script = (program / "bin/hapticd").read_text(encoding="utf-8")
    assert script.startswith(f"#!{prefix}/bin/python")
    assert str(tmp_path) not in script
    assert str(tmp_path) not in (program / "pyvenv.cfg").read_text(encoding="utf-8")
    unit = (root / "etc/systemd/system/hapticd.service").read_text(encoding="utf-8")
    assert f"\nExecStart={prefix}/bin/hapticd run " in unit
    assert "/opt/" not in unit
    assert (root / "etc/udev/rules.d/70-hapticd.rules").exists()
    assert (root / "etc/sysusers.d/hapticd.conf").exists()
    assert version_in(program) == "hapticd 1.0"
    assert (root / "usr/local/bin/hapticd").readlink() == Path("../../../srv/haptics/bin/hapticd")
    assert (root / "usr/local/share/man/man1/hapticd.1").read_text(encoding="utf-8").startswith('.\\"')
    completion = (root / "usr/local/share/bash-completion/completions/hapticd").read_text(encoding="utf-8")
    assert "_HAPTICD_COMPLETE=bash_complete" in completion
    settings = root / "etc/default/hapticd"
    assert {line[:1] for line in settings.read_text(encoding="ascii").splitlines()} == {"#"}
    settings.write_text("HAPTICD_MISC__LOG_LEVEL=debug\n", encoding="ascii")

    assert installer(*options, "--wheel", str(stub_wheel(tmp_path, "2.0"))) == 0
    assert version_in(program) == "hapticd 2.0"
    assert sorted(path.name for path in program.parent.iterdir()) == ["haptics"], (
        "nothing of the old one is left beside it"
    )

    assert installer("--uninstall", *options) == 0
    assert files_of(root) == {"var/lib/hapticd/token", "etc/default/hapticd"}
    assert settings.read_text(encoding="ascii") == "HAPTICD_MISC__LOG_LEVEL=debug\n"
    assert not (root / "usr/local/bin/hapticd").is_symlink()
    assert not program.exists()
    assert "its state stays" in capfd.readouterr().out

    assert installer("--uninstall", "--purge", *options) == 0
    assert files_of(root) == set()


def version_in(program: Path) -> str:
    """What the installed program says, started from where it lies: its first line names where it will lie."""
    done = subprocess.run(
        [program / "bin/python", program / "bin/hapticd"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/bin"},
    )
    return done.stdout.rsplit(" ", 1)[0]


def test_failed_upgrade_leaves_what_was_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = ["--destdir", str(tmp_path / "root")]
    assert installer(*options, "--wheel", str(stub_wheel(tmp_path))) == 0
    broken = tmp_path / "hapticd-9.0-py3-none-any.whl"
    broken.write_bytes(b"no wheel")

    assert installer(*options, "--wheel", str(broken)) == 1

    program = tmp_path / "root/opt/hapticd"
    assert version_in(program) == "hapticd 1.0"
    assert [path.name for path in program.parent.iterdir()] == ["hapticd"]
    assert "what was there is as it was" in capfd.readouterr().err


def test_foreign_folder_at_the_prefix_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    theirs = tmp_path / "opt/hapticd/theirs"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("x", encoding="ascii")
    wheel = str(stub_wheel(tmp_path))

    for arguments in (["--wheel", wheel], ["--uninstall"], ["--uninstall", "--purge"]):
        assert installer("--destdir", str(tmp_path), *arguments) == 1

    assert theirs.exists()
    assert not (tmp_path / "etc").exists()
    assert "is no hapticd: move it away" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--python", "/nowhere/python3"], "install python3-venv and python3-dev"),
        (["--python", "/bin/true"], "SERVICE_PYTHON="),
    ],
)
def test_unusable_python_is_refused_before_anything_changes(
    arguments: list[str], words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert install.main(["--destdir", str(tmp_path), *arguments]) == 1

    assert words in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_python_that_the_unit_hides_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(install, "HIDDEN", ("/usr",))

    assert installer("--destdir", str(tmp_path), "--wheel", "x.whl") == 1

    assert "which a service may not read (ProtectHome)" in capfd.readouterr().err


@pytest.mark.parametrize("starts", [True, False])
def test_service_that_does_not_start_is_not_said_to_run(
    starts: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def run(*command: str) -> bool:
        return starts or "restart" not in command

    monkeypatch.setattr(install, "run", run)
    monkeypatch.setattr(install, "systemd_runs", lambda: True)

    assert install.begin(install.Places(Path("/")), start=True) is starts

    assert ("hapticd runs" in capfd.readouterr().out) is starts


@pytest.mark.parametrize("arguments", [["--purge"], ["--prefix", "relative"], ["--prefix", "/"]])
def test_dangerous_options_are_usage_errors(arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        install.main(arguments)


def test_without_root_nothing_is_touched(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    assert install.main([]) == 1
    assert install.main(["--uninstall"]) == 1

    assert "sudo make install-service" in capfd.readouterr().err


def test_make_targets_hand_destdir_prefix_and_purge_on() -> None:
    def shown(*arguments: str) -> str:
        environment = {name: value for name, value in os.environ.items() if "MAKE" not in name and name != "MFLAGS"}
        done = subprocess.run(
            ["make", "-n", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()[-1]

    assert re.search(
        r"-m ops\.install --destdir /x --prefix /y --python /usr/bin/python3$",
        shown("install-service", "DESTDIR=/x", "PREFIX=/y"),
    )
    for name in ("uninstall-service", "uninstall"):
        assert shown(name).endswith("-m ops.install --uninstall  --destdir / --prefix /opt/hapticd")
        assert "--uninstall --purge --destdir" in shown(name, "PURGE=1")
    assert shown("wheels", f"WHEELS={sys.executable}").endswith(f"-m ops.wheels {sys.executable}")
