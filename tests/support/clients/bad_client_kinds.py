"""Kinds of misbehaving clients, each on a thread, and a good one that checks every frame against its message."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from types import TracebackType
from typing import Any, Final, Self

from tests.support.clients.bad_streams import Stream
from tests.support.clients.raw_websocket import (
    TEXT,
    ConnectionEnded,
    RawWebSocket,
    connect_tcp,
    encode_frame,
    encode_message,
    handshake_request,
)
from tests.support.wire.cases import payload, read_cases
from tests.support.wire.wire_variants import Object, WireVariant

TIMEOUT_S: Final = 60.0
GOOD_N: Final = 0.5
OTHER_N: Final = 0.25
PLAIN: Final = WireVariant("3.1", "neutral", TEXT)
FULL: Final[Object] = {"session": {"force_render_full_state": {}}}


@dataclass(frozen=True, slots=True)
class ClientTargets:
    """Addresses and devices: `own` is the good client's arm, `names` the ids here of the devices of the wire cases."""

    ws: str
    ws_v30: str
    own: str
    other: str
    names: Object

    def with_ids(self, text: bytes, *, other: bool) -> bytes:
        """A message or path of a wire case with the ids of these devices; with `other` nothing means the good client's arm."""
        names = {**self.names, "A001": self.other if other else self.own}
        return re.sub(rb"\b(?:A001|A002|C001|B001|B002|D001)\b", lambda found: names[found[0].decode()].encode(), text)


class ClientThread:
    """Context manager: runs `work` on a thread; its exception is raised again on exit."""

    def __init__(self, name: str, work: Callable[[threading.Event], None]) -> None:
        """`work` returns soon after its event is set."""
        self._work = work
        self._halt = threading.Event()
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._halt.set()
        self._thread.join(TIMEOUT_S)
        if kind is None:
            assert not self._thread.is_alive(), f"{self._thread.name} does not stop"
            if self._failed is not None:
                raise self._failed

    def _run(self) -> None:
        try:
            self._work(self._halt)
        except BaseException as error:  # noqa: BLE001 - raised where the worker is left
            self._failed = error


@dataclass(slots=True)
class GoodClient:
    """Sends its message number and a force and checks them in the frame; counts frames with the full and with a reduced force."""

    targets: ClientTargets
    frames: int = 0
    full: int = 0
    reduced: int = 0
    longest_pause_s: float = 0.0
    opened: threading.Event = field(default_factory=threading.Event)

    def run(self, halt: threading.Event) -> None:
        """Send a message after each frame until `halt` is set."""
        with RawWebSocket(self.targets.ws) as peer:
            session_id = peer.frame()["session_id"]
            sent_s = time.monotonic()
            for number in count(1):
                now_s = time.monotonic()
                self.longest_pause_s, sent_s = max(self.longest_pause_s, now_s - sent_s), now_s
                frame = peer.ask(self._message(number))
                state = self._state(frame)
                assert "errors" not in frame
                assert frame["session_id"] == session_id
                assert state["transform"] == {"position": {"x": number % 1000 + 1, "y": 0, "z": 0}}
                self._note(state["current_cursor_force"])
                self.frames = number
                self.opened.set()
                if halt.is_set():
                    break
            peer.check_nothing_unread()
            peer.close()

    def _message(self, number: int) -> Object:
        commands = {
            "set_transform": {"transform": {"position": {"x": number % 1000 + 1, "y": 0, "z": 0}}},
            "set_cursor_force": {"vector": {"x": 0, "y": 0, "z": GOOD_N}},
        }
        return {"arm": [{"device_id": self.targets.own, "commands": commands}]}

    def _state(self, frame: Any) -> Any:
        (state,) = (entry["state"] for entry in frame["arm"] if entry["device_id"] == self.targets.own)
        return state

    def _note(self, force: Object) -> None:
        """The loop's output is ramped up after an interruption: less of the force may be right, another force is wrong."""
        assert (force["x"], force["y"]) == (0, 0)
        assert 0 <= force["z"] <= GOOD_N
        if force["z"] == GOOD_N:
            self.full += 1
        elif self.full > 0:
            self.reduced += 1


# ---------------------------------------------------------------- the bad ones


def flood(targets: ClientTargets, pieces: Iterable[bytes], at_once: int) -> Callable[[threading.Event], None]:
    """Writes without a pause, and reads every frame."""

    def work(halt: threading.Event) -> None:
        with RawWebSocket(targets.ws) as peer:
            peer.frame()
            for piece in pieces:
                peer.write(piece * at_once)
                for _ in range(at_once):
                    peer.frame()
                if halt.is_set():
                    break
            peer.check_nothing_unread()

    return work


def never_read(targets: ClientTargets) -> Callable[[threading.Event], None]:
    """Request full frames and read none."""

    def work(halt: threading.Event) -> None:
        with RawWebSocket(targets.ws, receive_buffer=4096) as peer:
            peer.socket.settimeout(0.05)
            while not halt.is_set():
                try:
                    peer.write(encode_message(FULL) * 50)
                except TimeoutError:
                    continue
                except ConnectionEnded:
                    halt.wait()

    return work


def stop_sending(targets: ClientTargets) -> Callable[[threading.Event], None]:
    """Sets a force on the other arm, once."""

    def work(halt: threading.Event) -> None:
        force = {"set_cursor_force": {"vector": {"x": OTHER_N, "y": 0, "z": 0}}}
        with RawWebSocket(targets.ws) as peer:
            peer.frame()
            peer.ask({"arm": [{"device_id": targets.other, "commands": force}]})
            halt.wait()
            peer.check_nothing_unread()

    return work


@dataclass(slots=True)
class BadMessages:
    """Sends every bad message of the wire cases and checks the errors in its frame."""

    targets: ClientTargets
    turns: int = 0

    def run(self, halt: threading.Event) -> None:
        """Send them until all were sent at least once and `halt` is set."""
        cases = read_cases("bad_messages")
        with RawWebSocket(self.targets.ws) as peer:
            peer.frame()
            while not (self.turns and halt.is_set()):
                for case in cases:
                    if self.turns and halt.is_set():
                        break
                    text, opcode = payload(case, PLAIN)
                    other = "force" in case
                    peer.write(encode_frame(self.targets.with_ids(text, other=other), opcode))
                    found = [error["path"] for error in peer.frame().get("errors", [])]
                    wanted = [self.targets.with_ids(path.encode(), other=other).decode() for path in case["errors"]]
                    assert found == wanted, case["says"]
                else:
                    self.turns += 1
            peer.check_nothing_unread()


@dataclass(slots=True)
class BadStreams:
    """Sends every bad stream of the wire cases, every other one to the channel of 3.0, and the other way round in the next turn."""

    targets: ClientTargets
    turns: int = 0

    def run(self, halt: threading.Event) -> None:
        """Send them until all were sent at least once and `halt` is set."""
        cases = read_cases("bad_streams")
        left: list[Stream] = []
        while not (self.turns and halt.is_set()):
            for number, case in enumerate(cases, self.turns):
                if self.turns and halt.is_set():
                    break
                stream = Stream(self.targets.ws_v30 if number % 2 else self.targets.ws, case)
                left.append(stream)
                try:
                    stream.play()
                except AssertionError as error:
                    error.add_note(case["says"])
                    raise
            else:
                self.turns += 1
            for stream in left:
                stream.drop()
            left.clear()


def connect_and_abort(targets: ClientTargets) -> Callable[[threading.Event], None]:
    """Opens sessions and aborts them before or after the answer of the handshake."""

    def work(halt: threading.Event) -> None:
        while not halt.is_set():
            half = connect_tcp(targets.ws)
            half.sendall(handshake_request(targets.ws))
            half.close()
            whole = RawWebSocket(targets.ws)
            whole.send(FULL)
            whole.abort()

    return work
