"""Open a serial port: raw and exclusive on a real pty, and a port that disappears while it is opened."""

from __future__ import annotations

import errno
import os
import termios
from pathlib import Path

import pytest

from transport.link.serial_port import open_port


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_port_is_open_raw_and_for_nobody_else() -> None:
    far, near = os.openpty()
    try:
        with open_port(os.ttyname(near), 921_600, read_s=0.01) as port:
            assert not termios.tcgetattr(port.fileno())[3] & (termios.ICANON | termios.ECHO)
            with pytest.raises(OSError, match="lock"):
                open_port(os.ttyname(near), 921_600, read_s=0.01)
    finally:
        os.close(far)
        os.close(near)


@pytest.mark.parametrize("call", ["tcgetattr", "tcsetattr", "tcflush"])
def test_a_port_that_goes_away_while_it_is_opened_is_an_os_error_and_leaves_nothing_open(
    monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def gone(*_arguments: object) -> None:
        raise termios.error(errno.EIO, "Input/output error")

    far, near = os.openpty()
    try:
        before = descriptors()
        monkeypatch.setattr(f"serial.serialposix.termios.{call}", gone)

        with pytest.raises(OSError, match="Input/output"):
            open_port(os.ttyname(near), 921_600, read_s=0.01)

        assert descriptors() == before
    finally:
        os.close(far)
        os.close(near)
