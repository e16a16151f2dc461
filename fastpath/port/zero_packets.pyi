# Zero packets of open ports: registered here, written by the handler of fatal signals before the process ends.
# Register a port's zero packet before its first force; unregister it before its descriptor is closed.

# Install the handler for SIGSEGV, SIGBUS, SIGFPE and SIGABRT; a second call does nothing. OSError. Call it after faulthandler.enable(),
# so that packets are written before stacks are printed, and before it too, so that faulthandler does not end the process too early.
def install() -> None: ...

# Register the zero packet (1 to 256 bytes) of an open descriptor; it replaces an earlier one. ValueError for another size or
# a negative descriptor; RuntimeError when 64 are registered.
def register(descriptor: int, packet: bytes) -> None: ...

# Remove the packet of a descriptor, if any.
def unregister(descriptor: int) -> None: ...

# Descriptors that have a packet, in ascending order.
def registered() -> tuple[int, ...]: ...
