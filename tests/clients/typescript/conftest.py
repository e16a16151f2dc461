"""The client compiled under strict, once; skipped with one sentence where there is no node or the packages cannot be had."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ops import client_types

HERE = Path(__file__).parent


def tsc(*words: str) -> subprocess.CompletedProcess[str]:
    """What the compiler says."""
    program = client_types.WORK / "node_modules" / ".bin" / "tsc"
    return subprocess.run([str(program), *words], capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="session")
def packages() -> None:
    """TypeScript and openapi-typescript, as package-lock.json names them."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed: apt-get install nodejs npm")
    try:
        client_types.install()
    except (subprocess.CalledProcessError, OSError) as error:
        pytest.skip(f"npm cannot install what clients/typescript/package-lock.json names: {error}")


@pytest.fixture(scope="session")
def compiled(packages: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the compiled client and wall."""
    del packages
    out = tmp_path_factory.mktemp("typescript")
    done = tsc("--project", str(HERE), "--outDir", str(out))
    assert done.returncode == 0, done.stdout
    (out / "package.json").write_text('{"type": "module"}', "utf-8")
    return out
