"""The session of one client on this machine: its socket is its life, its commands come through shared memory.

The client asks in one line, gets two memory files, and says that it has mapped them; from then on it sends nothing more: whatever comes, also
the end, closes the session. Main thread only.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import TYPE_CHECKING, Final

import orjson
from tornado.ioloop import IOLoop

from actors.kit.errors import HapticError, InvalidInput
from actors.session.api import MANAGER, Client, CloseGone, CloseSession, OpenSession, SessionHandle
from transport.local.devices import LocalDevices
from transport.local.request import LONGEST_LINE, LocalRequest, parse_request
from transport.session.events import SessionEvents
from transport.wire.envelope import NotReady, status_of

if TYPE_CHECKING:
    from fastpath.local.seats import LocalSeat, LocalSeats
    from transport.bridge import Bridge

LINE_S: Final = 2.0
# Looks for the first ticks after the page was handed to the loop, and the time between two.
LOOKS: Final = 100
LOOK_S: Final = 0.002
TICKS: Final = 2
MAPPED: Final = b'{"mapped":true}'
VERSION: Final = "3.1"
FAILED: Final = 1011

logger = logging.getLogger(__name__)


class Ended(Exception):
    """The client has closed its side, or broken what it may do; the text says which."""


class LocalSession:
    """One connection, from its first line to its end; a channel of the bridge while its session is open."""

    def __init__(self, bridge: Bridge, seats: LocalSeats, connection: socket.socket, process: int) -> None:
        """`process`: id of the client's process."""
        self.session_id = 0
        self._bridge = bridge
        self._seats = seats
        self._connection = connection
        self._process = process
        self._handle: SessionHandle | None = None
        self._seat: LocalSeat | None = None
        self._devices: LocalDevices | None = None
        self._over = False
        self._line = bytearray()

    async def serve(self) -> None:
        """Serve the connection until its end; raises nothing but what cancels it."""
        try:
            async with asyncio.timeout(LINE_S):
                request = parse_request(await self._read_line())
            await self._open(request)
            async with asyncio.timeout(LINE_S):
                await self._begin(request)
            await self._until_end()
        except HapticError as error:
            self._say({"error": str(error), "status": status_of(error)})
        except TimeoutError:
            self._say({"error": f"nothing came for {LINE_S:g} s: send the next line at once"})
        except Ended as error:
            logger.debug("local client of process %d: %s", self._process, error)
        except OSError as error:
            self._say({"error": f"{error.strerror}: this system has no sealed shared memory for another client"})
        except Exception:
            logger.exception(
                "local session %d failed and is closed", self.session_id, extra={"session": self.session_id}
            )
        finally:
            self.close()

    # ------------------------------------------------------------ opening

    async def _read_line(self) -> bytes:
        while b"\n" not in self._line:
            if len(self._line) >= LONGEST_LINE:
                raise InvalidInput(f"a line has at most {LONGEST_LINE} bytes")
            await self._receive()
        line, _, rest = bytes(self._line).partition(b"\n")
        self._line[:] = rest
        return line

    async def _receive(self) -> None:
        data = await asyncio.get_running_loop().sock_recv(self._connection, LONGEST_LINE)
        if not data:
            raise Ended("closed by the client")
        self._line += data

    async def _open(self, request: LocalRequest) -> None:
        """Open the session and answer with the memory; NotReady, NoSlot, Busy."""
        if not self._bridge.answers:
            raise NotReady
        client = Client(f"local:{self._process} {request.name}", VERSION)
        loop = IOLoop.current()
        lost = OpenSession(client, lambda: loop.add_callback(self._lost), None, lambda: self._over)
        try:
            self._handle = await self._bridge.open_session(lost)
        except HapticError:
            self._over = True
            self._bridge.system.context.directory.tell(MANAGER, CloseGone())
            raise
        if self._over:
            raise Ended("closed while its session was opened")
        self.session_id = self._handle.session_id
        seat = self._seat = self._seats.seat(self._handle.lease)
        if seat is None:
            raise InvalidInput("every seat for local clients is taken: close one, or connect over WebSocket")
        events = SessionEvents(self._bridge.system, self.session_id)
        self._devices = LocalDevices(self._bridge, events, self._handle, VERSION, seat, request)
        self._bridge.channels[self.session_id] = self
        answer = (
            orjson.dumps({"session_id": self.session_id, "seat": seat.number, "instance": self._bridge.instance})
            + b"\n"
        )
        socket.send_fds(self._connection, [answer], [seat.descriptor, self._seats.descriptor])

    async def _begin(self, request: LocalRequest) -> None:
        """Hand the page to the loop once the client has mapped it."""
        if await self._read_line() != MAPPED:
            raise InvalidInput(f"the second line is {MAPPED.decode()}")
        if self._seat is None or self._devices is None or self._over:
            raise Ended("closed while it began")
        self._seat.seal()
        self._seat.show(self.session_id)
        self._devices.begin()
        runtime = self._bridge.system.runtime
        begun = int(runtime.loop_state()["ticks"])
        for _ in range(LOOKS):
            # What the page holds at the loop's first look is not taken: the client may write only after it.
            if runtime.loop_state()["ticks"] >= begun + TICKS:
                break
            await asyncio.sleep(LOOK_S)
        logger.info(
            "session %d is local: %s, process %d",
            self.session_id,
            request.name,
            self._process,
            extra={"session": self.session_id},
        )
        self._say({"ready": True})

    async def _until_end(self) -> None:
        if not self._line:
            await self._receive()
        logger.warning(
            "session %d is closed: a local client sends nothing after its second line",
            self.session_id,
            extra={"session": self.session_id},
        )
        self._say({"error": "closed: nothing may be sent after the second line"})

    # ------------------------------------------------------------ the end

    def close(self) -> None:
        """End the session: its forces at once, before any actor is told. A second call does nothing."""
        self._release()
        if self._connection.fileno() >= 0:
            self._connection.close()
        self._bridge.holders.forget(self.session_id)
        if self._bridge.channels.get(self.session_id) is self:
            del self._bridge.channels[self.session_id]
        handle, self._handle = self._handle, None
        if handle is not None:
            self._bridge.system.context.directory.tell(MANAGER, CloseSession(handle.session_id, handle.lease))

    def _release(self) -> None:
        self._over = True
        if self._devices is not None:
            self._devices.release()
        if self._seat is not None:
            self._seat.close()

    def disconnect(self, code: int, reason: str) -> None:
        """Close the connection; forces are released now. `reason` is the last line that the client gets."""
        self._release()
        if self._connection.fileno() >= 0:
            self._say({"closed": reason, "code": code})
            # The reader in `serve` gets the end, and finishes the rest.
            try:
                self._connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                logger.debug("local client of process %d had gone already", self._process)

    def hung_up(self) -> None:
        """Release the forces of a client that has closed its side; `serve` sees the end too."""
        self._release()

    def _lost(self) -> None:
        self.disconnect(FAILED, "the session failed: reconnect")

    def _say(self, document: dict[str, object]) -> None:
        """Send one line, if the client takes it at once."""
        try:
            self._connection.send(orjson.dumps(document) + b"\n")
        except OSError:
            logger.debug("local client of process %d takes no line", self._process)

    # ------------------------------------------------------------ as a channel

    @property
    def descriptor(self) -> int:
        """The connection's socket, -1 once it is closed."""
        return -1 if self._over else self._connection.fileno()

    @property
    def frames_sent(self) -> int:
        """Frames: none, it reads the states by itself."""
        return 0

    @property
    def commands_received(self) -> int:
        """Records that the loop has taken or refused."""
        return 0 if self._devices is None else self._devices.records

    @property
    def devices(self) -> LocalDevices | None:
        """The session's devices; None once it is closed."""
        if self._over or self._devices is None:
            return None
        self._devices.update()
        return self._devices

    def poll(self) -> None:
        """Look at what the loop has seen of the client."""
        if not self._over and self._devices is not None:
            self._devices.poll()
