"""HID nodes in sysfs: listing, opening, read errors."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from actors.port.link_interface import NoDeviceAnswers, PortUnusable
from actors.values.hardware import PortFault
from transport.link.hid import HidDevice, HidRaw, hid_devices
from transport.link.polled_device import Unplugged

UEVENT = "DRIVER=hid-generic\nHID_ID=0003:0000256F:0000C635\nHID_NAME=3Dconnexion SpaceMouse Compact\nHID_UNIQ=\n"


def node(root: Path, name: str, uevent: str | None) -> None:
    (root / name / "device").mkdir(parents=True)
    if uevent is not None:
        (root / name / "device" / "uevent").write_text(uevent)


def test_node_with_a_descriptor_is_listed(tmp_path: Path) -> None:
    node(tmp_path, "hidraw1", UEVENT)
    node(tmp_path, "hidraw0", UEVENT.replace("C635", "C626").replace("UNIQ=", "UNIQ=AB12"))

    first, second = hid_devices(tmp_path)

    assert second == HidDevice("hidraw1", "/dev/hidraw1", 0x256F, 0xC635, "3Dconnexion SpaceMouse Compact", "")
    assert (first.port, first.product_id, first.serial) == ("hidraw0", 0xC626, "AB12")


@pytest.mark.parametrize("uevent", [None, "", "HID_ID=no:hex:here\n", "HID_ID=0003:0000256F\n", "\x00\xff"])
def test_node_without_a_descriptor_is_skipped(tmp_path: Path, uevent: str | None) -> None:
    node(tmp_path, "hidraw0", uevent)

    assert hid_devices(tmp_path) == ()


def test_machine_without_hidraw_lists_none(tmp_path: Path) -> None:
    assert hid_devices(tmp_path / "nothing") == ()


@pytest.mark.parametrize(
    ("number", "reason", "words"),
    [
        (errno.EACCES, PortFault.PERMISSION, "udev rule"),
        (errno.EBUSY, PortFault.IN_USE, "another program holds /dev/hidraw3"),
    ],
)
def test_open_error_has_its_reason(monkeypatch: pytest.MonkeyPatch, number: int, reason: PortFault, words: str) -> None:
    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)

    with pytest.raises(PortUnusable, match=words) as failed:
        HidRaw("/dev/hidraw3")

    assert failed.value.reason is reason


def test_missing_node_is_no_device_answers(tmp_path: Path) -> None:
    with pytest.raises(NoDeviceAnswers):
        HidRaw(str(tmp_path / "hidraw9"))


def test_reports_pass_without_blocking_until_the_other_end_closes(tmp_path: Path) -> None:
    path = tmp_path / "node"
    os.mkfifo(path)
    opened = HidRaw(str(path))

    assert opened.read() == b""
    opened.write(b"\x04\x01")
    assert opened.read() == b"\x04\x01"
    opened.close()
    opened.close()
    with pytest.raises(Unplugged):
        opened.read()


AXES = bytes.fromhex("0501 0908 a101 a100 8501")
KEYS = bytes.fromhex("0501 0906 a101 8501")


def plugged(root: Path, name: str, socket: str, descriptor: bytes | None = AXES) -> None:
    """A node as sysfs has it: a link to the device below its USB socket."""
    device = root / "devices" / "usb1" / socket.split(":", maxsplit=1)[0] / socket / f"0003:256F:C635.{name[-1]}"
    device.mkdir(parents=True)
    (device / "uevent").write_text(UEVENT)
    if descriptor is not None:
        (device / "report_descriptor").write_bytes(descriptor)
    (root / "class" / name).mkdir(parents=True)
    (root / "class" / name / "device").symlink_to(device)


def test_two_alike_keep_their_ports_whichever_node_they_get(tmp_path: Path) -> None:
    plugged(tmp_path / "a", "hidraw0", "1-2.4:1.0")
    plugged(tmp_path / "a", "hidraw1", "1-3:1.0")
    plugged(tmp_path / "b", "hidraw5", "1-3:1.0")
    plugged(tmp_path / "b", "hidraw6", "1-2.4:1.0")

    before, after = (hid_devices(tmp_path / one / "class") for one in "ab")

    assert [one.port for one in before] == [one.port for one in after] == ["hid-1-2.4-0", "hid-1-3-0"]
    assert [one.path for one in after] == ["/dev/hidraw6", "/dev/hidraw5"]


@pytest.mark.parametrize(("descriptor", "axes"), [(AXES, True), (KEYS, False), (b"", False), (None, True)])
def test_node_says_whether_it_reports_axes(tmp_path: Path, descriptor: bytes | None, *, axes: bool) -> None:
    plugged(tmp_path, "hidraw0", "1-1:1.2", descriptor)

    (found,) = hid_devices(tmp_path / "class")

    assert (found.port, found.has_axes) == ("hid-1-1-2", axes)
