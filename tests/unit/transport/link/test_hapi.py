"""The hAPI driver with an emulated board on a pseudo-terminal: real bytes, port thread, loop."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import serial

from actors.kit.published import Published
from actors.port.link_interface import NoDeviceAnswers, OpenLimits
from actors.settings.messages import SettingsView
from actors.values.hardware import Candidate, Transport
from actors.values.identity import Kind
from actors.values.mechanism_kind import MechanismKind
from fastpath.arena.access import Reader
from fastpath.arena.runtime import Lease, Runtime, now_ns
from tests.emulators.hapi import HapiBoard
from tests.emulators.pty_port import PtyPort
from tests.support.actors.doubles import settings_view
from tests.support.boards.fake_port_thread import CannotStart, FakePortThread
from tests.support.loop.devices import fill, still_arm_params
from tests.support.service.polling import eventually as poll
from transport.link.protocols.hapi import driver
from transport.link.protocols.hapi.board import BOARDS, zero_message
from transport.link.protocols.hapi.driver import HapiDriver, HapiLink

FIVE_BAR = 1
LIMITS = OpenLimits(timeout_s=2.0, tries=1)
# Of what a busy machine may spoil.
ATTEMPTS = 20
MS = 1_000_000


def eventually(look: Callable[[], bool]) -> None:
    poll(look, "what the board or its link shows", pause_s=0.005)


def settings_of(*entries: str) -> Published[SettingsView]:
    return Published(settings_view({"devices/hapi/ports": list(entries)}))


class Bench:
    """A loop, an emulated board at a port of its own name, and the family that drives it."""

    def __init__(self, folder: Path, mechanism: str = "2diy-plastic") -> None:
        self._cleanup = ExitStack()
        self.board = HapiBoard(mechanism)
        self.port = self._cleanup.enter_context(PtyPort(self.board, link=folder / "ttyACM7"))
        self.runtime = Runtime(realtime=False)
        self.runtime.publish_loop(frequency=1000.0, command_timeout=0.5)
        self.mechanism = mechanism
        self.family = HapiDriver(self.runtime, settings_of(f"{self.port.path}={mechanism}"), list_ports=lambda: ())

    def close(self) -> None:
        self.runtime.stop()
        self._cleanup.close()

    def open(self) -> HapiLink:
        (candidate,) = self.family.candidates()
        link = self.family.open(candidate, LIMITS, threading.Event())
        self._cleanup.callback(link.close)
        return link

    def drive(self, link: HapiLink) -> tuple[Lease, Reader]:
        """The board in the loop, as the mechanism that it was found with."""
        found = link.facts().devices[0]
        assert found.mechanism is not None
        params = still_arm_params(peak_force=5.0, torque_limit=found.mechanism.torque_limit, source=1, silence=0.02)
        fill(params["mechanism"], {"kind": FIVE_BAR, **found.mechanism.geometry})
        lease = self.runtime.lease_device(found.device_id)
        assert self.runtime.publish_device(lease, params)
        link.start({found.device_id: lease})
        self.runtime.start(priority=0)
        return lease, self.runtime.reader(lease)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.close()


def test_named_existing_ports_are_candidates(bench: Bench) -> None:
    (candidate,) = bench.family.candidates()

    assert (candidate.port, candidate.path, candidate.transport) == ("ttyACM7", bench.port.path, Transport.SERIAL)
    assert candidate.assigned
    bench.port.unplug()
    eventually(lambda: not bench.family.candidates())


def test_a_board_is_a_compact_with_a_mechanism_of_its_own(bench: Bench) -> None:
    found = bench.open().facts().devices[0]

    assert (found.kind, found.device_id, found.driver) == (Kind.COMPACT, "HTTYACM7", "hapi 2diy-plastic")
    assert found.calibrated
    assert found.mechanism is not None
    assert found.mechanism.kind is MechanismKind.FIVE_BAR
    assert found.mechanism.torque_limit == pytest.approx(123)
    assert found.reach == BOARDS["2diy-plastic"].reach


def test_board_gets_a_thousand_orders_a_second_and_a_final_zero(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[FakePortThread] = []
    monkeypatch.setattr(driver, "PortThread", partial(FakePortThread, threads))

    with pytest.raises(CannotStart):
        bench.open()

    (thread,) = threads
    assert (thread.protocol, thread.given["rates_hz"]) == ("hapi", (1000,))
    assert thread.given["zero_packet"] == b"\x02\x05" + bytes(8)


def test_board_left_in_any_state_is_set_up_with_motors_off(bench: Bench) -> None:
    bench.board.feed(b"\x00\x00" + bytes.fromhex("0105030101030101000000004041008098450000284300809845"))
    bench.board.feed(bytes.fromhex("02050ad7233c0ad723bc"))
    assert max(bench.board.torques) > 0
    bench.board.feed(bytes.fromhex("0205 0000"))

    bench.open()

    assert max(abs(torque) for torque in bench.board.torques) == 0
    assert bench.board.directions["motor"][:2] == [1, 1]


def test_loop_sees_the_cursor_and_its_force_turns_the_motors(bench: Bench) -> None:
    lease, reader = bench.drive(bench.open())
    writer = bench.runtime.writer(bench.runtime.lease_session("1"), lease)

    def push() -> None:
        bench.runtime.beat()
        writer.begin()
        writer.force(0.0, -0.5, 0.0)
        assert writer.publish()

    def turning() -> bool:
        push()
        return max(abs(torque) for torque in bench.board.torques) > 0.01

    eventually(turning)
    state = reader.snapshot()
    assert math.hypot(*state["position"][:2]) < 0.17
    assert state["position"][2] == 0
    assert np.isfinite(state["joint"]).all()


def test_orders_and_answers_stay_in_step_after_a_stall(bench: Bench) -> None:
    link = bench.open()
    bench.drive(link)

    def five_hundred_in_step() -> bool:
        before = link.facts().counters
        eventually(lambda: link.facts().counters.frames_in >= before.frames_in + 500)
        after = link.facts().counters
        unanswered = (after.frames_out - before.frames_out) - (after.frames_in - before.frames_in)
        return abs(unanswered) <= 2 and after.frames_bad == before.frames_bad

    eventually(five_hundred_in_step)


def test_closing_sends_zero_last(bench: Bench) -> None:
    link = bench.open()
    bench.drive(link)

    link.close()
    link.close()

    eventually(lambda: bench.port.last.endswith(zero_message(BOARDS["2diy-plastic"])))
    assert bench.board.torques == (0, 0)


def test_silent_board_is_gone_after_half_a_second(bench: Bench) -> None:
    link = bench.open()
    bench.drive(link)
    eventually(lambda: link.facts().counters.frames_in > 20)

    bench.port.freeze()
    eventually(lambda: link.facts().gone != "")

    assert now_ns() - bench.port.answered_ns > 490 * MS
    assert link.facts().gone == "it has not answered for 500 ms"


def test_unplugged_board_is_gone(bench: Bench) -> None:
    link = bench.open()
    bench.drive(link)
    eventually(lambda: link.facts().counters.frames_in > 5)

    bench.port.unplug()

    eventually(lambda: link.facts().gone.startswith("it was unplugged"))


def test_stray_bytes_are_counted_and_cost_at_most_a_hundred_orders(bench: Bench) -> None:
    link = bench.open()
    bench.drive(link)
    eventually(lambda: link.facts().counters.frames_in > 20)

    def cost() -> int:
        """Ticks of the loop, each of which is due a reply, without one, from the stray bytes until replies come again."""
        ticks, before = int(bench.runtime.loop_state()["ticks"]), link.facts().counters
        bench.port.send(b"\x05\x05\x05")
        eventually(lambda: link.facts().counters.frames_bad > before.frames_bad)
        found = link.facts().counters.frames_in
        eventually(lambda: link.facts().counters.frames_in >= found + 50)
        after = link.facts().counters
        return int(bench.runtime.loop_state()["ticks"]) - ticks - (after.frames_in - before.frames_in)

    assert any(cost() <= 100 for _ in range(ATTEMPTS))
    assert link.facts().gone == ""


def test_calibration_presets_the_encoders_to_the_home_pose_once_for_each_run(bench: Bench) -> None:
    link = bench.open()
    bench.drive(link)
    setups = bench.board.setups
    for shaft in bench.board.shafts.values():
        shaft.angle += 0.2

    link.calibrate("HTTYACM7", 4)
    link.calibrate("HTTYACM7", 4)

    def ended() -> bool:
        about = link.facts().of["HTTYACM7"].calibration
        return about is not None and about.run == 4 and about.reason is None

    eventually(ended)
    link.calibrate("HTTYACM7", 4)
    assert bench.board.setups == setups + 1
    assert bench.board.angle(1) == pytest.approx(12, abs=0.2)


def test_port_without_an_answer_is_given_up_in_time(bench: Bench) -> None:
    (candidate,) = bench.family.candidates()
    bench.port.freeze()

    with pytest.raises(NoDeviceAnswers, match="no hAPI board answers"):
        bench.family.open(candidate, OpenLimits(0.1, 1), threading.Event())


def test_interrupted_opening_ends_at_once(bench: Bench) -> None:
    (candidate,) = bench.family.candidates()
    stop = threading.Event()
    stop.set()

    with pytest.raises(NoDeviceAnswers):
        bench.family.open(candidate, LIMITS, stop)


def test_port_removed_from_the_setting_is_not_opened(bench: Bench) -> None:
    other = Candidate("ttyACM9", "/dev/ttyACM9", Transport.SERIAL, assigned=True)

    with pytest.raises(NoDeviceAnswers, match="does not name /dev/ttyACM9 any more"):
        bench.family.open(other, LIMITS, threading.Event())


def test_port_held_by_another_program_is_refused_with_its_error(bench: Bench) -> None:
    (candidate,) = bench.family.candidates()

    with serial.Serial(bench.port.path, exclusive=True), pytest.raises(OSError) as refused:
        bench.family.open(candidate, LIMITS, threading.Event())

    assert refused.value.errno == 11
