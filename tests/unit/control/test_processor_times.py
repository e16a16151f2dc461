"""Reading of /proc/stat: bounded, and None where the machine does not show it."""

from __future__ import annotations

from pathlib import Path

from actors.control.processor_times import MOST_BYTES, Ticks, parsed, read_processor_times

STAT = """cpu  100 20 30 400 50 6 4 90 10 0
cpu0 60 10 20 200 30 3 2 45 5 0
cpu1 40 10 10 200 20 3 2 45 5 0
intr 12345 1 2 3
ctxt 99
"""


def test_processors_are_read_by_name() -> None:
    assert parsed(STAT) == {"cpu": Ticks(700, 160, 90), "cpu0": Ticks(370, 95, 45), "cpu1": Ticks(330, 65, 45)}


def test_text_without_processors_is_none() -> None:
    assert parsed("") is None
    assert parsed("intr 1 2 3\n") is None
    assert parsed("cpu 1 2 3\n") is None
    assert parsed("cpu a b c d e f g h\n") is None


def test_machine_without_the_file_is_none(tmp_path: Path) -> None:
    assert read_processor_times(tmp_path / "stat") is None


def test_only_the_first_bytes_are_read(tmp_path: Path) -> None:
    path = tmp_path / "stat"
    path.write_text(STAT + "intr " + "1 " * MOST_BYTES)
    assert read_processor_times(path) == parsed(STAT)

    path.write_text("cpu0 1 1 1 1 1 1 1 1\n" * (MOST_BYTES // 20) + STAT)
    assert read_processor_times(path) is None
