"""One port's guard: it counts how often the port opens after a drop, and says when that is a loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from actors.event.messages import HUB, Emit
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.message import Message
from actors.port import loop_protection
from actors.port.loop_protection import NS_PER_S, Rule
from actors.port.messages import (
    PORTS,
    BlockReason,
    PortBlocked,
    PortClosed,
    PortCounted,
    PortOpened,
    PortTable,
    PortUnblocked,
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
        self._blocked = table.value.is_blocked(port)
        self._window = table.value.get(port).window
        self._family = ""

    def started(self) -> None:
        """Count on."""
        self._count_later()

    def stopped(self) -> None:
        """Nothing is counted any more."""
        self.context.timers.cancel((self.name, CountAgain))

    @handles(PortOpened)
    def on_opened(self, message: PortOpened) -> None:
        """Count it; the one that is too many blocks the port."""
        if self._blocked:
            return
        rule = self._rule()
        verdict = loop_protection.opened(self._window, self.context.clock.now_ns(), rule)
        self._become(verdict.window)
        loops = len(verdict.window.reopened_ns)
        if verdict.began:
            self._say_looping(message.device_id, loops, rule.window_s)
        if verdict.block:
            self._block()
            self.tell(PORTS, PortBlocked(self._port, BlockReason.CONNECTION_LOOP, loops))

    @handles(PortClosed)
    def on_closed(self, message: PortClosed) -> None:
        """The next opening counts, unless the device was taken away on purpose."""
        if not (self._blocked or message.on_purpose):
            self._become(loop_protection.closed(self._window))

    @handles(PortBlocked)
    def on_blocked(self, _message: PortBlocked) -> None:
        """Somebody else blocked the port: nothing counts meanwhile."""
        self._block()

    @handles(PortUnblocked)
    def on_unblocked(self, _message: PortUnblocked) -> None:
        """Count from nothing again."""
        self._blocked = False
        self._window = Window()

    @handles(CountAgain)
    def on_count_again(self, _message: CountAgain) -> None:
        """Show how many there are now."""
        self._become(loop_protection.aged(self._window, self.context.clock.now_ns(), self._rule()))

    def _rule(self) -> Rule:
        return Rule.of(self._settings.value)

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

    def _say_looping(self, device_id: str | None, loops: int, window_s: float) -> None:
        record = None if device_id is None else self._inventory.value.find(device_id)
        if record is not None:
            self._family = str(record.kind)
        self.tell(
            HUB,
            Emit(
                "device-connection-loop",
                {
                    "device_id": device_id,
                    "device_family": self._family,
                    "port": self._port,
                    "loops": loops,
                    "window_s": window_s,
                },
                f"device {device_id} on {self._port} came and went {loops} times within {window_s:g} s",
            ),
        )
