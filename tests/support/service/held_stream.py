"""A standard stream that nobody reads: a pipe, filled to the brim before the service gets it."""

from __future__ import annotations

import fcntl
import os
from types import TracebackType
from typing import Self

PIPE_BYTES = 4096


class HeldStream:
    """Context manager: `write_end` blocks whoever writes to it, until `let_go`."""

    def __init__(self) -> None:
        self.read_end, self.write_end = os.pipe()
        fcntl.fcntl(self.write_end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        os.set_blocking(self.write_end, False)
        self._filled = 0
        try:
            while True:
                self._filled += os.write(self.write_end, b"." * PIPE_BYTES)
        except BlockingIOError:
            os.set_blocking(self.write_end, True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abandon()
        if self.write_end >= 0:
            os.close(self.write_end)

    def abandon(self) -> None:
        """Go away as the reader: whoever waits gets an error."""
        if self.read_end >= 0:
            os.close(self.read_end)
            self.read_end = -1

    def hand_over(self) -> None:
        """Close our end for writing: the service has its own."""
        os.close(self.write_end)
        self.write_end = -1

    def lines(self, wanted: str) -> list[str]:
        """Read, at last, until a line has the text `wanted`; the lines so far."""
        text = b""
        while wanted.encode() not in text.rpartition(b"\n")[0]:
            more = os.read(self.read_end, PIPE_BYTES)
            assert more, f"the stream ended without {wanted!r}: {text[-2000:]!r}"
            text += more
        return text[self._filled :].decode(errors="replace").splitlines()
