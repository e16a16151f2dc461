"""The session manager as a plain object: ids, slots, reconnects, what is remembered, and who is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.device.messages import Inventory
from actors.event.messages import HUB, Emit
from actors.kit.actor import Context
from actors.kit.clock import ManualClock
from actors.kit.errors import Busy, NoSlot
from actors.kit.message import Announce, ChildFailed
from actors.kit.published import Published
from actors.session import defaults, presets
from actors.session.actor import actor_name
from actors.session.book import SessionBook, SessionEntry
from actors.session.manager import DEFAULTS_SECTION, SECTION, SaveMemory, SessionManager
from actors.session.messages import (
    MANAGER,
    Client,
    CloseGone,
    CloseSession,
    ConfigureDefaults,
    DeviceConfig,
    OpenSession,
    SessionConfig,
    SessionDescribed,
    SessionHandle,
    SessionTable,
    SetBasis,
    SetDamping,
    SetForceGate,
    SetMount,
    SetPreset,
)
from actors.session.profile import REMEMBERED, Remembered, SessionMemory
from actors.settings.frozen import freeze
from actors.settings.messages import STORE, ReserveSessionIds, SaveLedger
from actors.values.identity import Firmware
from actors.values.spatial import Basis, PartialTransform, Transform
from fastpath.arena import Runtime
from tests.support.slices import Listener, NoChildren, inventory_of, settings_view

CLIENT = Client("127.0.0.1", "3.1")


class Ids:
    """Ids from one block."""

    def __init__(self, first: int = 1, block: int = 10_000) -> None:
        self.next, self.end = first, first + block

    @property
    def running_low(self) -> bool:
        return self.end - self.next < 500

    def take(self) -> int:
        if self.next >= self.end:
            raise Busy
        self.next += 1
        return self.next - 1


class Rig:
    """A manager without a thread and without children, and those whom it tells."""

    def __init__(self, *, most: int = 64, ids: Ids | None = None, memory: SessionMemory | None = None) -> None:
        self.clock = ManualClock()
        self.context = Context.build(self.clock)
        self.runtime = Runtime(stepping=True, realtime=False, max_sessions=most)
        self.hub = Listener(self.context, HUB)
        self.store = Listener(self.context, STORE)
        self.myself = Listener(self.context, MANAGER)
        self.book = SessionBook(Published(memory or SessionMemory()))
        self.table = Published(SessionTable())
        self.inventory = Published(Inventory())
        self.settings = Published(settings_view())
        self.ids = ids or Ids()
        self.lost: list[int] = []
        self.manager, self.children = self.again()

    def again(self) -> tuple[SessionManager, NoChildren]:
        """Another manager on the same book, as after a crash."""
        manager = SessionManager(
            self.context, self.runtime, self.book, self.table, self.inventory, self.ids, self.settings
        )
        children = NoChildren()
        manager._children = cast("Any", children)
        return manager, children

    def open(
        self, resume: str | None = None, *, client: Client = CLIENT, gone: Callable[[], bool] = lambda: False
    ) -> SessionHandle:
        return self.manager.open_session(OpenSession(client, lambda: self.lost.append(1), resume, gone))

    def close(self, handle: SessionHandle) -> None:
        self.manager.close_session(CloseSession(handle.session_id, handle.lease))
        self.runtime.step()

    def declare(self, handle: SessionHandle, profile: str, version: str | None = None) -> None:
        """Do as the session's actor does."""
        config = replace(self.entry(handle).config.value, profile=profile, required_sdk_version=version)
        self.entry(handle).config.replace(config)
        self.manager.on_described(SessionDescribed(handle.session_id, config))

    def entry(self, handle: SessionHandle) -> SessionEntry:
        return self.book.entries[handle.session_id]

    @property
    def shown(self) -> list[tuple[int, str]]:
        return [(record.session_id, record.config.profile) for record in self.table.value.sessions]

    @property
    def events(self) -> list[tuple[str, object, object]]:
        return [
            (emit.kind, emit.data["session_id"], emit.data.get("profile", emit.data.get("reason")))
            for emit in self.hub.of(Emit)
        ]

    @property
    def saved(self) -> SessionMemory | None:
        """What the ledger would bring back."""
        saves = [save for save in self.store.of(SaveLedger) if save.section == SECTION]
        return SessionMemory.from_json(freeze(saves[-1].value)) if saves else None

    @property
    def kept(self) -> SessionConfig | None:
        """What new sessions would start with after a restart of the service."""
        saves = [save for save in self.store.of(SaveLedger) if save.section == DEFAULTS_SECTION]
        return defaults.from_json(freeze(saves[-1].value)) if saves else None

    def fire(self, seconds: float) -> None:
        """Let time pass, and hand the manager what falls due."""
        self.clock.advance(seconds)
        self.context.timers.fire_due()
        for message in self.myself.of(SaveMemory):
            self.manager.on_save(message)
        self.myself.told.clear()


# ---------------------------------------------------------------- opening


def test_a_session_gets_an_id_a_slot_an_actor_and_a_place_in_the_table() -> None:
    rig = Rig()

    handle = rig.open()

    assert (handle.session_id, handle.actor, handle.resumed) == (1, "session/1", False)
    assert handle.config == SessionConfig()
    assert handle.lease.name == "1"
    assert rig.runtime.slots()[0] == 1
    assert rig.children.spawned == [actor_name(1)]
    assert rig.shown == [(1, "default")]
    assert rig.table.value.sessions[0].client == CLIENT
    assert rig.table.value.sessions[0].connected_at.endswith("+00:00")
    assert rig.events == [("session-opened", 1, "default")]
    assert rig.context.metrics.registry.get_sample_value("hapticd_sessions_open") == 1


def test_ids_grow_and_never_come_again() -> None:
    rig = Rig()
    seen: list[int] = []

    for _ in range(100):
        handle = rig.open()
        seen.append(handle.session_id)
        rig.close(handle)

    assert seen == list(range(1, 101))
    assert rig.shown == []


def test_sessions_are_shown_oldest_first() -> None:
    rig = Rig()
    first, second, third = rig.open(), rig.open(), rig.open()

    rig.close(second)
    fourth = rig.open()

    assert [session_id for session_id, _ in rig.shown] == [first.session_id, third.session_id, fourth.session_id]


def test_one_session_too_many_is_refused_and_the_others_stay() -> None:
    rig = Rig(most=2)
    first, second = rig.open(), rig.open()

    with pytest.raises(NoSlot, match="All 2 session slots are taken"):
        rig.open()

    assert [session_id for session_id, _ in rig.shown] == [first.session_id, second.session_id]
    assert len(rig.children.spawned) == len(rig.hub.told) == 2


def test_a_slot_that_was_given_back_is_free_again() -> None:
    rig = Rig(most=1)

    for _ in range(5):
        rig.close(rig.open())

    assert rig.open().session_id == 6


def test_a_refused_session_takes_no_slot_when_one_is_free_again() -> None:
    rig = Rig(most=1)
    first = rig.open()
    for _ in range(3):
        with pytest.raises(NoSlot):
            rig.open()

    rig.close(first)

    assert rig.open().session_id > first.session_id
    assert rig.runtime.slots()[0] == 1


def test_more_ids_are_asked_for_in_time() -> None:
    rig = Rig(ids=Ids(block=501))

    rig.open()
    assert rig.store.of(ReserveSessionIds) == []

    rig.open()
    assert rig.store.of(ReserveSessionIds) == [ReserveSessionIds()]


def test_without_ids_a_session_is_refused_and_more_are_asked_for() -> None:
    rig = Rig(ids=Ids(block=0))

    with pytest.raises(Busy):
        rig.open()

    assert rig.store.of(ReserveSessionIds) == [ReserveSessionIds()]
    assert (rig.shown, rig.hub.told, rig.runtime.slots()[0]) == ([], [], 0)


def test_a_reconnect_needs_no_new_id() -> None:
    rig = Rig(ids=Ids(block=1))
    first = rig.open()
    rig.close(first)

    assert rig.open(str(first.session_id)).session_id == first.session_id


# ---------------------------------------------------------------- reconnecting


def test_a_closed_session_comes_back_with_id_profile_and_version() -> None:
    rig = Rig()
    first = rig.open()
    rig.declare(first, "mine", "3.5")
    rig.close(first)

    again = rig.open(str(first.session_id))

    assert (again.session_id, again.resumed) == (first.session_id, True)
    assert again.config == SessionConfig("mine", "3.5")
    assert again.lease != first.lease
    assert rig.events[-1] == ("session-opened", first.session_id, "mine")
    assert rig.shown == [(first.session_id, "mine")]


def test_configuration_ends_with_the_session() -> None:
    rig = Rig()
    first = rig.open()
    entry = rig.entry(first)
    entry.config.replace(replace(entry.config.value, basis=type(entry.config.value.basis).parse("XZ-Y")))
    rig.close(first)

    assert rig.open(str(first.session_id)).config == SessionConfig()


def test_an_open_session_is_not_taken_over() -> None:
    rig = Rig()
    first = rig.open()

    second = rig.open(str(first.session_id))

    assert (second.session_id, second.resumed) == (2, False)
    assert rig.events[-1] == ("session-warning", 2, "resume_refused")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "2",
        "999",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1.0",
        "01x",
        "one",
        "#1",
        "1e0",
        "0x1",
        "\N{ARABIC-INDIC DIGIT ONE}",
        "\N{SUPERSCRIPT ONE}",
        "9" * 18,
        "9" * 19,
        "9" * 10_000,
        "1\n",
        "\x00",
    ],
)
def test_a_session_that_nobody_knows_is_a_new_one_with_a_warning(text: str) -> None:
    rig = Rig()
    rig.close(rig.open())
    rig.hub.told.clear()

    handle = rig.open(text)

    assert (handle.session_id, handle.resumed) == (2, False)
    assert rig.events == [("session-opened", 2, "default"), ("session-warning", 2, "resume_refused")]
    assert all(len(emit.message) < 200 for emit in rig.hub.of(Emit))


def test_a_session_without_a_wish_to_resume_is_not_warned_of() -> None:
    rig = Rig()
    rig.open()

    assert [kind for kind, _, _ in rig.events] == ["session-opened"]


def test_a_session_comes_back_as_often_as_it_likes() -> None:
    rig = Rig()
    first = rig.open()
    rig.declare(first, "mine")
    handle = first

    for _ in range(5):
        rig.close(handle)
        handle = rig.open(str(first.session_id))
        assert (handle.session_id, handle.resumed, handle.config.profile) == (first.session_id, True, "mine")


def test_the_last_thousand_closed_sessions_come_back() -> None:
    rig = Rig()
    lasting = rig.open()
    rig.declare(lasting, "lasting", "3.5")
    for _ in range(REMEMBERED + 10):
        rig.close(rig.open())

    rig.close(lasting)

    assert rig.open(str(lasting.session_id)).config.profile == "lasting"
    assert rig.open("2").resumed is False
    assert rig.open(str(REMEMBERED)).resumed is True


def test_sessions_come_back_over_a_restart() -> None:
    before = Rig()
    first = before.open()
    before.declare(first, "mine", "3.5")
    before.manager.stopped()
    assert before.saved is not None

    after = Rig(ids=Ids(first=1_001), memory=before.saved)
    again = after.open(str(first.session_id))

    assert (again.session_id, again.config) == (first.session_id, SessionConfig("mine", "3.5"))
    assert after.open().session_id == 1_001


# ---------------------------------------------------------------- closing


def test_a_closed_session_leaves_nothing_behind_but_memory() -> None:
    rig = Rig()
    handle = rig.open()

    rig.close(handle)

    assert (rig.book.entries, rig.shown) == ({}, [])
    assert rig.children.stopped == [handle.actor]
    assert rig.runtime.slots()[0] == 0
    assert rig.events[-1] == ("session-closed", handle.session_id, "default")
    assert rig.book.memory.value.sessions[handle.session_id] == Remembered()
    assert rig.context.metrics.registry.get_sample_value("hapticd_sessions_open") == 0


def test_the_close_of_an_old_connection_changes_nothing() -> None:
    rig = Rig()
    old = rig.open()
    rig.close(old)
    new = rig.open(str(old.session_id))
    rig.hub.told.clear()

    rig.close(old)
    rig.close(replace(new, lease=new.lease._replace(generation=new.lease.generation + 1)))
    rig.manager.close_session(CloseSession(999, old.lease))

    assert rig.shown == [(new.session_id, "default")]
    assert (rig.children.stopped, rig.hub.told) == ([old.actor], [])
    assert rig.runtime.slots()[0] == 1


def test_closing_twice_is_closing_once() -> None:
    rig = Rig()
    handle = rig.open()

    rig.close(handle)
    rig.close(handle)

    assert [kind for kind, _, _ in rig.events] == ["session-opened", "session-closed"]


def test_a_session_whose_connection_has_gone_is_closed_when_the_edge_says_so() -> None:
    rig = Rig()
    gone: list[bool] = [False]
    rig.open(gone=lambda: gone[0])
    stays = rig.open()
    rig.manager.close_gone(CloseGone())
    assert len(rig.shown) == 2

    gone[0] = True
    rig.manager.close_gone(CloseGone())

    assert rig.shown == [(stays.session_id, "default")]


# ---------------------------------------------------------------- what is remembered


def test_what_a_session_declares_is_shown_and_saved_at_once() -> None:
    rig = Rig()
    handle = rig.open()

    rig.declare(handle, "mine", "3.5")

    assert rig.shown == [(handle.session_id, "mine")]
    assert rig.saved is not None
    assert rig.saved.sessions[handle.session_id] == Remembered("mine", "3.5")
    assert rig.saved.versions == {"mine": "3.5"}


def test_what_does_not_outlive_the_session_is_not_saved() -> None:
    rig = Rig()
    handle = rig.open()
    rig.fire(1)
    saves = len(rig.store.of(SaveLedger))

    rig.manager.on_described(SessionDescribed(handle.session_id, rig.entry(handle).config.value))
    rig.fire(1)

    assert len(rig.store.of(SaveLedger)) == saves


def test_two_changes_before_the_first_is_told_are_both_remembered() -> None:
    rig = Rig()
    handle = rig.open()
    entry = rig.entry(handle)
    first = replace(entry.config.value, profile="mine", required_sdk_version="3.5")
    second = replace(first, profile="default", required_sdk_version=None)

    entry.config.replace(first)
    rig.manager.on_described(SessionDescribed(handle.session_id, first))
    entry.config.replace(second)
    rig.manager.on_described(SessionDescribed(handle.session_id, second))

    assert rig.saved is not None
    assert rig.saved.sessions[handle.session_id] == Remembered()
    assert rig.saved.versions == {}


def test_a_profile_that_is_told_late_is_saved_all_the_same() -> None:
    rig = Rig()
    handle = rig.open()
    entry = rig.entry(handle)
    before = entry.config.value
    after = replace(before, profile="mine")

    entry.config.replace(after)
    rig.manager.on_described(SessionDescribed(handle.session_id, before))
    rig.manager.on_described(SessionDescribed(handle.session_id, after))

    assert rig.saved is not None
    assert rig.saved.sessions[handle.session_id].profile == "mine"


def test_what_a_closed_session_said_last_changes_nothing() -> None:
    rig = Rig()
    handle = rig.open()
    rig.close(handle)

    rig.manager.on_described(SessionDescribed(handle.session_id, SessionConfig("late")))

    assert rig.shown == []
    assert rig.book.memory.value.sessions[handle.session_id] == Remembered()


def test_many_closes_are_saved_once_a_little_later() -> None:
    rig = Rig()
    handles = [rig.open() for _ in range(20)]
    rig.fire(1)
    saves = len(rig.store.of(SaveLedger))

    for handle in handles:
        rig.close(handle)
    assert len(rig.store.of(SaveLedger)) == saves

    rig.fire(1)
    assert len(rig.store.of(SaveLedger)) == saves + 1
    assert rig.saved is not None
    assert set(rig.saved.sessions) == {handle.session_id for handle in handles}


def test_a_manager_that_stops_saves_and_stops_its_sessions() -> None:
    rig = Rig()
    rig.open()
    rig.open()

    rig.manager.stopped()

    assert rig.children.stopped == ["session/2", "session/1"]
    assert rig.saved is not None
    assert set(rig.saved.sessions) == {1, 2}


def test_a_new_store_is_told_again_and_nobody_else_is() -> None:
    rig = Rig()
    rig.declare(rig.open(), "mine")
    rig.store.told.clear()

    rig.manager.on_announce(Announce(HUB))
    assert rig.store.told == []

    rig.manager.on_announce(Announce(STORE))
    assert rig.saved is not None
    assert rig.saved.sessions[1].profile == "mine"


# ---------------------------------------------------------------- what new sessions start with

DEVICES = inventory_of("arm", "compact")
ARM, COMPACT = (record.device_id for record in DEVICES.devices)
XZY = Basis.parse("XZ-Y")


@pytest.fixture
def ready() -> Rig:
    """A manager that knows an arm and a compact."""
    rig = Rig()
    rig.inventory.replace(DEVICES)
    return rig


def test_new_sessions_start_with_the_defaults_and_open_ones_keep_what_they_have(ready: Rig) -> None:
    old = ready.open()
    changes = (SetBasis(None, XZY), SetMount(ARM, PartialTransform((1, 2, 3))), SetForceGate(COMPACT, 0.5))

    applied = ready.manager.configure_defaults(ConfigureDefaults(changes))

    assert (applied.scopes, applied.refused) == (
        ("basis", "config.mount", "config.preset", "config.force_gate"),
        (),
    )
    assert ready.open().config == applied.config
    assert applied.config.device(ARM) == DeviceConfig(preset="custom", mount=Transform((1, 2, 3)))
    assert ready.entry(old).config.value == SessionConfig()
    assert ready.table.value.defaults == applied.config


def test_the_defaults_are_kept_over_a_restart_of_manager_and_service(ready: Rig) -> None:
    applied = ready.manager.configure_defaults(ConfigureDefaults((SetBasis(ARM, XZY), SetDamping(ARM, 2))))
    assert ready.kept == applied.config

    manager, _ = ready.again()
    manager.started()
    assert ready.table.value.defaults == applied.config
    assert manager.open_session(OpenSession(CLIENT, lambda: None)).config == applied.config


def test_a_reconnect_has_its_profile_on_top_of_the_defaults(ready: Rig) -> None:
    first = ready.open()
    ready.declare(first, "mine", "3.5")
    ready.close(first)
    ready.manager.configure_defaults(ConfigureDefaults((SetBasis(None, XZY),)))

    assert ready.open(str(first.session_id)).config == SessionConfig("mine", "3.5", basis=XZY)


def test_no_value_of_the_defaults_is_that_of_the_factory(ready: Rig) -> None:
    ready.manager.configure_defaults(ConfigureDefaults((SetBasis(None, XZY), SetPreset(ARM, "arm_front"))))

    ready.manager.configure_defaults(ConfigureDefaults((SetBasis(None, None), SetPreset(ARM, None))))

    start = ready.open().config
    assert (start.basis, start.device(ARM)) == (Basis(), DeviceConfig())
    assert ready.kept == start


def test_what_changes_nothing_is_not_kept_again(ready: Rig) -> None:
    ready.manager.configure_defaults(ConfigureDefaults((SetPreset(ARM, "arm_front"),)))
    ready.store.told.clear()

    applied = ready.manager.configure_defaults(
        ConfigureDefaults((SetPreset(ARM, "arm_front"), SetPreset(ARM, "nonsense", "p")))
    )

    assert [refused.path for refused in applied.refused] == ["p"]
    assert ready.store.told == []


def test_a_firmware_that_is_too_old_for_a_default_is_told(ready: Rig) -> None:
    old = tuple(replace(one, identity=replace(one.identity, firmware=Firmware(7, 4))) for one in DEVICES.devices)
    ready.inventory.replace(Inventory(old))

    applied = ready.manager.configure_defaults(ConfigureDefaults((SetDamping(ARM, 1),)))

    assert [(emit.kind, emit.data["device_id"]) for emit in ready.hub.of(Emit)] == [
        ("device-protocol-unsupported", ARM)
    ]
    assert (len(applied.refused), ready.kept) == (1, None)


def test_a_session_that_comes_back_with_a_freeform_profile_has_its_preset(ready: Rig) -> None:
    first = ready.open()
    ready.declare(first, "My Freeform")
    ready.close(first)

    config = ready.open(str(first.session_id)).config

    assert presets.preset_of(config, DEVICES.get(COMPACT)) == "compact_zup"
    assert presets.preset_of(ready.open().config, DEVICES.get(COMPACT)) == "defaults"


def test_a_default_preset_wins_over_that_of_a_profile(ready: Rig) -> None:
    ready.manager.configure_defaults(ConfigureDefaults((SetPreset(COMPACT, "defaults"),)))
    first = ready.open()
    ready.declare(first, "freeform")
    ready.close(first)

    config = ready.open(str(first.session_id)).config

    assert presets.preset_of(config, DEVICES.get(COMPACT)) == "defaults"


# ---------------------------------------------------------------- failures


def test_a_manager_that_is_started_again_adopts_the_open_sessions() -> None:
    rig = Rig()
    first, second = rig.open(), rig.open()
    rig.declare(first, "mine")
    entry = rig.entry(second)
    entry.config.replace(replace(entry.config.value, profile="untold"))

    manager, children = rig.again()
    manager.started()

    assert children.spawned == [first.actor, second.actor]
    assert rig.shown == [(1, "mine"), (2, "untold")]
    assert rig.runtime.slots()[0] == 2
    assert rig.saved is not None
    assert rig.saved.sessions[2].profile == "untold"


def test_a_manager_that_is_started_again_closes_who_went_meanwhile() -> None:
    rig = Rig()
    gone: list[bool] = [False]
    rig.open(gone=lambda: gone[0])
    stays = rig.open()
    gone[0] = True

    manager, _ = rig.again()
    manager.started()
    rig.runtime.step()

    assert rig.shown == [(stays.session_id, "default")]
    assert rig.runtime.slots()[0] == 1


def test_a_child_that_failed_is_its_childrens_matter() -> None:
    rig = Rig()
    message = ChildFailed("session/1", RuntimeError("x"))

    rig.manager.on_child_failed(message)

    assert rig.children.failures == [message]


def test_a_session_that_fails_too_often_has_its_connection_closed() -> None:
    rig = Rig()
    handle = rig.open()

    rig.manager._give_up(handle.actor, RuntimeError("boom"))

    assert rig.lost == [1]
    assert rig.events[-1] == ("session-warning", 1, "actor_failed")
    assert rig.shown == [(1, "default")]

    rig.close(handle)
    assert rig.shown == []


def test_a_session_that_was_closed_and_fails_is_nobodys_loss() -> None:
    rig = Rig()
    handle = rig.open()
    rig.close(handle)

    rig.manager._give_up(handle.actor, RuntimeError("boom"))

    assert rig.lost == []


# ---------------------------------------------------------------- laws


@given(
    st.lists(
        st.tuples(st.sampled_from(["open", "close", "resume", "declare", "restart"]), st.integers(0, 5)), max_size=40
    )
)
def test_slots_table_and_book_always_agree(steps: list[tuple[str, int]]) -> None:
    rig = Rig(most=4)
    opened: list[SessionHandle] = []
    alive: dict[int, SessionHandle] = {}

    for step, at in steps:
        known = opened[at % len(opened)] if opened else None
        if step in {"open", "resume"}:
            resume = str(known.session_id) if known is not None and step == "resume" else None
            try:
                handle = rig.open(resume)
            except NoSlot:
                assert len(alive) == 4
                continue
            if resume is not None and known is not None:
                assert handle.resumed == (known.session_id not in alive)
            assert handle.session_id not in alive
            opened.append(handle)
            alive[handle.session_id] = handle
        elif step == "close" and known is not None:
            rig.close(known)
            if alive.get(known.session_id) is known:
                del alive[known.session_id]
        elif step == "declare" and known is not None and known.session_id in alive:
            rig.declare(alive[known.session_id], f"p{at}", "3.5")
        elif step == "restart":
            rig.manager, rig.children = rig.again()
            rig.manager.started()
        assert {session_id for session_id, _ in rig.shown} == set(alive) == set(rig.book.entries)
        assert rig.runtime.slots()[0] == len(alive)
        fresh = [handle.session_id for handle in opened if not handle.resumed]
        assert fresh == sorted(set(fresh))
