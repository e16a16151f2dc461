"""Connections that the streaming threads serve: they answer set-points by themselves and hand everything else over to the event loop.

`NativeStream` stands in for Tornado's stream under a WebSocket, so that one parser and one protocol serve both: a read waits until the
thread hands the connection over, a write goes behind what the thread has sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.iostream import StreamClosedError

from fastpath.stream.streaming import Streaming
from transport.event_loop import EventLoop
from transport.tornado_ext.streams import take_socket

if TYPE_CHECKING:
    import socket

    from tornado.iostream import IOStream

    from actors.system import System
    from fastpath.stream.streaming import StreamSession

BEAT_EVERY_MS: Final = 10  # the thread makes way for the event loop when it is 2 ms late
POLL_EVERY_BEATS: Final = 2
CHUNK: Final = 8 * 1024
LONGEST_TURN: Final = "communication/streaming/longest_turn"
THREADS: Final = "communication/streaming/threads"
# Before everything in Python in line; the thread makes way while the event loop is late, as that hears who says stop.
NICE: Final = -15


class NativeStream:
    """The connection of one session at the streaming thread; main thread only."""

    def __init__(
        self,
        hub: NativeStreams,
        session: StreamSession,
        connection: socket.socket,
        received: bytes,
        on_unread: Callable[[float], None],
    ) -> None:
        """`received`: bytes that came before; `on_unread` is called with the time (s) for which the client has read nothing of
        what the thread sends. OSError when the thread cannot watch the connection.
        """
        session.adopt(connection.fileno())
        self.io_loop = IOLoop.current()
        self.socket: socket.socket | None = connection
        self.session = session
        self.read_chunk_size = 0
        self._hub = hub
        self._received = received
        self._on_unread = on_unread
        self._waiting: asyncio.Future[bytes] | None = None
        self._watching = False
        self._unsent: list[tuple[int, asyncio.Future[None]]] = []
        self._sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sent.set_result(None)
        hub.add(self)

    # ------------------------------------------------------------ as Tornado's stream

    def closed(self) -> bool:
        """Whether nothing can be read or sent any more."""
        return self.socket is None

    def reading(self) -> bool:
        """Whether a read waits."""
        return self._waiting is not None

    def writing(self) -> bool:
        """Whether the client has not taken everything."""
        return self.session.unsent > 0

    def set_nodelay(self, _value: object) -> None:
        """Do nothing: it was set before the connection came here."""

    def read_bytes(self, most: int, **_partial: bool) -> asyncio.Future[bytes]:
        """Return the next bytes that are the event loop's, 1 to `most` if it reads them itself; StreamClosedError at the end."""
        reading: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        if self.socket is None:
            reading.set_exception(StreamClosedError())
            return reading
        data: bytes | None = self._received
        self._received = b""
        if not data:
            data = self.session.take()
        if data:
            reading.set_result(data)
        elif data is None:
            # The thread's: the bell rings when it hands the connection over.
            self._waiting = reading
        elif self.session.ended:
            reading.set_exception(StreamClosedError())
        else:
            self._waiting = reading
            self._watch(most)
        return reading

    def write(self, data: bytes) -> asyncio.Future[None]:
        """Send bytes; the future is done once the system has taken them, and need not be awaited. StreamClosedError."""
        if self.socket is None:
            raise StreamClosedError
        self.session.send(data)
        if self.session.broken:
            self.close()
            raise StreamClosedError
        if self.session.unsent == 0:
            return self._sent
        sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # As Tornado's stream: a failure that nobody awaits is not logged.
        sent.add_done_callback(asyncio.Future.exception)
        self._unsent.append((self.session.sent_bytes + self.session.unsent, sent))
        return sent

    def close(self) -> None:
        """Close the connection; a read that waits ends with StreamClosedError."""
        connection, self.socket = self.socket, None
        if connection is None:
            return
        self._unwatch(connection)
        self._hub.remove(self)
        self.session.close()
        connection.close()
        self._end(self._waiting)
        for _, sent in self._unsent:
            self._end(sent)
        self._unsent.clear()

    # ------------------------------------------------------------ between thread and event loop

    def give(self, begun: bytes) -> bool:
        """Give the connection to the thread with the bytes of a frame that is not whole; False when it is not for the thread."""
        return not self._received and self.socket is not None and self.session.give(begun)

    def retake(self) -> None:
        """Have every further message handed over."""
        self.session.use(None)

    def handed(self) -> None:
        """Go on with the read that waits: the thread handed the connection over."""
        if self._waiting is None or self.socket is None:
            return
        data = self.session.take()
        if data is None:
            return
        self._unwatch(self.socket)
        if data:
            self._finish(data)
        elif self.session.ended:
            self._end(self._waiting)
        else:
            self._watch(CHUNK)

    def poll(self) -> None:
        """Notice what was sent, and a client that reads nothing."""
        sent = self.session.sent_bytes
        while self._unsent and (self._unsent[0][0] <= sent or self.session.broken):
            future = self._unsent.pop(0)[1]
            if not future.done():
                future.set_result(None)
        if self.session.native and self.session.unread_s > 0:
            self._on_unread(self.session.unread_s)

    # ------------------------------------------------------------ reading by the event loop

    def _watch(self, most: int) -> None:
        """Read from the socket itself: the connection is the event loop's until the next `give`."""
        if self.socket is not None and not self._watching:
            self._watching = True
            asyncio.get_running_loop().add_reader(self.socket.fileno(), self._readable, most)

    def _unwatch(self, connection: socket.socket) -> None:
        if self._watching:
            self._watching = False
            asyncio.get_running_loop().remove_reader(connection.fileno())

    def _readable(self, most: int) -> None:
        connection = self.socket
        if connection is None:
            return
        try:
            data = connection.recv(most)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        self._unwatch(connection)
        if data:
            self._finish(data)
        else:
            self._end(self._waiting)

    def _finish(self, data: bytes) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(data)

    def _end(self, waiting: asyncio.Future[bytes] | asyncio.Future[None] | None) -> None:
        if waiting is self._waiting:
            self._waiting = None
        if waiting is not None and not waiting.done():
            waiting.set_exception(StreamClosedError())


class NativeStreams:
    """The streaming threads and the connections that they have; main thread only."""

    def __init__(self, system: System) -> None:
        self._streaming = Streaming(system.runtime, threads=int(system.settings.value.number(THREADS)))
        self._settings = system.settings
        system.metrics.frames_sent.elsewhere = lambda: self._streaming.frames
        system.metrics.commands_received.elsewhere = lambda: self._streaming.messages
        system.inventory.tell(self._streaming.changed)
        system.settings.tell(self._streaming.changed)
        self._streams: dict[int, NativeStream] = {}
        self._beats = 0
        self._waiting_for_disk = 0
        self._stopping = 0
        self._timer = PeriodicCallback(self._beat, BEAT_EVERY_MS)

    @property
    def running(self) -> bool:
        """Whether the thread runs."""
        return self._streaming.running

    def start(self) -> None:
        """Start the threads. OSError, MemoryError."""
        self._streaming.start(nice=NICE)
        IOLoop.current().add_handler(self._streaming.bell, self._rung, IOLoop.READ)
        self._watch(self._streaming)
        self._timer.start()
        self._beat()

    def stop(self) -> None:
        """End the threads."""
        if self._streaming.running:
            IOLoop.current().remove_handler(self._streaming.bell)
            self._watch(None)
            self._timer.stop()
            self._streaming.stop()

    def session(self) -> StreamSession | None:
        """Return a place for a new session; None when the thread does not run or has none left."""
        return self._streaming.session() if self._streaming.running else None

    def adopt(
        self, stream: IOStream, session: StreamSession, on_unread: Callable[[float], None]
    ) -> NativeStream | None:
        """Take the connection of an idle stream; None when the stream is busy. `on_unread`: see NativeStream."""
        taken = take_socket(stream)
        return None if taken is None else NativeStream(self, session, *taken, on_unread)

    @contextmanager
    def giving_way(self, *, stop: bool = False) -> Generator[None]:
        """Let the threads take turns as everybody does: for what the system's threads do on the same processor, such as a write to the disk.

        `stop`: let them rest most of the time.
        """
        self._waiting_for_disk += 1
        self._stopping += stop
        self._give_way()
        try:
            yield
        finally:
            self._waiting_for_disk -= 1
            self._stopping -= stop
            self._give_way()

    def _give_way(self) -> None:
        self._streaming.give_way(turns=self._waiting_for_disk > 0, rest=self._stopping > 0)

    def add(self, stream: NativeStream) -> None:
        """Tell `stream` from now on when it is handed over."""
        self._streams[stream.session.number] = stream

    def remove(self, stream: NativeStream) -> None:
        """Forget a stream."""
        self._streams.pop(stream.session.number, None)

    def _watch(self, watcher: Streaming | None) -> None:
        loop = asyncio.get_running_loop()
        if isinstance(loop, EventLoop):
            loop.selector.tell(watcher)

    def _rung(self, _descriptor: int, _events: int) -> None:
        for number in self._streaming.handed():
            stream = self._streams.get(number)
            if stream is not None:
                stream.handed()

    def _beat(self) -> None:
        self._streaming.turned(self._settings.value.number(LONGEST_TURN))
        self._beats += 1
        if self._beats % POLL_EVERY_BEATS == 0:
            for stream in list(self._streams.values()):
                stream.poll()


def native_streams(system: System) -> NativeStreams | None:
    """Return the streaming thread, not started; None when `communication/streaming/native` is off."""
    return NativeStreams(system) if system.settings.value.flag("communication/streaming/native") else None
