"""Build the Debian package hapticd_VERSION_ARCH.deb into dist/: `make deb`.

The package has the program with everything that it stands on in a virtual environment at /usr/lib/hapticd, for the distribution's own
Python; unit, udev rules and user are those of `make install-service`.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from ops import install, wheels

ROOT: Final = Path(__file__).resolve().parents[1]
SCRIPTS: Final = ("postinst", "prerm", "postrm")
CONTROL: Final = """\
Package: hapticd
Version: {version}
Architecture: {architecture}
Maintainer: The hapticd project <hapticd@localhost>
Installed-Size: {size}
Depends: python3 (>= {python}), python3 (<< {next_python}~), libc6, libstdc++6, systemd | systemd-standalone-sysusers
Recommends: udev
Section: science
Priority: optional
Description: open service for haptic devices
 A real-time control loop of up to 32,000 ticks a second, streamed to clients
 over WebSocket and HTTP. Drives hAPI boards, Novint Falcons, SpaceMouses and
 boards of the open link protocol, and simulates devices where there are none.
"""
COPYRIGHT: Final = "hapticd is free software under the Apache License 2.0: /usr/share/common-licenses/Apache-2.0\n"


def main(arguments: list[str]) -> int:
    """Build the package, print its path and return the exit code."""
    parser = argparse.ArgumentParser(description="Build the Debian package into dist/.", allow_abbrev=False)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the package (dist)")
    parser.add_argument("--python", default="/usr/bin/python3", help="the distribution's Python (/usr/bin/python3)")
    parser.add_argument("--wheel", type=Path, help="a wheel for that Python; without it one is built")
    chosen = parser.parse_args(arguments)
    if shutil.which("dpkg-deb") is None:
        sys.stderr.write("dpkg-deb is not here: install the package dpkg.\n")
        return 1
    with TemporaryDirectory(prefix="hapticd-deb-") as folder:
        tree = Path(folder, "tree")
        places = install.Places(
            tree,
            prefix=Path("/usr/lib/hapticd"),
            units=Path("/lib/systemd/system"),
            rules=Path("/lib/udev/rules.d"),
            users=Path("/usr/lib/sysusers.d"),
            programs=Path("/usr/bin"),
            share=Path("/usr/share"),
        )
        tree.mkdir(mode=0o755)
        try:
            install.install(places, chosen.python, chosen.wheel)
        except install.CannotInstall as error:
            sys.stderr.write(f"{error}\n")
            return 1
        sys.stdout.write(f"{package(tree, wheels.version_of(chosen.python), chosen.out)}\n")
    return 0


def package(tree: Path, python: str, out: Path) -> Path:
    """Add the package's own files to a tree and build it; `python` is `3.11`. Return the package's path in `out`."""
    architecture = output("dpkg", "--print-architecture")
    major, minor = map(int, python.split("."))
    documents = tree / "usr" / "share" / "doc" / "hapticd"
    documents.mkdir(parents=True)
    (documents / "copyright").write_text(COPYRIGHT, encoding="utf-8")
    for page in (ROOT / "README.md", ROOT / "CHANGELOG.md"):
        shutil.copy(page, documents / page.name)
    size = sum(path.lstat().st_size for path in tree.rglob("*") if path.is_file()) // 1024
    control = tree / "DEBIAN"
    control.mkdir(mode=0o755)
    text = CONTROL.format(
        version=version(),
        architecture=architecture,
        size=size,
        python=python,
        next_python=f"{major}.{minor + 1}",
    )
    (control / "control").write_text(text, encoding="utf-8")
    (control / "conffiles").write_text(f"{install.DEFAULTS}\n", encoding="utf-8")
    for name in SCRIPTS:
        shutil.copy(ROOT / "ops" / "debian" / name, control / name)
        (control / name).chmod(0o755)
    out.mkdir(parents=True, exist_ok=True)
    built = out / f"hapticd_{version()}_{architecture}.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(tree), str(built)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return built


def version() -> str:
    """Return the version of pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as text:
        return str(tomllib.load(text)["project"]["version"])


def output(*command: str) -> str:
    """Return the first line that a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
