"""Program: register the test-only kind knob, then start the service."""

from __future__ import annotations

import sys

from actors.values.kinds.registry import register
from tests.kinds.knob.spec import KNOB

register(KNOB)

from transport.main import main  # noqa: E402 - a kind is registered before the service is imported

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
