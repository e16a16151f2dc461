"""The distribution `hapticd-client`: its version, what it stands on, and that pytest finds its fixture."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import hapticd_client
from hapticd_client.testing import TestService

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "clients" / "python"


def project(path: Path) -> dict[str, object]:
    found: dict[str, object] = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    return found


def test_version_is_that_of_the_service() -> None:
    version = project(ROOT / "pyproject.toml")["version"]

    for name in ("python", "gym", "lerobot"):
        assert project(ROOT / "clients" / name / "pyproject.toml")["version"] == version
    assert hapticd_client.__version__ == version


def test_imports_are_the_standard_library_and_the_declared_dependencies() -> None:
    found: set[str] = set()
    for path in PACKAGE.rglob("hapticd_client*/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found.update(name.name.split(".")[0] for name in node.names)
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").split(".")[0])

    extra = {"anywidget", "traitlets"}  # of the extra notebook, in one module
    assert found - set(sys.stdlib_module_names) - extra == {"hapticd_client", "numpy", "orjson", "websockets"}


def test_core_does_no_io() -> None:
    forbidden = {"socket", "asyncio", "threading", "select", "mmap", "subprocess", "time"}
    for path in (PACKAGE / "hapticd_client" / "core").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = (
                [name.name for name in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            assert not forbidden.intersection(name.split(".")[0] for name in names), path


def test_importing_starts_no_thread_and_the_plugin_imports_no_numpy() -> None:
    program = (
        "import sys, threading, hapticd_client_pytest\n"
        "assert 'numpy' not in sys.modules and 'hapticd_client' not in sys.modules\n"
        "import hapticd_client\nassert threading.active_count() == 1\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


def test_fixture_is_a_running_service(hapticd: TestService) -> None:
    with hapticd.connect() as service, hapticd.connect(local=True) as local:
        assert service.arm.id == local.arm.id
    assert hapticd.stop() == 0
    hapticd.start()
    with hapticd.connect() as service:
        assert service.arm.present
