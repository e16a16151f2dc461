"""Detection: scans the ports every `devices/detection/period` and keeps one PortLink actor for each port that may be opened.

20 times a second it compares the device folders (`change_token`). After a change it scans at once, closes the ports that went and counts
who came and went, but opens new ports only at the next periodic scan: a new node may not have its owner yet.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
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
    FirstRoundOver,
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
# Shorter than anything that plugs and unplugs stays; a glance takes some tens of microseconds.
GLANCE_S: Final = 0.05
# The list of the operating system may come later than the node that a glance sees, and go later.
LOOKS_AFTER_A_CHANGE: Final = 4

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ScanDue(Message):
    """Told to the Detection by its timer, and by itself when a setting wants a look at once."""


@dataclass(frozen=True, slots=True)
class GlanceDue(Message):
    """Told to the Detection by its timer, and by itself at the start: see whether anything came or went."""


class Detection(ServiceActor):
    """Who is watched and what is open outlive it; a new one adopts the PortLinks that live."""

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
        # Those that were wanted at the last look, by name.
        self._known: dict[str, Candidate] = {}
        self._scanned_with = port_filter.detection_settings(settings.value, links.setting_keys)
        self._token: object = None
        self._looks_due = 0
        self._untried: set[str] = set()
        self._first_round = True
        self._complaints: dict[str, str] = {}
        self._children = Children(
            DETECTION, context, on_give_up=self._give_up, restart_limit=lambda: RestartLimit(restarts=3, window_s=10.0)
        )

    def started(self) -> None:
        """Adopt whom the last one watched, then look."""
        for candidate in self._opened.watched().values():
            self._spawn(candidate)
        self._known = self._opened.watched()
        self._listed = tuple(self._known.values())
        self.tell(self.name, ScanDue())
        self.tell(self.name, GlanceDue())

    def stopped(self) -> None:
        """Every link is closed, with zero force."""
        self.context.timers.cancel((self.name, ScanDue))
        self.context.timers.cancel((self.name, GlanceDue))
        for port in self._opened.watched():
            self._opened.interrupt(port)
        self._children.stop_all()

    @handles(ChildFailed)
    def on_child_failed(self, message: ChildFailed) -> None:
        """A PortLink died: start it again within its intensity."""
        self._children.failed(message)

    def on_announce(self, message: Announce) -> None:
        """A new manager may still wait for the first round."""
        if message.name == DEVICES and not self._first_round:
            self.tell(DEVICES, FirstRoundOver())

    # ------------------------------------------------------------ looking

    @handles(ScanDue)
    def on_scan(self, _message: ScanDue) -> None:
        """Look at what there is, and open what is new."""
        self._look()
        self._open_new()
        if self._first_round:
            self._end_round()
        period_s = self._settings.value.integer(PERIOD) / 1000
        self.context.timers.after(period_s, self.name, ScanDue(), key=(self.name, ScanDue))

    @handles(GlanceDue)
    def on_glance(self, _message: GlanceDue) -> None:
        """Look only if something has come or gone, or has just done so."""
        if self._ask(self._links.change_token, self._token) != self._token:
            self._looks_due = LOOKS_AFTER_A_CHANGE
        if self._looks_due:
            self._looks_due -= 1
            self._look()
        self.context.timers.after(GLANCE_S, self.name, GlanceDue(), key=(self.name, GlanceDue))

    @handles(SettingChanged)
    def on_setting(self, message: SettingChanged) -> None:
        """What is switched off is closed at once, what is switched on is looked for at once."""
        if port_filter.is_detection_setting(message.key, self._links.setting_keys):
            self._note(by_setting=False)
            self.tell(self.name, ScanDue())

    @handles(PortTried)
    def on_tried(self, message: PortTried) -> None:
        """One port less to wait for in the first round."""
        self._untried.discard(message.port)
        if self._first_round:
            self._end_round()

    def _end_round(self) -> None:
        if not self._untried:
            self._first_round = False
            self.tell(DEVICES, FirstRoundOver())

    def _look(self) -> None:
        """List the ports; a look that fails changes nothing. A setting that changes meanwhile is seen by this look and the next."""
        before = self._detection_settings()
        token = self._ask(self._links.change_token, self._token)
        listed = self._ask(self._links.scan, None)
        if listed is None:
            return
        self._token, self._listed = token, listed
        same = self._scanned_with == before == self._detection_settings()
        self._scanned_with = before
        self._note(by_setting=not same)

    def _detection_settings(self) -> tuple[SettingView, ...]:
        return port_filter.detection_settings(self._settings.value, self._links.setting_keys)

    def _ask(self, question: Callable[[], T], otherwise: T) -> T:
        """The answer of the links; one that fails is said once, and nothing has changed then."""
        name = question.__name__
        try:
            answer = question()
        except Exception as error:
            if self._complaints.get(name) != repr(error):
                self._complaints[name] = repr(error)
                logger.exception("the ports could not be listed")
            return otherwise
        self._complaints.pop(name, None)
        return answer

    def _note(self, *, by_setting: bool) -> None:
        """Close what is not there or not wanted any more, and have it counted what was pulled out and plugged in."""
        now = {one.port: one for one in port_filter.chosen(self._listed, Filter.of(self._settings.value))}
        listed = {one.port: one for one in self._listed}
        news = port_filter.port_changes(self._known, now, listed, by_setting=by_setting)
        self._known = now
        for one in news.unwanted:
            self._dismiss(one.port, "the settings do not want it any more", on_purpose=True)
        for one in news.unplugged:
            self._dismiss(one.port, "it was unplugged", on_purpose=False)
            self.tell(PORTS, PortVanished(one.port, one.path))
        for one in news.plugged:
            self.tell(PORTS, PortPlugged(one.port))

    def _open_new(self) -> None:
        """Exactly the ports that are listed and may be opened have a PortLink."""
        new = [one for port, one in self._known.items() if port not in self._opened.watched()]
        if self._first_round:
            self._untried |= {one.port for one in new}
        for candidate in new:
            self._opened.watch(candidate)
            self._spawn(candidate)

    def _dismiss(self, port: str, why: str, *, on_purpose: bool) -> None:
        if port not in self._opened.watched():
            return
        self._opened.interrupt(port)
        self.tell(link_name(port), CloseLink(why, on_purpose))
        self._children.stop(link_name(port))
        self._close_for(port, why)
        self._opened.forget(port)
        self._untried.discard(port)

    # ------------------------------------------------------------ what is decided of ports

    @handles(PortBlocked)
    def on_blocked(self, message: PortBlocked) -> None:
        """Its link closes, also one that is being opened."""
        self._opened.interrupt(message.port)
        self.tell(link_name(message.port), message)

    @handles(PortUnblocked)
    def on_unblocked(self, message: PortUnblocked) -> None:
        """It is tried at once."""
        self.tell(link_name(message.port), message)

    # ------------------------------------------------------------ the rest

    def _spawn(self, candidate: Candidate) -> None:
        def start() -> pykka.ActorRef[Any]:
            return PortLink.start(
                self.context, self._links, self._opened, self._table, self._inventory, self._settings, candidate
            )

        self._children.spawn(link_name(candidate.port), start)

    def _give_up(self, name: str, error: Exception) -> None:
        """A PortLink that keeps failing: its link is closed, and its port is left alone until it was unplugged."""
        port = name.partition("/")[2]
        logger.error("port %s is left alone until it is plugged in again: %r", port, error)
        self._close_for(port, "its link failed too often")
        self.on_tried(PortTried(port))

    def _close_for(self, port: str, why: str) -> None:
        """What a PortLink that died could not do."""
        if self._opened.close(port):
            self.tell(DEVICES, LinkClosed(port, why))
            self.tell(PORTS, PortClosed(port))
