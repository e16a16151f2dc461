"""Table of open links: interrupted opening, closing once, facts reported once; retry delays and choice of ports."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest

from actors.kit.actor import Context
from actors.kit.clock import ManualClock
from actors.port import port_filter, retry
from actors.port.link_interface import LinkFacts, NoDeviceAnswers, NoLinks, OpenLimits
from actors.port.link_watch import LinkWatch, PortFacts
from actors.port.messages import link_name
from actors.port.open_links import OpenLinks
from actors.values.hardware import Candidate, PortFault, Transport
from tests.support.actors.doubles import FakeActor, settings_view
from tests.support.boards.fake_links import ARM, FakeBoard, FakeLink

PORT = "ttyACM0"
HERE = Candidate(PORT, f"/dev/{PORT}", Transport.SERIAL, 0x1209)


def held(links: OpenLinks) -> FakeLink:
    link = FakeLink(FakeBoard(HERE, (ARM,)))
    assert links.register(HERE, link, link.facts(), links.begin_opening(PORT)) is not None
    return link


def test_a_link_is_closed_once_and_then_forgotten() -> None:
    links = OpenLinks()
    link = held(links)
    assert links.close(PORT)
    assert not links.close(PORT)
    assert (link.closed, links.all()) == (1, ())


def test_interrupted_opening_is_not_registered() -> None:
    links = OpenLinks()
    stop = links.begin_opening(PORT)
    links.interrupt(PORT)
    assert stop.is_set()
    assert links.register(HERE, FakeLink(FakeBoard(HERE)), LinkFacts(), stop) is None


def test_only_the_newest_opening_of_a_port_is_registered() -> None:
    links = OpenLinks()
    old, new = links.begin_opening(PORT), links.begin_opening(PORT)
    assert links.register(HERE, FakeLink(FakeBoard(HERE)), LinkFacts(), old) is None
    assert links.register(HERE, FakeLink(FakeBoard(HERE)), LinkFacts(), new) is not None


def test_nothing_is_opened_after_close() -> None:
    links = OpenLinks()
    link, under_way = held(links), links.begin_opening("other")
    links.close_all()
    assert (link.closed, under_way.is_set(), links.begin_opening(PORT).is_set()) == (1, True, True)


def test_failing_close_still_removes_the_link() -> None:
    links = OpenLinks()
    link: Any = held(links)
    link.close = lambda: 1 / 0
    assert links.close(PORT)
    assert links.all() == ()


class Watched:
    """A watch over one link, and what the link's actor was told."""

    def __init__(self) -> None:
        context = Context.build(ManualClock())
        self.links = OpenLinks()
        self.link = held(self.links)
        self.actor = FakeActor(context, link_name(PORT))
        self.watch = LinkWatch(context.directory, self.links)
        self.watch.poll()

    def told(self) -> int:
        self.watch.poll()
        return len(self.actor.of(PortFacts))


def test_facts_are_sent_on_change_only() -> None:
    rig = Watched()
    assert rig.told() == 1
    rig.link.show_device(ARM.device_id, awake=False)
    assert [rig.told(), rig.told()] == [2, 2]


def test_heartbeat_changes_are_not_sent() -> None:
    rig = Watched()
    rig.link.show_device(ARM.device_id, awake=True)
    before = rig.told()
    rig.link.show_device(ARM.device_id, heartbeat_ns=7)
    assert rig.told() == before
    assert rig.links.heartbeat(PORT, ARM.device_id) == 7
    assert rig.links.heartbeat(PORT, "1605") is None
    assert rig.links.heartbeat("ttyACM9", ARM.device_id) is None


def test_link_with_unreadable_facts_is_gone() -> None:
    rig = Watched()
    cast("Any", rig.link).facts = lambda: 1 / 0
    assert [rig.told(), rig.told()] == [2, 2]
    assert "its driver failed" in rig.actor.of(PortFacts)[-1].facts.gone


# ---------------------------------------------------------------- rules


@pytest.mark.parametrize("reason", list(PortFault))
def test_every_fault_but_no_driver_is_retried(reason: PortFault) -> None:
    assert (retry.after_fault(reason) is None) is (reason is PortFault.NO_DRIVER)


def chosen(candidate: Candidate, **settings: object) -> bool:
    keys = {"vendors": port_filter.VENDORS, "names": port_filter.NAMES, "serial": "communication/serial/enabled"}
    view = settings_view({keys[name]: value for name, value in settings.items()})
    return bool(port_filter.chosen((candidate,), port_filter.Filter.of(view)))


def test_filters_select_ports() -> None:
    assert chosen(HERE)
    assert chosen(HERE, vendors=["1209"], names=["ACM"])
    assert not chosen(HERE, vendors=["16d0"])
    assert not chosen(HERE, names=["USB"])
    assert not chosen(HERE, serial=False)


def test_port_named_by_a_setting_bypasses_the_filters() -> None:
    assigned = Candidate(PORT, "/dev/x", Transport.SERIAL, assigned=True)
    assert chosen(assigned, vendors=["16d0"], names=["USB"])
    assert not chosen(assigned, serial=False)


def test_settings_of_detection_and_drivers_call_for_a_scan() -> None:
    for key in (
        "communication/usb/enabled",
        port_filter.VENDORS,
        "devices/detection/serial_ports",
        "devices/hapi/ports",
    ):
        assert port_filter.is_detection_setting(key, {"devices/hapi/ports"})
    assert not port_filter.is_detection_setting("devices/auto_pairing", {"devices/hapi/ports"})


def test_machine_without_ports_gives_none() -> None:
    assert NoLinks().scan() == ()
    with pytest.raises(NoDeviceAnswers):
        NoLinks().open(HERE, OpenLimits(), threading.Event())
