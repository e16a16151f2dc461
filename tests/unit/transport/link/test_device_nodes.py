"""Detect changed device nodes; plain files stand in for device nodes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from actors.kit.published import Published
from fastpath.arena.runtime import Runtime
from tests.support.actors.doubles import settings_view
from transport.link import device_nodes
from transport.link.device_nodes import change_token, node_of
from transport.link.scanner import make_scanner


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In place of /dev."""
    monkeypatch.setattr(device_nodes, "FOLDER", str(tmp_path))
    monkeypatch.setattr(device_nodes, "USB_FOLDER", str(tmp_path / "usb"))
    (tmp_path / "usb" / "001").mkdir(parents=True)
    long_ago(tmp_path)
    return tmp_path


def long_ago(folder: Path) -> None:
    """The clock of a file system is coarse: what is made from now on has another time."""
    now = folder.stat().st_ctime_ns
    probe = folder / "probe"
    while True:
        probe.touch()
        probe.unlink()
        if folder.stat().st_ctime_ns > now:
            break


def test_node_identity_ignores_the_owner_and_changes_on_recreation(tmp_path: Path) -> None:
    path = tmp_path / "ttyACM0"
    assert node_of(str(path)) == ""
    path.touch()
    first = node_of(str(path))
    path.chmod(0o660)
    assert node_of(str(path)) == first
    (tmp_path / "new").touch()
    (tmp_path / "new").replace(path)
    assert node_of(str(path)) not in ("", first)


def test_symlink_counts_as_its_target_node(tmp_path: Path) -> None:
    (tmp_path / "ttyACM0").touch()
    (tmp_path / "by-id").symlink_to("ttyACM0")
    assert node_of(str(tmp_path / "by-id")) == node_of(str(tmp_path / "ttyACM0"))


@pytest.mark.parametrize("name", ["ttyACM0", "usb/001/004", "usb/002"])
def test_token_changes_when_a_node_is_added_or_removed(folder: Path, name: str) -> None:
    before = change_token(())
    assert change_token(()) == before
    path = folder / name
    path.touch()
    came = change_token(())
    assert came != before
    long_ago(path.parent)
    path.unlink()
    assert change_token(()) != came


@pytest.mark.parametrize(
    ("key", "entry"), [("devices/detection/serial_ports", "{}"), ("devices/hapi/ports", "{}=2diy-plastic")]
)
def test_scanner_token_changes_for_nodes_of_a_path_setting(tmp_path: Path, key: str, entry: str) -> None:
    path = tmp_path / "board"
    settings = Published(settings_view({key: [entry.format(path)]}))
    scanner = make_scanner(Runtime(realtime=False, stepping=True), settings)
    before = scanner.change_token()
    os.mkfifo(path)
    came = scanner.change_token()
    assert came != before
    path.unlink()
    assert scanner.change_token() == before
