"""Detection: scans the ports every `devices/detection/period` and keeps one PortLink actor for each port that may be opened.

It compares the device folders (`change_token`) 20 times a second. After a change it scans at once, closes the ports that are gone
and reports unplugged and plugged ports, but opens new ports only at the next periodic scan: a new node may not have its owner yet.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pykka

from actors.device.messages import MANAGER as DEVICES
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.children import Children, RestartLimit
from actors.kit.message import Announce, ChildFailed, Message
from actors.port import port_filter
from actors.port.messages import (
    DETECTION,
    PORTS,
    FirstScanDone,
    LinkClosed,
    PortBlocked,
    PortClosed,
    PortPlugged,
    PortTable,
    PortUnblocked,
    PortVanished,
    link_name,
)
from actors.port.port_filter import Filter
from actors.port.port_link import CloseLink, PortLink, PortTried
from actors.settings.messages import SettingChanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.device.messages import Inventory
    from actors.kit.published import Published
    from actors.port.link_interface import Links
    from actors.port.open_links import OpenLinks
    from actors.settings.messages import SettingsView, SettingView
    from actors.values.hardware import Candidate

T = TypeVar("T")

PERIOD: Final = "devices/detection/period"
# A port that is gone so soon after it came may have been taken by another program of the machine.
SOON_NS: Final = 3_000_000_000
# Shorter than any plugging or unplugging lasts; a check takes some tens of microseconds.
CHANGE_CHECK_S: Final = 0.05
# The operating system's list of ports may follow the device node late.
SCANS_AFTER_CHANGE: Final = 4

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ScanDue(Message):
    """Told to the Detection by its timer, and by itself after a change of a detection setting: scan the ports."""


@dataclass(frozen=True, slots=True)
class ChangeCheckDue(Message):
    """Told to the Detection by its timer: check whether a port came or went."""


class Detection(ServiceActor):
    """Actor of port detection. Open links and watched ports outlive it: a restarted one adopts the running PortLinks."""

    def __init__(
        self,
        context: Context,
        links: Links,
        opened: OpenLinks,
        table: Published[PortTable],
        inventory: Published[Inventory],
        settings: Published[SettingsView],
    ) -> None:
        super().__init__(DETECTION, context)
        self._links = links
        self._opened = opened
        self._table = table
        self._inventory = inventory
        self._settings = settings
        self._listed: tuple[Candidate, ...] = ()
        # Ports that passed the filter at the last scan, by name.
        self._wanted: dict[str, Candidate] = {}
        self._scanned_with = port_filter.detection_settings(settings.value, links.setting_keys)
        self._token: object = None
        # When each port of `_wanted` came that was not there from the start, ns.
        self._came_ns: dict[str, int] = {}
        self._scans_due = 0
        self._untried: set[str] = set()
        self._first_scan = True
        self._logged_errors: dict[str, str] = {}
        self._children = Children(
            DETECTION, context, on_give_up=self._give_up, restart_limit=lambda: RestartLimit(restarts=3, window_s=10.0)
        )

    def started(self) -> None:
        """Adopt the watched ports, then scan."""
        for candidate in self._opened.watched().values():
            self._spawn(candidate)
        self._wanted = self._opened.watched()
        self._listed = tuple(self._wanted.values())
        self.tell(self.name, ScanDue())
        self.tell(self.name, ChangeCheckDue())

    def stopped(self) -> None:
        """Close every link, with zero force; ports whose `open` hangs are waited for together."""
        self.context.timers.cancel((self.name, ScanDue))
        self.context.timers.cancel((self.name, ChangeCheckDue))
        for port in self._opened.watched():
            self._opened.interrupt(port)
        self._children.stop_together()

    @handles(ChildFailed)
    def on_child_failed(self, message: ChildFailed) -> None:
        """Restart a crashed PortLink within its restart limit."""
        self._children.failed(message)

    def on_announce(self, message: Announce) -> None:
        """Tell a new DeviceManager that the first scan is over."""
        if message.name == DEVICES and not self._first_scan:
            self.tell(DEVICES, FirstScanDone())

    # ------------------------------------------------------------ scanning

    @handles(ScanDue)
    def on_scan(self, _message: ScanDue) -> None:
        """Scan the ports, start a PortLink for each new one, and schedule the next scan."""
        self._scan()
        self._start_new_links()
        if self._first_scan:
            self._check_first_scan()
        period_s = self._settings.value.integer(PERIOD) / 1000
        self.context.timers.after(period_s, self.name, ScanDue(), key=(self.name, ScanDue))

    @handles(ChangeCheckDue)
    def on_change_check(self, _message: ChangeCheckDue) -> None:
        """Scan if ports came or went now or in the last few checks."""
        if self._query(self._links.change_token, self._token) != self._token:
            self._scans_due = SCANS_AFTER_CHANGE
        if self._scans_due:
            self._scans_due -= 1
            self._scan()
        self.context.timers.after(CHANGE_CHECK_S, self.name, ChangeCheckDue(), key=(self.name, ChangeCheckDue))

    @handles(SettingChanged)
    def on_setting(self, message: SettingChanged) -> None:
        """Close ports that a changed setting excludes at once, and scan for those that it includes."""
        if port_filter.is_detection_setting(message.key, self._links.setting_keys):
            self._apply_scan(by_setting=False)
            self.tell(self.name, ScanDue())

    @handles(PortTried)
    def on_tried(self, message: PortTried) -> None:
        """Count a port of the first scan as tried."""
        self._untried.discard(message.port)
        if self._first_scan:
            self._check_first_scan()

    def _check_first_scan(self) -> None:
        if not self._untried:
            self._first_scan = False
            self.tell(DEVICES, FirstScanDone())

    def _scan(self) -> None:
        """List the ports; a failure changes nothing. A setting that changes meanwhile counts for this scan and the next."""
        before = self._detection_settings()
        token = self._query(self._links.change_token, self._token)
        listed = self._query(self._links.scan, None)
        if listed is None:
            return
        self._token, self._listed = token, listed
        same = self._scanned_with == before == self._detection_settings()
        self._scanned_with = before
        self._apply_scan(by_setting=not same)

    def _detection_settings(self) -> tuple[SettingView, ...]:
        return port_filter.detection_settings(self._settings.value, self._links.setting_keys)

    def _query(self, query: Callable[[], T], fallback: T) -> T:
        """Call a query of the links; on an error log it once and return `fallback`."""
        name = getattr(query, "__name__", "taker")
        try:
            answer = query()
        except Exception as error:
            if self._logged_errors.get(name) != repr(error):
                self._logged_errors[name] = repr(error)
                logger.exception("the ports could not be listed")
            return fallback
        self._logged_errors.pop(name, None)
        return answer

    def _apply_scan(self, *, by_setting: bool) -> None:
        """Close ports that are gone or excluded, and report unplugged and plugged ones to the PortManager."""
        now = {one.port: one for one in port_filter.chosen(self._listed, Filter.of(self._settings.value))}
        listed = {one.port: one for one in self._listed}
        changes = port_filter.port_changes(self._wanted, now, listed, by_setting=by_setting)
        self._wanted = now
        for one in changes.unwanted:
            self._close_port(one.port, "the settings do not want it any more", on_purpose=True)
        for one in changes.unplugged:
            self._close_port(one.port, "it was unplugged", on_purpose=False)
            self.tell(PORTS, PortVanished(one.port, one.path, self._taker_of(one)))
        for one in changes.plugged:
            self.tell(PORTS, PortPlugged(one.port))
        came = dict.fromkeys((one.port for one in changes.plugged if not self._first_scan), self.context.clock.now_ns())
        self._came_ns = {port: came_ns for port, came_ns in (self._came_ns | came).items() if port in now}

    def _taker_of(self, gone: Candidate) -> str:
        """Return what took a port that is gone soon after it came; "" when that is not known."""
        came_ns = self._came_ns.get(gone.port)
        if came_ns is None or self.context.clock.now_ns() - came_ns > SOON_NS:
            return ""
        return self._query(partial(self._links.taker, gone), "")

    def _start_new_links(self) -> None:
        """Start a PortLink for each wanted port without one."""
        new = [one for port, one in self._wanted.items() if port not in self._opened.watched()]
        if self._first_scan:
            self._untried |= {one.port for one in new}
        for candidate in new:
            self._opened.watch(candidate)
            self._spawn(candidate)

    def _close_port(self, port: str, why: str, *, on_purpose: bool) -> None:
        if port not in self._opened.watched():
            return
        self._opened.interrupt(port)
        self.tell(link_name(port), CloseLink(why, on_purpose))
        self._children.stop(link_name(port))
        self._close_for(port, why)
        self._opened.unwatch(port)
        self._untried.discard(port)

    # ------------------------------------------------------------ blocking

    @handles(PortBlocked)
    def on_blocked(self, message: PortBlocked) -> None:
        """Interrupt an opening and pass the message to the PortLink, which closes."""
        self._opened.interrupt(message.port)
        self.tell(link_name(message.port), message)

    @handles(PortUnblocked)
    def on_unblocked(self, message: PortUnblocked) -> None:
        """Pass the message to the PortLink, which tries the port at once."""
        self.tell(link_name(message.port), message)

    # ------------------------------------------------------------ supervision

    def _spawn(self, candidate: Candidate) -> None:
        def start() -> pykka.ActorRef[Any]:
            return PortLink.start(
                self.context, self._links, self._opened, self._table, self._inventory, self._settings, candidate
            )

        self._children.spawn(link_name(candidate.port), start)

    def _give_up(self, name: str, error: Exception) -> None:
        """Close the link of a PortLink that crashed too often; the port is ignored until it is plugged in again."""
        port = name.partition("/")[2]
        logger.error("port %s is left alone until it is plugged in again: %r", port, error, extra={"port": port})
        self._close_for(port, "its link failed too often")
        self.on_tried(PortTried(port))

    def _close_for(self, port: str, why: str) -> None:
        """Close the link and report it, in place of a PortLink that crashed."""
        if self._opened.close(port):
            self.tell(DEVICES, LinkClosed(port, why))
            self.tell(PORTS, PortClosed(port))
