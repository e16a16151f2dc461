"""PortManager as a plain object: table, ledger, settings, resets, and what a restarted one catches up on."""

from __future__ import annotations

from typing import Any, cast

import pytest

from actors.device.messages import MANAGER as DEVICES
from actors.device.messages import Inventory
from actors.kit.errors import Conflict, NoSuchPort
from actors.kit.message import Announce, Message
from actors.kit.published import Published
from actors.port import stored_blocks
from actors.port.collector import PortCollector
from actors.port.manager import BLOCKED_PORTS, PortManager, base_name
from actors.port.messages import (
    BlockReason,
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
from actors.port.open_links import OpenLinks
from actors.settings.immutable_json import freeze
from actors.settings.messages import STORE, SaveLedger, SettingChanged
from tests.support.actors.actor_rig import ActorRig
from tests.support.actors.doubles import FakeActor, FakeChildren, inventory_of, settings_view

USB = "ttyACM0"
PATH = "/dev/ttyACM0"
LOOP = PortBlocked(USB, BlockReason.CONNECTION_LOOP, 5)


class Children(FakeChildren):
    """Knows whom it was asked for."""

    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self.spawned if name not in self.stopped)


class PortManagerRig(ActorRig):
    """A keeper without a thread and without guards, and those whom it tells."""

    def __init__(self, *blocked: str, table: PortTable | None = None, inventory: Inventory | None = None) -> None:
        super().__init__({BLOCKED_PORTS: list(blocked)}, inventory=inventory)
        self.devices = FakeActor(self.context, DEVICES)
        self.guard = FakeActor(self.context, f"port/{USB}")
        self.table = Published(table or PortTable())
        self.manager, self.children = self.again()

    def again(self) -> tuple[PortManager, Children]:
        """Another keeper of the table, as after a crash."""
        manager = PortManager(self.context, self.table, self.inventory, self.settings)
        children = Children()
        manager._children = cast("Any", children)
        manager.started()
        return manager, children

    def tell(self, *messages: Message) -> None:
        for message in messages:
            self.manager.on_receive(message)

    def reset(self, name: str = USB) -> PortStatus:
        return self.manager.reset_port(ResetPort(name))

    def choose(self, *blocked: str) -> None:
        self.settings.replace(settings_view({BLOCKED_PORTS: list(blocked)}))
        self.tell(SettingChanged(BLOCKED_PORTS, blocked))

    @property
    def status(self) -> PortStatus:
        return self.table.value.get(USB)

    def remembered(self) -> PortTable:
        """What a start would make of the last thing that was told to the ledger."""
        return stored_blocks.from_json(freeze(self.store.of(SaveLedger)[-1].value))

    def events(self) -> list[tuple[str, str, str]]:
        """Kind, state and reason, oldest first."""
        return [(event.kind, str(event.data["state"]), str(event.data["reason"])) for event in self.emitted]


def opened(rig: PortManagerRig) -> PortManagerRig:
    rig.tell(PortOpened(USB, PATH, "049D"))
    return rig


def blocked(rig: PortManagerRig) -> PortManagerRig:
    opened(rig).tell(LOOP)
    return rig


def test_opened_port_is_listed_and_has_a_guard() -> None:
    rig = opened(PortManagerRig())
    assert rig.table.value.ports == (PortStatus(USB, PATH, "049D"),)
    assert rig.children.spawned == [f"port/{USB}"]
    rig.tell(PortClosed(USB))
    assert rig.table.value.ports == (PortStatus(USB, PATH),)
    assert rig.guard.told == [PortOpened(USB, PATH, "049D"), PortClosed(USB)]


def test_ports_are_found_by_name_and_by_path_in_the_order_of_their_names() -> None:
    rig = opened(PortManagerRig())
    rig.tell(PortOpened("sim0", "sim0", "1605"), PortClosed("sim7"))
    assert [status.port for status in rig.table.value.ports] == ["sim0", USB]
    assert rig.table.value.get(PATH) is rig.table.value.get(USB)
    with pytest.raises(NoSuchPort, match=r'no port "ACM0"'):
        rig.table.value.get("ACM0")


def test_guard_count_is_published() -> None:
    rig = opened(PortManagerRig())
    rig.tell(PortCounted(USB, Window((1, 2))))
    assert rig.status.loops == 2


def test_loop_is_published_and_stored_before_devices_are_notified() -> None:
    rig = opened(PortManagerRig())
    saved: list[object] = []
    rig.devices.hears = lambda: saved.extend(
        (save.value for save in rig.store.of(SaveLedger)) if rig.status.state is PortState.BLOCKED else ()
    )
    rig.tell(LOOP)
    assert [stored_blocks.from_json(freeze(value)).is_blocked(USB) for value in saved] == [True]
    assert rig.devices.told == [LOOP]
    assert (rig.status.loops, rig.status.reason, rig.status.device_id) == (5, "connection_loop", "049D")
    assert rig.events() == [("port-blocked", "blocked", "connection_loop")]


def test_blocked_port_ignores_its_link() -> None:
    rig = blocked(PortManagerRig())
    before = rig.status
    rig.tell(PortClosed(USB), PortOpened(USB, PATH, "05C0"), PortCounted(USB, Window((7,))), LOOP)
    assert rig.status == before
    assert len(rig.devices.told) == len(rig.events()) == 1


def test_reset_unblocks_and_notifies_guard_devices_and_ledger() -> None:
    rig = blocked(PortManagerRig())
    status = rig.reset(PATH)
    assert status == rig.status == PortStatus(USB, PATH)
    assert rig.guard.told[-1] == rig.devices.told[-1] == PortUnblocked(USB)
    assert rig.remembered() == PortTable()
    assert rig.events()[1:] == [("port-state-changed", "active", "reset")]


def test_a_reset_of_an_active_port_changes_nothing() -> None:
    rig = opened(PortManagerRig())
    before = (len(rig.store.told), len(rig.guard.told))
    assert rig.reset() is rig.status
    assert (len(rig.store.told), len(rig.guard.told), rig.devices.told, rig.hub.told) == (*before, [], [])


def test_reset_of_an_unknown_port_names_it() -> None:
    with pytest.raises(NoSuchPort, match="sim9"):
        PortManagerRig().reset("sim9")


def test_fault_is_published_once_and_cleared_on_opening() -> None:
    rig = PortManagerRig()
    fault = PortFaulted(USB, PATH, "permission")
    rig.tell(fault, fault)
    assert (rig.status.state, rig.status.reason) == (PortState.UNUSABLE, "permission")
    opened(rig)
    assert rig.status.state is PortState.ACTIVE
    rig.tell(PortFaulted(USB, PATH, "in_use"))
    rig.reset()
    assert rig.status == PortStatus(USB, PATH)
    assert rig.events() == [
        ("port-state-changed", "unusable", "permission"),
        ("port-state-changed", "active", "opened"),
        ("port-state-changed", "unusable", "in_use"),
        ("port-state-changed", "active", "reset"),
    ]


def test_fault_is_cleared_when_the_port_opens_without_a_device() -> None:
    rig = PortManagerRig()
    rig.tell(PortSilent(USB))
    assert rig.table.value.find(USB) is None
    for _ in range(2):
        rig.tell(PortFaulted(USB, PATH, "in_use"), PortSilent(USB), PortSilent(USB))
        assert rig.status == PortStatus(USB, PATH)
    assert (
        rig.events() == [("port-state-changed", "unusable", "in_use"), ("port-state-changed", "active", "opened")] * 2
    )


def test_port_lost_before_an_answer_is_counted_afterwards() -> None:
    rig = PortManagerRig()
    rig.tell(PortPlugged(USB))
    assert rig.table.value.find(USB) is None
    rig.tell(PortVanished(USB, PATH), PortPlugged(USB))
    assert rig.status == PortStatus(USB, PATH)
    assert rig.guard.told == [PortVanished(USB, PATH), PortPlugged(USB)]


def test_port_that_another_program_took_says_so_in_event_and_log(caplog: pytest.LogCaptureFixture) -> None:
    rig = PortManagerRig()
    rig.tell(PortVanished(USB, PATH, "brltty takes it: remove it"))

    assert rig.events() == [("port-state-changed", "active", "taken")]
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.message == f"port {USB} went as soon as it came: brltty takes it: remove it"
    assert rig.emitted[0].message == record.message


def test_looping_port_without_a_device_shows_the_last_one() -> None:
    rig = opened(PortManagerRig())
    rig.tell(PortClosed(USB), PortVanished(USB, PATH), PortBlocked(USB, BlockReason.CONNECTION_LOOP, 5, "049D"))
    assert (rig.status.state, rig.status.device_id) == (PortState.BLOCKED, "049D")


@pytest.mark.parametrize("name", [USB, PATH])
def test_setting_blocks_a_present_port_and_releases_it(name: str) -> None:
    rig = opened(PortManagerRig())
    rig.choose(name)
    assert (rig.status.state, rig.status.reason) == (PortState.BLOCKED, "configuration")
    with pytest.raises(Conflict, match=BLOCKED_PORTS):
        rig.reset()
    rig.choose()
    assert rig.status.state is PortState.ACTIVE
    assert rig.devices.told == [PortBlocked(USB, BlockReason.CONFIGURATION), PortUnblocked(USB)]
    assert rig.events() == [
        ("port-blocked", "blocked", "configuration"),
        ("port-state-changed", "active", "configuration"),
    ]


@pytest.mark.parametrize("name", [USB, PATH])
def test_setting_blocks_a_port_before_it_appears(name: str) -> None:
    rig = PortManagerRig(name)
    assert rig.table.value.is_blocked(USB)
    opened(rig)
    assert rig.table.value.is_blocked(USB)
    assert len(rig.table.value.ports) == 1


def test_port_known_from_the_setting_only_is_removed_with_it() -> None:
    rig = PortManagerRig("ttyACM7")
    assert rig.table.value.is_blocked("ttyACM7")
    rig.choose()
    assert rig.table.value.ports == ()
    assert rig.children.spawned == []


def test_removed_port_is_listed_no_longer() -> None:
    rig = PortManagerRig()
    rig.tell(PortOpened("sim2", "sim2", "1605"), PortClosed("sim2", on_purpose=True))

    rig.tell(PortRemoved("sim2"))

    assert rig.table.value.find("sim2") is None
    assert "port/sim2" in rig.children.stopped
    rig.tell(PortRemoved("sim2"))


def test_removed_port_that_is_blocked_stays_until_its_reset() -> None:
    rig = PortManagerRig()
    rig.tell(PortOpened(USB, PATH, "049D"), LOOP)

    rig.tell(PortRemoved(USB))

    assert rig.table.value.get(USB).state is PortState.BLOCKED


def test_loop_block_survives_a_block_by_the_setting() -> None:
    rig = blocked(PortManagerRig())
    rig.choose(USB)
    rig.choose()
    assert (rig.status.state, rig.status.reason) == (PortState.BLOCKED, "connection_loop")
    assert rig.devices.told == [LOOP]
    assert rig.reset().state is PortState.ACTIVE


def test_block_by_the_setting_is_not_stored() -> None:
    rig = opened(PortManagerRig())
    rig.choose(USB)
    rig.tell(Announce(STORE))
    assert rig.remembered() == PortTable()


def test_restarted_manager_restores_the_table_and_checks_the_inventory() -> None:
    inventory = inventory_of("arm", "grip")
    arm, grip = inventory.devices
    rig = PortManagerRig(inventory=inventory)
    rig.tell(PortBlocked("sim0", BlockReason.CONNECTION_LOOP, 5), PortOpened(USB, PATH, "05C0"))
    rig.devices.told.clear()
    rig.manager, children = rig.again()

    assert [(one.port, one.device_id, one.state) for one in rig.table.value.ports] == [
        ("sim0", arm.device_id, PortState.BLOCKED),
        ("sim1", grip.device_id, PortState.ACTIVE),
        (USB, None, PortState.ACTIVE),
    ]
    assert rig.guard.told[-1] == PortClosed(USB)
    assert rig.devices.told == [PortBlocked("sim0", BlockReason.CONNECTION_LOOP, 5)]
    assert sorted(children.spawned) == ["port/sim0", "port/sim1", f"port/{USB}"]
    assert rig.remembered().is_blocked("sim0")


def test_restarted_actors_are_sent_the_blocked_ports() -> None:
    rig = blocked(PortManagerRig())
    rig.devices.told.clear()
    rig.store.told.clear()
    rig.tell(Announce(DEVICES), Announce(STORE))
    assert rig.devices.told == [LOOP]
    assert rig.remembered().is_blocked(USB)


def test_gauge_has_one_sample_per_port() -> None:
    rig = blocked(PortManagerRig())
    rig.tell(PortOpened("sim0", "sim0", "1605"))
    gauge = next(one for one in PortCollector(rig.table, OpenLinks()).collect() if one.name == "hapticd_port_blocked")
    assert [(one.labels["port"], one.value) for one in gauge.samples] == [("sim0", 0), (USB, 1)]


@pytest.mark.parametrize(("path", "name"), [(PATH, USB), ("sim0", "sim0"), ("/dev/", "dev"), ("/", "/")])
def test_base_name_of_a_path_is_the_port_name(path: str, name: str) -> None:
    assert base_name(path) == name
