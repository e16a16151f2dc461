"""The doctor and the service ask the same questions: where a condition is produced, both say the same."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
import serial
import usb.backend.libusb1

from actors.control.cores import fifo_permitted, of_this_machine
from actors.kit.errors import HapticError
from actors.settings.api import StateDirectory
from tests.support.service.running_system import RunningSystem
from transport.cli.address import Address
from transport.cli.client import Client
from transport.cli.doctor.facts import UNLIMITED, Facts
from transport.cli.doctor.gather import gather, tcp_holder
from transport.cli.doctor.rules import GRANTED_PRIORITY, MEMLOCK, PRIORITY, RULES, Finding, Level
from transport.link import udev_rules
from transport.link.usb_bus import UsbBus
from transport.settings_catalog import SETTINGS_CATALOG

VENDORS = "/settings/devices/detection/advanced/allowed_vendor_id_filter"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSystem]:
    with RunningSystem(tmp_path_factory.mktemp("state")) as running:
        yield running


def facts(service: RunningSystem, state: Path) -> Facts:
    at = urlsplit(service.http)
    return gather(Client(Address("http", at.hostname or "", at.port or 0)), state)


def finding(rule: str, found: Facts) -> Finding:
    """The first finding of a rule."""
    return next(RULES[rule](found))


@pytest.mark.parametrize(
    ("system", "wheel", "level"),
    [(True, False, Level.OK), (False, True, Level.OK), (False, False, Level.MISSING)],
    ids=["of the system", "of the wheel", "none"],
)
def test_libusb_is_found_where_the_service_finds_it(
    service: RunningSystem,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    system: bool,
    wheel: bool,
    level: Level,
) -> None:
    def get_backend(find_library: object = None) -> object:
        return "backend" if (system if find_library is None else wheel) else None

    monkeypatch.setattr(usb.backend.libusb1, "get_backend", get_backend)

    def find(**_options: object) -> list[object]:
        return []

    monkeypatch.setattr("usb.core.find", find)

    assert finding("libusb", facts(service, tmp_path)).level is level
    bus = UsbBus()
    bus.devices()
    assert (bus._backend is None) == (level is Level.MISSING)


def test_realtime_is_granted_at_the_priority_of_the_setting() -> None:
    (setting,) = [row for row in SETTINGS_CATALOG if row.key == "control/realtime_priority"]

    assert setting.default == PRIORITY <= GRANTED_PRIORITY


def not_a_folder(path: Path) -> Path:
    path.write_text("no folder")
    return path


def open_to_all(path: Path) -> Path:
    path.mkdir()
    path.chmod(0o777)
    return path


def of_proc(_path: Path) -> Path:
    return Path("/proc/hapticd-state")


def good(path: Path) -> Path:
    return path


@pytest.mark.parametrize(
    ("make", "level"),
    [(not_a_folder, Level.MISSING), (open_to_all, Level.MISSING), (of_proc, Level.MISSING), (good, Level.OK)],
)
def test_state_directory_is_judged_as_the_service_judges_it(
    service: RunningSystem, tmp_path: Path, make: Callable[[Path], Path], level: Level
) -> None:

    path = make(tmp_path / "state")

    found = finding("state", facts(service, path))

    assert found.level is level
    try:
        with StateDirectory(path):
            opened = True
    except HapticError:
        opened = False
    assert opened == (level is Level.OK)


def test_port_that_somebody_listens_at_is_named_and_cannot_be_listened_at() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        number = other.getsockname()[1]

        assert tcp_holder(number) is not None
        with socket.socket() as ours, pytest.raises(OSError, match="in use"):
            ours.bind(("127.0.0.1", number))
    assert tcp_holder(number) is None


def test_service_that_answers_is_ready_for_both(service: RunningSystem, tmp_path: Path) -> None:
    found = finding("service", facts(service, tmp_path))

    assert found.sentence == f"{service.http} is ready." or "realtime" in found.sentence
    assert service.ask("GET", "/readyz").status == 200


def test_vendors_of_the_settings_that_no_rule_keeps_are_found(service: RunningSystem, tmp_path: Path) -> None:
    assert facts(service, tmp_path).unkept == ()
    assert service.ask("POST", VENDORS, ["1A86", "16C0"]).status == 200
    try:
        unkept = facts(service, tmp_path).unkept
        assert 0x1A86 in unkept
    finally:
        service.ask("DELETE", VENDORS)


AGREES: Final = frozenset(
    {"realtime", "memlock", "processors", "takers", "libusb", "serial", "state", "tcp", "service"}
)
# Findings of which the service asks nothing: it works the same, faster or slower, or the kernel decides when it opens a port.
ADVICE_ONLY: Final = {
    "clock": "the loop reads the same clock whatever its source, and events carry the date that the system has",
    "groups": "the kernel decides when a port is opened; `serial` says whether this user may",
    "udev": "the service reads no rules of its own; the kernel decides when a device is opened",
}


def test_each_rule_agrees_with_the_service_or_is_advice_with_a_reason() -> None:
    assert AGREES | ADVICE_ONLY.keys() == RULES.keys()
    assert AGREES.isdisjoint(ADVICE_ONLY)


def test_loop_is_pinned_where_realtime_is_granted(
    service: RunningSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted = finding("realtime", facts(service, tmp_path)).level is Level.OK
    assert fifo_permitted(PRIORITY) is granted

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.sched_setscheduler", refuse)
    assert finding("realtime", facts(service, tmp_path)).level is Level.MISSING
    assert of_this_machine("auto", PRIORITY).loop is None


@pytest.mark.parametrize(("allowed", "level"), [({0}, Level.HINT), ({0, 1}, Level.OK)])
def test_loop_has_a_processor_of_its_own_where_there_are_two(
    service: RunningSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: set[int], level: Level
) -> None:

    def affinity(_process: int) -> set[int]:
        return allowed

    def permitted(_priority: int) -> bool:
        return True

    monkeypatch.setattr("os.sched_getaffinity", affinity)
    monkeypatch.setattr("actors.control.cores.fifo_permitted", permitted)

    assert finding("processors", facts(service, tmp_path)).level is level
    cores = of_this_machine("auto", PRIORITY)
    assert (cores.loop is not None and cores.loop not in cores.rest) == (level is Level.OK)


LOCKING: Final = """
import os, resource, sys
from transport.cli.doctor.gather import memory_lock_limit
from fastpath.arena.runtime import Runtime
_, most = resource.getrlimit(resource.RLIMIT_MEMLOCK)
resource.setrlimit(resource.RLIMIT_MEMLOCK, (int(sys.argv[1]) or most, most))
if os.geteuid() == 0:
    os.setgid(65534); os.setuid(65534)
runtime = Runtime()
runtime.start()
runtime.stop()
print(memory_lock_limit(), int(runtime.loop_state()["locked"]))
"""


@pytest.mark.parametrize("most", [64 * 1024, 0], ids=["64 KiB", "all that may be"])
def test_memory_that_the_limit_permits_is_locked(most: int) -> None:
    """In a process of its own, without the capability that sets the limit aside."""
    done = subprocess.run(
        [sys.executable, "-c", LOCKING, str(most)], capture_output=True, text=True, check=True, timeout=60
    )
    limit, locked = map(int, done.stdout.split())

    assert most in {limit, 0}
    if limit == UNLIMITED or limit >= MEMLOCK:
        assert locked
    if most:
        assert not locked


def test_board_that_brltty_takes_is_named_by_both(
    service: RunningSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = tmp_path / "85-brltty.rules"

    def rule_files(wanted: str, _folders: Iterable[str] = ()) -> list[Path]:
        return [rules] if wanted == "brltty" else []

    monkeypatch.setattr("transport.link.udev_rules.rule_files", rule_files)
    for text, level in (("", Level.OK), ('ENV{PRODUCT}=="1a86/7523/*", ENV{BRLTTY}="auto"', Level.MISSING)):
        rules.write_text(text)

        assert finding("takers", facts(service, tmp_path)).level is level
        assert bool(udev_rules.taker(0x1A86)) == (level is Level.MISSING)


def test_port_that_is_not_there_or_held_is_told_as_it_opens(service: RunningSystem, tmp_path: Path) -> None:
    master, slave = os.openpty()
    there, gone = os.ttyname(slave), str(tmp_path / "ttyUSB9")
    try:
        at = urlsplit(service.http)
        client = Client(Address("http", at.hostname or "", at.port or 0))
        found = {one.subject: one for one in RULES["serial"](gather(client, tmp_path, [there, gone]))}

        assert found[f"port {gone}"].level is Level.MISSING
        with pytest.raises(OSError, match="No such file"):
            serial.Serial(gone)
        assert found[f"port {there}"].level is Level.OK
        serial.Serial(there, exclusive=True).close()
    finally:
        os.close(master)
        os.close(slave)
