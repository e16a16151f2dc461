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

logger = logging.getLogger(__name__)


class PortManager(ServiceActor):
    """The table outlives it and is its to change; a restarted manager adopts the guards that live."""

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
        """Take up what the table has, and make up for what nobody could be told meanwhile."""
        for status in self._table.value.ports:
            if status.loop_block is not None:
                logger.warning("port %s is blocked after a connection loop: POST /ports/%s/reset", *[status.port] * 2)
            if status.configured_since is None or self.context.directory.ref(guard_name(status.port)) is not None:
                self._guard(status.port)
        self._configure()
        self._meet_inventory()
        if self._table.value.ports:
            self._save()

    def stopped(self) -> None:
        """Stop the guards."""
        self._children.stop_all()

    @handles(ChildFailed)
    def on_child_failed(self, message: ChildFailed) -> None:
        """A guard died: start it again within its intensity."""
        self._children.failed(message)

    def on_announce(self, message: Announce) -> None:
        """A new store may not have what the last one was told, nor may who holds the links."""
        if message.name == STORE:
            self._save()
        elif message.name == DEVICES:
            for status in self._table.value.ports:
                if status.state is PortState.BLOCKED:
                    self.tell(DEVICES, PortBlocked(status.port, BlockReason(status.reason), status.loops))

    # ------------------------------------------------------------ what links tell

    @handles(PortOpened)
    def on_opened(self, message: PortOpened) -> None:
        """Show it and have it counted; a port that is blocked stays so."""
        before = self._seen(message.port, message.path)
        if before.state is PortState.BLOCKED:
            return
        self._show(replace(before, path=message.path, device_id=message.device_id, fault=""))
        if before.fault:
            self._say_changed(message.port, PortState.ACTIVE, "opened", "can be used again")
        self._tell_guard(message.port, message)

    @handles(PortClosed)
    def on_closed(self, message: PortClosed) -> None:
        """Show that there is no device; the row of a blocked port keeps the one that it was blocked for."""
        status = self._table.value.find(message.port)
        if status is not None and status.state is not PortState.BLOCKED:
            self._show(replace(status, device_id=None))
            self._tell_guard(message.port, message)

    @handles(PortFaulted)
    def on_faulted(self, message: PortFaulted) -> None:
        """Show why the port cannot be used, and say so once."""
        before = self._seen(message.port, message.path)
        self._show(replace(before, path=message.path, fault=message.reason))
        if before.state is not PortState.BLOCKED and before.fault != message.reason:
            why = message.sentence or message.reason
            self._say_changed(message.port, PortState.UNUSABLE, message.reason, f"cannot be used: {why}")

    @handles(PortVanished)
    def on_vanished(self, message: PortVanished) -> None:
        """What was wrong with it is over, and said again when it comes back with it; that it has gone is counted."""
        self._show(replace(self._seen(message.port, message.path), fault=""))
        self._tell_guard(message.port, message)

    @handles(PortPlugged)
    def on_plugged(self, message: PortPlugged) -> None:
        """A port that was never seen shows when it opens; its first coming is no loop."""
        if self._table.value.find(message.port) is not None:
            self._tell_guard(message.port, message)

    @handles(PortSilent)
    def on_silent(self, message: PortSilent) -> None:
        """What was wrong with it is over; a port without a row stays without."""
        status = self._table.value.find(message.port)
        if status is not None and status.fault:
            free = replace(status, fault="")
            self._show(free)
            if free.state is PortState.ACTIVE:
                self._say_changed(message.port, PortState.ACTIVE, "opened", "can be used again, and nobody answers")

    # ------------------------------------------------------------ what is decided

    @handles(PortCounted)
    def on_counted(self, message: PortCounted) -> None:
        """Show what a guard has counted."""
        status = self._table.value.find(message.port)
        if status is not None and status.state is not PortState.BLOCKED:
            self._show(replace(status, window=message.window))

    @handles(PortBlocked)
    def on_blocked(self, message: PortBlocked) -> None:
        """A guard found a loop: the table and the ledger first, then whoever holds the link."""
        status = self._table.value.get(message.port)
        if status.loop_block is None:
            device_id = status.device_id or message.device_id
            block = LoopBlock(_now(), message.loops)
            self._show(replace(status, device_id=device_id, window=Window(), loop_block=block))
            self._save()
            self._close(status, message)

    @handles(ResetPort)
    def reset_port(self, message: ResetPort) -> PortStatus:
        """The port as it is now; Conflict while a setting blocks it, NoSuchPort."""
        status = self._table.value.get(message.port)
        if status.configured_since is not None:
            raise Conflict(f"Port {status.port} is blocked by the setting {BLOCKED_PORTS}: take it out there.")
        if status.state is PortState.ACTIVE:
            return status
        here = any(record.identity.port == status.port for record in self._inventory.value.devices)
        free = replace(status, window=Window(), loop_block=None, fault="", device_id=status.device_id if here else None)
        self._show(free)
        self._save()
        self._open(free, "reset", "was reset")
        return free

    @handles(SettingChanged)
    def on_setting(self, message: SettingChanged) -> None:
        """Block and unblock what the setting names."""
        if message.key == BLOCKED_PORTS:
            self._configure()

    # ------------------------------------------------------------ the rest

    def _configure(self) -> None:
        named = self._settings.value.texts(BLOCKED_PORTS)
        for entry in named:
            if self._table.value.find(base_name(entry)) is None:
                self._show(PortStatus(base_name(entry), entry))
        for status in self._table.value.ports:
            block = status.port in named or status.path in named
            if block and status.configured_since is None:
                self._show(replace(status, configured_since=_now()))
                if status.loop_block is None:
                    self._close(status, PortBlocked(status.port, BlockReason.CONFIGURATION))
            elif not block and status.configured_since is not None:
                free = replace(status, configured_since=None)
                self._show(free)
                if free.state is not PortState.BLOCKED:
                    self._open(free, BlockReason.CONFIGURATION, f"is not named in {BLOCKED_PORTS} any more")
                    self._forget_unseen(free)

    def _forget_unseen(self, status: PortStatus) -> None:
        """Drop the row of a port that nothing but the setting knew."""
        if status.device_id is None and not status.fault:
            self._children.stop(guard_name(status.port))
            self._table.replace(PortTable(tuple(one for one in self._table.value.ports if one.port != status.port)))

    def _meet_inventory(self) -> None:
        """Devices that came and went, or should have gone, while no manager lived."""
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

    def _close(self, status: PortStatus, why: PortBlocked) -> None:
        self._tell_guard(status.port, why)
        self._tell_holders(why)
        text = f"port {status.port} is blocked ({why.reason}): check the cable, then POST /ports/{status.port}/reset"
        if why.reason is BlockReason.CONFIGURATION:
            text = f"port {status.port} is blocked by the setting {BLOCKED_PORTS}"
        logger.warning(text)
        data = {"port": status.port, "state": PortState.BLOCKED, "reason": why.reason}
        self.tell(HUB, Emit("port-blocked", data, text))

    def _open(self, status: PortStatus, reason: str, text: str) -> None:
        self._tell_guard(status.port, PortUnblocked(status.port))
        self._tell_holders(PortUnblocked(status.port))
        self._say_changed(status.port, status.state, reason, text)

    def _say_changed(self, port: str, state: PortState, reason: str, text: str) -> None:
        logger.log(logging.WARNING if state is PortState.UNUSABLE else logging.INFO, "port %s %s", port, text)
        data = {"port": port, "state": state, "reason": reason}
        self.tell(HUB, Emit("port-state-changed", data, f"port {port} {text}"))

    def _seen(self, port: str, path: str) -> PortStatus:
        """The row of a port that a link knows, as the setting wants it, with a guard that lives or is started again."""
        self._show(replace(self._table.value.find(port) or PortStatus(port, path), path=path))
        self._guard(port)
        self._configure()
        return self._table.value.get(port)

    def _guard(self, port: str) -> None:
        def start() -> pykka.ActorRef[Any]:
            return PortGuard.start(self.context, self._table, self._inventory, self._settings, port)

        if guard_name(port) not in self._children.names():
            self._children.spawn(guard_name(port), start)

    def _tell_guard(self, port: str, message: Message) -> None:
        """A port that only the setting knows has no guard."""
        if guard_name(port) in self._children.names():
            self.tell(guard_name(port), message)

    def _tell_holders(self, message: Message) -> None:
        """Simulated ports are the DeviceManager's, real ones the Detection's."""
        self.tell(DEVICES, message)
        self.tell(DETECTION, message)

    @staticmethod
    def _give_up(name: str, error: Exception) -> None:
        """A guard that keeps failing: the next opening of its port starts another."""
        logger.error("%s is not guarded until it opens again: %r", name, error)

    def _show(self, status: PortStatus) -> None:
        others = (one for one in self._table.value.ports if one.port != status.port)
        self._table.replace(PortTable(tuple(sorted((*others, status), key=lambda one: one.port))))

    def _save(self) -> None:
        self.tell(STORE, SaveLedger(SECTION, stored_blocks.as_json(self._table.value)))


def base_name(path: str) -> str:
    """`ttyACM0` of `/dev/ttyACM0`."""
    return path.rstrip("/").rpartition("/")[2] or path


def _now() -> str:
    return datetime.now(UTC).isoformat()
