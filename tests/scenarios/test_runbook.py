"""The shell commands of ops/runbook.md give the printed answers.

Programs that would change this machine (sudo, journalctl, udevadm, cp to /etc) are stood in for; curl, grep and lsof are the real ones.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

import pytest

from actors.device.messages import MANAGER as DEVICES
from actors.device.messages import Phase
from actors.kit.metric_catalog import METRIC_ROWS
from actors.port.messages import PORTS, PortClosed, PortOpened
from tests.emulators.boards import Boards
from tests.emulators.falcon_backend import FalconBus
from tests.emulators.falcon_board import FalconBoard
from tests.support.service.actor_faults import drain_actor
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from tests.support.service.running_system import RunningSystem
from transport.link.driver_spec import UnsupportedIds
from transport.link.drivers import DRIVERS
from transport.link.protocols.falcon.driver import FalconDriver
from transport.link.protocols.openlink.driver import OpenlinkDriver
from transport.link.scanner import PortScanner
from transport.link.serial_ports import SerialPorts
from transport.link.usb_bus import UsbBus

if TYPE_CHECKING:
    from actors.kit.published import Published
    from actors.port.link_interface import Links
    from actors.settings.messages import SettingsView
    from fastpath.arena.runtime import Runtime

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "ops" / "runbook.md").read_text(encoding="utf-8")
TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")
# A file that nobody may open for writing, root included, as a port of another group.
FORBIDDEN: Final = Path("/sys/kernel/uevent_seqnum")
TAKES_IT: Final = (
    "import fcntl, os, sys; fd = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY); fcntl.flock(fd, fcntl.LOCK_EX)\n"
    "print('taken', flush=True); sys.stdin.read()"
)

pytestmark = pytest.mark.skipif(
    shutil.which("curl") is None or shutil.which("lsof") is None,
    reason="curl or lsof is not installed (Debian packages)",
)


@dataclass(frozen=True)
class Typed:
    """A command of the page, and what stands below it there."""

    command: str
    answer: str


def commands(title: str) -> Iterator[Typed]:
    """Those of the section with that title, in their order."""
    (section,) = (part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE) if part.startswith(f"{title}\n"))
    for found in re.finditer(r"^    \$ (.+)\n((?:    (?!\$ ).+\n)*)", section, re.MULTILINE):
        yield Typed(found[1], re.sub(r"^    ", "", found[2], flags=re.MULTILINE))


@dataclass
class Shell:
    """A shell on the machine of the page: its programs, its ports under /dev, and its service at port 10001."""

    folder: Path
    http: str
    said: Path
    places: dict[str, str] = field(default_factory=dict[str, str])

    def program(self, name: str, script: str) -> None:
        """Stand in for a program."""
        made = self.folder / "bin" / name
        made.parent.mkdir(exist_ok=True)
        made.write_text(f"#!/bin/sh\n{script}\n")
        made.chmod(0o755)

    def type(self, command: str) -> str:
        """What a command of the page answers, in the words of the page."""
        here = {"http://127.0.0.1:10001": self.http, **self.places}
        for words, place in here.items():
            command = command.replace(words, place)
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-c", command],
            check=False,
            env={**os.environ, "PATH": path},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        answer = done.stdout
        for words, place in here.items():
            answer = answer.replace(place, words)
        return answer

    def follows(self, typed: Typed) -> str:
        """Type it; AssertionError unless it answers what the page says, times aside."""
        answer = self.type(typed.command)
        if typed.answer:
            assert TIME.sub("T", answer).strip() == TIME.sub("T", typed.answer).strip(), typed.command
        return answer


@contextmanager
def shell(folder: Path, http: str) -> Generator[Shell]:
    """A shell whose journal is the log from here on."""
    said = folder / "journal"
    handler = logging.FileHandler(said)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    root, audit = logging.getLogger(), logging.getLogger("hapticd.audit")
    before = root.level, audit.level
    root.addHandler(handler)
    audit.setLevel(logging.INFO)
    opened = Shell(folder, http, said)
    opened.program("journalctl", f"cat {said}")
    opened.program("sudo", 'exec "$@"')
    try:
        yield opened
    finally:
        root.removeHandler(handler)
        audit.setLevel(before[1])
        handler.close()


# ---------------------------------------------------------------- a blocked port


def test_blocked_port_is_found_and_reset_as_documented(tmp_path: Path) -> None:
    with RunningSystem(tmp_path / "state") as system, shell(tmp_path, system.http) as typist:
        for _ in range(5):
            system.directory.tell(PORTS, PortClosed("sim0"))
            system.directory.tell(PORTS, PortOpened("sim0", "sim0", "A001"))
        for name in (PORTS, "port/sim0", PORTS, DEVICES, PORTS):
            drain_actor(system.directory, name)

        for typed in commands("HapticdPortBlocked"):
            typist.follows(typed)

        eventually(lambda: "A001" in typist.type("curl -s http://127.0.0.1:10001/ports/sim0"), "it is back")
        (audit,) = re.findall(r"^    (INFO hapticd\.audit: .+)$", PAGE, re.MULTILINE)
        assert audit in typist.said.read_text()
        (unknown,) = re.findall(r"^\| 404 \| `([^`]+)` \|", PAGE, re.MULTILINE)
        assert unknown in typist.type("curl -s -X POST http://127.0.0.1:10001/ports/sim9/reset").replace('\\"', '"')
        chosen = "http://127.0.0.1:10001/settings/devices/detection/blocked_ports"
        typist.type(f"curl -s -X POST {chosen} -d '[\"sim0\"]'")
        (conflict,) = re.findall(r"^\| 409 \| `([^`]+)` \|", PAGE, re.MULTILINE)
        assert conflict in typist.type("curl -s -X POST http://127.0.0.1:10001/ports/sim0/reset")


# ---------------------------------------------------------------- a port that cannot be used


@dataclass
class Unusable:
    """Four ports that cannot be used, each for a reason of its own: `/dev/ttyACM0` to 2 of the page are in `folder`."""

    folder: Path
    boards: Boards
    bus: FalconBus

    def path(self, number: int) -> Path:
        return self.folder / f"ttyACM{number}"

    def becomes(self, number: int, target: str | Path) -> None:
        """What a port leads to."""
        self.path(number).unlink(missing_ok=True)
        self.path(number).symlink_to(target)

    def listed(self) -> list[Any]:
        """As pyserial lists them: two boards that speak up, and a Teensy."""
        mark = {"vid": 0x1209, "pid": 1, "product": "Open Haptic Link board", "serial_number": ""}
        teensy = {**mark, "vid": 0x16C0, "pid": 0x0483, "product": "USB Serial"}
        kinds = (mark, mark, teensy)
        return [SimpleNamespace(device=str(self.path(number)), **kind) for number, kind in enumerate(kinds)]

    def __call__(self, runtime: Runtime, settings: Published[SettingsView]) -> Links:
        unsupported = UnsupportedIds(DRIVERS)
        serial = OpenlinkDriver(runtime, SerialPorts(settings, unsupported, self.listed))
        return PortScanner(settings, (serial, FalconDriver(runtime, settings, UsbBus(self.bus))), unsupported)


@contextmanager
def holder(path: Path) -> Generator[subprocess.Popen[str]]:
    """Another program that has the port for itself."""
    process = subprocess.Popen(
        [sys.executable, "-c", TAKES_IT, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "taken\n"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(not FORBIDDEN.exists(), reason="needs sysfs")
def test_unusable_ports_are_found_and_fixed_as_documented(tmp_path: Path) -> None:
    falcon = FalconBoard(period=0.02)
    settings = {"control/frequency": 1000, "devices/detection/period": 100, "devices/detection/timeout": 500}
    with ExitStack() as stack:
        # What leads elsewhere here is the same node with other rights on a machine.
        stack.enter_context(patch("transport.link.scanner.node_of", return_value=""))
        boards = stack.enter_context(Boards("arm:A1", "compact:C1", "arm:A3"))
        machine = Unusable(tmp_path, boards, FalconBus(falcon))
        for port in range(3):
            boards.set("settle_ms", 10, port)
        machine.becomes(0, boards.path(0))
        machine.becomes(1, FORBIDDEN)
        machine.becomes(2, boards.path(2))
        other = stack.enter_context(holder(machine.path(0)))
        inside = InProcessService(tmp_path / "state", simulated=(), settings=settings, links=machine, settled=False)
        service = stack.enter_context(inside)
        typist = stack.enter_context(shell(tmp_path, service.http))
        image = tmp_path / "falcon.bin"
        image.write_bytes(bytes(range(256)) * 2)
        typist.places = {"/dev/ttyACM": str(tmp_path / "ttyACM"), "/var/lib/hapticd/falcon.bin": str(image)}
        rules = tmp_path / "70-hapticd.rules"
        typist.program("cp", f'test "$2" = /etc/udev/rules.d/ && exec /bin/cp "$1" {rules}')
        typist.program("udevadm", f'echo "$@" >> {tmp_path / "udevadm"}; ln -sfn {boards.path(1)} {machine.path(1)}')

        def shown(state: str) -> bool:
            rows = service.system.ports.value.ports
            return len(rows) == 4 and all(row.state == state for row in rows)

        def here(device_id: str) -> bool:
            record = service.system.inventory.value.find(device_id)
            return record is not None and record.phase is Phase.READY

        eventually(lambda: shown("unusable"), "none can be used", pause_s=0.01)
        for typed in commands("A port that cannot be used"):
            answer = typist.follows(typed)
            if typed.command.startswith("sudo lsof"):
                assert str(other.pid) in answer.split()
                other.kill()
                other.wait()

        for device_id in ("A1", "C1", "A3"):
            eventually(lambda: here(device_id), f"{device_id} is ready", pause_s=0.01)  # noqa: B023 - called at once
        eventually(lambda: falcon.loaded and shown("active"), "all are in use", pause_s=0.01)
        assert (tmp_path / "udevadm").read_text().split("\n")[:2] == ["control --reload", "trigger"]
        assert rules.read_bytes() == (ROOT / "ops" / "udev" / "70-hapticd.rules").read_bytes()


# ---------------------------------------------------------------- the alerts

ALERTS: Final = [title for title in re.findall(r"^## (\w+)$", PAGE, re.MULTILINE) if title != "HapticdPortBlocked"]


def test_requests_of_the_alerts_are_answered(tmp_path: Path) -> None:
    typed = {one.command.partition(" | ")[0] for title in ALERTS for one in commands(title)}
    requests = sorted(command for command in typed if command.startswith("curl "))
    assert len(requests) > 10
    with RunningSystem(tmp_path / "state") as system, shell(tmp_path, system.http) as typist:
        for command in requests:
            answer = typist.type(command)
            assert answer, command
            assert '"ok":false' not in answer, command


def test_greps_of_the_alerts_find_metrics_and_log_lines() -> None:
    packages = (ROOT / name for name in ("actors", "transport"))
    sources = "\n".join(path.read_text(encoding="utf-8") for package in packages for path in package.rglob("*.py"))
    samples = "\n".join(name for row in METRIC_ROWS.values() for name in row.samples)
    piped = [one.command.split(" | grep ") for title in ALERTS for one in commands(title) if " | grep " in one.command]
    assert piped
    for command, grep in piped:
        (pattern,) = re.findall(r"'(.+)'", grep)
        where = samples if command.endswith("/metrics") else sources
        if "journalctl -k" not in command:
            flags = re.MULTILINE | (re.IGNORECASE if " -i " in f" {grep}" else re.NOFLAG)
            missing = [part for part in alternatives(pattern) if not re.search(part, where, flags)]
            assert missing == [], grep


def alternatives(pattern: str) -> list[str]:
    """Each choice of the last group of a pattern, or of the whole of it, as a pattern of its own."""
    found = re.fullmatch(r"(.*)\(([^()]+)\)(.*)", pattern)
    if found is None:
        return pattern.split("|")
    return [f"{found[1]}{choice}{found[3]}" for choice in found[2].split("|")]
