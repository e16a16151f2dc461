"""LineWriter: lines reach a pipe in order, nobody waits for a full one, and what is dropped is counted and told."""

from __future__ import annotations

import io
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service.held_stream import HeldStream
from tests.support.service.polling import eventually
from transport import line_writer
from transport.line_writer import MOST_BYTES, MOST_LINES, LineWriter, never_waiting, say, writer_of


@pytest.fixture
def held() -> Iterator[HeldStream]:
    """A full pipe; the threads that write to it have ended before it is closed."""
    with HeldStream() as stream:
        yield stream
        stream.abandon()
        for thread in threading.enumerate():
            if thread.name == line_writer.THREAD:
                thread.join(20)


def test_lines_arrive_whole_and_in_order() -> None:
    read, write = os.pipe()
    writer = LineWriter(write)
    for number in range(100):
        writer.put(f"line {number} é")
    writer.end(20)
    os.close(write)

    with os.fdopen(read, encoding="utf-8") as lines:
        assert lines.read() == "".join(f"line {number} é\n" for number in range(100))


def test_a_full_pipe_holds_up_neither_put_nor_end(held: HeldStream) -> None:
    writer = LineWriter(held.write_end)
    for number in range(3 * MOST_LINES):
        writer.put(f"line {number}")

    writer.end(0.01)

    assert 2 * MOST_LINES - 1 <= writer.dropped <= 2 * MOST_LINES


def test_dropped_lines_are_told_once_somebody_reads(held: HeldStream) -> None:
    writer = LineWriter(held.write_end, lambda dropped: f"{dropped} dropped")
    for number in range(MOST_LINES + 7):
        writer.put(f"line {number}")
    dropped = writer.dropped
    assert dropped >= 6

    lines = held.lines("dropped")

    assert lines[:2] == ["line 0", f"{dropped} dropped"]
    writer.end(0)


def test_bytes_that_wait_are_limited_but_one_line_always_fits(held: HeldStream) -> None:
    writer = LineWriter(held.write_end)
    writer.put("x" * 2 * MOST_BYTES)
    assert writer.dropped == 0

    writer.put("y")

    assert writer.dropped == 1
    writer.end(0)


def test_a_reader_that_has_gone_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    writer = LineWriter(write)
    for _ in range(3):
        writer.put("line")
    writer.end(20)
    os.close(write)

    assert writer.dropped == 0


def test_a_stream_that_another_program_made_nonblocking_gets_every_line(held: HeldStream) -> None:
    os.set_blocking(held.write_end, False)
    writer = LineWriter(held.write_end)
    writer.put("line")
    writer.put("last")

    assert held.lines("last") == ["line", "last"]
    writer.end(0)


def test_lone_surrogates_are_written_escaped() -> None:
    read, write = os.pipe()
    writer = LineWriter(write)
    writer.put("a\ud800b")
    writer.end(20)

    assert os.read(read, 100) == b"a\\ud800b\n"
    os.close(read)
    os.close(write)


def test_threads_are_named_and_do_not_keep_the_process(held: HeldStream) -> None:
    writer = LineWriter(held.write_end)
    writer.put("line")

    (thread,) = [each for each in threading.enumerate() if each.name == line_writer.THREAD]

    assert thread.daemon
    writer.end(0)


def test_stream_without_a_descriptor_has_no_writer(tmp_path: Path) -> None:
    assert writer_of(None) is None
    assert writer_of(io.StringIO()) is None
    closed = (tmp_path / "x").open("w", encoding="utf-8")
    closed.close()
    assert writer_of(closed) is None


def test_last_line_goes_to_a_stream_of_either_sort(tmp_path: Path) -> None:
    text = io.StringIO()
    say(text, "one")
    with (tmp_path / "x").open("w", encoding="utf-8") as stream:
        stream.write("zero\n")
        say(stream, "one")

    assert text.getvalue() == "one\n"
    assert (tmp_path / "x").read_text(encoding="utf-8") == "zero\none\n"


def test_descriptor_for_signal_handlers_loses_what_a_full_pipe_does_not_take(held: HeldStream) -> None:
    descriptor = never_waiting(held.write_end)

    with pytest.raises(BlockingIOError):
        os.write(descriptor, b"stacks")
    assert os.get_blocking(held.write_end)
    os.close(descriptor)


def test_descriptor_for_signal_handlers_waits_shortly_for_a_full_socket() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        descriptor = never_waiting(ours.fileno())
        assert descriptor == ours.fileno()

        def fill() -> None:
            while True:
                os.write(descriptor, b"." * 65_536)

        with pytest.raises(BlockingIOError):
            fill()


def test_descriptor_for_signal_handlers_is_the_same_for_a_file(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as file:
        assert never_waiting(file.fileno()) == file.fileno()


def test_the_thread_ends_with_its_lines() -> None:
    read, write = os.pipe()
    writer = LineWriter(write)
    writer.put("line")
    before = writer._thread
    assert before is not None
    writer.end(20)

    eventually(lambda: not before.is_alive(), "the thread has ended", pause_s=0.001)
    os.close(read)
    os.close(write)
