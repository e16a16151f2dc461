"""SessionManager after crashes of itself and of its children, with invariants."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from actors.kit.errors import NoSlot
from actors.kit.message import ChildFailed
from actors.session.messages import (
    SessionHandle,
)
from tests.unit.session.manager_rig import SessionManagerRig

# ---------------------------------------------------------------- failures


def test_restarted_manager_adopts_open_sessions() -> None:
    rig = SessionManagerRig()
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


def test_restarted_manager_closes_sessions_that_left() -> None:
    rig = SessionManagerRig()
    gone: list[bool] = [False]
    rig.open(gone=lambda: gone[0])
    stays = rig.open()
    gone[0] = True

    manager, _ = rig.again()
    manager.started()
    rig.runtime.step()

    assert rig.shown == [(stays.session_id, "default")]
    assert rig.runtime.slots()[0] == 1


def test_failed_child_is_handled_by_the_children() -> None:
    rig = SessionManagerRig()
    message = ChildFailed("session/1", RuntimeError("x"))

    rig.manager.on_child_failed(message)

    assert rig.children.failures == [message]


def test_repeatedly_failing_session_has_its_connection_closed() -> None:
    rig = SessionManagerRig()
    handle = rig.open()

    rig.manager._give_up(handle.actor, RuntimeError("boom"))

    assert rig.lost == [1]
    assert rig.events[-1] == ("session-warning", 1, "actor_failed")
    assert rig.shown == [(1, "default")]

    rig.close(handle)
    assert rig.shown == []


def test_failure_of_a_closed_session_is_ignored() -> None:
    rig = SessionManagerRig()
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
def test_slots_table_and_id_book_always_agree(steps: list[tuple[str, int]]) -> None:
    rig = SessionManagerRig(most=4)
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
        assert {session_id for session_id, _ in rig.shown} == set(alive) == set(rig.open_sessions.entries)
        assert rig.runtime.slots()[0] == len(alive)
        fresh = [handle.session_id for handle in opened if not handle.resumed]
        assert fresh == sorted(set(fresh))
