"""SIGUSR1 shows the stacks of a service at work, and leaves the service and its clients alone."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager

from websockets.sync.client import connect

from tests.support.service.polling import eventually
from tests.support.service.process import RunningService

# With a signal handler that reads the stacks of running threads, the service ended after one to three hundred signals.
SIGNALS = 1_000
PUSH = {"set_cursor_force": {"vector": {"x": 0.1, "y": 0, "z": 0}}}


@contextmanager
def signals(service: RunningService) -> Generator[threading.Thread]:
    """Send SIGNALS signals, one each 2 ms, beside what the block does."""
    over = threading.Event()

    def send() -> None:
        for _ in range(SIGNALS):
            if over.is_set() or not service.is_running():
                return
            service.process.send_signal(signal.SIGUSR1)
            over.wait(0.002)

    sender = threading.Thread(target=send, name="signals")
    sender.start()
    try:
        yield sender
    finally:
        over.set()
        sender.join()


def test_stacks_are_shown_and_the_service_goes_on() -> None:
    with RunningService(simulate="arm,grip") as service:
        with connect(service.ws) as session, signals(service) as sender:
            device_id = json.loads(session.recv(20))["arm"][0]["device_id"]
            while sender.is_alive():
                session.send(json.dumps({"arm": [{"device_id": device_id, "commands": PUSH}]}))
                assert json.loads(session.recv(20))["arm"][0]["device_id"] == device_id
                assert service.request("POST", "/stop")[0] == 200
                assert service.request("DELETE", "/stop")[0] == 200

        assert service.is_running()
        eventually(lambda: "Current thread 0x" in service.log, "the stacks are shown")
        # Of the thread that asks, and of the main thread, which serves.
        assert "transport/stacks.py" in service.log
        assert "transport/service.py" in service.log
