"""Program: the service, which writes to the file STAMPS the time before each message is handed to the loop.

One line each: nanoseconds of CLOCK_MONOTONIC, read just before.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Final
from unittest.mock import patch

from transport.main import main
from transport.session.devices import SessionDevices

FILE: Final = os.open(os.environ["STAMPS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
really_apply = SessionDevices.apply


def apply(devices: SessionDevices, found: Any) -> Any:
    """Write the time stamp, then apply the message."""
    os.write(FILE, f"{time.clock_gettime_ns(time.CLOCK_MONOTONIC)}\n".encode())
    return really_apply(devices, found)


if __name__ == "__main__":
    with patch.object(SessionDevices, "apply", apply):
        sys.exit(main(sys.argv[1:]))
