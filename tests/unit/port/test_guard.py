"""A port's guard as a plain object: counted reconnects, notifications, restarts."""

from __future__ import annotations

import pytest

from actors.device.messages import Inventory
from actors.event.messages import Emit
from actors.kit.message import Announce, Message
from actors.kit.published import Published
from actors.port.guard import PortGuard, guard_name
from actors.port.messages import (
    PORTS,
    BlockReason,
    LoopBlock,
    PortBlocked,
    PortClosed,
    PortCounted,
    PortOpened,
    PortPlugged,
    PortStatus,
    PortTable,
    PortUnblocked,
    PortVanished,
    Window,
)
from tests.support.actors.actor_rig import ActorRig
from tests.support.actors.doubles import FakeActor, inventory_of, settings_view

PORT = "sim0"
OPENED = PortOpened(PORT, PORT, "049D")
CLOSED = PortClosed(PORT)
PLUGGED = PortPlugged(PORT)
VANISHED = PortVanished(PORT, PORT)
BLOCKED = PortBlocked(PORT, BlockReason.CONNECTION_LOOP, 5, "049D")


class PortGuardRig(ActorRig):
    """A guard without a thread, and those whom it tells."""

    def __init__(self, status: PortStatus | None = None, inventory: Inventory | None = None) -> None:
        super().__init__(inventory=inventory)
        self.ports = FakeActor(self.context, PORTS)
        self.timer = FakeActor(self.context, guard_name(PORT))
        self.table = Published(PortTable((status or PortStatus(PORT, PORT),)))
        self.guard = self.again()

    def again(self) -> PortGuard:
        """Another guard of the port, as after a crash."""
        guard = PortGuard(self.context, self.table, self.inventory, self.settings, PORT)
        guard.started()
        return guard

    def flap(self, times: int, device_id: str = "049D", pause_s: float = 1.0) -> None:
        for _ in range(times):
            self.guard.on_receive(CLOSED)
            self.clock.advance(pause_s)
            self.guard.on_receive(PortOpened(PORT, PORT, device_id))

    def shows(self) -> int:
        """How many loops it told last."""
        return len(self.ports.of(PortCounted)[-1].window.reopened_ns)


def test_the_fifth_loop_within_the_window_blocks_once() -> None:
    rig = PortGuardRig()
    rig.guard.on_receive(OPENED)
    rig.flap(4)
    assert (rig.shows(), rig.ports.of(PortBlocked)) == (4, [])
    rig.flap(7)
    assert rig.ports.of(PortBlocked) == [BLOCKED]


def tell(rig: PortGuardRig, *messages: Message) -> None:
    for message in messages:
        rig.clock.advance(0.1)
        rig.guard.on_receive(message)


@pytest.mark.parametrize(
    "cycle",
    [
        (VANISHED, PLUGGED),
        (CLOSED, OPENED),
        (CLOSED, VANISHED, PLUGGED, OPENED),
        (CLOSED, VANISHED, PLUGGED),
        (VANISHED, PLUGGED, OPENED),
        (CLOSED, CLOSED, PLUGGED, PLUGGED, OPENED, OPENED),
    ],
)
def test_cycle_counts_once_whichever_parts_were_seen(cycle: tuple[Message, ...]) -> None:
    rig = PortGuardRig()
    tell(rig, PLUGGED, OPENED, *cycle * 4)
    assert (rig.shows(), rig.ports.of(PortBlocked)) == (4, [])
    tell(rig, *cycle)
    assert rig.ports.of(PortBlocked) == [BLOCKED]


def test_unopened_port_counts_as_looping() -> None:
    rig = PortGuardRig()
    tell(rig, PLUGGED, *(VANISHED, PLUGGED) * 5)
    assert rig.ports.of(PortBlocked) == [PortBlocked(PORT, BlockReason.CONNECTION_LOOP, 5)]
    (looping,) = rig.hub.of(Emit)
    assert (looping.data["device_id"], looping.message) == (
        None,
        "the device on sim0 came and went 5 times within 10 s",
    )


def test_deliberately_closed_port_may_be_replugged() -> None:
    rig = PortGuardRig()
    tell(rig, OPENED, *(PortClosed(PORT, on_purpose=True), PLUGGED, OPENED) * 6)
    assert rig.ports.told == []


def test_repeated_opening_is_not_forwarded() -> None:
    rig = PortGuardRig()
    for _ in range(20):
        rig.guard.on_receive(OPENED)
    assert rig.ports.told == []


def test_loop_event_names_the_device() -> None:
    inventory = inventory_of("arm")
    (arm,) = inventory.devices
    rig = PortGuardRig()
    rig.flap(5, arm.device_id)
    rig.guard.on_receive(PortUnblocked(PORT))
    rig.inventory.replace(inventory)
    rig.flap(4, arm.device_id)
    rig.inventory.replace(Inventory())
    rig.flap(1, arm.device_id)

    assert [(event.kind, dict(event.data)) for event in rig.hub.of(Emit)] == [
        (
            "device-connection-loop",
            {"device_id": arm.device_id, "device_family": family, "port": PORT, "loops": 5, "window_s": 10.0},
        )
        for family in ("", "arm")
    ]


def test_reconnects_outside_the_window_are_not_shown() -> None:
    rig = PortGuardRig()
    rig.flap(3, pause_s=2.0)
    for left, seconds in ((3, 5.9), (2, 0.2), (1, 2.0), (0, 2.0)):
        rig.clock.advance(seconds)
        rig.context.timers.fire_due()
        for due in rig.timer.told:
            rig.guard.on_receive(due)
        rig.timer.told.clear()
        assert rig.shows() == left
    assert len(rig.context.timers) == 0


def test_restarted_guard_continues_the_count() -> None:
    rig = PortGuardRig()
    rig.flap(4)
    rig.table.replace(PortTable((PortStatus(PORT, PORT, window=rig.guard._window),)))
    rig.guard = rig.again()
    rig.flap(1)
    assert rig.ports.of(PortBlocked) == [BLOCKED]


@pytest.mark.parametrize(
    "status",
    [
        PortStatus(PORT, PORT, loop_block=LoopBlock("2026-01-01T00:00:00+00:00", 5)),
        PortStatus(PORT, PORT, configured_since="2026-01-01T00:00:00+00:00"),
    ],
)
def test_a_blocked_port_counts_nothing_until_it_is_unblocked(status: PortStatus) -> None:
    rig = PortGuardRig(status)
    rig.flap(20)
    assert (rig.ports.told, rig.hub.told) == ([], [])

    rig.guard.on_receive(PortUnblocked(PORT))
    rig.flap(5)
    assert len(rig.ports.of(PortBlocked)) == 1


def test_block_by_another_actor_ends_the_counting() -> None:
    rig = PortGuardRig()
    rig.flap(4)
    rig.guard.on_receive(PortBlocked(PORT, BlockReason.CONFIGURATION))
    assert len(rig.context.timers) == 0
    rig.guard.on_receive(PortUnblocked(PORT))
    rig.flap(4)
    assert rig.ports.of(PortBlocked) == []
    assert rig.guard._window != Window()


def test_changed_settings_apply_to_the_next_loop() -> None:
    rig = PortGuardRig()
    rig.flap(2)
    rig.settings.replace(settings_view({"devices/detection/loop_threshold": 2}))
    rig.flap(1)
    assert rig.ports.of(PortBlocked) == [PortBlocked(PORT, BlockReason.CONNECTION_LOOP, 3, "049D")]


def test_a_stopped_guard_leaves_no_timer_behind() -> None:
    rig = PortGuardRig()
    rig.flap(1)
    assert len(rig.context.timers) == 1
    rig.guard.stopped()
    assert len(rig.context.timers) == 0


def test_guard_name_has_the_port() -> None:
    assert guard_name("ttyACM0") == "port/ttyACM0"


def test_loop_unknown_to_the_port_manager_is_sent_to_the_next_one() -> None:
    rig = PortGuardRig()
    rig.guard.on_receive(OPENED)
    rig.flap(5)

    rig.guard.on_receive(Announce(PORTS))
    assert rig.ports.of(PortBlocked) == [BLOCKED, BLOCKED]

    rig.table.replace(PortTable((PortStatus(PORT, PORT, loop_block=LoopBlock("2026-01-01T00:00:00+00:00", 5)),)))
    rig.guard.on_receive(Announce(PORTS))
    assert len(rig.ports.of(PortBlocked)) == 2

    rig.table.replace(PortTable((PortStatus(PORT, PORT),)))
    rig.guard.on_receive(PortUnblocked(PORT))
    rig.guard.on_receive(Announce(PORTS))
    assert len(rig.ports.of(PortBlocked)) == 2
