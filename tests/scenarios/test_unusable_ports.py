"""Unusable ports on pseudo-terminals and an emulated USB bus: one event, one log line, one row, no retry storm."""

from __future__ import annotations

import errno
import json
import logging
import os
import subprocess
import sys
import tty
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
import serial

from actors.port.messages import DETECTION, PORTS, link_name
from tests.emulators.falcon_backend import FalconBus
from tests.emulators.falcon_board import FalconBoard
from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import exchange
from tests.support.service.actor_faults import drain_actor
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from transport.link.scanner import make_scanner

if TYPE_CHECKING:
    import threading

    from actors.kit.published import Published
    from actors.port.link_interface import Link, Links, OpenLimits
    from actors.settings.messages import SettingsView
    from actors.values.hardware import Candidate
    from fastpath.arena.runtime import Runtime

FORCE_DIMENSION, THREE_D_SYSTEMS = 0x1451, 0x2988
HOLD = """
import fcntl, os, sys
port = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
fcntl.flock(port, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""
CHANGED = "port-state-changed"


class Counted:
    """The links of the machine, and how often each port was tried."""

    def __init__(self) -> None:
        self.tries = Counter[str]()

    def __call__(self, runtime: Runtime, settings: Published[SettingsView]) -> Links:
        self._links = make_scanner(runtime, settings)
        self.setting_keys = self._links.setting_keys
        return self

    def scan(self) -> tuple[Candidate, ...]:
        return self._links.scan()

    def change_token(self) -> object:
        return self._links.change_token()

    def taker(self, candidate: Candidate) -> str:
        """Return "": nothing takes a port away."""
        del candidate
        return ""

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> Link:
        self.tries[candidate.port] += 1
        return self._links.open(candidate, limits, stop)


@contextmanager
def terminal(path: Path) -> Generator[str]:
    """A terminal with nobody behind it, under that path."""
    master, port = os.openpty()
    tty.setraw(port)
    path.symlink_to(os.ttyname(port))
    try:
        yield str(path)
    finally:
        path.unlink()
        os.close(port)
        os.close(master)


@contextmanager
def held(path: str) -> Generator[None]:
    """Another program holds the port."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield
        process.stdin.close()


@contextmanager
def forbidden(path: str) -> Generator[None]:
    """This user may not open the port: what the kernel says to a user who is not root."""

    class Port(serial.Serial):  # type: ignore[misc]
        def __init__(self, port: str, *arguments: Any, **named: Any) -> None:
            if port == path:
                # Python 3.13 reports the failing finalizer of a Serial that was never initialised.
                super().__init__()
                raise serial.SerialException(errno.EACCES, f"could not open port {port}: Permission denied")
            super().__init__(port, *arguments, **named)

    with patch("serial.Serial", Port):
        yield


def row(service: InProcessService, port: str) -> tuple[str, str]:
    shown = exchange(service.http, "GET", f"/ports/{port}").json
    return shown["state"], shown["reason"]


# ---------------------------------------------------------------- every reason there is


class Bench:
    """A stepped service and its machine."""

    def __init__(self, service: InProcessService, events: EventClient, machine: Counted) -> None:
        self.service = service
        self.events = events
        self.machine = machine

    def passes(self, seconds: float) -> None:
        """Let time pass, each half second heard by everybody who waits for it."""
        directory = self.service.system.context.directory
        for _ in range(round(2 * seconds)):
            self.service.wait(0.5)
            self.service.system.timekeeper.run_once()
            for name in (DETECTION, *map(link_name, self.machine.tries), DETECTION, PORTS):
                if directory.ref(name) is not None:
                    drain_actor(directory, name)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """One port for each reason, by name; `usb-1-1` and `usb-1-2` are known and not driven, `usb-1-3` is a bare Falcon."""
    bus, machine = FalconBus(), Counted()
    for vendor in (FORCE_DIMENSION, THREE_D_SYSTEMS):
        bus.plug(FalconBoard()).vendor = vendor
    bus.plug(FalconBoard())
    with ExitStack() as stack:
        busy, locked = (stack.enter_context(terminal(tmp_path / name)) for name in ("busy", "locked"))
        stack.enter_context(held(busy))
        stack.enter_context(forbidden(locked))
        stack.enter_context(patch("usb.backend.libusb1.get_backend", lambda: bus))
        service = stack.enter_context(
            InProcessService(
                tmp_path,
                simulated=(),
                stepping=True,
                settings={"control/frequency": 1000, "devices/detection/serial_ports": json.dumps([busy, locked])},
                links=machine,
            )
        )
        events = stack.enter_context(EventClient(service.events, since="2000-01-01T00:00:00%2B00:00"))
        yield Bench(service, events, machine)


def test_each_reason_makes_one_event_one_log_line_one_row_and_few_retries(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    expected = {
        "busy": "in_use",
        "locked": "permission",
        "usb-1-1": "no_driver",
        "usb-1-2": "no_driver",
        "usb-1-3": "no_firmware_image",
    }
    bench.passes(25)
    logged = [*caplog.get_records("setup"), *caplog.records]
    page = exchange(bench.service.http, "GET", "/metrics").body.decode()

    for port, reason in expected.items():
        event = bench.events.wait_for_event(CHANGED, port=port)
        assert (event["level"], event["data"]["state"], event["data"]["reason"]) == ("warning", "unusable", reason)
        assert len(bench.events.received_events(CHANGED, port=port)) == 1
        assert row(bench.service, port) == ("unusable", reason)
        lines = [one for one in logged if f"port {port} cannot be used" in one.getMessage()]
        assert [one.levelno for one in lines] == [logging.WARNING]
        tries = bench.machine.tries[port]
        assert tries == 1 if reason == "no_driver" else 2 <= tries <= 3
        assert f'hapticd_port_unusable{{port="{port}"}} 1.0' in page


# ---------------------------------------------------------------- a port that is taken and let go


def test_port_freed_without_a_device_is_active_and_reported_when_taken_again(
    tmp_path: Path,
) -> None:
    machine = Counted()
    settings = {
        "devices/detection/period": 100,
        "devices/detection/timeout": 100,
        "devices/detection/max_number_retry": 1,
    }
    with (
        terminal(tmp_path / "board") as path,
        patch("actors.port.retry.FAULT_S", 0.1),
        patch("transport.link.protocols.openlink.host_fsm.TRIES", 1),
        InProcessService(
            tmp_path,
            simulated=(),
            settings={**settings, "devices/detection/serial_ports": json.dumps([path])},
            links=machine,
            settled=False,
        ) as service,
        EventClient(service.events) as events,
    ):

        def goes_on() -> None:
            """Return when the port has been tried once more, from beginning to end."""
            tries = machine.tries["board"]
            eventually(lambda: machine.tries["board"] > tries + 1, "it is tried again", pause_s=0.01)

        for _ in range(2):
            with held(path):
                eventually(lambda: row_or_none(service) == ("unusable", "in_use"), "it is in use", pause_s=0.01)
                goes_on()
            eventually(lambda: row_or_none(service) == ("active", ""), "it is free", pause_s=0.01)
            goes_on()
        eventually(lambda: len(events.received_events(CHANGED)) >= 4, "all is told", pause_s=0.01)

    said = [(one["data"]["state"], one["data"]["reason"]) for one in events.received_events(CHANGED)]
    assert said == [("unusable", "in_use"), ("active", "opened")] * 2


def row_or_none(service: InProcessService) -> tuple[str, str] | None:
    found = service.system.ports.value.find("board")
    return None if found is None else (str(found.state), found.reason)
