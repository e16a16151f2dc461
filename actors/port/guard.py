"""PortGuard: counts how often one port reopens after a drop and reports a connection loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from actors.event.messages import HUB, Emit
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.message import Announce, Message
from actors.port import loop_protection
from actors.port.loop_protection import NS_PER_S, Rule
from actors.port.messages import (
    PORTS,
    BlockReason,
    PortBlocked,
    PortClosed,
    PortCounted,
    PortOpened,
    PortPlugged,
    PortTable,
    PortUnblocked,
    PortVanished,
    Window,
)

if TYPE_CHECKING:
    from actors.device.messages import Inventory
    from actors.kit.published import Published
    from actors.settings.messages import SettingsView

LEAST_WAIT_S: Final = 0.001


def guard_name(port: str) -> str:
    """The directory name of a port's guard."""
    return f"port/{port}"


@dataclass(frozen=True, slots=True)
class CountAgain(Message):
    """Told to a guard by its timer: the oldest loop leaves the window."""


class PortGuard(ServiceActor):
    """Starts from its row in the table, which outlives it: a restarted guard counts on, and what is blocked stays so."""

    def __init__(
        self,
        context: Context,
        table: Published[PortTable],
        inventory: Published[Inventory],
        settings: Published[SettingsView],
        port: str,
    ) -> None:
        super().__init__(guard_name(port), context)
        self._inventory = inventory
        self._settings = settings
        self._port = port
        self._table = table
        self._blocked = table.value.is_blocked(port)
        # The loop that blocked the port, until it is unblocked.
        self._found: PortBlocked | None = None
        self._window = table.value.get(port).window
        # Who was on the port last.
        self._device_id = table.value.get(port).device_id
        self._family = ""

    def started(self) -> None:
        """Count on."""
        self._count_later()

    def stopped(self) -> None:
        """Nothing is counted any more."""
        self.context.timers.cancel((self.name, CountAgain))

    def on_announce(self, message: Announce) -> None:
        """A new keeper of the ports may not have heard of a loop; nobody else would block the port."""
        if message.name == PORTS and self._found is not None and not self._table.value.is_blocked(self._port):
            self.tell(PORTS, self._found)

    @handles(PortOpened)
    def on_opened(self, message: PortOpened) -> None:
        """Count it, unless it was counted when it was plugged in."""
        if message.device_id is not None:
            record = self._inventory.value.find(message.device_id)
            if record is not None or message.device_id != self._device_id:
                self._family = "" if record is None else str(record.kind)
            self._device_id = message.device_id
        self._back()

    @handles(PortPlugged)
    def on_plugged(self, _message: PortPlugged) -> None:
        """Count it: what is behind it may be gone again before anybody could ask who it is."""
        self._back()

    @handles(PortClosed)
    def on_closed(self, message: PortClosed) -> None:
        """The next opening counts, unless the device was taken away on purpose."""
        if not message.on_purpose:
            self._dropped()

    @handles(PortVanished)
    def on_vanished(self, _message: PortVanished) -> None:
        """Its coming back counts, whether or not it could be opened."""
        self._dropped()

    @handles(PortBlocked)
    def on_blocked(self, _message: PortBlocked) -> None:
        """Somebody else blocked the port: nothing counts meanwhile."""
        self._block()

    @handles(PortUnblocked)
    def on_unblocked(self, _message: PortUnblocked) -> None:
        """Count from nothing again."""
        self._blocked, self._found = False, None
        self._window = Window()

    @handles(CountAgain)
    def on_count_again(self, _message: CountAgain) -> None:
        """Show how many there are now."""
        self._become(loop_protection.drop_old(self._window, self.context.clock.now_ns(), self._rule()))

    def _rule(self) -> Rule:
        return Rule.of(self._settings.value)

    def _back(self) -> None:
        """The one that is too many blocks the port."""
        if self._blocked:
            return
        rule = self._rule()
        result = loop_protection.count_reopening(self._window, self.context.clock.now_ns(), rule)
        self._become(result.window)
        loops = len(result.window.reopened_ns)
        if result.began:
            self._say_looping(loops, rule.window_s)
        if result.block:
            self._block()
            self._found = PortBlocked(self._port, BlockReason.CONNECTION_LOOP, loops, self._device_id)
            self.tell(PORTS, self._found)

    def _dropped(self) -> None:
        if not self._blocked:
            self._become(loop_protection.mark_dropped(self._window))

    def _block(self) -> None:
        self._blocked = True
        self._window = Window()
        self.context.timers.cancel((self.name, CountAgain))

    def _become(self, window: Window) -> None:
        if window != self._window:
            self._window = window
            self.tell(PORTS, PortCounted(self._port, window))
        self._count_later()

    def _count_later(self) -> None:
        if self._window.reopened_ns:
            age_s = (self.context.clock.now_ns() - self._window.reopened_ns[0]) / NS_PER_S
            wait_s = max(self._rule().window_s - age_s, LEAST_WAIT_S)
            self.context.timers.after(wait_s, self.name, CountAgain(), key=(self.name, CountAgain))

    def _say_looping(self, loops: int, window_s: float) -> None:
        who = "the device" if self._device_id is None else f"device {self._device_id}"
        self.tell(
            HUB,
            Emit(
                "device-connection-loop",
                {
                    "device_id": self._device_id,
                    "device_family": self._family,
                    "port": self._port,
                    "loops": loops,
                    "window_s": window_s,
                },
                f"{who} on {self._port} came and went {loops} times within {window_s:g} s",
            ),
        )
