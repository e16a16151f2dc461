"""Install hapticd as a systemd service, or remove it: `make install-service`, `make uninstall-service`.

The program goes into a virtual environment at the prefix, with the unit, the udev rules and the system user beside it. With --destdir
everything goes below that folder, nothing is started and no user is made: for packages and for tests.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from ops import wheels

ROOT: Final = Path(__file__).resolve().parents[1]
UNIT: Final = "hapticd.service"
PREFIX: Final = "/opt/hapticd"
STATE: Final = "/var/lib/hapticd"
USER: Final = "hapticd"
DEFAULTS: Final = Path("/etc/default/hapticd")
# There while udev runs, which it does in no container.
UDEV: Final = Path("/run/udev/control")
# Folders that the unit hides from the service (ProtectHome).
HIDDEN: Final = ("/home", "/root", "/run/user")


class CannotInstall(Exception):
    """Nothing was changed; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where everything goes, below `destdir`."""

    destdir: Path
    prefix: Path = Path(PREFIX)
    units: Path = Path("/etc/systemd/system")
    rules: Path = Path("/etc/udev/rules.d")
    users: Path = Path("/etc/sysusers.d")
    programs: Path = Path("/usr/local/bin")
    share: Path = Path("/usr/local/share")

    def at(self, path: Path) -> Path:
        """Return the path below destdir."""
        return self.destdir / path.relative_to("/")

    @property
    def files(self) -> dict[Path, Path]:
        """Return the source of each file by the place that it goes to."""
        ops = ROOT / "ops"
        return {
            self.units / UNIT: ops / "systemd" / UNIT,
            self.rules / "70-hapticd.rules": ops / "udev" / "70-hapticd.rules",
            self.users / "hapticd.conf": ops / "sysusers" / "hapticd.conf",
            self.share / "man" / "man1" / "hapticd.1": ops / "man" / "hapticd.1",
        }

    @property
    def completion(self) -> Path:
        """Return where bash looks for the completion of the program."""
        return self.share / "bash-completion" / "completions" / "hapticd"

    @property
    def shortcut(self) -> Path:
        """Return the program's name on the PATH."""
        return self.programs / "hapticd"


def main(arguments: list[str]) -> int:
    """Install or remove and return the exit code."""
    parser = argparse.ArgumentParser(description="Install hapticd as a systemd service.", allow_abbrev=False)
    parser.add_argument(
        "--destdir", type=Path, default=Path("/"), help="put everything below this folder, start nothing"
    )
    parser.add_argument("--prefix", type=Path, default=Path(PREFIX), help=f"where the program goes ({PREFIX})")
    parser.add_argument("--python", default="/usr/bin/python3", help="interpreter of the service (/usr/bin/python3)")
    parser.add_argument("--wheel", type=Path, help="a wheel that is built already; without it one is built")
    parser.add_argument("--no-start", action="store_true", help="leave starting to you: systemctl enable --now hapticd")
    parser.add_argument("--uninstall", action="store_true", help="stop and remove the service; its state stays")
    parser.add_argument("--purge", action="store_true", help=f"with --uninstall: remove {STATE} and the user too")
    chosen = parser.parse_args(arguments)
    if chosen.purge and not chosen.uninstall:
        parser.error("--purge removes all state and goes with --uninstall only")
    if not chosen.prefix.is_absolute() or len(chosen.prefix.parts) < 2:
        parser.error("--prefix is an absolute path of a folder of its own, such as /opt/hapticd")
    places = Places(chosen.destdir.resolve(), chosen.prefix)
    here = places.destdir == Path("/")
    try:
        check_rights(places)
        if chosen.uninstall:
            uninstall(places, purge=chosen.purge)
        else:
            install(places, chosen.python, chosen.wheel)
            say(f"installed {places.prefix}, {UNIT} and {places.shortcut}")
            if here and not begin(places, start=not chosen.no_start):
                return 1
    except CannotInstall as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def install(places: Places, python: str, wheel: Path | None) -> None:
    """Put everything in place, replacing an older program as a whole; settings in /etc/default stay as they are."""
    check_python(python)
    check_prefix(places.at(places.prefix))
    with TemporaryDirectory(prefix="hapticd-install-") as folder:
        if wheel is None:
            wheel = wheels.wheel(python, wheels.source_archive(Path(folder)), Path(folder, "wheels"))
        program(places, python, wheel)
    for place, source in places.files.items():
        text = source.read_text(encoding="utf-8").replace(f"{PREFIX}/", f"{places.prefix}/")
        target = places.at(place)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        target.chmod(0o644)
    completion = places.at(places.completion)
    completion.parent.mkdir(parents=True, exist_ok=True)
    completion.write_text(completion_script(), encoding="utf-8")
    shortcut = places.at(places.shortcut)
    shortcut.parent.mkdir(parents=True, exist_ok=True)
    shortcut.unlink(missing_ok=True)
    shortcut.symlink_to(os.path.relpath(places.prefix / "bin" / "hapticd", places.programs))
    defaults = places.at(DEFAULTS)
    if not defaults.exists():
        defaults.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "ops" / "default" / "hapticd", defaults)
        defaults.chmod(0o644)


def completion_script() -> str:
    """Return what bash runs to complete the program's words."""
    command = [
        sys.executable,
        "-c",
        "from transport.main import main; import sys; sys.exit(main(['completion', 'bash']))",
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def begin(places: Places, *, start: bool) -> bool:
    """Make the user, and start or restart the service; return False when it was to start and did not."""
    run("systemd-sysusers", str(places.users / "hapticd.conf"))
    if UDEV.exists():
        run("udevadm", "control", "--reload")
    if systemd_runs():
        run("systemctl", "daemon-reload")
        if start:
            run("systemctl", "enable", UNIT)
            if not run("systemctl", "restart", UNIT):
                say("hapticd is installed and does not start: journalctl -u hapticd says why")
                return False
            say("hapticd runs: systemctl status hapticd, journalctl -u hapticd")
    else:
        say("systemd does not run here: systemctl enable --now hapticd where it does")
    return True


def program(places: Places, python: str, wheel: Path) -> None:
    """Build the virtual environment beside the prefix, then put it in the place of an older one."""
    target = places.at(places.prefix)
    fresh, old = target.with_name(f"{target.name}.new"), target.with_name(f"{target.name}.old")
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    fresh.parent.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run([python, "-m", "venv", "--symlinks", "--without-pip", str(fresh)], check=True)
        python_there = str(fresh / "bin" / "python")
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--python", python_there]
        with_usb = f"{wheel}[usb]"
        if subprocess.run(
            [*pip, "install", "--no-compile", "--only-binary", "libusb-package", with_usb], check=False
        ).returncode:
            say("no wheel of libusb for this machine: USB devices need the system's libusb 1.0")
            subprocess.run([*pip, "install", "--no-compile", str(wheel)], check=True)
        move_scripts(fresh, places.prefix)
        subprocess.run(
            [
                str(fresh / "bin" / "python"),
                "-m",
                "compileall",
                "-q",
                "-s",
                str(fresh),
                "-p",
                str(places.prefix),
                str(fresh / "lib"),
            ],
            check=False,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        shutil.rmtree(fresh, ignore_errors=True)
        raise CannotInstall(f"The program could not be installed ({error}); what was there is as it was.") from error
    if target.exists():
        target.rename(old)
    fresh.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def move_scripts(built: Path, prefix: Path) -> None:
    """Let what the environment says of its own place name `prefix` instead of the folder where it was built."""
    was, now = str(built).encode(), str(prefix).encode()
    for path in (*(built / "bin").iterdir(), built / "pyvenv.cfg"):
        if path.is_file() and not path.is_symlink():
            text = path.read_bytes()
            if was in text:
                path.write_bytes(text.replace(was, now))


def uninstall(places: Places, *, purge: bool) -> None:
    """Stop the service, zero force last, and remove what `install` put in place; settings and state stay unless purged."""
    here = places.destdir == Path("/")
    check_prefix(places.at(places.prefix))
    if here and systemd_runs() and (places.units / UNIT).exists():
        run("systemctl", "disable", "--now", UNIT)
    for place in (*places.files, places.completion, places.shortcut):
        places.at(place).unlink(missing_ok=True)
    shutil.rmtree(places.at(places.prefix), ignore_errors=True)
    if here and systemd_runs():
        run("systemctl", "daemon-reload")
    if not purge:
        say(f"removed the program; its state stays in {STATE}, PURGE=1 removes it too")
        return
    shutil.rmtree(places.at(Path(STATE)), ignore_errors=True)
    places.at(DEFAULTS).unlink(missing_ok=True)
    if here:
        run("userdel", USER)
    say(f"removed the program, its user and {STATE}")


def check_rights(places: Places) -> None:
    """CannotInstall without the right to write where everything goes."""
    if places.destdir == Path("/") and os.geteuid() != 0:
        raise CannotInstall("This needs root: sudo make install-service, or give DESTDIR=/some/folder.")


def check_python(python: str) -> None:
    """CannotInstall unless the interpreter can build, and the service can reach it."""
    if wheels.interpreter(python if os.sep in python else str(shutil.which(python) or "/nowhere")) is None:
        raise CannotInstall(
            f"{python} is no Python 3.11.2 or newer with venv and headers: install python3-venv and python3-dev, or name "
            "another interpreter with SERVICE_PYTHON=/path/to/python3."
        )
    real = str(Path(shutil.which(python) or python).resolve())
    if real.startswith(tuple(f"{folder}/" for folder in HIDDEN)):
        raise CannotInstall(
            f"{python} is in {real}, which a service may not read (ProtectHome): name an interpreter of the system with "
            "SERVICE_PYTHON=/path/to/python3."
        )


def check_prefix(target: Path) -> None:
    """CannotInstall if something else than this program is at the prefix."""
    if target.is_symlink() or (target.exists() and any(target.iterdir()) and not (target / "bin" / "hapticd").exists()):
        raise CannotInstall(f"{target} is there and is no hapticd: move it away, or choose another PREFIX.")


def systemd_runs() -> bool:
    """Whether systemd is this machine's process 1."""
    return Path("/run/systemd/system").is_dir()


def run(*command: str) -> bool:
    """Run a command of the system and return whether it worked; a failure is said and does not end the installation."""
    if shutil.which(command[0]) is None:
        say(f"{command[0]} is not here: {' '.join(command)} was left out")
        return False
    if subprocess.run(command, check=False).returncode:
        say(f"this failed and was left out: {' '.join(command)}")
        return False
    return True


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
