"""Shares of the test suite: every file in exactly one, and the shown output."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import pytest

from tests.support.suite.shares import (
    TESTS,
    WITHOUT_LIBRARIES,
    Ended,
    main,
    report,
    run,
    shares,
    shares_with_libraries,
    unit_shares,
)


def files(path: str) -> list[Path]:
    found = Path(path)
    return sorted(found.rglob("test_*.py")) if found.is_dir() else [found]


@pytest.fixture(autouse=True)
def at_the_top(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])


def test_every_test_file_is_in_exactly_one_share() -> None:
    counted = Counter(file for share in shares() for path in share for file in files(path))

    assert counted == Counter(TESTS.rglob("test_*.py"))


def test_what_meets_no_library_is_all_that_is_left_out_for_other_versions() -> None:
    counted = Counter(file for share in shares_with_libraries() for path in share for file in files(path))
    left_out = Counter(file for path in WITHOUT_LIBRARIES for file in files(str(path)))

    assert all(path.exists() for path in WITHOUT_LIBRARIES)
    assert counted == Counter(TESTS.rglob("test_*.py")) - left_out


def test_every_path_left_out_is_one_of_a_share() -> None:
    assert set(map(str, WITHOUT_LIBRARIES)) <= {path for share in shares() for path in share}


@pytest.mark.parametrize("count", [1, 2, 5, 100])
def test_every_unit_test_file_is_in_exactly_one_unit_share(count: int) -> None:
    counted = Counter(file for share in unit_shares(count) for path in share for file in files(path))

    assert counted == Counter((TESTS / "unit").rglob("test_*.py"))


def test_passed_share_is_printed_without_dots() -> None:
    said = "..s...                 [ 50%]\n......                 [100%]\n\n== short ==\nSKIPPED [1] why\n11 passed in 1s\n"

    assert report(Ended(("tests/a", "tests/b"), 0, said, 1.4)).splitlines() == [
        "--- tests/a tests/b: 1 s",
        "== short ==",
        "SKIPPED [1] why",
        "11 passed in 1s",
    ]


def test_failed_share_is_printed_whole() -> None:
    said = "..F                    [100%]\n\nassert 1 == 2\n"

    assert report(Ended(("tests/a",), 1, said, 0.2)) == f"--- tests/a: 0 s\n{said.rstrip()}"


def test_arguments_give_one_plain_run_with_its_exit_code() -> None:
    assert main(["no/such/file.py"]) == 4


@pytest.mark.parametrize(
    ("codes", "worst"), [((0, 0), 0), ((0, 1), 1), ((2, 1), 2), ((0, -signal.SIGSEGV), signal.SIGSEGV)]
)
def test_suite_exit_code_is_that_of_the_worst_share(
    monkeypatch: pytest.MonkeyPatch, codes: tuple[int, ...], worst: int
) -> None:
    went: dict[tuple[str, ...], int] = {(f"tests/{index}",): code for index, code in enumerate(codes)}
    monkeypatch.setattr("tests.support.suite.shares.shares", lambda: list(went))

    def ended(share: tuple[str, ...], _folder: Path) -> Ended:
        return Ended(share, went[share], "", 0.0)

    monkeypatch.setattr("tests.support.suite.shares.run", ended)

    assert main([]) == worst


def test_hanging_share_is_ended(tmp_path: Path) -> None:
    hangs = tmp_path / "test_hangs.py"
    hangs.write_text("import ctypes\n\n\ndef test_it():\n    ctypes.PyDLL(None).sleep(600)\n")

    assert run((str(hangs),), str(tmp_path), timeout_s=1.0).code == -signal.SIGABRT
