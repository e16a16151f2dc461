# The thread of one open serial port: orders of the loop out, samples of its devices in, messages both ways.
# `protocol` is "bytes" (every byte is a message, no orders), "hapi" or "openlink"; `config` is the protocol's own layout.

from typing import NamedTuple, Protocol, final

from fastpath.arena.runtime import Lease, Runtime

# Process that writes the zero packet when this one is killed.
class Failsafe(Protocol):
    # Before the first order.
    def watch(self, descriptor: int, zero_packet: bytes) -> None: ...
    # Before the descriptor is closed; the failsafe's own copy is closed when this returns.
    def forget(self, descriptor: int) -> None: ...

# Since the thread started; times in ns of the runtime's clock, 0 = never. `orders` were sent; of them `zeros` were zero in place of a
# force that the loop ordered more than 20 ms ago; `late` went out a period after they were due; `blocked` were left out because
# the port took no more; `dropped` messages found no room. `gone` is an errno: the port was unplugged. The last four: of each device.
class Counters(NamedTuple):
    frames_in: int
    frames_bad: int
    bytes_in: int
    bytes_out: int
    orders: int
    zeros: int
    late: int
    blocked: int
    errors: int
    dropped: int
    last_in_ns: int
    last_out_ns: int
    gone: int
    running: bool
    fifo: bool
    sample_ns: tuple[int, ...]
    beat_ns: tuple[int, ...]
    faults: tuple[int, ...]
    bits: tuple[int, ...]

# `rates_hz`: orders a second for each device of the port (1 to 8 devices, 0 to 8,000 Hz, 0 = no orders). `zero_packet` (at most
# 256 bytes, b"" = none) is the last thing that is written, whatever ends the exchange. The descriptor is this object's from then
# on, raw mode is the caller's. Methods may be called on any thread, one at a time. ValueError, MemoryError.
@final
class PortThread:
    def __new__(
        cls,
        runtime: Runtime,
        descriptor: int,
        protocol: str,
        *,
        rates_hz: tuple[float, ...],
        zero_packet: bytes,
        config: bytes = b"",
        name: str = "hd-port",
        failsafe: Failsafe | None = None,
    ) -> PortThread: ...
    @property
    def descriptor(self) -> int: ...
    # The device's orders come from, and its samples go to, this slot from now on; before and after `start`. IndexError, ValueError.
    def attach(self, index: int, lease: Lease) -> None: ...
    # Detach a device: one zero order, then those of `set_idle`; when this returns the slot is no longer written to.
    def detach(self, index: int) -> None: ...
    def set_rate(self, index: int, rate_hz: float) -> None: ...
    # Zero orders a second while the device is not attached, 0 (the default) = none: they keep its watchdog from tripping.
    def set_idle(self, index: int, rate_hz: float) -> None: ...
    # The zero packet is registered for fatal signals and failsafe before the thread begins. OSError; a second call does nothing.
    def start(self, *, at_fatal_signal: bool = True) -> None: ...
    # One message (1 to 1,024 bytes) as it is, in one write; False: no room, or closed.
    def send(self, message: bytes) -> bool: ...
    # Messages that the protocol took out of what came (with "bytes": what came), in order.
    def receive(self) -> list[bytes]: ...
    def counters(self) -> Counters: ...
    # Zero packet out, thread joined, descriptor forgotten and closed; at most about 60 ms. A second call does nothing.
    def close(self) -> None: ...
