# Zero packets of open ports: registered here, written by the handler of fatal signals before the process ends.
# Register a port's zero packet before its first force; unregister it before its descriptor is closed.

# Install the handler for SIGSEGV, SIGBUS, SIGFPE and SIGABRT; a second call does nothing. OSError. After faulthandler.enable(), so
# that packets go out before stacks are printed; and before it as well, so that nothing cuts the packets after them short.
def install() -> None: ...

# Prepare the zero packet (1 to 256 bytes) of an open descriptor, in place of an earlier one. ValueError for another size or
# a negative descriptor; RuntimeError when 64 are prepared.
def register(descriptor: int, packet: bytes) -> None: ...

# Forget the packet of a descriptor, if there is one.
def unregister(descriptor: int) -> None: ...

# Descriptors that have a packet, in ascending order.
def registered() -> tuple[int, ...]: ...
