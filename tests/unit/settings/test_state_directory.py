"""The state directory: creation, permissions, lock."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Thread

import pytest
from platformdirs.macos import MacOS

from actors.kit.errors import StateNotWritable
from actors.settings.file import read_file, write_file
from actors.settings.state_directory import (
    NotAPlainFile,
    StateDirectory,
    StateLocked,
    StateNotPrivate,
    TokenUnusable,
    default_state_path,
)

HOLDER = """
import sys
from pathlib import Path
from actors.settings.state_directory import StateDirectory
directory = StateDirectory(Path(sys.argv[1]))
directory.open()
print("held", flush=True)
sys.stdin.read()
"""


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/null")


def link_to_a_file(path: Path) -> None:
    path.symlink_to(__file__)


def link_to_nothing(path: Path) -> None:
    path.symlink_to(path.parent.parent / "elsewhere")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folder_is_created_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "state"
    with StateDirectory(path):
        assert mode(path) == 0o700
        assert mode(path / "lock") == 0o600


def test_existing_folder_is_used_unchanged(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    with StateDirectory(tmp_path):
        assert mode(tmp_path) == 0o750


def test_folder_may_be_a_link_to_a_folder(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir(mode=0o700)
    (tmp_path / "state").symlink_to(tmp_path / "private")
    with StateDirectory(tmp_path / "state") as directory:
        assert directory.token()


@pytest.mark.parametrize("folder_mode", [0o777, 0o1777, 0o702])
def test_folder_that_others_may_write_is_refused(tmp_path: Path, folder_mode: int) -> None:
    path = tmp_path / "state"
    path.mkdir()
    path.chmod(folder_mode)
    with pytest.raises(
        StateNotPrivate, match=f"can be written by others \\(mode {folder_mode:04o}\\): chmod go-w {path}"
    ):
        StateDirectory(path).open()
    with pytest.raises(StateNotPrivate):
        StateDirectory(path).token()

    assert mode(path) == folder_mode
    assert list(path.iterdir()) == []


@pytest.mark.parametrize("name", ["lock", "token", "settings.json", "ledger.json"])
def test_file_that_others_may_write_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    (tmp_path / name).chmod(0o666)
    with pytest.raises(StateNotPrivate, match=f"{name} can be written by others"):
        StateDirectory(tmp_path).open()


def test_service_s_own_group_may_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o770)
    with StateDirectory(tmp_path):
        pass
    group = tmp_path.stat().st_gid
    monkeypatch.setattr(os, "getegid", lambda: group + 1)
    with pytest.raises(StateNotPrivate, match="others"):
        StateDirectory(tmp_path).open()


def test_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = tmp_path.stat().st_uid
    if owner == 0:
        os.chown(tmp_path, 12345, -1)
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(
        StateNotPrivate, match=f"belongs to user {owner or 12345}, and the service runs as user {owner + 1}"
    ):
        StateDirectory(tmp_path).open()


def test_link_that_takes_the_place_of_a_file_later_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text('{"format": 1}')
    link = tmp_path / "settings.json"
    link.symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"):
        read_file(link)
    with pytest.raises(OSError, match="symbolic links"):
        write_file(link, b"{}")

    assert target.read_text() == '{"format": 1}'


def test_lock_file_has_the_process_id(tmp_path: Path) -> None:
    with StateDirectory(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_second_holder_is_refused_with_the_first_one_s_id(tmp_path: Path) -> None:
    with StateDirectory(tmp_path), pytest.raises(StateLocked) as caught:
        StateDirectory(tmp_path).open()

    assert str(caught.value) == (
        f"The state directory {tmp_path} is in use by process {os.getpid()}: "
        "stop that hapticd, or give this one its own with --state-dir."
    )


def test_unreadable_lock_file_still_refuses_a_second_holder(tmp_path: Path) -> None:
    with StateDirectory(tmp_path):
        (tmp_path / "lock").write_bytes(b"\xff")
        with pytest.raises(StateLocked, match="in use by another process"):
            StateDirectory(tmp_path).open()


def test_closed_directory_is_free_and_can_be_closed_twice(tmp_path: Path) -> None:
    directory = StateDirectory(tmp_path)
    directory.open()
    directory.close()
    directory.close()
    with StateDirectory(tmp_path):
        pass


def test_a_refused_holder_leaks_no_descriptor(tmp_path: Path) -> None:
    with StateDirectory(tmp_path):
        before = open_descriptors()
        for _ in range(10):
            with pytest.raises(StateLocked):
                StateDirectory(tmp_path).open()

        assert open_descriptors() == before


def test_killed_process_releases_the_lock(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        with pytest.raises(StateLocked, match=f"in use by process {process.pid}:"):
            StateDirectory(tmp_path).open()
        process.kill()
        process.wait()
    with StateDirectory(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_text("")
    with pytest.raises(StateNotWritable, match="it is no folder"):
        StateDirectory(path).open()
    with pytest.raises(StateNotWritable, match="Not a directory"):
        StateDirectory(path / "below").open()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "ftruncate", refuse)
    before = open_descriptors()
    with pytest.raises(StateNotWritable, match="Read-only file system"):
        StateDirectory(tmp_path).open()

    assert open_descriptors() == before


def test_token_is_created_once_readable_by_its_owner_only(tmp_path: Path) -> None:
    directory = StateDirectory(tmp_path / "state")
    token = directory.token()

    assert len(token) >= 43
    assert directory.token() == token
    assert StateDirectory(tmp_path / "state").token() == token
    assert mode(tmp_path / "state" / "token") == 0o600
    assert mode(tmp_path / "state") == 0o700
    assert {entry.name for entry in (tmp_path / "state").iterdir()} == {"token"}


def test_the_token_needs_no_lock(tmp_path: Path) -> None:
    with StateDirectory(tmp_path) as directory:
        assert StateDirectory(tmp_path).token() == directory.token()


def test_two_folders_have_two_tokens(tmp_path: Path) -> None:
    assert StateDirectory(tmp_path / "a").token() != StateDirectory(tmp_path / "b").token()


def test_concurrent_starts_get_the_same_token(tmp_path: Path) -> None:
    for number in range(20):
        path = tmp_path / str(number)
        together = Barrier(4)
        found: list[str] = []

        def ask(path: Path = path, together: Barrier = together, found: list[str] = found) -> None:
            together.wait()
            found.append(StateDirectory(path).token())

        threads = [Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(found) == 4
        assert len(set(found)) == 1


def test_custom_token_is_used(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("  my-own-token-0123456789\n")

    assert StateDirectory(tmp_path).token() == "my-own-token-0123456789"


@pytest.mark.parametrize("text", ["", "\n", "short", "two words of sufficient length", "ä" * 20])
def test_invalid_token_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "token").write_text(text)
    with pytest.raises(TokenUnusable, match=r"delete it, and a new token is made\.$"):
        StateDirectory(tmp_path).token()


def test_world_readable_token_is_made_private(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "token"
    path.write_text("my-own-token-0123456789")
    path.chmod(0o644)
    StateDirectory(tmp_path).token()

    assert mode(path) == 0o600
    assert "could be read by others" in caplog.text


def test_a_token_that_cannot_be_made_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StateNotWritable, match="No space left on device"):
        StateDirectory(tmp_path).token()

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "path"),
    [
        (None, "/home/you/.local/state/hapticd"),
        ("/var/state", "/var/state/hapticd"),
        ("relative", "/home/you/.local/state/hapticd"),
        ("", "/home/you/.local/state/hapticd"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="the paths are Linux's")
def test_default_folder_is_the_one_of_every_version_so_far(
    given: str | None, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/you")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    if given is not None:
        monkeypatch.setenv("XDG_STATE_HOME", given)

    assert default_state_path() == Path(path)


def test_macos_keeps_the_folder_of_every_version_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/you")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)

    path = MacOS("hapticd", appauthor=False).user_state_path

    assert path == Path("/home/you/Library/Application Support/hapticd")


@pytest.mark.parametrize("name", ["lock", "token", "settings.json", "ledger.json", "ledger.json.tmp"])
@pytest.mark.parametrize(
    ("make", "word"),
    [
        (Path.mkdir, "a folder"),
        (os.mkfifo, "a FIFO"),
        (link_to_a_device, "a symbolic link"),
        (link_to_a_file, "a symbolic link"),
        (link_to_nothing, "a symbolic link"),
    ],
    ids=["folder", "FIFO", "link to a device", "link to a file", "link to nothing"],
)
def test_non_regular_file_is_named_and_left_unchanged(
    tmp_path: Path, name: str, make: Callable[[Path], object], word: str
) -> None:
    make(tmp_path / name)
    before = (tmp_path / name).lstat()

    with pytest.raises(NotAPlainFile, match=f"{name} is {word}, and a file belongs there"):
        StateDirectory(tmp_path).open()

    assert [path.name for path in tmp_path.iterdir()] == [name]
    after = (tmp_path / name).lstat()
    assert (after.st_mode, after.st_ino, after.st_mtime_ns) == (before.st_mode, before.st_ino, before.st_mtime_ns)


def test_a_folder_in_the_place_of_the_token_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "token").mkdir(mode=0o755)

    with pytest.raises(NotAPlainFile):
        StateDirectory(tmp_path).token()

    assert mode(tmp_path / "token") == 0o755
