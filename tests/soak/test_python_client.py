"""Ten thousand connections of the Python client: no descriptor, thread, session or memory is left of any."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import psutil
import pytest

import hapticd_client as haptics
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

CONNECTIONS = 10_000
WARM = 500
MOST_GROWTH = 4 * 1024 * 1024  # bytes


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.soak
@pytest.mark.parametrize("transport", ["socket", "local"])
def test_ten_thousand_connections_leave_nothing(transport: str) -> None:
    with RunningService() as service:
        url = service.ws if transport == "socket" else f"local:{service.state_dir}"

        def connect_and_push() -> None:
            with haptics.connect(url, http=service.http) as connected:
                connected.arm.force = 0, 0, 1
                connected.update()

        for _ in range(WARM):
            connect_and_push()
        gc.collect()
        threads, opened, memory = threading.active_count(), descriptors(), psutil.Process().memory_info().rss
        for _ in range(CONNECTIONS):
            connect_and_push()
        gc.collect()

        assert (threading.active_count(), descriptors()) == (threads, opened)
        assert psutil.Process().memory_info().rss - memory < MOST_GROWTH
        eventually(lambda: service.request("GET", "/sessions")[1]["session_count"] == 0, "no session", pause_s=0.05)
        _, devices = service.request("GET", "/devices")
        assert devices["arm"][0]["state"]["current_cursor_force"] == {"x": 0, "y": 0, "z": 0}
