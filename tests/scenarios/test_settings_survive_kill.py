"""Settings that the store acknowledged survive SIGKILL at any moment; `serve` is the program that is killed."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.kit.actor import Context
from actors.kit.ask import ask_blocking
from actors.kit.clock import Clock
from actors.kit.errors import HapticError
from actors.kit.mailbox import mailbox_of
from actors.kit.message import Request
from actors.settings.immutable_json import thaw
from actors.settings.ledger import Ledger
from actors.settings.messages import (
    STORE,
    ReserveSessionIds,
    ResetSetting,
    SaveLedger,
    SetSetting,
    SetSettings,
    value_as_json,
)
from actors.settings.state import SettingsState
from actors.settings.state_directory import StateDirectory
from actors.settings.store import SettingsStore
from tests.support.service.fork_server import ForkServer
from transport.settings_catalog import SETTINGS_CATALOG

KILLS = 50
STREAM = 200
STEPS_OF_A_WRITE = ("open", "fsync", "replace", "open", "fsync")
TIMEOUT_S = 20.0

Write = dict[str, Any]
Found = dict[str, Any]


class Model:
    """What must be found after each write of a stream, from what was found before it."""

    def __init__(self, found: Found) -> None:
        self.after = [found]

    def apply(self, write: Write) -> None:
        settings, ledger = dict(self.after[-1]["settings"]), dict(self.after[-1]["ledger"])
        if write["do"] == "set":
            settings.update(write["values"])
        elif write["do"] == "reset":
            settings.pop(write["key"], None)
        elif write["do"] == "save":
            ledger[write["section"]] = write["value"]
        self.after.append({"settings": settings, "ledger": ledger})


def writes(rng: random.Random) -> Iterator[Write]:
    """A stream of writes and takes of every kind, no two alike."""
    while True:
        number = rng.randrange(2**32)
        device = rng.choice(("haptic*", "arm", "049D"))
        yield rng.choice(
            (
                {"do": "set", "values": {"simulation/seed": number}},
                {"do": "set", "values": {f"devices/{device}/filters/force_gate/gain": number / 2**32}},
                {"do": "set", "values": {"simulation/seed": number, "control/frequency": 100 + number % 30_000}},
                {"do": "set", "values": {"communication/websocket/port": number % 65536}},
                {"do": "reset", "key": "control/frequency"},
                {"do": "save", "section": rng.choice(("ports", "profiles")), "value": {"number": [number]}},
                {"do": "take"},
            )
        )


class Victim:
    """One life of the store in a process of its own, killed without a word."""

    def __init__(self, server: ForkServer, folder: Path, die_at: int = 0) -> None:
        self._life = server.fork(str(folder), str(die_at))
        self.found: Found = json.loads(self._life.output.readline())

    def send(self, stream: list[Write]) -> None:
        self._life.send("".join(f"{json.dumps(write)}\n" for write in stream))

    def answers(self, most: int) -> list[Any]:
        """Up to `most` answers; fewer when it dies before."""
        lines = (self._line() for _ in range(most))
        return [json.loads(line) for line in lines if line.endswith(b"\n")]

    def kill(self) -> list[Any]:
        """Kill it; the answers that it still gave."""
        self._life.kill()
        return self.buried()

    def buried(self) -> list[Any]:
        """Wait for its death by SIGKILL; the answers that were still on their way."""
        rest = self.answers(STREAM)
        assert self._life.wait() == -signal.SIGKILL
        return rest

    def _line(self) -> bytes:
        # A socket whose other end dies with something unread is reset, where a pipe just ends.
        try:
            return self._life.output.readline()
        except ConnectionResetError:
            return b""


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with ForkServer(__file__) as parent:
        yield parent


def test_acknowledged_writes_survive_fifty_kills(server: ForkServer, tmp_path: Path) -> None:
    rng = random.Random(20)
    stream = writes(rng)
    expected: list[Found] = [{"settings": {}, "ledger": {}}]
    ids: list[int] = []
    answered = 0
    for _ in range(KILLS):
        victim = Victim(server, tmp_path)
        assert victim.found in expected

        model = Model(victim.found)
        sent = [next(stream) for _ in range(STREAM)]
        for write in sent:
            model.apply(write)
        victim.send(sent)
        answers = victim.answers(rng.randrange(30))
        time.sleep(rng.uniform(0, 0.004))
        answers += victim.kill()

        ids += [answer for answer in answers if answer is not None]
        answered += len(answers)
        expected = model.after[len(answers) : len(answers) + 2]

    last = Victim(server, tmp_path)
    last.kill()

    assert last.found in expected
    assert answered > KILLS
    assert len(ids) > KILLS
    assert ids == sorted(set(ids))
    assert broken(tmp_path) == []


def test_kill_between_two_steps_of_a_write_leaves_the_old_or_the_new_value(server: ForkServer, tmp_path: Path) -> None:
    one: list[Write] = [
        {"do": "set", "values": {"simulation/seed": 1}},
        {"do": "save", "section": "ports", "value": [1]},
    ]
    two: list[Write] = [
        {"do": "set", "values": {"simulation/seed": 2}},
        {"do": "save", "section": "ports", "value": [2]},
    ]
    stream = [*one, *two]
    for die_at in range(1, len(STEPS_OF_A_WRITE) * len(stream) + 1):
        folder = tmp_path / str(die_at)
        victim = Victim(server, folder, die_at)
        model = Model(victim.found)
        for write in stream:
            model.apply(write)
        victim.send(stream)
        answers = victim.buried()
        whole, steps = divmod(die_at - 1, len(STEPS_OF_A_WRITE))
        renamed = steps > STEPS_OF_A_WRITE.index("replace")

        again = Victim(server, folder)
        again.kill()

        assert len(answers) == whole
        assert again.found == model.after[whole + renamed], f"killed before step {die_at}"
        assert broken(folder) == []


def broken(folder: Path) -> list[Path]:
    return list(folder.glob("*.broken-*"))


def serve(place: str, steps: str) -> None:
    """Say what was found, then do and answer each write of standard input in turn."""
    directory, die_at = StateDirectory(Path(place)), int(steps)
    directory.open()
    settings, ledger = SettingsState.load(directory, SETTINGS_CATALOG), Ledger.load(directory)
    found = {
        "settings": {key: value_as_json(value) for key, value in settings.current.stored.items()},
        "ledger": {name: thaw(ledger.section(name)) for name in ("ports", "profiles") if ledger.section(name)},
    }
    context = Context.build(Clock(time.monotonic_ns))
    mailbox_of(SettingsStore.start(context, settings, ledger)).wait_started(TIMEOUT_S)
    if die_at:
        die_before_step(die_at)
    say(found)
    for line in sys.stdin:
        say(do(json.loads(line), context, ledger))


def do(write: Write, context: Context, ledger: Ledger) -> int | None:
    """Do one write through the store, or take a session id as the one who opens sessions does."""
    if write["do"] == "take":
        if ledger.session_ids.running_low:
            context.directory.tell(STORE, ReserveSessionIds())
        return ledger.session_ids.take()
    refused = ask_blocking(context.directory, STORE, request(write), timeout_s=TIMEOUT_S)
    assert not isinstance(refused, HapticError)
    return None


def request(write: Write) -> Request[Any]:
    if write["do"] == "reset":
        return ResetSetting(write["key"])
    if write["do"] == "save":
        return SaveLedger(write["section"], write["value"])
    values = write["values"]
    return SetSettings(values) if len(values) > 1 else SetSetting(*next(iter(values.items())))


def die_before_step(number: int) -> None:
    """Kill this process before the n-th call, from now on, of those that a write is made of."""
    left = number

    def deadly(real: Any) -> Any:
        def step(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **named)

        return step

    for name in set(STEPS_OF_A_WRITE):
        setattr(os, name, deadly(getattr(os, name)))


def say(answer: object) -> None:
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()
