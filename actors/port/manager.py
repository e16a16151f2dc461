"""PortManager: owns the port table, gives each port a PortGuard and forwards link messages to it, blocks and resets ports."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import pykka

from actors.device.messages import MANAGER as DEVICES
from actors.event.messages import HUB, Emit
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.children import Children, RestartLimit
from actors.kit.errors import Conflict
from actors.kit.log_fields import of_actor
from actors.kit.message import Announce, ChildFailed, Message
from actors.port import stored_blocks
from actors.port.guard import PortGuard, guard_name
from actors.port.messages import (
    DETECTION,
    PORTS,
    BlockReason,
    LoopBlock,
    PortBlocked,
    PortClosed,
    PortCounted,
    PortFaulted,
    PortOpened,
    PortPlugged,
    PortRemoved,
    PortSilent,
    PortState,
    PortStatus,
    PortTable,
    PortUnblocked,
    PortVanished,
    ResetPort,
    Window,
)
from actors.settings.messages import STORE, SaveLedger, SettingChanged

if TYPE_CHECKING:
    from actors.device.messages import Inventory
    from actors.kit.published import Published
    from actors.settings.messages import SettingsView

SECTION: Final = "ports"
BLOCKED_PORTS: Final = "devices/detection/blocked_ports"

# Reason of a port that another program of the machine took.
TAKEN: Final = "taken"

logger = logging.getLogger(__name__)


class PortManager(ServiceActor):
    """Actor of the port table. The table outlives it and only it writes it; a restarted one adopts the running guards."""

    def __init__(
        self,
        context: Context,
        table: Published[PortTable],
        inventory: Published[Inventory],
        settings: Published[SettingsView],
    ) -> None:
        super().__init__(PORTS, context)
        self._table = table
        self._inventory = inventory
        self._settings = settings
        self._children = Children(
            PORTS, context, on_give_up=self._give_up, restart_limit=lambda: RestartLimit(restarts=3, window_s=10.0)
        )

    def started(self) -> None:
        """Adopt the table's ports, and catch up with the setting and the inventory."""
        for status in self._table.value.ports:
            if status.loop_block is not None:
                logger.warning(
                    "port %s is blocked after a connection loop: POST /ports/%s/reset",
                    *[status.port] * 2,
                    extra={"port": status.port},
                )
            if status.configured_since is None or self.context.directory.ref(guard_name(status.port)) is not None:
                self._ensure_guard(status.port)
        self._apply_setting()
        self._reconcile_inventory()
        if self._table.value.ports:
            self._save()

    def stopped(self) -> None:
        """Stop the guards."""
        self._children.stop_all()

    @handles(ChildFailed)
    def on_child_failed(self, message: ChildFailed) -> None:
        """Restart a crashed guard within its restart limit."""
        self._children.failed(message)

    def on_announce(self, message: Announce) -> None:
        """Send the blocked ports to a new store or DeviceManager."""
        if message.name == STORE:
            self._save()
        elif message.name == DEVICES:
            for status in self._table.value.ports:
                if status.state is PortState.BLOCKED:
                    self.tell(DEVICES, PortBlocked(status.port, BlockReason(status.reason), status.loops))

    # ------------------------------------------------------------ reports of links

    @handles(PortOpened)
    def on_opened(self, message: PortOpened) -> None:
        """Show the port as open and pass it to its guard; ignore a blocked port."""
        before = self._ensure_row(message.port, message.path)
        if before.state is PortState.BLOCKED:
            return
        self._set_row(replace(before, path=message.path, device_id=message.device_id, fault=""))
        if before.fault:
            self._emit_changed(message.port, PortState.ACTIVE, "opened", "can be used again")
        self._tell_guard(message.port, message)

    @handles(PortClosed)
    def on_closed(self, message: PortClosed) -> None:
        """Remove the device from the port's row; the row of a blocked port keeps it."""
        status = self._table.value.find(message.port)
        if status is not None and status.state is not PortState.BLOCKED:
            self._set_row(replace(status, device_id=None))
            self._tell_guard(message.port, message)

    @handles(PortRemoved)
    def on_removed(self, message: PortRemoved) -> None:
        """Drop the port's row and its guard; the row of a blocked port stays until its reset."""
        status = self._table.value.find(message.port)
        if status is not None and status.state is not PortState.BLOCKED:
            self._forget_unseen(replace(status, device_id=None, fault=""))

    @handles(PortFaulted)
    def on_faulted(self, message: PortFaulted) -> None:
        """Show why the port cannot be used, and emit an event if that is new."""
        before = self._ensure_row(message.port, message.path)
        self._set_row(replace(before, path=message.path, fault=message.reason))
        if before.state is not PortState.BLOCKED and before.fault != message.reason:
            why = message.sentence or message.reason
            self._emit_changed(message.port, PortState.UNUSABLE, message.reason, f"cannot be used: {why}")

    @handles(PortVanished)
    def on_vanished(self, message: PortVanished) -> None:
        """Clear the port's fault and pass the unplugging to its guard."""
        row = replace(self._ensure_row(message.port, message.path), fault="")
        self._set_row(row)
        self._tell_guard(message.port, message)
        if message.taken:
            self._emit_changed(message.port, row.state, TAKEN, f"went as soon as it came: {message.taken}")

    @handles(PortPlugged)
    def on_plugged(self, message: PortPlugged) -> None:
        """Pass the plugging to the guard of a known port; the first plugging of a port counts towards no loop."""
        if self._table.value.find(message.port) is not None:
            self._tell_guard(message.port, message)

    @handles(PortSilent)
    def on_silent(self, message: PortSilent) -> None:
        """Clear the port's fault: it opens, though no device answers. A port without a row gets none."""
        status = self._table.value.find(message.port)
        if status is not None and status.fault:
            free = replace(status, fault="")
            self._set_row(free)
            if free.state is PortState.ACTIVE:
                self._emit_changed(message.port, PortState.ACTIVE, "opened", "can be used again, and nobody answers")

    # ------------------------------------------------------------ blocking

    @handles(PortCounted)
    def on_counted(self, message: PortCounted) -> None:
        """Store a guard's window in the table."""
        status = self._table.value.find(message.port)
        if status is not None and status.state is not PortState.BLOCKED:
            self._set_row(replace(status, window=message.window))

    @handles(PortBlocked)
    def on_blocked(self, message: PortBlocked) -> None:
        """Block a port for which its guard found a loop: table and ledger first, then the owner of its link."""
        status = self._table.value.get(message.port)
        if status.loop_block is None:
            device_id = status.device_id or message.device_id
            block = LoopBlock(_now(), message.loops)
            self._set_row(replace(status, device_id=device_id, window=Window(), loop_block=block))
            self._save()
            self._report_blocked(status, message)

    @handles(ResetPort)
    def reset_port(self, message: ResetPort) -> PortStatus:
        """Unblock a port. Return its row; Conflict while a setting blocks it, NoSuchPort."""
        status = self._table.value.get(message.port)
        if status.configured_since is not None:
            raise Conflict(f"Port {status.port} is blocked by the setting {BLOCKED_PORTS}: take it out there.")
        if status.state is PortState.ACTIVE:
            return status
        here = any(record.identity.port == status.port for record in self._inventory.value.devices)
        free = replace(status, window=Window(), loop_block=None, fault="", device_id=status.device_id if here else None)
        self._set_row(free)
        self._save()
        self._report_unblocked(free, "reset", "was reset")
        return free

    @handles(SettingChanged)
    def on_setting(self, message: SettingChanged) -> None:
        """Block and unblock ports as the setting lists them."""
        if message.key == BLOCKED_PORTS:
            self._apply_setting()

    # ------------------------------------------------------------ helpers

    def _apply_setting(self) -> None:
        named = self._settings.value.texts(BLOCKED_PORTS)
        for entry in named:
            if self._table.value.find(base_name(entry)) is None:
                self._set_row(PortStatus(base_name(entry), entry))
        for status in self._table.value.ports:
            block = status.port in named or status.path in named
            if block and status.configured_since is None:
                self._set_row(replace(status, configured_since=_now()))
                if status.loop_block is None:
                    self._report_blocked(status, PortBlocked(status.port, BlockReason.CONFIGURATION))
            elif not block and status.configured_since is not None:
                free = replace(status, configured_since=None)
                self._set_row(free)
                if free.state is not PortState.BLOCKED:
                    self._report_unblocked(free, BlockReason.CONFIGURATION, f"is not named in {BLOCKED_PORTS} any more")
                    self._forget_unseen(free)

    def _forget_unseen(self, status: PortStatus) -> None:
        """Drop the row of a port that has no device and no fault, with its guard."""
        if status.device_id is None and not status.fault:
            self._children.stop(guard_name(status.port))
            self._table.replace(PortTable(tuple(one for one in self._table.value.ports if one.port != status.port)))

    def _reconcile_inventory(self) -> None:
        """Report devices that came or went while no manager ran, and ports that must close."""
        here: dict[str, str] = {}
        for record in self._inventory.value.devices:
            here.setdefault(record.identity.port, record.device_id)
        for status in self._table.value.ports:
            if status.device_id is not None and status.port not in here:
                self.on_closed(PortClosed(status.port))
        for port, device_id in here.items():
            known = self._table.value.find(port)
            if known is not None and known.state is PortState.BLOCKED:
                self.tell(DEVICES, PortBlocked(port, BlockReason(known.reason), known.loops))
            elif known is None or known.device_id != device_id:
                self.on_opened(PortOpened(port, port if known is None else known.path, device_id))

    def _report_blocked(self, status: PortStatus, why: PortBlocked) -> None:
        self._tell_guard(status.port, why)
        self._tell_link_owners(why)
        text = f"port {status.port} is blocked ({why.reason}): check the cable, then POST /ports/{status.port}/reset"
        if why.reason is BlockReason.CONFIGURATION:
            text = f"port {status.port} is blocked by the setting {BLOCKED_PORTS}"
        logger.warning("%s", text, extra={"event": "port-blocked", "port": status.port})
        data = {"port": status.port, "state": PortState.BLOCKED, "reason": why.reason}
        self.tell(HUB, Emit("port-blocked", data, text))

    def _report_unblocked(self, status: PortStatus, reason: str, text: str) -> None:
        self._tell_guard(status.port, PortUnblocked(status.port))
        self._tell_link_owners(PortUnblocked(status.port))
        self._emit_changed(status.port, status.state, reason, text)

    def _emit_changed(self, port: str, state: PortState, reason: str, text: str) -> None:
        level = logging.WARNING if state is PortState.UNUSABLE or reason == TAKEN else logging.INFO
        logger.log(level, "port %s %s", port, text, extra={"event": "port-state-changed", "port": port})
        data = {"port": port, "state": state, "reason": reason}
        self.tell(HUB, Emit("port-state-changed", data, f"port {port} {text}"))

    def _ensure_row(self, port: str, path: str) -> PortStatus:
        """Return the row of a port, created if missing, with its guard running and the setting applied."""
        self._set_row(replace(self._table.value.find(port) or PortStatus(port, path), path=path))
        self._ensure_guard(port)
        self._apply_setting()
        return self._table.value.get(port)

    def _ensure_guard(self, port: str) -> None:
        def start() -> pykka.ActorRef[Any]:
            return PortGuard.start(self.context, self._table, self._inventory, self._settings, port)

        if guard_name(port) not in self._children.names():
            self._children.spawn(guard_name(port), start)

    def _tell_guard(self, port: str, message: Message) -> None:
        """Pass a message to the port's guard; a port that only the setting names has none."""
        if guard_name(port) in self._children.names():
            self.tell(guard_name(port), message)

    def _tell_link_owners(self, message: Message) -> None:
        """Tell the owners of links: DeviceManager for simulated ports, Detection for real ones."""
        self.tell(DEVICES, message)
        self.tell(DETECTION, message)

    @staticmethod
    def _give_up(name: str, error: Exception) -> None:
        """Log a guard that crashed too often; the next opening of its port starts another."""
        logger.error("%s is not guarded until it opens again: %r", name, error, extra=of_actor(name))

    def _set_row(self, status: PortStatus) -> None:
        others = (one for one in self._table.value.ports if one.port != status.port)
        self._table.replace(PortTable(tuple(sorted((*others, status), key=lambda one: one.port))))

    def _save(self) -> None:
        self.tell(STORE, SaveLedger(SECTION, stored_blocks.as_json(self._table.value)))


def base_name(path: str) -> str:
    """Return `ttyACM0` of `/dev/ttyACM0`."""
    return path.rstrip("/").rpartition("/")[2] or path


def _now() -> str:
    return datetime.now(UTC).isoformat()
