"""Which serial ports are candidates, and the hint for ports that are not driven; no port is opened."""

from __future__ import annotations

import errno
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from actors.kit.published import Published
from actors.port.link_interface import NoDeviceAnswers, OpenLimits, PortUnusable
from actors.values.hardware import Candidate, PortFault, Transport
from tests.support.actors.doubles import settings_view
from transport.link.driver_spec import UnsupportedIds
from transport.link.drivers import DRIVERS
from transport.link.scanner import PortScanner, open_error
from transport.link.serial_ports import NAMED, VENDORS, SerialPorts, base_name, named_apart

UNSUPPORTED = UnsupportedIds(DRIVERS)
TEENSY = (0x16C0, 0x0483)


def listed(path: str, ids: tuple[int, int] | None = None, product: str | None = None) -> Any:
    """A row as pyserial has it."""
    vid, pid = ids or (None, None)
    return SimpleNamespace(device=path, vid=vid, pid=pid, product=product, serial_number=None)


def candidates(*rows: Any, **chosen: list[str]) -> tuple[Candidate, ...]:
    settings = {{"named": NAMED, "vendors": VENDORS}[name]: value for name, value in chosen.items()}
    return SerialPorts(Published(settings_view(settings)), UNSUPPORTED, lambda: rows).candidates()


def ports(*rows: Any, **chosen: list[str]) -> list[str]:
    return [one.port for one in candidates(*rows, **chosen)]


@pytest.mark.parametrize(
    "row",
    [
        listed("/dev/ttyS0"),
        listed("/dev/ttyUSB0", (0x0403, 0x6001), "FT232R USB UART"),
        listed("/dev/ttyACM0", (0x2341, 0x0043), None),
    ],
)
def test_unknown_port_is_ignored(row: Any) -> None:
    assert ports(row) == []


def test_board_naming_the_protocol_is_a_candidate() -> None:
    row = listed("/dev/ttyACM0", (0x1209, 0x0001), "My Open Haptic Link arm")
    assert candidates(row) == (
        Candidate("ttyACM0", "/dev/ttyACM0", Transport.SERIAL, 0x1209, 0x0001, "My Open Haptic Link arm"),
    )


def test_port_of_a_vendor_filter_is_a_candidate() -> None:
    rows = (listed("/dev/ttyUSB0", (0x0403, 0x6001)), listed("/dev/ttyACM0", (0x2341, 0x0043)))
    assert ports(*rows, vendors=["0403"]) == ["ttyUSB0"]


@pytest.mark.parametrize("name", ["ttyUSB0", "/dev/ttyUSB0"])
def test_port_named_by_a_setting_is_a_candidate_for_any_vendor(name: str) -> None:
    (found,) = candidates(listed("/dev/ttyUSB0", (0x0403, 0x6001)), listed("/dev/ttyS0"), named=[name])
    assert (found.port, found.assigned, found.vendor_id) == ("ttyUSB0", True, 0x0403)


def test_unlisted_port_of_a_setting_exists_with_its_node(tmp_path: Path) -> None:
    arm = tmp_path / "arm"
    assert ports(named=[str(arm)]) == []
    arm.touch()
    assert candidates(named=[str(arm)]) == (Candidate("arm", str(arm), Transport.SERIAL, assigned=True),)


def test_symlink_to_a_listed_port_is_that_port(tmp_path: Path) -> None:
    port, by_id = tmp_path / "ttyACM0", tmp_path / "usb-arm"
    port.touch()
    by_id.symlink_to(port)
    (found,) = candidates(listed(str(port), (0x0403, 0x6001)), named=[str(by_id)])
    assert (found.path, found.assigned) == (str(port), True)


def test_ports_with_equal_base_names_are_distinguished() -> None:
    one, two = Candidate("arm", "/x/a/arm", Transport.SERIAL), Candidate("arm", "/x/b/arm", Transport.SERIAL)
    assert [named.port for named in named_apart((one, two))] == ["x-a-arm", "x-b-arm"]
    assert named_apart((one,)) == (one,)


@pytest.mark.parametrize(
    ("path", "name"), [("/dev/ttyACM0", "ttyACM0"), ("COM3", "COM3"), ("/dev/pts/", "pts"), ("/", "/")]
)
def test_base_name_of_a_path_is_the_port_name(path: str, name: str) -> None:
    assert base_name(path) == name


class Family:
    """Opens what it lists, and remembers that it was asked."""

    def __init__(
        self, *found: Candidate, transport: Transport = Transport.SERIAL, error: OSError | None = None
    ) -> None:
        self.transport = transport
        self.found = found
        self.opened: list[Candidate] = []
        self._error = error

    def candidates(self) -> tuple[Candidate, ...]:
        return self.found

    def named_paths(self) -> tuple[str, ...]:
        return ()

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> Any:
        del limits, stop
        self.opened.append(candidate)
        if self._error is not None:
            raise self._error
        return "link"


def machine(*families: Family, **settings: object) -> PortScanner:
    chosen = {f"communication/{name}/enabled": value for name, value in settings.items()}
    return PortScanner(Published(settings_view(chosen)), families, UNSUPPORTED)


def opened(links: PortScanner, candidate: Candidate) -> Any:
    return links.open(candidate, OpenLimits(), threading.Event())


@pytest.mark.parametrize(
    ("ids", "word"),
    [
        (TEENSY, "force-feedback arm"),
        ((0x2FE3, 0x0100), "wireless grip"),
        ((0x1451, 0x0402), "Force Dimension"),
        ((0x2988, 0x0302), "3D Systems"),
    ],
)
def test_known_undriven_device_is_reported_and_never_opened(ids: tuple[int, int], word: str) -> None:
    (candidate,) = candidates(listed("/dev/ttyACM0", ids))
    family = Family(candidate)
    links = machine(family)
    assert links.scan() == (candidate,)
    with pytest.raises(
        PortUnusable, match=f"recognised as .*{word}.*no open protocol; the vendor's service drives it"
    ) as error:
        opened(links, candidate)
    assert error.value.reason is PortFault.NO_DRIVER
    assert family.opened == []


def test_known_undriven_board_named_by_a_setting_is_opened() -> None:
    (candidate,) = candidates(listed("/dev/ttyACM0", TEENSY), named=["ttyACM0"])
    links = machine(Family(candidate))
    links.scan()
    assert opened(links, candidate) == "link"


def test_unknown_usb_ids_are_not_refused() -> None:
    assert UNSUPPORTED.find(None, None) is None
    assert UNSUPPORTED.find(0x16C0, 0x0486) is None


def test_port_claimed_twice_belongs_to_the_first() -> None:
    candidate = Candidate("a", "/dev/a", Transport.SERIAL)
    first, second = Family(candidate), Family(candidate)
    links = machine(first, second)
    assert links.scan() == (candidate,)
    opened(links, candidate)
    assert (first.opened, second.opened) == ([candidate], [])


def test_disabled_ports_are_not_listed() -> None:
    usb = Family(Candidate("u", "/dev/u", Transport.USB), transport=Transport.USB)
    serial = Family(Candidate("s", "/dev/s", Transport.SERIAL))
    assert [one.port for one in machine(usb, serial, usb=False).scan()] == ["s"]
    assert [one.port for one in machine(usb, serial, serial=False).scan()] == ["u"]


def test_missing_port_is_no_device_answers() -> None:
    with pytest.raises(NoDeviceAnswers):
        opened(machine(), Candidate("a", "/dev/a", Transport.SERIAL))


@pytest.mark.parametrize(
    ("number", "reason", "says"),
    [
        (errno.EACCES, PortFault.PERMISSION, "group dialout"),
        (errno.EPERM, PortFault.PERMISSION, "udev rules"),
        (errno.EBUSY, PortFault.IN_USE, "another program holds /dev/a"),
        (errno.EAGAIN, PortFault.IN_USE, "another program"),
    ],
)
def test_system_error_is_reported_with_advice(number: int, reason: PortFault, says: str) -> None:
    candidate = Candidate("a", "/dev/a", Transport.SERIAL)
    links = machine(Family(candidate, error=OSError(number, "no")))
    links.scan()
    with pytest.raises(PortUnusable, match=says) as error:
        opened(links, candidate)
    assert error.value.reason is reason


def test_replugged_port_is_another_than_the_listed_one(tmp_path: Path) -> None:
    path = tmp_path / "ttyACM0"
    path.touch()
    family = Family(Candidate("ttyACM0", str(path), Transport.SERIAL))
    links = machine(family)
    (listed_one,) = links.scan()
    assert opened(links, listed_one) == "link"
    (tmp_path / "new").touch()
    (tmp_path / "new").replace(path)

    with pytest.raises(NoDeviceAnswers):
        opened(links, listed_one)
    (anew,) = links.scan()
    assert not listed_one.stayed(anew)
    assert opened(links, anew) == "link"


def test_missing_file_is_no_device_answers() -> None:
    assert isinstance(open_error(OSError(errno.ENOENT, "no such file"), "/dev/a"), NoDeviceAnswers)
