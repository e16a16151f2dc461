# PortThread: the C thread of one open serial port: orders of the loop out, samples of its devices in, messages both ways.
# `protocol` is "bytes" (every byte is a message, no orders), "hapi" or "openlink"; `config` is the protocol's own layout.

from typing import NamedTuple, Protocol, final

from fastpath.arena.runtime import Lease, Runtime

# Process that writes the zero packet when this one is killed.
class Failsafe(Protocol):
    # Called before the first order.
    def watch(self, descriptor: int, zero_packet: bytes) -> None: ...
    # Called before the descriptor is closed; when it returns, the failsafe has closed its own copy.
    def forget(self, descriptor: int) -> None: ...

# Counters since the thread started; times in ns of the runtime's clock, 0 = never. Of the `orders` sent, `zeros` were zero because the
# loop's order was more than 20 ms old or the thread late; `late` ones were sent a period or more too late; `blocked` ones were skipped because
# the port accepted no more bytes; `dropped` messages found no room. `gone`: errno of an unplugged port. The last four are per device.
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

# `rates_hz`: orders per second for each device of the port (1 to 8 devices, 0 to 8,000 Hz, 0 = no orders). `zero_packet` (at most
# 256 bytes, b"" = none) is written last, whatever ends the exchange. The object owns the descriptor from its construction
# on; the caller sets raw mode. Methods may be called on any thread, one at a time. Raises ValueError, MemoryError.
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
    # Attach a device to the lease's slot, which then has its orders and samples; before or after `start`. IndexError, ValueError.
    def attach(self, index: int, lease: Lease) -> None: ...
    # Detach a device: one zero order, then those of `set_idle`. After the return the thread no longer writes to the slot.
    def detach(self, index: int) -> None: ...
    def set_rate(self, index: int, rate_hz: float) -> None: ...
    # Zero orders per second while the device is not attached, 0 (the default) = none; they keep its watchdog from tripping.
    def set_idle(self, index: int, rate_hz: float) -> None: ...
    # The zero packet is registered for fatal signals and failsafe before the thread begins. OSError; a second call does nothing.
    def start(self, *, at_fatal_signal: bool = True) -> None: ...
    # Queue one message (1 to 1,024 bytes), written unchanged in one write; False: no room, or closed.
    def send(self, message: bytes) -> bool: ...
    # Messages received since the last call, in order (with "bytes": the received bytes).
    def receive(self) -> list[bytes]: ...
    def counters(self) -> Counters: ...
    # Write the zero packet, join the thread, unregister and close the descriptor: at most about 60 ms. A second call does nothing.
    def close(self) -> None: ...
