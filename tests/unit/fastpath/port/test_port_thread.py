"""The thread of a serial port on a pseudo-terminal: orders go out, answers become samples, zero packet at the end."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from fastpath.arena.runtime import Runtime
from fastpath.layout.dtypes import DEVICE_STATE
from fastpath.port import zero_packets
from fastpath.port.port_thread import PortThread
from tests.support.boards.port_board import CONFIG, POSE, ZERO, Board
from tests.support.loop.devices import arm_params, fill
from tests.support.service.polling import eventually


def soon(look: Callable[[], bool]) -> bool:
    """Whether it comes to pass."""
    return eventually(look, "the port's thread", pause_s=0.002)


class Remembered:
    """A failsafe that writes down what it is told, and whether the descriptor was open then."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int, bytes]] = []

    def watch(self, descriptor: int, zero_packet: bytes) -> None:
        os.fstat(descriptor)
        self.told.append(("watch", descriptor, zero_packet))

    def forget(self, descriptor: int) -> None:
        os.fstat(descriptor)
        self.told.append(("forget", descriptor, b""))


class DrivenBoard:
    """A board, its port's thread and the loop that drives it, at 2 kHz."""

    def __init__(self, board: Board, *, rate_hz: float = 1000.0, failsafe: Remembered | None = None) -> None:
        self.board = board
        self.runtime = Runtime(realtime=False)
        self.runtime.publish_loop(frequency=2000, command_timeout=30)
        self.lease = self.runtime.lease_device("arm")
        params = arm_params()
        fill(params, {"source": 1, "silence": 5.0})
        self.runtime.publish_device(self.lease, params)
        self.reader = self.runtime.reader(self.lease)
        self.writer = self.runtime.writer(self.runtime.lease_session("1"), self.lease)
        self.thread = PortThread(
            self.runtime, board.port, "hapi", rates_hz=(rate_hz,), zero_packet=ZERO, config=CONFIG, failsafe=failsafe
        )
        self.thread.attach(0, self.lease)

    def push(self) -> None:
        self.runtime.beat()
        self.writer.begin()
        # 82 N.mm at most: the board is never sent more than 123.
        self.writer.force(0.25, 0.125, 0.0)
        assert self.writer.publish()

    def pushed(self) -> None:
        """Wait until the board feels it; again and again, as an order that is not renewed becomes zero."""

        def felt() -> bool:
            self.push()
            return any(self.board.torques[-1:]) and any(self.board.torques[-1])

        assert soon(felt)


@contextmanager
def driven_board(*, rate_hz: float = 1000.0, failsafe: Remembered | None = None) -> Generator[DrivenBoard]:
    board = Board()
    made = DrivenBoard(board, rate_hz=rate_hz, failsafe=failsafe)
    try:
        board.start()
        made.runtime.start()
        made.thread.start(at_fatal_signal=failsafe is not None)
        yield made
    finally:
        made.thread.close()
        made.runtime.stop()
        board.close()


def plain(board: Board, **changes: object) -> PortThread:
    """A thread that carries bytes only."""
    given = {"rates_hz": (0.0,), "zero_packet": b"", **changes}
    return PortThread(Runtime(stepping=True), board.port, "bytes", **given)  # type: ignore[arg-type]


def test_board_gets_the_torques_and_its_answers_move_the_cursor() -> None:
    with driven_board() as made:

        def felt() -> bool:
            made.push()
            state = made.reader.snapshot()
            return float(state["force"][0]) > 0 and np.allclose(made.board.torques[-1], 1e-3 * state["torque"])

        made.pushed()
        assert soon(felt)
        state = made.reader.snapshot()
        counters = made.thread.counters()

    assert tuple(state["joint"]) == POSE
    assert counters.frames_in > 0
    assert (counters.errors, counters.gone) == (0, 0)


def test_stale_order_becomes_zero() -> None:
    with driven_board() as made:
        made.pushed()
        made.runtime.publish_loop(frequency=2000, command_timeout=30, duty=0)

        assert soon(lambda: made.thread.counters().zeros > 0)
        assert soon(lambda: not any(made.board.torques[-1]))
        assert any(made.reader.snapshot()["torque"])


def test_a_loop_that_stops_orders_zero() -> None:
    with driven_board() as made:
        made.pushed()
        made.runtime.stop()

        assert soon(lambda: not any(made.board.torques[-1]))


def test_ended_lease_zeroes_the_board() -> None:
    with driven_board() as made:
        made.pushed()
        made.runtime.release_device(made.lease)

        assert soon(lambda: not any(made.board.torques[-1]))


def test_detached_device_gets_one_zero_order() -> None:
    with driven_board() as made:
        made.pushed()
        made.thread.detach(0)
        sent = made.thread.counters().orders
        assert soon(lambda: len(made.board.torques) == sent)

        assert not any(made.board.torques[-1])
        made.thread.set_rate(0, 2000.0)
        assert made.thread.counters().orders == sent


def test_unattached_device_is_kept_at_zero_if_configured() -> None:
    with driven_board() as made:
        made.pushed()
        made.thread.set_idle(0, 500.0)
        made.thread.detach(0)
        sent = made.thread.counters().orders
        assert soon(lambda: made.thread.counters().orders > sent + 10)
        # A loop that was late before that counts.
        late = made.thread.counters().zeros
        sent = made.thread.counters().orders
        assert soon(lambda: made.thread.counters().orders > sent + 10)
        assert soon(lambda: not any(made.board.torques[-1]))
        made.thread.set_idle(0, 0)
        sent = made.thread.counters().orders
        assert soon(lambda: len(made.board.torques) == sent)
        made.thread.set_rate(0, 2000.0)

        assert made.thread.counters().orders == sent
        assert made.thread.counters().zeros == late


def test_zero_order_is_never_counted_as_late() -> None:
    with driven_board() as made:
        assert soon(lambda: made.thread.counters().frames_in > 10)
        made.runtime.publish_loop(frequency=2000, command_timeout=30, duty=0)
        sent = made.thread.counters().orders

        assert soon(lambda: made.thread.counters().orders > sent + 50)
        assert made.thread.counters().zeros == 0


def test_silent_board_is_detected_and_recovers() -> None:
    with driven_board() as made:
        made.pushed()
        params = arm_params()
        fill(params, {"source": 1, "silence": 0.02})
        made.runtime.publish_device(made.lease, params)
        made.board.answers = False
        assert soon(lambda: not any(made.reader.snapshot()["force"]) and not any(made.board.torques[-1]))
        before = int(made.reader.snapshot()["time_ns"])
        made.board.answers = True

        assert soon(lambda: int(made.reader.snapshot()["time_ns"]) > before)


def test_closing_sends_the_zero_packet_before_unregistering_and_closing() -> None:
    failsafe = Remembered()
    with driven_board(failsafe=failsafe) as made:
        port = made.board.port
        assert port in zero_packets.registered()
        made.pushed()
        made.thread.close()
        made.thread.close()

        assert soon(lambda: not any(made.board.torques[-1]))
        assert not made.thread.counters().running
        assert port not in zero_packets.registered()
        assert failsafe.told == [("watch", port, ZERO), ("forget", port, b"")]
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(port)


def test_unplugged_port_is_gone_and_can_be_closed() -> None:
    board = Board()
    made = DrivenBoard(board)
    made.thread.start(at_fatal_signal=False)
    os.close(board.master)
    board.master = os.dup(0)

    assert soon(lambda: made.thread.counters().gone != 0)
    assert soon(lambda: not made.thread.counters().running)
    made.thread.close()
    board.close()


def test_blocked_port_delays_neither_orders_nor_closing() -> None:
    board = Board()
    made = DrivenBoard(board, rate_hz=8000.0)
    made.thread.start(at_fatal_signal=False)

    assert soon(lambda: made.thread.counters().blocked > 10)
    made.thread.close()
    assert not made.thread.counters().running
    board.close()


def test_noise_between_answers_is_skipped_and_counted() -> None:
    with driven_board() as made:
        made.pushed()
        os.write(made.board.master, b"\xff" * 7)

        assert soon(lambda: made.thread.counters().frames_bad >= 1)
        count = int(made.reader.snapshot()["samples"])
        assert soon(lambda: int(made.reader.snapshot()["samples"]) > count + 10)
        assert tuple(made.reader.snapshot()["joint"]) == POSE


def test_state_never_mixes_two_packets() -> None:
    with driven_board(rate_hz=4000.0) as made:
        made.pushed()
        states = np.empty(2000, dtype=DEVICE_STATE)
        turns, torn = 0, 0
        seen: set[int] = set()
        while len(seen) < 300:
            turns += 1
            made.board.joint = (float(turns % 90), turns % 90 / 2, -(turns % 90) / 4)
            for index in range(len(states)):
                made.reader.snapshot(states[index : index + 1])
            yaw, shoulder, elbow = states["joint"].T
            moved = yaw != POSE[0]
            torn += int(np.sum(moved & ((shoulder != yaw / 2) | (elbow != -yaw / 4))))
            seen.update(states["samples"].tolist())

    assert torn == 0


# bytes on their way to the handle that its ring takes for certain, whoever comes late
ROOM = 4096


def test_messages_pass_unchanged_both_ways() -> None:
    board = Board()
    thread = plain(board)
    thread.start(at_fatal_signal=False)
    said = [bytes([index % 251]) * (1 + index * 7 % 300) for index in range(400)]
    heard, got, echoed = b"", b"", 0
    waiting = list(said)
    os.set_blocking(board.master, False)
    try:
        while len(got) < sum(map(len, said)):
            while waiting and thread.send(waiting[0]):
                waiting.pop(0)
            if select.select([board.master], [], [], 0.001)[0]:
                heard += os.read(board.master, 1024)
            if echoed - len(got) < ROOM:
                with suppress(BlockingIOError):
                    echoed += os.write(board.master, heard[echoed : echoed + 1024])
            got += b"".join(thread.receive())
    finally:
        thread.close()
        board.close()

    assert heard == got == b"".join(said)


def test_full_ring_refuses_and_a_closed_port_accepts_nothing() -> None:
    board = Board()
    thread = plain(board)

    assert [thread.send(bytes(1000)) for _ in range(17)] == [True] * 16 + [False]
    thread.close()
    assert not thread.send(b"late")
    board.close()


@pytest.mark.parametrize("length", [0, 1025])
def test_a_message_of_the_wrong_length_is_refused(length: int) -> None:
    board = Board()
    thread = plain(board)
    with pytest.raises(ValueError, match=f"1 to 1024 bytes, not {length}"):
        thread.send(bytes(length))
    thread.close()
    board.close()


@pytest.mark.parametrize(
    ("protocol", "changes", "sentence"),
    [
        ("modbus", {}, "no protocol is called 'modbus'"),
        ("bytes", {"rates_hz": ()}, "1 to 8 devices, not 0"),
        ("bytes", {"rates_hz": (1.0,) * 9}, "1 to 8 devices, not 9"),
        ("bytes", {"rates_hz": (9000.0,)}, "0 to 8000 Hz, not 9000"),
        ("bytes", {"rates_hz": (float("nan"),)}, "0 to 8000 Hz, not nan"),
        ("bytes", {"zero_packet": bytes(257)}, "zero packet at most 256"),
        ("hapi", {}, "does not fit the protocol hapi"),
        ("hapi", {"config": CONFIG[:5] + b"\x03" + CONFIG[6:]}, "does not fit the protocol hapi"),
        ("hapi", {"config": CONFIG, "rates_hz": (1.0, 1.0)}, "does not fit the protocol hapi"),
    ],
)
def test_invalid_arguments_are_refused_with_a_sentence(
    protocol: str, changes: dict[str, object], sentence: str
) -> None:
    given = {"rates_hz": (1.0,), "zero_packet": b"", **changes}
    with pytest.raises(ValueError, match=sentence):
        PortThread(Runtime(stepping=True), 0, protocol, **given)  # type: ignore[arg-type]


def test_device_index_beyond_the_port_is_refused() -> None:
    board = Board()
    made = DrivenBoard(board)

    with pytest.raises(IndexError, match="devices 0 to 0, not 1"):
        made.thread.attach(1, made.lease)
    with pytest.raises(ValueError, match="99 is no slot"):
        made.thread.attach(0, made.lease._replace(slot=99))
    made.thread.close()
    board.close()
