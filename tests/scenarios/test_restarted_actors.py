"""A restarted actor receives every fact that it missed while it, or the fact's sender, was dead."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from actors.device.messages import MANAGER as DEVICES
from actors.port.messages import LoopBlock, PortTable, link_name
from tests.support.boards.fake_links import ARM
from tests.support.service.actor_faults import (
    blocked_actor,
    crash_and_restart,
    drain_actor,
    raise_planned_crash,
    run_in_actor,
)
from tests.support.service.fake_port_service import FakePortService
from tests.support.service.polling import eventually

PORT = "ttyACM0"
ACTOR = f"device/{ARM.device_id}"


def phase(setup: FakePortService) -> str:
    return str(setup.record(ARM.device_id).phase)


def test_unhomed_device_stays_not_ready_after_its_actor_crashes(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        board.link.show_device(ARM.device_id, homed=False)
        setup.advance_until(lambda: phase(setup) == "settling", "it settles")

        crash_and_restart(setup.service.system.context.directory, ACTOR)
        setup.advance(2)
        assert phase(setup) == "settling"

        board.link.show_device(ARM.device_id, homed=True)
        setup.wait_ready(ARM)


def test_device_that_fell_asleep_during_the_crash_is_shown_asleep(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        directory = setup.service.system.context.directory
        with blocked_actor(directory, ACTOR) as actor:
            # It dies of what it is told next, and never hears what comes behind that.
            run_in_actor(actor, raise_planned_crash)
            board.link.show_device(ARM.device_id, awake=False)
            board.link.wait_polled()
            drain_actor(directory, link_name(PORT))
        eventually(lambda: directory.ref(ACTOR) not in {None, actor}, "it was started again", pause_s=0.005)

        setup.advance_until(lambda: phase(setup) == "asleep", "it sleeps")


def test_device_that_woke_during_the_crash_is_shown_awake(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        board.link.show_device(ARM.device_id, awake=False)
        setup.advance_until(lambda: phase(setup) == "asleep", "it sleeps")
        directory = setup.service.system.context.directory
        with blocked_actor(directory, ACTOR) as actor:
            run_in_actor(actor, raise_planned_crash)
            board.link.show_device(ARM.device_id, awake=True)
            board.link.wait_polled()
            drain_actor(directory, link_name(PORT))
        eventually(lambda: directory.ref(ACTOR) not in {None, actor}, "it was started again", pause_s=0.005)

        setup.advance_until(lambda: phase(setup) == "ready", "it is awake")


def test_device_homed_during_the_link_restart_becomes_ready(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        board = setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        board.link.show_device(ARM.device_id, homed=False)
        setup.advance_until(lambda: phase(setup) == "settling", "it settles")
        directory = setup.service.system.context.directory
        with blocked_actor(directory, link_name(PORT)) as actor:
            run_in_actor(actor, raise_planned_crash)
            board.link.show_device(ARM.device_id, homed=True)
            board.link.wait_polled()
        eventually(lambda: directory.ref(link_name(PORT)) not in {None, actor}, "it was started again", pause_s=0.005)

        setup.wait_ready(ARM)


def test_device_with_a_port_blocked_during_a_manager_crash_returns_on_reset(tmp_path: Path) -> None:
    with FakePortService(tmp_path) as setup:
        setup.machine.plug(ARM)
        setup.wait_ready(ARM)
        setup.drain()
        ports = setup.service.system.ports
        row = replace(ports.value.get(PORT), loop_block=LoopBlock("2026-01-01T00:00:00+00:00", 5))
        ports.replace(PortTable((row,)))

        directory = setup.service.system.context.directory
        before = directory.ref(ACTOR)
        crash_and_restart(directory, DEVICES)
        setup.wait_gone()
        setup.advance_until(lambda: before is not None and not before.is_alive(), "nobody acts for it any more")

        assert setup.ask("POST", f"/ports/{PORT}/reset").status == 200
        setup.machine.unplug()
        setup.advance(1)
        setup.machine.plug(ARM)
        setup.wait_ready(ARM)
