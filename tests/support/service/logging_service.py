"""The service with lines of every level, a traceback and hostile text in its log: `python -m tests.support.service.logging_service run …`."""

from __future__ import annotations

import logging
import sys
from typing import Final

from actors.system import System
from transport import service
from transport.log import Log
from transport.main import main

MARKUP: Final = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
EVIL: Final = "\x1b[31m\u202e\u2028\ud800"
LONG: Final = "x" * 3_000

_say_ready = service._say_ready


def log_and_say_ready(system: System, addresses: str, log: Log) -> None:
    """Log a line of each level, then go on."""
    noisy = logging.getLogger("tests.a.logger.of.a.rather.long.name")
    noisy.info("%s", MARKUP, extra={"device": MARKUP, "port": "sim0"})
    noisy.warning("port %s went %s", "sim0", EVIL, extra={"port": "sim0"})
    noisy.error("a part failed", exc_info=ValueError(MARKUP), extra={"actor": "device/46C6"})
    noisy.critical("%s", LONG, extra={"client": "192.0.2.7"})
    _say_ready(system, addresses, log)


if __name__ == "__main__":
    service._say_ready = log_and_say_ready
    sys.exit(main())
