"""The port scanner: a device family that cannot list its ports does not affect the others."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest
import usb.core

from actors.kit.published import Published
from actors.port.link_interface import Link, NoDeviceAnswers, OpenLimits
from actors.values.hardware import Candidate, Transport
from tests.support.actors.doubles import settings_view
from transport.link.driver_spec import UnsupportedIds
from transport.link.drivers import DRIVERS
from transport.link.scanner import PortScanner
from transport.link.serial_ports import SerialPorts

UNSUPPORTED = UnsupportedIds(DRIVERS)


class Some:
    """A family with one port, whose list may fail."""

    transport = Transport.USB

    def __init__(self, path: str) -> None:
        self.path = path
        self.error: Exception | None = None

    def candidates(self) -> tuple[Candidate, ...]:
        if self.error is not None:
            raise self.error
        return (Candidate(Path(self.path).name, self.path, self.transport),)

    def named_paths(self) -> tuple[str, ...]:
        return ()

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> Link:
        raise NoDeviceAnswers(f"{candidate} {limits} {stop}")


def test_driver_failing_to_list_keeps_its_ports_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    one, other = Some("/dev/one"), Some("/dev/other")
    machine = PortScanner(Published(settings_view()), (one, other), UNSUPPORTED)
    assert [found.port for found in machine.scan()] == ["one", "other"]

    one.error = usb.core.USBError("no bus today")
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            assert [found.port for found in machine.scan()] == ["one", "other"]
    assert [record.getMessage() for record in caplog.records] == [
        "the ports of Some cannot be listed: [Errno None] no bus today"
    ]
    assert caplog.records[0].exc_info is None

    one.error = None
    assert [found.port for found in machine.scan()] == ["one", "other"]


def test_driver_with_a_fault_is_logged_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    one = Some("/dev/one")
    one.error = KeyError("vendor")
    assert not PortScanner(Published(settings_view()), (one,), UNSUPPORTED).scan()
    assert caplog.records[0].exc_info is not None


def test_impossible_path_is_a_missing_port() -> None:
    settings = Published(settings_view({"devices/detection/serial_ports": ["a" * 256]}))

    assert SerialPorts(settings, UNSUPPORTED, lambda: ()).candidates() == ()


def test_port_removed_during_listing_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "ttyACM0"
    path.touch()
    family = Some(str(path))
    machine = PortScanner(Published(settings_view()), (family,), UNSUPPORTED)
    (here,) = machine.scan()

    path.unlink()
    assert machine.scan() == ()

    path.touch()
    (back,) = machine.scan()
    assert (here.port, back.port) == ("ttyACM0", "ttyACM0")
    assert "" not in (here.node, back.node)


def test_port_without_a_node_exists_while_listed() -> None:
    machine = PortScanner(Published(settings_view()), (Some("COM3"),), UNSUPPORTED)
    assert [[found.port for found in machine.scan()] for _ in range(3)] == [["COM3"]] * 3
