"""Program: the least that a server in C can do: a thread with epoll that answers each frame with the same one (epoll_echo.c).

Python listens and shakes hands, as the service does; behind that no interpreter takes part.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from pathlib import Path
from threading import Thread

from bench.support.compiled import compiled
from bench.support.machine import cores
from bench.support.websocket import accept, server_frame


def main() -> None:
    """Serve the frame in the file that the first argument names, until a signal ends the process."""
    frame = server_frame(Path(sys.argv[1]).read_bytes())
    echo = ctypes.CDLL(str(compiled(Path(__file__).with_name("epoll_echo.c"), library=True)))
    os.sched_setaffinity(0, cores().rest)
    poll = echo.echo_open()
    Thread(target=echo.echo_serve, args=(poll, frame, ctypes.c_size_t(len(frame))), daemon=True).start()
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        sys.stdout.write(f"ready ws://127.0.0.1:{listener.getsockname()[1]}/\n")
        sys.stdout.flush()
        while True:
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            accept(connection)
            connection.sendall(frame)
            if echo.echo_add(poll, connection.detach()) != 0:
                raise OSError("the connection cannot be watched")


if __name__ == "__main__":
    main()
