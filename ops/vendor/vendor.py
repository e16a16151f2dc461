"""Bundle the dashboard's libraries with esbuild and write `VENDOR.json`; run by `make vendor`, needs node and the npm registry."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
TARGET: Final = ROOT / "transport" / "dashboard" / "static" / "vendor"
TESTS: Final = ROOT / "tests" / "dashboard" / "vendor"
WORK: Final = ROOT / "build" / "vendor"
# Bundle: npm packages that it is made of.
BUNDLES: Final = {
    "ui.js": ("preact", "@preact/signals", "@preact/signals-core", "htm"),
    "plot.js": ("uplot",),
    "plot.css": ("uplot",),
    "scene.js": ("three",),
}
# Files that the tests use as they come.
COPIES: Final = {"axe.min.js": ("axe-core", "axe.min.js")}


def main() -> int:
    """Install the versions of package-lock.json, bundle, and write the records."""
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.copytree(HERE, WORK, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=WORK, check=True)
    lock = json.loads((WORK / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in BUNDLES:
        _bundle(name)
    _record(TARGET, {name: [_package(lock, one) for one in packages] for name, packages in BUNDLES.items()})
    _licences(TARGET, sorted({one for packages in BUNDLES.values() for one in packages}))
    TESTS.mkdir(parents=True, exist_ok=True)
    for name, (package, path) in COPIES.items():
        shutil.copyfile(WORK / "node_modules" / package / path, TESTS / name)
    _record(TESTS, {name: [_package(lock, package)] for name, (package, _) in COPIES.items()})
    _licences(TESTS, sorted(package for package, _ in COPIES.values()))
    return 0


def _bundle(name: str) -> None:
    if name.endswith(".css"):
        shutil.copyfile(WORK / "node_modules" / "uplot" / "dist" / "uPlot.min.css", TARGET / name)
        return
    command = [
        "node_modules/@esbuild/linux-x64/bin/esbuild",
        f"entries/{name}",
        "--bundle",
        "--minify",
        "--format=esm",
        "--target=es2022",
        "--legal-comments=none",
        f"--outfile={TARGET / name}",
    ]
    subprocess.run(command, cwd=WORK, check=True, env={**os.environ, "NODE_PATH": str(WORK / "node_modules")})


def _package(lock: dict[str, Any], name: str) -> dict[str, str]:
    found = lock[f"node_modules/{name}"]
    return {
        "name": name,
        "version": found["version"],
        "integrity": found["integrity"],
        "licence": found["license"],
    }


def _record(folder: Path, bundles: dict[str, list[dict[str, str]]]) -> None:
    """Write `VENDOR.json`: for each file its sha256, its length in bytes, and the packages in it."""
    rows: list[dict[str, object]] = []
    for name, packages in bundles.items():
        content = (folder / name).read_bytes()
        rows.append(
            {
                "file": name,
                "sha256": hashlib.sha256(content).hexdigest(),
                "bytes": len(content),
                "packages": packages,
            }
        )
    (folder / "VENDOR.json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


def _licences(folder: Path, packages: list[str]) -> None:
    texts: list[str] = []
    for name in packages:
        text = (WORK / "node_modules" / name / "LICENSE").read_text(encoding="utf-8")
        texts.append(f"{name}\n{'=' * len(name)}\n\n{text.strip()}\n")
    (folder / "LICENSES.txt").write_text("\n\n".join(texts), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
