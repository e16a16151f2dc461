"""SessionManager as a plain object: ids, slots, reconnects, notifications."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actors.event.messages import Emit
from actors.kit.errors import Busy, NoSlot
from actors.kit.message import Message
from actors.session.actor import actor_name
from actors.session.messages import (
    CloseGone,
    CloseSession,
    SessionConfig,
)
from actors.session.profile import Remembered
from actors.settings.messages import ReserveSessionIds
from tests.unit.session.manager_rig import CLIENT, Ids, SessionManagerRig

# ---------------------------------------------------------------- opening


def test_a_session_gets_an_id_a_slot_an_actor_and_a_place_in_the_table() -> None:
    rig = SessionManagerRig()

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


def test_ids_increase_and_are_never_reused() -> None:
    rig = SessionManagerRig()
    seen: list[int] = []

    for _ in range(100):
        handle = rig.open()
        seen.append(handle.session_id)
        rig.close(handle)

    assert seen == list(range(1, 101))
    assert rig.shown == []


def test_sessions_are_shown_oldest_first() -> None:
    rig = SessionManagerRig()
    first, second, third = rig.open(), rig.open(), rig.open()

    rig.close(second)
    fourth = rig.open()

    assert [session_id for session_id, _ in rig.shown] == [first.session_id, third.session_id, fourth.session_id]


def test_session_over_the_limit_is_refused() -> None:
    rig = SessionManagerRig(most=2)
    first, second = rig.open(), rig.open()

    with pytest.raises(NoSlot, match="All 2 session slots are taken"):
        rig.open()

    assert [session_id for session_id, _ in rig.shown] == [first.session_id, second.session_id]
    assert len(rig.children.spawned) == len(rig.hub.told) == 2


def test_released_slot_is_free_again() -> None:
    rig = SessionManagerRig(most=1)

    for _ in range(5):
        rig.close(rig.open())

    assert rig.open().session_id == 6


def test_a_refused_session_takes_no_slot_when_one_is_free_again() -> None:
    rig = SessionManagerRig(most=1)
    first = rig.open()
    for _ in range(3):
        with pytest.raises(NoSlot):
            rig.open()

    rig.close(first)

    assert rig.open().session_id > first.session_id
    assert rig.runtime.slots()[0] == 1


def test_ids_are_requested_before_they_run_out() -> None:
    rig = SessionManagerRig(ids=Ids(block=501))

    rig.open()
    assert rig.store.of(ReserveSessionIds) == []

    rig.open()
    assert rig.store.of(ReserveSessionIds) == [ReserveSessionIds()]


def test_session_without_an_id_is_refused_and_ids_requested() -> None:
    rig = SessionManagerRig(ids=Ids(block=0))

    with pytest.raises(Busy):
        rig.open()

    assert rig.store.of(ReserveSessionIds) == [ReserveSessionIds()]
    assert (rig.shown, rig.hub.told, rig.runtime.slots()[0]) == ([], [], 0)


def test_a_reconnect_needs_no_new_id() -> None:
    rig = SessionManagerRig(ids=Ids(block=1))
    first = rig.open()
    rig.close(first)

    assert rig.open(str(first.session_id)).session_id == first.session_id


# ---------------------------------------------------------------- reconnecting


def test_resumed_session_keeps_id_profile_and_version() -> None:
    rig = SessionManagerRig()
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
    rig = SessionManagerRig()
    first = rig.open()
    entry = rig.entry(first)
    entry.config.replace(replace(entry.config.value, basis=type(entry.config.value.basis).parse("XZ-Y")))
    rig.close(first)

    assert rig.open(str(first.session_id)).config == SessionConfig()


def test_an_open_session_is_not_taken_over() -> None:
    rig = SessionManagerRig()
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
def test_unknown_session_gets_a_new_id_and_a_warning(text: str) -> None:
    rig = SessionManagerRig()
    rig.close(rig.open())
    rig.hub.told.clear()

    handle = rig.open(text)

    assert (handle.session_id, handle.resumed) == (2, False)
    assert rig.events == [("session-opened", 2, "default"), ("session-warning", 2, "resume_refused")]
    assert all(len(emit.message) < 200 for emit in rig.hub.of(Emit))


def test_session_without_a_resume_request_gets_no_warning() -> None:
    rig = SessionManagerRig()
    rig.open()

    assert [kind for kind, _, _ in rig.events] == ["session-opened"]


def test_session_can_be_resumed_repeatedly() -> None:
    rig = SessionManagerRig()
    first = rig.open()
    rig.declare(first, "mine")
    handle = first

    for _ in range(5):
        rig.close(handle)
        handle = rig.open(str(first.session_id))
        assert (handle.session_id, handle.resumed, handle.config.profile) == (first.session_id, True, "mine")


def test_last_thousand_closed_sessions_can_be_resumed() -> None:
    rig = SessionManagerRig()
    lasting = rig.open()
    rig.declare(lasting, "lasting", "3.5")
    for _ in range(1010):
        rig.close(rig.open())

    rig.close(lasting)

    assert rig.open(str(lasting.session_id)).config.profile == "lasting"
    assert rig.open("13").resumed is True
    assert rig.open("12").resumed is False


def test_sessions_can_be_resumed_after_a_restart() -> None:
    before = SessionManagerRig()
    first = before.open()
    before.declare(first, "mine", "3.5")
    before.manager.stopped()
    assert before.saved is not None

    after = SessionManagerRig(ids=Ids(first=1_001), memory=before.saved)
    again = after.open(str(first.session_id))

    assert (again.session_id, again.config) == (first.session_id, SessionConfig("mine", "3.5"))
    assert after.open().session_id == 1_001


# ---------------------------------------------------------------- closing


def test_closed_session_leaves_only_its_memory() -> None:
    rig = SessionManagerRig()
    handle = rig.open()

    rig.close(handle)

    assert (rig.open_sessions.entries, rig.shown) == ({}, [])
    assert rig.children.stopped == [handle.actor]
    assert rig.runtime.slots()[0] == 0
    assert rig.events[-1] == ("session-closed", handle.session_id, "default")
    assert rig.open_sessions.memory.value.sessions[handle.session_id] == Remembered()
    assert rig.context.metrics.registry.get_sample_value("hapticd_sessions_open") == 0


def test_session_is_unlisted_before_its_end_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = SessionManagerRig()
    gone: list[bool] = [False]
    rig.open(gone=lambda: gone[0])
    rig.open(gone=lambda: gone[0])
    shown: list[int] = []
    tell = rig.manager.tell

    def overheard(name: str, message: Message) -> None:
        if isinstance(message, Emit) and message.kind == "session-closed":
            shown.append(len(rig.shown))
        tell(name, message)

    monkeypatch.setattr(rig.manager, "tell", overheard)
    gone[0] = True
    rig.manager.close_gone(CloseGone())

    assert shown == [1, 0]


def test_close_of_an_old_connection_changes_nothing() -> None:
    rig = SessionManagerRig()
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


def test_repeated_close_has_no_effect() -> None:
    rig = SessionManagerRig()
    handle = rig.open()

    rig.close(handle)
    rig.close(handle)

    assert [kind for kind, _, _ in rig.events] == ["session-opened", "session-closed"]


def test_session_with_a_lost_connection_is_closed_by_the_edge() -> None:
    rig = SessionManagerRig()
    gone: list[bool] = [False]
    rig.open(gone=lambda: gone[0])
    stays = rig.open()
    rig.manager.close_gone(CloseGone())
    assert len(rig.shown) == 2

    gone[0] = True
    rig.manager.close_gone(CloseGone())

    assert rig.shown == [(stays.session_id, "default")]
