"""The whole suite as two processes at once: what only computes beside what runs services, loops and builds.

`make test` stands behind this; with arguments of its own it is one plain run of pytest.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

TESTS: Final = Path("tests")
COMPUTES: Final = ("acceptance", "haptics", "previews", "unit", "wire")


def parts() -> tuple[list[str], list[str]]:
    """Paths of both halves; whatever is no folder of the first is in the second."""
    first = [str(TESTS / name) for name in COMPUTES]
    folders = {path.parent for path in TESTS.rglob("test_*.py") if path.parent != TESTS}
    tops = sorted({TESTS / folder.relative_to(TESTS).parts[0] for folder in folders} - {Path(one) for one in first})
    return first, [*map(str, tops), *map(str, sorted(TESTS.glob("test_*.py")))]


def main(arguments: list[str]) -> int:
    """Exit code of the half that went worse; the computing half's output is shown when it is over."""
    pytest = [sys.executable, "-m", "pytest"]
    if arguments:
        return subprocess.run([*pytest, *arguments], check=False).returncode
    first, second = parts()
    with TemporaryFile() as said:
        beside = subprocess.Popen([*pytest, "-q", "-p", "no:cacheprovider", *first], stdout=said, stderr=said)
        code = subprocess.run([*pytest, "-q", *second], check=False).returncode
        other = beside.wait()
        said.seek(0)
        sys.stdout.write(said.read().decode(errors="replace"))
    return max(code, other)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
