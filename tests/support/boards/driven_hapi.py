"""Program, `python -m tests.support.boards.driven_hapi PATH SECONDS`: drive a hAPI board, print its link's counters as JSON.

With a tape in PORT_TAP that begins with the first order of the loop.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

from actors.kit.published import Published
from actors.port.link_interface import OpenLimits
from fastpath.arena.runtime import Runtime
from tests.support.actors.doubles import settings_view
from tests.support.loop.devices import fill, still_arm_params
from transport.link.protocols.hapi.driver import HapiDriver


def main(path: str, seconds: float) -> dict[str, object]:
    """Print the received and invalid frames, and why the link ended, if it did."""
    runtime = Runtime()
    runtime.publish_loop(frequency=4000.0, command_timeout=0.5)
    settings = Published(settings_view({"devices/hapi/ports": [f"{path}=2diy-plastic"]}))
    family = HapiDriver(runtime, settings, list_ports=lambda: ())
    (candidate,) = family.candidates()
    link = family.open(candidate, OpenLimits(), threading.Event())
    try:
        found = link.facts().devices[0]
        assert found.mechanism is not None
        params = still_arm_params(torque_limit=123.0, source=1, silence=0.02)
        fill(params["mechanism"], {"kind": 1, **found.mechanism.geometry})
        lease = runtime.lease_device(found.device_id)
        assert runtime.publish_device(lease, params)
        runtime.start()
        if "PORT_TAP" in os.environ:
            with Path(os.environ["PORT_TAP"]).open("r+b") as tape:
                tape.write(bytes(8))
        link.start({found.device_id: lease})
        time.sleep(seconds)
        seen = link.facts()
    finally:
        link.close()
        runtime.stop()
    return {"frames_in": seen.counters.frames_in, "frames_bad": seen.counters.frames_bad, "gone": seen.gone}


if __name__ == "__main__":
    json.dump(main(sys.argv[1], float(sys.argv[2])), sys.stdout)
