"""A fatal signal in any thread writes a zero packet to every port before the process ends."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import textwrap
import tty
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ZERO = b"\x02\x05" + bytes(8)
SIGNALS = [signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGABRT]

PREAMBLE = """
import ctypes, faulthandler, mmap, os, resource, signal, sys, tempfile, threading
from fastpath.port import zero_packets
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
ZERO = bytes.fromhex(sys.argv[1])
ports = [int(number) for number in sys.argv[2:]]

def prepare():
    zero_packets.install()
    faulthandler.enable()
    zero_packets.install()
    for port in ports:
        zero_packets.register(port, ZERO)

def raised_by_somebody(number):
    signal.raise_signal(number)

def elsewhere(strike, *arguments):
    thread = threading.Thread(target=strike, args=arguments)
    thread.start()
    thread.join()
"""


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, what it said on standard error, and what each of its ports got."""

    code: int
    stderr: str
    heard: list[bytes]


def drain(descriptor: int) -> bytes:
    """All that can be read now, without waiting."""
    os.set_blocking(descriptor, False)
    parts: list[bytes] = []
    try:
        while part := os.read(descriptor, 1 << 20):
            parts.append(part)
    except OSError:
        pass
    return b"".join(parts)


def end(story: str, ports: int = 1, *, kind: str = "pipe", full: tuple[int, ...] = ()) -> Ended:
    """Run a story in a process of its own that has some ports; those in `full` take nothing more."""
    ours: list[int] = []
    theirs: list[int] = []
    for index in range(ports):
        reading, writing = os.pipe() if kind == "pipe" else pty.openpty()
        if kind == "pty":
            tty.setraw(writing)
        if index in full:
            os.set_blocking(writing, False)
            try:
                while os.write(writing, bytes(4096)):
                    pass
            except BlockingIOError:
                os.set_blocking(writing, True)
        ours.append(reading)
        theirs.append(writing)
    try:
        done = subprocess.run(
            [sys.executable, "-c", PREAMBLE + textwrap.dedent(story), ZERO.hex(), *map(str, theirs)],
            cwd=ROOT,
            pass_fds=theirs,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return Ended(done.returncode, done.stderr, [drain(descriptor) for descriptor in ours])
    finally:
        for descriptor in [*ours, *theirs]:
            os.close(descriptor)


@pytest.mark.parametrize("kind", ["pipe", "pty"])
@pytest.mark.parametrize("place", ["raised_by_somebody(number)", "elsewhere(raised_by_somebody, number)"])
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: signal.Signals(number).name)
def test_each_signal_in_any_thread_sends_packets_prints_stacks_and_ends(number: int, place: str, kind: str) -> None:
    ended = end(f"prepare()\nnumber = {int(number)}\n{place}", 2, kind=kind)

    assert ended.heard == [ZERO * 2] * 2
    assert "Fatal Python error" in ended.stderr
    assert "in raised_by_somebody" in ended.stderr
    assert ended.code == -number


@pytest.mark.parametrize(
    ("fault", "number"),
    [
        ("ctypes.string_at(8)", signal.SIGSEGV),
        ("elsewhere(ctypes.string_at, 8)", signal.SIGSEGV),
        ("os.abort()", signal.SIGABRT),
        ("elsewhere(os.abort)", signal.SIGABRT),
        (
            "file = tempfile.TemporaryFile(); file.truncate(9); page = mmap.mmap(file.fileno(), 9); file.truncate(0); page[0]",
            signal.SIGBUS,
        ),
        ("faulthandler._stack_overflow()", signal.SIGSEGV),
    ],
    ids=["null", "null elsewhere", "abort", "abort elsewhere", "bus", "stack overflow"],
)
def test_real_faults_end_the_same_way(fault: str, number: int) -> None:
    ended = end(f"prepare()\n{fault}")

    assert ended.heard == [ZERO * 2]
    assert "Fatal Python error" in ended.stderr
    assert ended.code == -number


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: signal.Signals(number).name)
def test_control_loop_fault_ends_the_same_way(number: int) -> None:
    ended = end(f"""
        from pathlib import Path
        from fastpath.arena.runtime import Runtime
        prepare()
        runtime = Runtime(realtime=False)
        runtime.start()
        loops = []
        while not loops:
            tasks = Path("/proc/self/task").iterdir()
            loops = [int(task.name) for task in tasks if (task / "comm").read_text().strip() == "hd-loop"]
        ctypes.CDLL(None).tgkill(os.getpid(), loops[0], {int(number)})
        threading.Event().wait()
    """)

    assert ended.heard == [ZERO * 2], ended.stderr
    assert "Fatal Python error" in ended.stderr
    assert ended.code == -number


@pytest.mark.parametrize("full", [(), (0,)], ids=["quick", "while a port is full"])
def test_concurrent_faults_do_not_interrupt_each_other(full: tuple[int, ...]) -> None:
    ended = end(
        """
        prepare()
        gate = threading.Barrier(4)
        def strike():
            gate.wait()
            ctypes.CDLL(None).strlen(8)
        threads = [threading.Thread(target=strike) for _ in range(4)]
        for thread in threads:
            thread.start()
        threading.Event().wait()
        """,
        2,
        full=full,
    )

    assert ended.heard[1] == ZERO * 2
    assert "Fatal Python error" in ended.stderr
    assert ended.code == -signal.SIGSEGV


def test_default_action_follows_without_an_earlier_handler() -> None:
    ended = end("zero_packets.install()\nzero_packets.register(ports[0], ZERO)\nctypes.string_at(8)")

    assert set(ended.heard) == {ZERO * 2}
    assert ended.stderr == ""
    assert ended.code == -signal.SIGSEGV


def test_returning_earlier_handler_does_not_save_the_process() -> None:
    ended = end("""
        signal.signal(signal.SIGABRT, lambda *_: None)
        zero_packets.install()
        zero_packets.register(ports[0], ZERO)
        os.kill(os.getpid(), signal.SIGABRT)
        print("still here", file=sys.stderr)
    """)

    assert ended.heard == [ZERO * 2]
    assert ended.stderr == ""
    assert ended.code == -signal.SIGABRT


def test_ignored_signal_ends_the_process_too() -> None:
    ended = end("""
        signal.signal(signal.SIGABRT, signal.SIG_IGN)
        zero_packets.install()
        zero_packets.register(ports[0], ZERO)
        os.kill(os.getpid(), signal.SIGABRT)
    """)

    assert ended.heard == [ZERO * 2]
    assert ended.code == -signal.SIGABRT


def test_installing_twice_has_no_effect() -> None:
    ended = end("prepare()\nzero_packets.install()\nzero_packets.install()\nctypes.string_at(8)")

    assert ended.heard == [ZERO * 2]
    assert ended.stderr.count("Fatal Python error") == 1
    assert ended.code == -signal.SIGSEGV


def test_installing_after_faulthandler_puts_it_first() -> None:
    ended = end("""
        prepare()
        faulthandler.disable()
        faulthandler.enable()
        zero_packets.install()
        ctypes.string_at(8)
    """)

    assert ended.heard == [ZERO * 2]
    assert ended.stderr.count("Fatal Python error") == 1
    assert ended.code == -signal.SIGSEGV


@pytest.mark.parametrize(
    "order",
    ["zero_packets.install(); faulthandler.enable()", "faulthandler.enable(); zero_packets.install()"],
    ids=["before", "after"],
)
def test_faulthandler_still_prints_in_either_order(order: str) -> None:
    ended = end(f"{order}\nzero_packets.register(ports[0], ZERO)\nctypes.string_at(8)")

    assert set(ended.heard) <= {ZERO, ZERO * 2}
    assert "Fatal Python error" in ended.stderr
    assert ended.code == -signal.SIGSEGV


@pytest.mark.parametrize("first", SIGNALS, ids=lambda number: signal.Signals(number).name)
def test_faulting_earlier_handler_interrupts_nothing(first: int) -> None:
    ended = end(f"""
        libc = ctypes.CDLL(None)
        libc.signal.restype = ctypes.c_void_p
        libc.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
        zero_packets.install()
        libc.signal({int(first)}, ctypes.cast(libc.strlen, ctypes.c_void_p))
        zero_packets.install()
        zero_packets.register(ports[0], ZERO)
        signal.raise_signal({int(first)})
    """)

    assert ended.heard == [ZERO * 2]
    assert ended.code == -first


def test_new_packet_replaces_the_old_one() -> None:
    ended = end(
        'prepare()\nzero_packets.register(ports[0], b"new")\nzero_packets.register(ports[0], ZERO + b"!")\nos.abort()'
    )

    assert ended.heard == [(ZERO + b"!") * 2]


def test_unregistered_port_gets_no_packet() -> None:
    ended = end("prepare()\nzero_packets.unregister(ports[0])\nzero_packets.unregister(ports[0])\nos.abort()", 2)

    assert ended.heard == [b"", ZERO * 2]


def test_closed_or_broken_port_does_not_affect_others() -> None:
    ended = end(
        """
        prepare()
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.close(ports[0])
        reading, writing = os.pipe()
        os.close(reading)
        zero_packets.unregister(ports[1])
        zero_packets.register(writing, ZERO)
        zero_packets.register(ports[1], ZERO)
        os.abort()
        """,
        2,
    )

    assert ended.heard == [b"", ZERO * 2]
    assert ended.code == -signal.SIGABRT


@pytest.mark.parametrize("kind", ["pipe", "pty"])
def test_full_port_does_not_block(kind: str) -> None:
    ended = end("prepare()\nos.abort()", 3, kind=kind, full=(0, 2))

    assert ended.heard[1] == ZERO * 2
    assert ended.code == -signal.SIGABRT
    assert "Fatal Python error" in ended.stderr


MAKES_ROOM = """
    full_end, full = os.pipe()
    heard_end, heard = os.pipe()
    os.set_blocking(full, False)
    try:
        while os.write(full, bytes(4096)):
            pass
    except BlockingIOError:
        pass
    if os.fork() == 0:
        os.close(full)
        os.read(heard_end, 1)
        while part := os.read(full_end, 4096):
            os.write(ports[0], part.lstrip(bytes(1)))
        os._exit(0)
    os.close(full_end)
    zero_packets.install()
    zero_packets.register(full, b"last words")
    zero_packets.register(heard, b"now")
    os.abort()
"""


def test_port_that_drains_in_time_gets_its_packet() -> None:
    """The other process may get no processor for the 0.2 s of the last words: one try of ten that is in time will do."""
    heard: list[bytes] = []
    while len(heard) < 10 and b"last words" * 2 not in heard:
        ended = end(MAKES_ROOM)
        assert ended.code == -signal.SIGABRT
        heard.extend(ended.heard)

    assert heard[-1] == b"last words" * 2
    assert set(heard) <= {b"", b"last words", b"last words" * 2}


def test_sixty_four_ports_are_served_and_one_more_is_refused() -> None:
    ended = end(
        """
        prepare()
        try:
            zero_packets.register(2, ZERO)
        except RuntimeError as refused:
            print(refused, file=sys.stderr)
        assert zero_packets.registered() == tuple(sorted(ports))
        os.abort()
        """,
        64,
    )

    assert "64 zero packets are prepared already" in ended.stderr
    assert ended.heard == [ZERO * 2] * 64


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ('zero_packets.register(-1, b"x")', "ValueError: -1 is no open descriptor"),
        ('zero_packets.register(1, b"")', "ValueError: a zero packet needs 1 to 256 bytes, not 0"),
        ("zero_packets.register(1, bytes(257))", "ValueError: a zero packet needs 1 to 256 bytes, not 257"),
        ("zero_packets.register(1, None)", "TypeError"),
        ('zero_packets.register(1, "x")', "TypeError"),
    ],
)
def test_invalid_port_or_packet_is_refused(call: str, sentence: str) -> None:
    ended = end(call)

    assert sentence in ended.stderr
    assert ended.code == 1


def test_orderly_end_sends_no_packet() -> None:
    ended = end("prepare()")

    assert (ended.code, ended.stderr, ended.heard) == (0, "", [b""])
