"""Command line of `python -m tests.emulators`: emulate boards of the open link protocol, controlled by typed commands."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType

from tests.emulators.boards import program

HELP = """
Boards of docs/link-protocol.md at pseudo-terminals of this machine:

    python -m tests.emulators arm              one arm, id A000
    python -m tests.emulators arm grip:B7      an arm and a wired grip with the id B7
    python -m tests.emulators receiver:G1,G2   two wireless grips behind one receiver
    python -m tests.emulators compact pen
    python -m tests.emulators arm --folder DIR their ports are DIR/0, DIR/1, … at each start

While they run, type one command a line (port 0 is the first board, device 0 its only one but behind a receiver):

    get 0 0                   what the board has: motor torques (N mm), watchdog trips, commands, configuration
    set 0 0 CONTROL NUMBER    set a control, below
    reboot 0 | unplug 0 | plug 0 | loop 0 TIMES GAP_MS

    flip lose twice stray     parts in a million of bytes that are damaged so (of the port: device 0), both ways
    drop late late_ms         parts in a million of frames that are lost, or late by so much
    hang deaf                 1: the board stands still; it does not hear what is said to it
    cold                      so many wake-ups are lost after each start
    settle_ms firmware        firmware 705 is 7.5
    attached bounce_ms bounce_off_ms    the handle sits in its place; every so often it does not for so long
    battery asleep here buttons faults
    refuse                    what CONFIGURE is answered: 0 by what it has, 1 unsupported, 2 out of range, 3 busy, 4 storage
    calibration calibration_ms          0 succeeds, 1 blocked, 2 oscillating hall, 3 to 5 the pen; takes so long
    ends_lost                 so many words that a calibration is over are not said
    dead reversed stuck       bit j: joint j's motor does nothing, turns the wrong way; its encoder stands still
    sway                      degrees by which a hand moves every joint, there and back in 2 s
    turned                    degrees about z by which the body stands otherwise: firmware 7.5 sees it when it calibrates

Ctrl-D or Ctrl-C ends them. Without a standard input (closed, or /dev/null) they run until they are killed.
"""
FOLDER = "--folder"
NAMED = {"arm": "A000", "compact": "C000", "grip": "6000", "pen": "9000", "receiver": "6001,6002"}


def named(word: str) -> bool:
    """Return whether it names a board of the open link protocol."""
    return word.split(":", maxsplit=1)[0] in NAMED


def run(words: list[str]) -> int:
    """Run these boards until standard input ends, or for ever when there is none; 0, or 2 when one of them is none."""
    words, given_folder = words[:], None
    if FOLDER in words[:-1]:
        place = words.index(FOLDER)
        given_folder = Path(words[place + 1])
        del words[place : place + 2]
        given_folder.mkdir(parents=True, exist_ok=True)
    boards = [word if ":" in word else f"{word}:{NAMED.get(word, 'X')}" for word in words]
    typed = has_standard_input()
    with tempfile.TemporaryDirectory(prefix="boards") as made:
        folder = str(given_folder or made)
        for place, board in enumerate(boards):
            sys.stdout.write(f"{board} will be at {Path(folder) / str(place)}\n")
        how = "Ctrl-D ends it." if typed else "There is no standard input: kill it to end it."
        sys.stdout.write(f"python -m tests.emulators --help lists the commands. {how}\n")
        sys.stdout.flush()
        # A pipe that nobody writes into ends with this process.
        given = None if typed else subprocess.PIPE
        with subprocess.Popen([str(program()), folder, *boards], stdin=given) as running:
            # A shell's background job ignores SIGINT unless it is told otherwise.
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, _interrupt)
            try:
                return running.wait()
            except KeyboardInterrupt:
                running.terminate()
                return 0


def has_standard_input() -> bool:
    """Return whether anything may come from standard input: it is open, and not /dev/null."""
    try:
        return os.fstat(0).st_rdev != Path(os.devnull).stat().st_rdev
    except OSError:
        return False


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
