"""Run the README's two commands in a new clone, with three environment variables and /usr/bin's Python.

`python3 -m tests.support.suite.fresh_clone` runs `make run` on a terminal until the service is ready, presses Ctrl-C, and then
runs `make test` without what need not be run again (`shares.WITHOUT_LIBRARIES`). Needs nothing but the standard library, git and
what the README names.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.support.service.terminal import CTRL_C, on_terminal

ROOT: Final = Path(__file__).parents[3]
# No directory of a version manager: `python3` is the distribution's.
SYSTEM_PATH: Final = "/usr/sbin:/usr/bin:/sbin:/bin"
READY: Final = "\nready "
STOPPED: Final = "stopped: zero force on every device"


def main() -> int:
    """Exit code: 0 when both commands did what the README says."""
    with TemporaryDirectory(prefix="hapticd-clone-") as folder:
        clone, home = Path(folder, "hapticd"), Path(folder, "home")
        home.mkdir()
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        environment = {"PATH": SYSTEM_PATH, "HOME": str(home), "LANG": "C.UTF-8"}
        return make_run(clone, environment) or make_test(clone, environment)


def make_run(clone: Path, environment: dict[str, str]) -> int:
    """0 when `make run` builds, gets ready, and ends cleanly on Ctrl-C; its output is printed otherwise."""
    code, output = on_terminal(
        ["make", "run"],
        READY,
        lambda _, keyboard: os.write(keyboard, CTRL_C),
        folder=clone,
        environment=environment,
    )
    version = subprocess.run([clone / ".venv/bin/python", "--version"], capture_output=True, text=True, check=False)
    sys.stdout.write(f"make run in a fresh clone with {version.stdout.strip() or 'no Python'}: exit code {code}\n")
    sys.stdout.flush()
    if code == 0 and READY in output.replace("\r", "") and STOPPED in output:
        return 0
    sys.stderr.write(output)
    return code or 1


def make_test(clone: Path, environment: dict[str, str]) -> int:
    """Exit code of `make test` as far as Python and the libraries matter; its output goes to this process's own."""
    command = ["make", "--silent", "test", "PYTEST_ARGS=--libraries"]
    return subprocess.run(command, cwd=clone, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
