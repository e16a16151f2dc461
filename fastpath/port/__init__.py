"""Serial ports: the thread of each port, its exchange with the loop, and zero packets at a fatal signal."""
