"""Detection as a plain object: failed scans, quick checks for changed nodes, restarts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actors.device.messages import MANAGER
from actors.kit.published import Published
from actors.port.detection import SCANS_AFTER_CHANGE, ChangeCheckDue, Detection, ScanDue
from actors.port.link_interface import NoLinks
from actors.port.messages import DETECTION, PORTS, PortPlugged, PortTable, PortVanished
from actors.port.open_links import OpenLinks
from actors.settings.messages import SettingChanged
from actors.values.hardware import Candidate, Transport
from tests.support.actors.actor_rig import ActorRig
from tests.support.actors.doubles import FakeActor, settings_view

PORT = Candidate("ttyACM0", "/dev/ttyACM0", Transport.SERIAL, 0x16C0, node="1")
OTHER = Candidate("ttyACM1", "/dev/ttyACM1", Transport.SERIAL, 0x16C0, node="2")


class Ports(NoLinks):
    """What is listed, and what a glance sees; a list of None cannot be had."""

    def __init__(self, *listed: Candidate) -> None:
        self.listed: tuple[Candidate, ...] | None = listed
        self.seen = 0
        self.looks = 0

    def scan(self) -> tuple[Candidate, ...]:
        self.looks += 1
        if self.listed is None:
            raise OSError("no list today")
        return self.listed

    def change_token(self) -> object:
        return self.seen

    def taker(self, candidate: Candidate) -> str:
        return f"somebody takes {candidate.port}"


class DetectionRig(ActorRig):
    """A Detection without a thread that has one port open, and those whom it tells."""

    def __init__(self) -> None:
        super().__init__()
        self.ports = FakeActor(self.context, PORTS)
        self.devices = FakeActor(self.context, MANAGER)
        self.detection_messages = FakeActor(self.context, DETECTION)
        self.links = Ports(PORT)
        self.opened = OpenLinks()
        self.opened.watch(PORT)

    def detection(self) -> Detection:
        detection = Detection(
            self.context,
            self.links,
            self.opened,
            Published(PortTable(())),
            self.inventory,
            self.settings,
        )
        detection.started()
        return detection

    def told(self) -> list[object]:
        return [*self.ports.of(PortVanished), *self.ports.of(PortPlugged)]


@pytest.fixture
def rig() -> DetectionRig:
    return DetectionRig()


def test_failed_first_scan_after_a_restart_closes_nothing(rig: DetectionRig) -> None:
    rig.links.listed = None
    detection = rig.detection()
    try:
        detection.on_scan(ScanDue())
        detection.on_setting(SettingChanged("devices/detection/period", 500))

        assert rig.opened.watched() == {"ttyACM0": PORT}
        assert rig.told() == []
    finally:
        detection.stopped()


def test_changes_missed_by_a_failed_scan_are_found_by_the_next_check(rig: DetectionRig) -> None:
    detection = rig.detection()
    try:
        detection.on_scan(ScanDue())
        rig.links.listed, rig.links.seen = None, 1
        for _ in range(2 * SCANS_AFTER_CHANGE):
            detection.on_change_check(ChangeCheckDue())

        rig.links.listed = (PORT, OTHER)
        detection.on_change_check(ChangeCheckDue())

        assert rig.told() == [PortPlugged("ttyACM1")]
    finally:
        detection.stopped()


def test_late_port_list_is_seen_and_then_no_more_scans_run(rig: DetectionRig) -> None:
    detection = rig.detection()
    try:
        detection.on_scan(ScanDue())
        rig.links.seen = 1
        detection.on_change_check(ChangeCheckDue())
        rig.links.listed = ()
        detection.on_change_check(ChangeCheckDue())
        assert rig.told() == [PortVanished("ttyACM0", "/dev/ttyACM0")]

        for _ in range(SCANS_AFTER_CHANGE):
            detection.on_change_check(ChangeCheckDue())
        looks = rig.links.looks
        detection.on_change_check(ChangeCheckDue())
        assert rig.links.looks == looks
    finally:
        detection.stopped()


@pytest.mark.parametrize(("stays_s", "taken"), [(2.9, "somebody takes ttyACM1"), (3.1, "")])
def test_port_that_goes_within_three_seconds_is_told_with_its_taker(
    rig: DetectionRig, stays_s: float, taken: str
) -> None:
    detection = rig.detection()
    try:
        detection.on_scan(ScanDue())
        rig.links.listed = (PORT, OTHER)
        detection.on_scan(ScanDue())
        rig.clock.advance(stays_s)
        rig.links.listed = (PORT,)
        detection.on_scan(ScanDue())

        assert rig.ports.of(PortVanished) == [PortVanished("ttyACM1", "/dev/ttyACM1", taken)]
    finally:
        detection.stopped()


def test_port_that_was_there_from_the_start_was_taken_by_nobody(rig: DetectionRig) -> None:
    detection = rig.detection()
    try:
        detection.on_scan(ScanDue())
        rig.links.listed = ()
        detection.on_scan(ScanDue())

        assert rig.ports.of(PortVanished) == [PortVanished("ttyACM0", "/dev/ttyACM0")]
    finally:
        detection.stopped()


@pytest.mark.parametrize(
    ("key", "port"),
    [
        ("communication/serial/enabled", PORT),
        ("communication/usb/enabled", replace(PORT, transport=Transport.USB)),
    ],
)
def test_toggled_transport_closes_and_scans_at_once(rig: DetectionRig, key: str, port: Candidate) -> None:
    """No time passes, so that no look is due: what happens is the setting's own doing."""
    rig.links.listed = (port,)
    rig.opened.unwatch(PORT.port)
    rig.opened.watch(port)
    detection = rig.detection()
    try:
        detection.on_scan(ScanDue())
        scans = len(rig.detection_messages.of(ScanDue))

        rig.settings.replace(settings_view({key: False}))
        detection.on_setting(SettingChanged(key, False))
        assert rig.opened.watched() == {}
        assert len(rig.detection_messages.of(ScanDue)) == scans + 1

        rig.settings.replace(settings_view())
        detection.on_setting(SettingChanged(key, True))
        assert len(rig.detection_messages.of(ScanDue)) == scans + 2
        assert rig.told() == [PortPlugged(port.port)]
    finally:
        detection.stopped()
