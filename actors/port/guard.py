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
    """Return the directory name of a port's guard."""
    return f"port/{port}"


@dataclass(frozen=True, slots=True)
class ReopeningExpired(Message):
    """Told to a PortGuard by its timer: the oldest reopening has left the window."""


class PortGuard(ServiceActor):
    """Actor of one port. Its window is in the port table, so a restarted guard goes on counting."""

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
        # The block that this guard requested, until the port is unblocked.
        self._requested_block: PortBlocked | None = None
        self._window = table.value.get(port).window
        # The last device on the port.
        self._device_id = table.value.get(port).device_id
        self._family = ""

    def started(self) -> None:
        """Start the timer of the window."""
        self._start_timer()

    def stopped(self) -> None:
        """Cancel the timer."""
        self.context.timers.cancel((self.name, ReopeningExpired))

    def on_announce(self, message: Announce) -> None:
        """Report the connection loop again to a new PortManager that does not know of it."""
        if message.name == PORTS and self._requested_block is not None and not self._table.value.is_blocked(self._port):
            self.tell(PORTS, self._requested_block)

    @handles(PortOpened)
    def on_opened(self, message: PortOpened) -> None:
        """Count the opening, unless PortPlugged counted it already."""
        if message.device_id is not None:
            record = self._inventory.value.find(message.device_id)
            if record is not None or message.device_id != self._device_id:
                self._family = "" if record is None else str(record.kind)
            self._device_id = message.device_id
        self._count_reopening()

    @handles(PortPlugged)
    def on_plugged(self, _message: PortPlugged) -> None:
        """Count the port when it is plugged in: it may be gone again before its device is identified."""
        self._count_reopening()

    @handles(PortClosed)
    def on_closed(self, message: PortClosed) -> None:
        """Count the next opening, unless the device was removed on purpose."""
        if not message.on_purpose:
            self._mark_dropped()

    @handles(PortVanished)
    def on_vanished(self, _message: PortVanished) -> None:
        """Count the next plugging, whether or not the port could be opened."""
        self._mark_dropped()

    @handles(PortBlocked)
    def on_blocked(self, _message: PortBlocked) -> None:
        """Stop counting: the port is blocked for another reason."""
        self._stop_counting()

    @handles(PortUnblocked)
    def on_unblocked(self, _message: PortUnblocked) -> None:
        """Start counting from zero."""
        self._blocked, self._requested_block = False, None
        self._window = Window()

    @handles(ReopeningExpired)
    def on_reopening_expired(self, _message: ReopeningExpired) -> None:
        """Drop old reopenings from the window."""
        self._set_window(loop_protection.drop_old(self._window, self.context.clock.now_ns(), self._rule()))

    def _rule(self) -> Rule:
        return Rule.of(self._settings.value)

    def _count_reopening(self) -> None:
        """Count a reopening; past the threshold report the loop and block the port."""
        if self._blocked:
            return
        rule = self._rule()
        result = loop_protection.count_reopening(self._window, self.context.clock.now_ns(), rule)
        self._set_window(result.window)
        loops = len(result.window.reopened_ns)
        if result.began:
            self._emit_loop(loops, rule.window_s)
        if result.block:
            self._stop_counting()
            self._requested_block = PortBlocked(self._port, BlockReason.CONNECTION_LOOP, loops, self._device_id)
            self.tell(PORTS, self._requested_block)

    def _mark_dropped(self) -> None:
        if not self._blocked:
            self._set_window(loop_protection.mark_dropped(self._window))

    def _stop_counting(self) -> None:
        self._blocked = True
        self._window = Window()
        self.context.timers.cancel((self.name, ReopeningExpired))

    def _set_window(self, window: Window) -> None:
        if window != self._window:
            self._window = window
            self.tell(PORTS, PortCounted(self._port, window))
        self._start_timer()

    def _start_timer(self) -> None:
        if self._window.reopened_ns:
            age_s = (self.context.clock.now_ns() - self._window.reopened_ns[0]) / NS_PER_S
            wait_s = max(self._rule().window_s - age_s, LEAST_WAIT_S)
            self.context.timers.after(wait_s, self.name, ReopeningExpired(), key=(self.name, ReopeningExpired))

    def _emit_loop(self, loops: int, window_s: float) -> None:
        subject = "the device" if self._device_id is None else f"device {self._device_id}"
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
                f"{subject} on {self._port} came and went {loops} times within {window_s:g} s",
            ),
        )
