"""The link of a self-test: counted over a second of the loop's time, however old the pages are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, cast

import pytest

from transport.cli.check import link
from transport.cli.check.link import Counted, between, count_since, counted
from transport.cli.client import Client
from transport.cli.devices import ShownDevice
from transport.cli.exit_codes import NoService

DEVICE = ShownDevice("arm", "049D", {"port": "ttyACM0"})


def page(ticks: int, received: int, *, port: str = "ttyACM0") -> str:
    return (
        f"hapticd_loop_target_frequency_hertz 4000.0\nhapticd_loop_ticks_total {ticks}.0\nhapticd_loop_ticks_missed_total 0.0\n"
        f'hapticd_port_frames_received_total{{port="{port}"}} {received}.0\n'
        f'hapticd_port_frames_sent_total{{port="{port}"}} {received}.0\n'
    )


class Pages:
    """A client whose pages are given, one after the other; the last one is answered again."""

    def __init__(self, *pages: str) -> None:
        self._pages: Iterator[str] = iter(pages)
        self.asked = 0
        self._last = ""

    def text(self, path: str) -> str:
        assert path == "/metrics"
        self.asked += 1
        self._last = next(self._pages, self._last)
        if not self._last:
            raise NoService("gone")
        return self._last


def counted_by(pages: Pages, before: str) -> Any:
    return asyncio.run(count_since(counted(before, "ttyACM0"), cast("Client", pages), DEVICE))


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "PAUSE_S", 0.0)
    monkeypatch.setattr(link, "PATIENCE_S", 0.05)


def test_same_page_again_is_waited_out_until_a_second_of_the_loop_has_passed() -> None:
    before = page(4000, 1000)
    pages = Pages(before, before, page(7999, 1900), page(8400, 2100))

    found = counted_by(pages, before)

    assert (found.seconds, found.received, found.sent) == (pytest.approx(1.1), 1100, 1100)
    assert pages.asked == 4


def test_page_that_never_comes_leaves_the_link_unknown() -> None:
    before = page(4000, 1000)

    assert counted_by(Pages(before), before).received is None


def test_device_without_counters_is_not_waited_for() -> None:
    before = page(4000, 1000, port="ttyUSB3")
    pages = Pages(before)

    assert counted_by(pages, before).received is None
    assert pages.asked == 1


def test_counters_that_began_anew_count_nothing_backwards() -> None:
    found = between(Counted(1.0, {"received": 900.0, "sent": 900.0}), Counted(3.0, {"received": 100.0, "sent": 100.0}))

    assert (found.received, found.sent) == (0.0, 0.0)
