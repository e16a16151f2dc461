"""A session over memory that the service shares with programs on its machine: no message, no system call in a turn."""

from __future__ import annotations

import mmap
import os
import platform
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import numpy as np
import orjson

from hapticd_client import forks
from hapticd_client.core import layout, operations
from hapticd_client.core.device import DeviceCore
from hapticd_client.core.http import Operation
from hapticd_client.core.layout import SharedState
from hapticd_client.core.session import Session
from hapticd_client.errors import Fault, InvalidCommand, NoService, NotSupported, Refused, ServiceLost, ServiceSilent
from hapticd_client.transports.blocking_http import BlockingHttp

D = TypeVar("D", bound=DeviceCore)
LINE_BYTES: Final = 4096
TRIES: Final = 1000
# Machines that keep the order of writes, which Python cannot enforce.
ORDERED: Final = frozenset({"x86_64", "AMD64", "i686", "i386"})
# What the service applies to the forces of a local session.
AREAS: Final = {"damping": "filters/damping", "force_gate": "filters/force_gate"}
SETTLE_S: Final = 0.5
SETTLE_PAUSE_S: Final = 0.001
NO_WORDS: Final[Any] = np.zeros(1, np.uint64)
GONE_S: Final = 0.5  # without a tick, after which the service is looked for


def refused(answer: dict[str, Any]) -> Refused:
    """Return the error of a line that is no welcome."""
    status = answer.get("status")
    why = answer.get("error", "it gave no reason")
    return Refused(f"The service refuses a local client: {why}", status if isinstance(status, int) else None)


class LocalSeat(Generic[D]):
    """One seat of the service's shared memory, for both kinds of service objects: but for the opening nothing in it waits."""

    def __init__(
        self,
        session: Session[D],
        state_directory: Path,
        timeout: float,
        check_instance: Callable[[str | None], None],
    ) -> None:
        """Connect within `timeout` s. NoService, Refused, NotSupported, WrongInstance."""
        if platform.machine() not in ORDERED or not sys.platform.startswith("linux"):
            raise NotSupported("shared memory from Python needs Linux on x86: connect over a socket")
        self._session = session
        self.operations: list[Operation[Any]] = []  # configuration that goes over HTTP, for the caller to run
        self._path = state_directory / "local.sock"
        self._timeout = timeout
        self._number = 0  # of the session, once it is open
        self._sequence = [0] * layout.SLOTS
        self._refused = [0] * layout.SLOTS
        self._slots: dict[int, D] = {}
        self._in_force: set[int] = set()
        self._deadline = time.monotonic() + timeout
        self._socket = self._connected()
        self._page: mmap.mmap | None = None
        self._states: mmap.mmap | None = None
        forks.watch(self)
        try:
            self._open(session, check_instance)
        except BaseException:
            self.drop()
            raise

    # ------------------------------------------------------------ opening

    def _connected(self) -> socket.socket:
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            made.settimeout(self._timeout)
            made.connect(str(self._path))
        except OSError as error:
            made.close()
            raise NoService(
                f"No service answers at {self._path} ({error.strerror or error}): start one with hapticd run, or give its state "
                "directory with local:STATE_DIR."
            ) from None
        return made

    def _open(self, session: Session[D], check_instance: Callable[[str | None], None]) -> None:
        name = session.profile or f"python {os.getpid()}"
        request = {"hapticd_local": layout.VERSION, "name": name, "devices": "all", "commands": list(layout.BITS)}
        self._say(orjson.dumps(request))
        answer, descriptors = self._line()
        try:
            if "error" in answer or len(descriptors) != 2:
                raise refused(answer)
            check_instance(answer.get("instance"))
            self._page = mmap.mmap(descriptors[0], layout.PAGE_BYTES)
            self._states = mmap.mmap(descriptors[1], 0, access=mmap.ACCESS_READ)
            self._seat_at = layout.seat_in(len(self._states), int(answer["seat"]))
        except (OSError, LookupError, TypeError, ValueError) as error:
            raise NotSupported(
                f"the service has another layout of its memory ({error}): install the client of the service's version"
            ) from None
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        magic, version, *_ = layout.header_of(self._states)
        if (magic, version) != (layout.MAGIC, layout.VERSION):
            raise NotSupported(
                "the service has another layout of its memory: install the client of the service's version"
            )
        self._words = np.frombuffer(self._page, np.uint64)
        self._generations = np.frombuffer(self._states, np.uint32)[
            (layout.SHOWN_AT + 8 + layout.GENERATION_AT) // 4 :: layout.SHOWN_BYTES // 4
        ][: layout.SLOTS]
        self._ticks = np.frombuffer(self._states, np.uint64, 1, layout.TICK_AT)
        self._seat = np.frombuffer(self._states, np.uint64, 1, self._seat_at)
        self._known = np.zeros(layout.SLOTS, np.uint32)
        self._say(b'{"mapped":true}')
        ready, _ = self._line()
        if ready.get("ready") is not True:
            raise refused(ready)
        self._socket.settimeout(0)
        self._last_tick, self._ticked = -1, time.monotonic()
        self._settle()
        *_, timeout = layout.header_of(self._states)
        if timeout > 0:  # not of a loop that has not turned yet
            session.command_timeout_s = timeout / 1e9
        self._number = int(answer["session_id"])
        session.opened(self._number, answer.get("instance"))

    def _settle(self) -> None:
        """Wait for a tick, and until every device that is shown has its name."""
        begun, until = int(self._ticks[0]), time.monotonic() + SETTLE_S
        while True:
            self.turn()
            named = len(self._slots) == np.count_nonzero(self._generations)
            if (named and int(self._ticks[0]) > begun) or time.monotonic() > until:
                return
            time.sleep(SETTLE_PAUSE_S)

    def _say(self, line: bytes) -> None:
        with suppress(OSError):
            self._socket.sendall(line + b"\n")

    def _line(self) -> tuple[dict[str, Any], list[int]]:
        """Return the service's next line, and the descriptors that came with it. NoService."""
        text, descriptors = b"", list[int]()
        answer: Any = None
        with suppress(OSError, orjson.JSONDecodeError):
            while not text.endswith(b"\n") and len(text) < LINE_BYTES:
                self._socket.settimeout(max(1e-3, self._deadline - time.monotonic()))
                data, found, _, _ = socket.recv_fds(self._socket, 1, 2)
                descriptors += found
                if not data:
                    break
                text += data
            answer = orjson.loads(text)
        if not isinstance(answer, dict):
            for descriptor in descriptors:
                os.close(descriptor)
            raise NoService(f"What listens at {self._path} gave no answer: is this hapticd?")
        return answer, descriptors

    # ------------------------------------------------------------ turns

    @property
    def usable(self) -> bool:
        """Whether the seat is ours."""
        return self._page is not None and int(self._seat[0]) == self._number

    def turn(self) -> None:
        """Copy the newest states. ServiceLost."""
        self._check()
        if not np.array_equal(self._generations, self._known):
            self._name()
        for slot, device in self._slots.items():
            raw = self._copied(layout.SHOWN_AT + slot * layout.SHOWN_BYTES, layout.STATE_BYTES)
            state = SharedState(raw, device.kind)
            if state.generation == int(self._known[slot]):
                device.show(state)
        self._session.refuse(self._refusals())

    def act(self) -> None:
        """Write a record for each device that is commanded, and one that releases for each that is no more. ServiceLost, DeviceGone."""
        self._check()
        most = self._session.most_force
        for slot, device in list(self._slots.items()):
            self._configure(device)
            points = device.take_points(most)
            if points:
                self._write(slot, points)
                self._in_force.add(slot)
            elif slot in self._in_force:
                self._write(slot, {})
                self._in_force.discard(slot)
        for device in self._session.devices.values():
            device.take_points(most)  # of one that has gone: DeviceGone

    def release(self) -> None:
        """Write a record that releases, for each device that is commanded."""
        self._session.drop()
        if self._page is not None:
            for slot in self._in_force:
                self._write(slot, {})
        self._in_force.clear()

    def close(self) -> None:
        """Release everything and close the socket, which ends the session."""
        try:
            self.release()
        finally:
            self.drop()

    def drop(self) -> None:
        """Close the socket: the service takes the page from its loop."""
        # Their descriptors are closed once no array shows them.
        self._page = self._states = None
        self._words = self._generations = self._ticks = self._seat = NO_WORDS
        with suppress(OSError):
            self._socket.close()

    def abandon(self) -> None:
        """Close the copy of a child process; it writes nothing from now on."""
        self.drop()

    def _write(self, slot: int, points: dict[str, tuple[float, float, float]]) -> None:
        page = self._page
        if page is None:
            return
        number = self._sequence[slot] = self._sequence[slot] + 1
        cell = slot * layout.CELL_BYTES
        place = cell + layout.RECORDS_AT + (number % layout.PLACES) * layout.RECORD_BYTES
        written = layout.record(number, int(self._known[slot]), points)
        page[place : place + len(written)] = written
        self._words[cell // 8] = number  # last, and as one word

    def _check(self) -> None:
        """ServiceLost when the session has ended, or ticks no longer come."""
        if self._states is None or self._page is None:
            raise ServiceLost("the connection is closed; forces are zero, connect again")
        if self._number and int(self._seat[0]) != self._number:
            raise self._ended()
        tick = int(self._ticks[0])
        if tick != self._last_tick:
            self._last_tick = tick
            self._ticked = time.monotonic()
        elif time.monotonic() - self._ticked > GONE_S:
            self._look()

    def _look(self) -> None:
        """Look whether the service is there although no tick came. ServiceLost, ServiceSilent."""
        try:
            data = self._socket.recv(LINE_BYTES)
        except BlockingIOError:
            if time.monotonic() - self._ticked > max(self._timeout, GONE_S):
                self.drop()
                raise ServiceSilent(
                    f"The loop of the service at {self._path} has stood still for {self._timeout:g} s; forces are zero: see its log"
                ) from None
            return
        except OSError:
            data = b""
        raise self._ended(data)

    def _ended(self, data: bytes = b"") -> ServiceLost:
        if not data:
            with suppress(OSError):
                data = self._socket.recv(LINE_BYTES)
        self.drop()
        try:
            said = orjson.loads(data.splitlines()[-1])
            why, code = said.get("closed") or said.get("error"), said.get("code")
        except (orjson.JSONDecodeError, IndexError, AttributeError):
            why, code = "it has gone", None
        return ServiceLost(
            f"The service at {self._path} has ended the session ({why}); forces are zero, connect again", code
        )

    def _name(self) -> None:
        """Learn which device has which slot; one that has left is shown as gone."""
        session = self._session
        before = dict(self._slots)
        self._known = self._generations.copy()
        self._slots.clear()
        for slot in range(layout.SLOTS):
            raw = self._copied(layout.NAMES_AT + slot * layout.NAME_BYTES, layout.NAME_BYTES - 8)
            generation = int.from_bytes(raw[:8], "little")
            if not generation or generation & 0xFFFFFFFF != int(self._known[slot]):
                if int(self._known[slot]):
                    self._known[slot] = 0  # it is named a moment later: look again
                continue
            device_id = raw[8:56].rstrip(b"\0").decode()
            kind = raw[56:80].rstrip(b"\0").decode()
            device = session.device(kind, device_id, kind)
            self._slots[slot] = device
            if before.get(slot) is not device:
                self._in_force.discard(slot)
        here = set(map(id, self._slots.values()))
        for device in session.devices.values():
            if id(device) not in here:
                device.show(None)

    def _copied(self, sequence_at: int, size: int) -> bytes:
        """Return a whole copy of what lies behind a sequence that is odd while it is written."""
        states = self._states
        if states is None:
            raise ServiceLost("the connection is closed; forces are zero, connect again")
        for _ in range(TRIES):
            before = states[sequence_at : sequence_at + 8]
            if before[0] & 1:
                continue
            copy = states[sequence_at + 8 : sequence_at + 8 + size]
            if states[sequence_at : sequence_at + 8] == before:
                return copy
        raise ServiceSilent(
            f"The service at {self._path} stands still within a write; forces fade by themselves: see its log"
        )

    def _configure(self, device: D) -> None:
        """Queue configuration; only what acts on forces in the device frame can be had. InvalidCommand."""
        for key, body in device.take_configuration().items():
            area = AREAS.get(key)
            if area is None:
                raise InvalidCommand(
                    f"shared memory is in the device frame, so {key} has no effect: connect over a socket for it"
                )
            session, what = str(self._number), f"/config/{area}"
            self.operations.append(operations.of_device(device.kind, device.id, "POST", what, body, session=session))

    def _refusals(self) -> Iterator[Fault]:
        """Yield a fault for each device whose newest records were refused since the last call."""
        if self._states is None:
            return
        for slot, device in self._slots.items():
            at = self._seat_at + layout.ANSWERS_AT + slot * layout.ANSWER.size
            _, _, refused, reason, _ = layout.ANSWER.unpack_from(self._states, at)
            if refused > self._refused[slot]:
                self._refused[slot] = refused
                sentence = layout.REASONS[reason] if reason < len(layout.REASONS) else f"reason {reason}"
                yield Fault(f"{device.kind}.{device.id}", f"A record was refused: {sentence}.")


class LocalLink(LocalSeat[D]):
    """A seat for a blocking service object."""

    def __init__(
        self,
        session: Session[D],
        state_directory: Path,
        http: BlockingHttp,
        timeout: float,
        check_instance: Callable[[str | None], None],
    ) -> None:
        """Connect within `timeout` s. NoService, Refused, NotSupported, WrongInstance."""
        self._http = http
        super().__init__(session, state_directory, timeout, check_instance)

    def act(self) -> None:
        """Write records, and send configuration over HTTP. ServiceLost, DeviceGone, InvalidCommand, Refused."""
        super().act()
        while self.operations:
            self._http.run(self.operations.pop(0))
