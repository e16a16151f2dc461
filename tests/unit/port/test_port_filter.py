"""Difference between two scans: unplugged, released by a setting, plugged in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actors.port.port_filter import PortChanges, detection_settings, port_changes
from actors.values.hardware import Candidate, Transport
from tests.support.actors.doubles import settings_view

PORT = Candidate("ttyACM0", "/dev/ttyACM0", Transport.SERIAL, 0x1209, node="1")
ANEW = replace(PORT, node="2")
MOVED = replace(PORT, path="/dev/bus/usb/001/007", node="")
NAMED = replace(PORT, assigned=True)
UNKNOWN = replace(PORT, node="")


def of(*candidates: Candidate) -> dict[str, Candidate]:
    return {one.port: one for one in candidates}


@pytest.mark.parametrize(
    ("before", "now", "listed", "seen"),
    [
        ((), (PORT,), (PORT,), PortChanges(plugged=(PORT,))),
        ((PORT,), (PORT,), (PORT,), PortChanges()),
        ((PORT,), (), (), PortChanges(unplugged=(PORT,))),
        ((PORT,), (ANEW,), (ANEW,), PortChanges(unplugged=(PORT,), plugged=(ANEW,))),
        ((PORT,), (MOVED,), (MOVED,), PortChanges(unplugged=(PORT,), plugged=(MOVED,))),
        ((PORT,), (), (PORT,), PortChanges(unwanted=(PORT,))),
        ((PORT,), (NAMED,), (NAMED,), PortChanges(unwanted=(PORT,))),
        ((), (), (PORT,), PortChanges()),
        # Its node has gone before the list of the operating system has heard of it.
        ((PORT,), (UNKNOWN,), (UNKNOWN,), PortChanges(unwanted=(PORT,))),
        ((UNKNOWN,), (PORT,), (PORT,), PortChanges(unwanted=(UNKNOWN,))),
        ((UNKNOWN,), (), (), PortChanges(unplugged=(UNKNOWN,))),
    ],
)
def test_unplugged_and_released_ports_are_distinguished(
    before: tuple[Candidate, ...], now: tuple[Candidate, ...], listed: tuple[Candidate, ...], seen: PortChanges
) -> None:
    assert port_changes(of(*before), of(*now), of(*listed), by_setting=False) == seen


@pytest.mark.parametrize("now", [(), (ANEW,)])
def test_port_hidden_by_a_setting_does_not_count_as_unplugged(now: tuple[Candidate, ...]) -> None:
    seen = port_changes(of(PORT), of(*now), of(*now), by_setting=True)
    assert (seen.unplugged, seen.unwanted) == ((), (PORT,))


def test_only_listing_settings_change_the_result() -> None:
    same = detection_settings(settings_view(), ())
    assert detection_settings(settings_view({"misc/hidden_settings": True}), ()) == same
    assert detection_settings(settings_view({"devices/detection/serial_ports": ["/dev/ttyACM0"]}), ()) != same
    assert detection_settings(settings_view({"communication/usb/enabled": False}), ()) != same
