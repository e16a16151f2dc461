"""A restarted actor receives every fact that it missed while it, or the fact's sender, was dead."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from actors.device.messages import MANAGER as DEVICES
from actors.port.messages import LoopBlock, PortTable, link_name
from tests.support.boards.links import ARM
from tests.support.service.living_actors import die, handled, held, kill, tell_to_do
from tests.support.service.plugged import Plugged
from tests.support.service.polling import eventually

PORT = "ttyACM0"
ACTOR = f"device/{ARM.device_id}"


def phase(desk: Plugged) -> str:
    return str(desk.record(ARM.device_id).phase)


def test_a_device_that_does_not_know_where_it_is_is_not_ready_because_its_actor_died(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM)
        desk.ready(ARM)
        board.link.show_device(ARM.device_id, homed=False)
        desk.until(lambda: phase(desk) == "settling", "it settles")

        kill(desk.service.system.context.directory, ACTOR)
        desk.passes(2)
        assert phase(desk) == "settling"

        board.link.show_device(ARM.device_id, homed=True)
        desk.ready(ARM)


def test_a_device_that_fell_asleep_while_its_actor_died_is_asleep(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM)
        desk.ready(ARM)
        directory = desk.service.system.context.directory
        with held(directory, ACTOR) as actor:
            # It dies of what it is told next, and never hears what comes behind that.
            tell_to_do(actor, die)
            board.link.show_device(ARM.device_id, awake=False)
            board.link.seen()
            handled(directory, link_name(PORT))
        eventually(lambda: directory.ref(ACTOR) not in {None, actor}, "it was started again", pause_s=0.005)

        desk.until(lambda: phase(desk) == "asleep", "it sleeps")


def test_a_device_that_woke_up_while_its_actor_died_is_awake(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM)
        desk.ready(ARM)
        board.link.show_device(ARM.device_id, awake=False)
        desk.until(lambda: phase(desk) == "asleep", "it sleeps")
        directory = desk.service.system.context.directory
        with held(directory, ACTOR) as actor:
            tell_to_do(actor, die)
            board.link.show_device(ARM.device_id, awake=True)
            board.link.seen()
            handled(directory, link_name(PORT))
        eventually(lambda: directory.ref(ACTOR) not in {None, actor}, "it was started again", pause_s=0.005)

        desk.until(lambda: phase(desk) == "ready", "it is awake")


def test_a_device_that_finds_out_where_it_is_while_its_link_is_started_again_becomes_ready(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        board = desk.machine.plug(ARM)
        desk.ready(ARM)
        board.link.show_device(ARM.device_id, homed=False)
        desk.until(lambda: phase(desk) == "settling", "it settles")
        directory = desk.service.system.context.directory
        with held(directory, link_name(PORT)) as actor:
            tell_to_do(actor, die)
            board.link.show_device(ARM.device_id, homed=True)
            board.link.seen()
        eventually(lambda: directory.ref(link_name(PORT)) not in {None, actor}, "it was started again", pause_s=0.005)

        desk.ready(ARM)


def test_a_device_whose_port_was_blocked_behind_a_dead_manager_comes_back_when_it_is_reset(tmp_path: Path) -> None:
    with Plugged(tmp_path) as desk:
        desk.machine.plug(ARM)
        desk.ready(ARM)
        desk.settled()
        ports = desk.service.system.ports
        row = replace(ports.value.get(PORT), loop_block=LoopBlock("2026-01-01T00:00:00+00:00", 5))
        ports.replace(PortTable((row,)))

        directory = desk.service.system.context.directory
        before = directory.ref(ACTOR)
        kill(directory, DEVICES)
        desk.gone()
        desk.until(lambda: before is not None and not before.is_alive(), "nobody acts for it any more")

        assert desk.ask("POST", f"/ports/{PORT}/reset").status == 200
        desk.machine.unplug()
        desk.passes(1)
        desk.machine.plug(ARM)
        desk.ready(ARM)
