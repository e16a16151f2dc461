"""The doctor and the service ask the same questions: where a condition is produced, both say the same."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import usb.backend.libusb1

from actors.kit.errors import HapticError
from actors.settings.api import StateDirectory
from tests.support.service.running_system import RunningSystem
from transport.cli.address import Address
from transport.cli.client import Client
from transport.cli.doctor.facts import Facts
from transport.cli.doctor.gather import gather, tcp_holder
from transport.cli.doctor.rules import GRANTED_PRIORITY, PRIORITY, RULES, Finding, Level
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
