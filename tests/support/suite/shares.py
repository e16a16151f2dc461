"""Run the whole test suite in parallel processes, which take shares of files from a queue, the longest first.

Behind `make test`, and with `--unit` behind `make test-unit`. `--libraries` leaves out what need not be run again with other
versions of Python and the libraries, `--times` writes where the time went into docs/testing.md; with other arguments it is one plain run of pytest.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.support.suite import times

TESTS: Final = Path("tests")
SCENARIOS: Final = TESTS / "scenarios"
UNIT: Final = TESTS / "unit"
# Longest first; a folder means what is in none of the shares of files.
LONG: Final = (
    (TESTS / "dashboard",),
    (SCENARIOS / "test_schemathesis.py",),
    (UNIT,),
    (SCENARIOS / "test_wheel.py", SCENARIOS / "test_readme.py", SCENARIOS / "test_make_run.py"),
    (TESTS / "wire", TESTS / "previews"),
    (TESTS / "promises",),
    (TESTS / "service",),
    (TESTS / "acceptance", TESTS / "haptics"),
)
# What need not be run again with other versions of Python and the libraries: physics, the loop's memory, local clients, files and processes
# do not depend on them; pages, alerts, packages and generated requests take long, and the whole run has them.
WITHOUT_LIBRARIES: Final = (
    TESTS / "dashboard",
    TESTS / "haptics",
    TESTS / "acceptance",
    TESTS / "realtime",
    *(
        SCENARIOS / f"test_{name}.py"
        for name in (
            *("alerts", "check_boards", "held_streams", "local_clients", "schemathesis"),
            *("service_manager", "wall", "what_may_wait", "wheel"),
        )
    ),
)
# Scenarios wait for services and builds as often as they compute.
PARTS_OF_SCENARIOS: Final = 9
TIMEOUT_S: Final = 1800.0
BESIDE: Final = (os.cpu_count() or 1) + 1
PROGRESS: Final = re.compile(r"[.sxFE]*\s+\[ *\d+%\]")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a share went: pytest's exit code, what it printed, and how long it took."""

    share: tuple[str, ...]
    code: int
    said: str
    seconds: float


def shares() -> list[tuple[str, ...]]:
    """Paths for each run of pytest, no test in two of them and none left out."""
    named = {path for share in LONG for path in share}
    scenarios = [path for path in sorted(SCENARIOS.glob("test_*.py")) if path not in named]
    parts = [scenarios[first::PARTS_OF_SCENARIOS] for first in range(PARTS_OF_SCENARIOS)]
    folders = {TESTS / path.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py") if path.parent != TESTS}
    rest = sorted(folders - named - {SCENARIOS}) + sorted(TESTS.glob("test_*.py"))
    return [tuple(map(str, share)) for share in (*LONG, *parts, rest)]


def shares_with_libraries() -> list[tuple[str, ...]]:
    """The shares less what `WITHOUT_LIBRARIES` names."""
    left_out = set(map(str, WITHOUT_LIBRARIES))
    kept = (tuple(path for path in share if path not in left_out) for share in shares())
    return [share for share in kept if share]


def unit_shares(count: int = os.cpu_count() or 1) -> list[tuple[str, ...]]:
    """The folders and files of tests/unit in `count` shares of about the same size, which is that of their text."""
    sizes = {path: sum(file.stat().st_size for file in _tests(path)) for path in UNIT.iterdir()}
    parts: list[list[Path]] = [[] for _ in range(count)]
    for path in sorted((path for path, size in sizes.items() if size), key=lambda path: (-sizes[path], path)):
        min(parts, key=lambda part: sum(sizes[held] for held in part)).append(path)
    return [tuple(sorted(map(str, part))) for part in parts if part]


def _tests(path: Path) -> list[Path]:
    return list(path.rglob("test_*.py")) if path.is_dir() else [path] if path.match("test_*.py") else []


def run(share: tuple[str, ...], folder: str, timeout_s: float = TIMEOUT_S) -> Ended:
    """One run of pytest with `folder` for its files; one that hangs is ended after `timeout_s`."""
    began_s = time.monotonic()
    pytest = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--junit-xml={report_of(share, folder)}",
            *share,
        ],
        env={**os.environ, "TMPDIR": folder},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    # pytest's own time-outs need the GIL; whoever keeps that for ever is seen in the stacks that SIGABRT prints.
    late = threading.Timer(timeout_s, pytest.send_signal, [signal.SIGABRT])
    late.start()
    said, _ = pytest.communicate()
    late.cancel()
    return Ended(share, pytest.returncode, said, time.monotonic() - began_s)


def report_of(share: tuple[str, ...], folder: str) -> Path:
    """Where a share's report lies."""
    return Path(folder) / f"report-{re.sub(r'[^a-z0-9]+', '-', share[0].lower())}.xml"


def quick_folder() -> str | None:
    """Where files are quickest: in memory, if programs may run there; None where the system has its own."""
    shared = Path("/dev/shm")  # noqa: S108 - the place itself is wanted
    usable = shared.is_dir() and os.access(shared, os.W_OK) and not os.statvfs(shared).f_flag & os.ST_NOEXEC
    return str(shared) if usable else None


def report(ended: Ended) -> str:
    """What a share printed: all of it when it failed, else without its dots."""
    lines = [line for line in ended.said.splitlines() if "generated xml file" not in line]
    if ended.code == 0:
        lines = [line for line in lines if line and not PROGRESS.fullmatch(line)]
    return "\n".join([f"--- {' '.join(ended.share)}: {ended.seconds:.0f} s", *lines])


def main(arguments: Sequence[str]) -> int:
    """Exit code of the share that went worst."""
    match list(arguments):
        case [] | ["--times"]:
            queue = shares()
        case ["--unit"]:
            queue = unit_shares()
        case ["--libraries"]:
            queue = shares_with_libraries()
        case _:
            return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode
    worst, began_s = 0, time.monotonic()
    with TemporaryDirectory(prefix="hapticd-tests-", dir=quick_folder()) as folder, ThreadPoolExecutor(BESIDE) as pool:
        for done in as_completed([pool.submit(run, share, folder) for share in queue]):
            ended = done.result()
            sys.stdout.write(f"{report(ended)}\n")
            sys.stdout.flush()
            # A run that a signal ended has a negative code.
            worst = max(worst, abs(ended.code))
        text = times.table(times.spent(sorted(Path(folder).glob("report-*.xml"))), time.monotonic() - began_s)
        sys.stdout.write(f"{text}\n")
    if arguments[:1] == ["--times"] and worst == 0:
        times.write(text)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
