"""Driver of the open link protocol with emulated boards on pseudo-terminals: port threads, pyserial, no actors."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from actors.device.messages import DeviceWide
from actors.pairing.messages import Reason
from actors.port.link_interface import CalibrationResult, LinkFacts, NoDeviceAnswers, OpenLimits
from actors.values.hardware import Candidate, Transport
from actors.values.identity import Connection, Firmware, Kind
from fastpath.arena.runtime import Runtime
from tests.emulators.boards import Boards
from tests.support.boards.driven_boards import DrivenBoards
from tests.support.service.polling import eventually
from tests.support.service.timeouts import long_silence_limits, shipped_silence_limits
from transport.link.protocols.openlink.driver import OpenlinkLink, open_board

T = TypeVar("T")
LIMITS = OpenLimits()
LOOK_S = 0.01
LOOKS = 6000


class Bench:
    """Boards, a runtime whose loop stands, and links that are closed at the end."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self._open: list[OpenlinkLink] = []

    def open(self, path: str, limits: OpenLimits = LIMITS, stop: threading.Event | None = None) -> OpenlinkLink:
        candidate = Candidate("pty", path, Transport.SERIAL)
        link = open_board(candidate, self.runtime, limits, stop or threading.Event())
        self._open.append(link)
        return link

    def until(self, link: OpenlinkLink, look: Callable[[LinkFacts], T | None]) -> T:
        """First answer to the facts that is one, looked at each 10 ms as the timekeeper does."""
        for _ in range(LOOKS):
            answer = look(link.facts())
            if answer:
                return answer
            time.sleep(LOOK_S)
        raise AssertionError(f"not within {LOOKS} looks: {link.facts()}")

    def close(self) -> None:
        for link in self._open:
            link.close()


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench(Runtime(realtime=False))
    with long_silence_limits():
        yield bench
    bench.close()


@pytest.fixture
def arm() -> Iterator[Boards]:
    with Boards("arm:A1") as boards:
        yield boards


def test_arm_is_identified_and_settles(bench: Bench, arm: Boards) -> None:
    link = bench.open(arm.path())

    (found,) = link.facts().devices
    bench.until(link, lambda _: arm.see().phase == 3)

    assert (found.device_id, found.kind, found.connection) == ("A1", Kind.ARM, Connection.SERIAL)
    assert (found.firmware, found.calibrated, found.settle_s) == (Firmware(7, 5), True, 0.3)
    assert bench.until(link, lambda _: arm.obeys())
    bench.until(link, lambda _: arm.see().led == [1, 0, 255, 0])
    assert found.reach is None
    assert found.mechanism is not None
    assert not link.receiver


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_board_that_loses_wake_up_packets_wakes_eventually(bench: Bench, arm: Boards, lost: int) -> None:
    arm.set("cold", lost)

    link = bench.open(arm.path())

    assert [found.device_id for found in link.facts().devices] == ["A1"]
    assert arm.see().wakes == lost + 1
    assert bench.until(link, lambda _: arm.obeys())


def test_unattached_board_never_trips_its_watchdog_while_python_is_busy(bench: Bench, arm: Boards) -> None:
    link = bench.open(arm.path())

    bench.until(link, lambda _: arm.see().phase == 3)
    commands = arm.see().commands
    eventually(lambda: arm.see().commands > commands + 30, "commands flow without a look at the facts", pause_s=0.01)

    assert bench.until(link, lambda _: arm.obeys())


def test_port_without_an_answer_is_reported_and_closed(bench: Bench, arm: Boards) -> None:
    arm.set("deaf", 1)

    with pytest.raises(NoDeviceAnswers, match="nobody answers IDENTIFY"):
        bench.open(arm.path())

    arm.set("deaf", 0)
    assert bench.open(arm.path()).facts().devices


def test_opening_is_interrupted_at_once_on_request(bench: Bench, arm: Boards) -> None:
    stop = threading.Event()
    stop.set()

    with pytest.raises(NoDeviceAnswers, match="given up"):
        bench.open(arm.path(), stop=stop)


def test_open_port_is_exclusive(bench: Bench, arm: Boards) -> None:
    bench.open(arm.path())

    with pytest.raises(OSError, match="lock"):
        bench.open(arm.path())


def test_line_with_1_percent_damaged_bytes_loses_frames_only(bench: Bench, arm: Boards) -> None:
    arm.damage(0.01)

    # Two in three of what it says of itself are lost.
    link = bench.open(arm.path(), OpenLimits(timeout_s=30, tries=9))
    bench.until(link, lambda facts: facts.counters.frames_in > 300 and facts.counters.frames_bad > 100)
    link.configure("A1", DeviceWide(handedness="left"))

    def follows(facts: LinkFacts) -> bool:
        """Whether it does; what the driver repeats may be lost each time: it says so, and is told again."""
        if "does not answer CONFIGURE" in facts.of["A1"].fault:
            link.configure("A1", DeviceWide(handedness="left"))
        return arm.see().left_handed == 1

    bench.until(link, follows)

    assert link.facts().gone == ""
    assert [found.device_id for found in link.facts().devices] == ["A1"]


def test_damaged_line_delivers_no_wrong_state(arm: Boards) -> None:
    with DrivenBoards(arm.path()) as driven:
        eventually(lambda: arm.see().phase == 3, "it is ready", pause_s=0.005)
        still, begun = arm.see().joint, driven.links[0].facts().counters
        arm.damage(0.01)
        seen: set[tuple[float, ...]] = set()

        def enough() -> bool:
            seen.add(tuple(driven.readers[0].snapshot()["joint"]))
            now = driven.links[0].facts().counters
            return now.frames_bad > begun.frames_bad + 100 and now.frames_in > begun.frames_in + 500

        eventually(enough, "many states have come and many were lost", pause_s=0.0005, tries=100_000)

    assert arm.see().joint == still
    assert [list(map(math.radians, joints)) for joints in seen] == [pytest.approx(still, abs=1e-6)]


def test_rebooted_board_disconnects_and_returns_with_its_id(bench: Bench, arm: Boards) -> None:
    link = bench.open(arm.path())
    (before,) = link.facts().devices
    arm.reboot()

    with shipped_silence_limits():
        assert bench.until(link, lambda facts: facts.gone).startswith("it sent nothing for ")
    link.close()

    link = bench.open(arm.path())
    assert link.facts().devices == (before,)
    assert bench.until(link, lambda _: arm.obeys())


def test_unplugged_board_disconnects_at_once(bench: Bench, arm: Boards) -> None:
    link = bench.open(arm.path())
    arm.unplug()

    assert bench.until(link, lambda facts: facts.gone) == "it was unplugged (Input/output error)"
    link.close()
    with pytest.raises(OSError, match="No such file"):
        bench.open(arm.path())

    arm.plug()
    assert bench.open(arm.path()).facts().devices


def test_killed_board_process_disconnects_at_once(bench: Bench, arm: Boards) -> None:
    link = bench.open(arm.path())
    arm.kill()

    assert bench.until(link, lambda facts: facts.gone) == "it was unplugged (Input/output error)"


def test_closed_link_puts_its_board_to_sleep(bench: Bench, arm: Boards) -> None:
    link = bench.open(arm.path())
    bench.until(link, lambda _: arm.see().phase == 3)

    link.close()
    link.close()

    for _ in range(LOOKS):
        if arm.see().phase == 0:
            break
    assert arm.see().phase == 0
    assert not arm.see().driven


def test_device_wide_configuration_reaches_the_board_and_is_saved(bench: Bench, arm: Boards) -> None:
    link = bench.open(arm.path())
    wide = DeviceWide(handedness="left", torque_scaling=False, gravity_scale=0.75, home_return=True)

    link.configure("A1", wide, save=True)
    seen = bench.until(link, lambda _: found if (found := arm.see()).saved else None)

    assert (seen.left_handed, seen.torque_scaling, seen.gravity_scale, seen.home_return) == (1, 0, 0.75, 1)


def test_old_firmware_gets_no_home_return_message(bench: Bench, arm: Boards) -> None:
    arm.set("firmware", 703)
    link = bench.open(arm.path())

    link.configure("A1", DeviceWide(handedness="left", home_return=True))
    seen = bench.until(link, lambda _: found if (found := arm.see()).left_handed else None)

    assert link.facts().devices[0].firmware == Firmware(7, 3)
    assert seen.home_return == 0


@pytest.mark.parametrize(
    ("outcome", "reason"), [(0, None), (1, Reason.BLOCKED), (2, Reason.OSCILLATING_HALL), (5, Reason.PEN_LOST)]
)
def test_calibration_ends_with_the_result_of_the_board(
    bench: Bench, arm: Boards, outcome: int, reason: Reason | None
) -> None:
    arm.set("calibration", outcome)
    link = bench.open(arm.path())
    bench.until(link, lambda _: arm.see().phase == 3)

    link.calibrate("A1", 4)

    assert bench.until(link, lambda facts: facts.of["A1"].calibration) == CalibrationResult(4, reason)
    assert bench.until(link, lambda _: arm.obeys())


def test_board_faults_become_status_text(bench: Bench, arm: Boards) -> None:
    link = bench.open(arm.path())

    arm.set("faults", 0x11)

    assert bench.until(link, lambda facts: facts.of["A1"].fault) == "overheated, supply"
    arm.set("faults", 0)
    assert bench.until(link, lambda facts: not facts.of["A1"].fault)


@pytest.mark.parametrize(("board", "kind"), [("grip:G1", Kind.GRIP), ("pen:G1", Kind.PEN)])
def test_handle_sends_heartbeats_while_attached(bench: Bench, board: str, kind: Kind) -> None:
    with Boards(board) as boards:
        link = bench.open(boards.path())
        (found,) = link.facts().devices
        first = bench.until(link, lambda facts: facts.of["G1"].heartbeat_ns)
        assert bench.until(link, lambda facts: (facts.of["G1"].heartbeat_ns or 0) > first)

        boards.set("attached", 0)
        bench.until(link, lambda _: bench.runtime.now_ns() > (link.facts().of["G1"].heartbeat_ns or 0) + 100_000_000)

        assert found.kind is kind
        assert boards.see().commands == 0


def test_sleeping_handle_is_not_disconnected(bench: Bench) -> None:
    with Boards("grip:G1") as boards:
        link = bench.open(boards.path())
        boards.set("asleep", 1)
        bench.until(link, lambda facts: not facts.of["G1"].awake)
        boards.set("asleep", 0)

        assert bench.until(link, lambda facts: facts.of["G1"].awake)
        assert link.facts().gone == ""


def test_receiver_grips_connect_and_disconnect(bench: Bench) -> None:
    with Boards("receiver:G1,G2") as boards:
        boards.set("here", 0, device=1)
        link = bench.open(boards.path())
        assert link.receiver
        (found,) = bench.until(link, lambda facts: facts.devices or None)
        assert (found.device_id, found.connection) == ("G1", Connection.WIRELESS)

        boards.set("here", 1, device=1)
        both = bench.until(link, lambda facts: facts.devices if len(facts.devices) == 2 else None)
        assert [one.device_id for one in both] == ["G1", "G2"]

        boards.set("here", 0, device=0)
        left = bench.until(link, lambda facts: facts.devices if len(facts.devices) == 1 else None)
        assert [one.device_id for one in left] == ["G2"]
        assert link.facts().gone == ""
