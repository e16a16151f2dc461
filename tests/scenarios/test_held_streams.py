"""A log that nobody reads holds nobody up: frames go on, a stop is answered, and the service ends as asked."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from tests.support.clients.http_client import HttpClient
from tests.support.service.addresses import FREE_PORTS
from tests.support.service.held_stream import HeldStream
from tests.support.service.polling import eventually

HAPTICD = Path(sys.executable).with_name("hapticd")
END_S = 30
# Takes the permission for realtime priority and negative niceness from the program that it runs, root's included.
WITHOUT_REALTIME = """
import ctypes, os, resource, sys
resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
resource.setrlimit(resource.RLIMIT_NICE, (0, 0))
PR_CAPBSET_DROP, CAP_SYS_NICE = 24, 23
ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
PUSH = {"set_cursor_force": {"vector": {"x": 0.1, "y": 0, "z": 0}}}


@dataclass
class Held:
    """A service whose standard streams may be held."""

    process: subprocess.Popen[bytes]
    http: HttpClient
    ws: str
    streams: dict[str, HeldStream]


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens on."""
    with ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in found:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in found]


@contextmanager
def held_service(state_dir: Path, held: tuple[str, ...], *options: str, realtime: bool = True) -> Generator[Held]:
    """A service with streams in `held` (stdout, stderr) that nobody reads from its first line on; `realtime`: if it is permitted."""
    ports = dict(zip(FREE_PORTS, free_ports(len(FREE_PORTS)), strict=True))
    chosen = [part for key, value in ports.items() for part in ("--set", f"{key}={value}")]
    with ExitStack() as stack:
        launcher = [] if realtime else [sys.executable, "-c", WITHOUT_REALTIME]
        streams = {name: stack.enter_context(HeldStream()) for name in held}
        process = subprocess.Popen(
            [*launcher, HAPTICD, "run", "--simulate", "arm,grip", "--state-dir", state_dir, *chosen, *options],
            stdin=subprocess.DEVNULL,
            stdout=streams["stdout"].write_end if "stdout" in held else subprocess.DEVNULL,
            stderr=streams["stderr"].write_end if "stderr" in held else subprocess.DEVNULL,
            start_new_session=True,
        )
        stack.callback(process.wait, END_S)
        stack.callback(process.kill)
        for each in streams.values():
            each.hand_over()
        port = ports["communication/websocket/port"]
        http = HttpClient(f"http://127.0.0.1:{port}")
        eventually(lambda: ready(http) or process.poll() is not None, "the service is ready", pause_s=0.02)
        assert process.poll() is None, f"the service ended with {process.returncode}"
        yield Held(process, http, f"ws://127.0.0.1:{port}", streams)


def ready(http: HttpClient) -> bool:
    try:
        return http.get("/readyz").status == 200
    except OSError:
        return False


def use(service: Held, lines: int) -> None:
    """Stream forces, stop and release, with at least `lines` lines of the log; AssertionError when a frame or an answer does not come."""
    with connect(service.ws) as session:
        device_id = json.loads(session.recv(20))["arm"][0]["device_id"]
        for number in range(lines // 2):
            session.send(json.dumps({"arm": [{"device_id": device_id, "commands": PUSH}]}))
            frame: Any = json.loads(session.recv(20))
            assert frame["arm"][0]["device_id"] == device_id
            assert service.http.post("/stop").status == 200
            assert service.http.delete("/stop").status == 200
            if number % 20 == 0:
                service.process.send_signal(signal.SIGUSR1)


@pytest.mark.parametrize(
    ("held", "form", "end"),
    [
        (("stderr",), "text", signal.SIGTERM),
        (("stdout",), "json", signal.SIGINT),
        (("stdout", "stderr"), "text", signal.SIGINT),
        (("stdout", "stderr"), "json", signal.SIGTERM),
    ],
    ids=str,
)
@pytest.mark.parametrize("realtime", [True, False], ids=["realtime", "without"])
def test_service_with_a_log_that_nobody_reads_serves_and_ends(
    tmp_path: Path, held: tuple[str, ...], form: str, realtime: bool, end: signal.Signals
) -> None:
    options = ("--log-format", form, "--log-level", "debug")
    with held_service(tmp_path, held, *options, realtime=realtime) as service:
        use(service, 100)

        service.process.send_signal(end)

        assert service.process.wait(END_S) == 0


def test_lines_that_were_dropped_are_counted_and_told_once_somebody_reads(tmp_path: Path) -> None:
    with held_service(tmp_path, ("stderr",)) as service:
        use(service, 1_100)
        counted = [line for line in metrics(service) if line.startswith("hapticd_log_lines_dropped_total ")]
        dropped = float(counted[0].split()[1])
        assert dropped > 0

        lines = service.streams["stderr"].lines("lines of the log were dropped")

        (told,) = [line for line in lines if "lines of the log were dropped" in line]
        assert " WARNING hapticd: " in told
        assert int(told.split("hapticd: ")[1].split()[0]) >= dropped


def metrics(service: Held) -> list[str]:
    """The lines of `/metrics`."""
    with urllib.request.urlopen(f"{service.ws.replace('ws:', 'http:')}/metrics", timeout=20) as answer:
        return str(answer.read().decode()).splitlines()
