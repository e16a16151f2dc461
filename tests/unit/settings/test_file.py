"""The settings file: atomic writes, missing and broken files."""

from __future__ import annotations

import json
import logging
import os
import stat
from pathlib import Path
from typing import Any, Self

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.kit.errors import StateNotWritable
from actors.settings.file import StateFile

GOOD = b'{"format": 1, "a/b": 1}'
BROKEN = {
    "empty": b"",
    "truncated": GOOD[:-3],
    "garbage": bytes(range(256)),
    "not UTF-8": b'{"a": "\xff"}',
    "a list": b"[1, 2]",
    "a number": b"17",
    "null": b"null",
    "two objects": b"{}{}",
    "NaN": b'{"a": NaN}',
    "infinity": b'{"a": -Infinity}',
    "a float beyond floats": b'{"a": 1e999}',
    "an int beyond reading": b'{"a": ' + b"9" * 5000 + b"}",
    "very deep": b'{"a": ' + b"[" * 100_000,
    "format of a wrong type": b'{"format": "1"}',
    "format true": b'{"format": true}',
    "format 0": b'{"format": 0}',
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


def names(path: Path) -> set[str]:
    return {entry.name for entry in path.parent.iterdir()}


def test_a_missing_file_is_empty_and_stays_missing(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert StateFile(path).load() == {}
    assert names(path) == set()
    assert caplog.text == ""


@pytest.mark.parametrize("data", list(BROKEN.values()), ids=list(BROKEN))
def test_a_broken_file_is_kept_aside_with_one_clear_line(
    path: Path, caplog: pytest.LogCaptureFixture, data: bytes
) -> None:
    path.write_bytes(data)

    assert StateFile(path).load() == {}
    assert names(path) == {"settings.json.broken-1"}
    assert path.with_name("settings.json.broken-1").read_bytes() == data
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.getMessage().startswith(f"{path} cannot be read (")
    assert record.getMessage().endswith("): kept as settings.json.broken-1, defaults are used")
    assert record.exc_info is None


def test_each_broken_file_gets_a_name_of_its_own(path: Path) -> None:
    for _ in range(3):
        path.write_bytes(b"{")
        StateFile(path).load()

    assert names(path) == {f"settings.json.broken-{number}" for number in (1, 2, 3)}


def test_writing_works_after_a_broken_file(path: Path) -> None:
    path.write_bytes(b"{")
    file = StateFile(path)
    file.load()
    file.write({"a/b": 2})

    assert StateFile(path).load() == {"a/b": 2}


def test_a_folder_in_the_place_of_the_file_is_kept_aside(path: Path) -> None:
    path.mkdir()

    assert StateFile(path).load() == {}
    assert names(path) == {"settings.json.broken-1"}


def test_broken_file_that_cannot_be_moved_does_not_prevent_the_start(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    path.write_bytes(b"{")
    monkeypatch.setattr(os, "rename", refuse)

    assert StateFile(path).load() == {}
    assert "not kept aside, Operation not permitted" in caplog.text


def test_wrongly_shaped_content_counts_as_broken(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def check(_content: dict[str, Any]) -> None:
        raise ValueError("b is missing")

    path.write_bytes(GOOD)

    assert StateFile(path, check=check).load() == {}
    assert "cannot be read (b is missing)" in caplog.text


def test_a_file_without_a_format_is_read_as_the_present_one(path: Path) -> None:
    path.write_bytes(b'{"control/frequency": 1000}')

    assert StateFile(path).load() == {"control/frequency": 1000}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.dictionaries(st.text().filter(lambda key: key != "format"), VALUES))
def test_written_values_are_read_back(path: Path, content: dict[str, Any]) -> None:
    StateFile(path).write(content)

    assert StateFile(path).load() == content
    assert names(path) == {"settings.json"}


def test_the_file_is_one_flat_json_object_with_a_key_on_each_line(path: Path) -> None:
    StateFile(path).write({"a/b": [1, "ä"], "c": {"d": None}})

    assert path.read_text() == '{\n"format": 1,\n"a/b": [1, "\\u00e4"],\n"c": {"d": null}\n}\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nan_is_never_written(path: Path) -> None:
    StateFile(path).write({"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        StateFile(path).write({"a": float("nan")})

    assert StateFile(path).load() == {"a": 1}


def test_newer_format_keeps_its_number_and_unknown_keys(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.write_bytes(b'{"format": 7, "a": 1, "unknown": {"x": [1]}}')
    file = StateFile(path)
    content = file.load()

    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "was written by a newer version (format 7, this one knows 1)" in record.getMessage()
    assert content == {"a": 1, "unknown": {"x": [1]}}

    file.write({**content, "a": 2})

    assert json.loads(path.read_bytes()) == {"format": 7, "a": 2, "unknown": {"x": [1]}}
    assert names(path) == {"settings.json"}


def third(path: Path) -> StateFile:
    """A file whose present format is 3."""
    return StateFile(
        path,
        version=3,
        migrations={1: lambda old: {"two": old["one"]}, 2: lambda old: {"three": [old["two"]]}},
    )


def test_an_older_format_is_migrated_in_memory_and_kept_once_at_the_next_change(path: Path) -> None:
    old = b'{"format": 1, "one": 5}'
    path.write_bytes(old)
    file = third(path)

    assert file.load() == {"three": [5]}
    assert path.read_bytes() == old
    assert names(path) == {"settings.json"}

    file.write({"three": [6]})
    file.write({"three": [7]})

    assert json.loads(path.read_bytes()) == {"format": 3, "three": [7]}
    assert names(path) == {"settings.json", "settings.json.v1"}
    assert path.with_name("settings.json.v1").read_bytes() == old


def test_first_backup_of_an_older_format_is_kept(path: Path) -> None:
    kept = path.with_name("settings.json.v2")
    kept.write_bytes(b"the first")
    path.write_bytes(b'{"format": 2, "two": 5}')
    file = third(path)
    file.write(file.load())

    assert kept.read_bytes() == b"the first"


@pytest.mark.parametrize("data", [b'{"format": 1, "zero": 5}', b'{"format": 2}'])
def test_an_older_file_that_does_not_migrate_is_broken(path: Path, data: bytes) -> None:
    path.write_bytes(data)

    assert third(path).load() == {}
    assert names(path) == {"settings.json.broken-1"}


def test_an_older_format_nobody_can_migrate_is_broken(path: Path) -> None:
    path.write_bytes(GOOD)

    assert StateFile(path, version=2).load() == {}
    assert names(path) == {"settings.json.broken-1"}


@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_a_failing_disk_is_an_error_and_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fail(*_arguments: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    file = StateFile(path)
    file.write({"a": 1})
    with monkeypatch.context() as broken:
        broken.setattr(os, call, fail)
        with pytest.raises(StateNotWritable) as caught:
            file.write({"a": 2})

    assert str(path.parent) in str(caught.value)
    assert "No space left on device" in str(caught.value)
    assert StateFile(path).load() == {"a": 1}
    assert names(path) == {"settings.json"}


def test_a_folder_that_cannot_be_synced_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def fail_on_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(5, "Input/output error")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fail_on_folders)
    with pytest.raises(StateNotWritable, match="Input/output error"):
        StateFile(path).write({"a": 1})


def test_removed_folder_is_an_error_until_it_returns(path: Path) -> None:
    file = StateFile(path)
    path.parent.rmdir()
    with pytest.raises(StateNotWritable, match="No such file or directory"):
        file.write({"a": 1})
    path.parent.mkdir()
    file.write({"a": 2})

    assert StateFile(path).load() == {"a": 2}


def test_the_data_is_synced_before_the_rename_and_the_folder_after_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "data")
        real_fsync(descriptor)

    def replace(source: Any, target: Any) -> None:
        steps.append("rename")
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    StateFile(path).write({"a": 1})

    assert steps == ["data", "rename", "folder"]


def test_leftovers_of_a_killed_writer_are_ignored(path: Path) -> None:
    file = StateFile(path)
    file.write({"a": 1})
    path.with_name("settings.json.tmp").write_bytes(b'{"format": 1, "a": 2, "half')

    assert StateFile(path).load() == {"a": 1}

    file.write({"a": 3})

    assert StateFile(path).load() == {"a": 3}
    assert names(path) == {"settings.json"}


def test_a_short_write_is_continued(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow:
        """A file that takes seven bytes at a time, as a signal or a pipe may make one."""

        def __init__(self, descriptor: int) -> None:
            self.descriptor = descriptor

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            os.close(self.descriptor)

        def write(self, data: memoryview) -> int:
            return os.write(self.descriptor, data[:7])

    def slow(descriptor: int, *_: object, **__: object) -> Slow:
        return Slow(descriptor)

    monkeypatch.setattr("builtins.open", slow)
    StateFile(path).write({"a": "x" * 100})
    monkeypatch.undo()

    assert StateFile(path).load() == {"a": "x" * 100}
