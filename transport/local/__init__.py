"""Sessions of clients on this machine: a Unix socket that hands out shared memory."""
