"""The udev rules: valid syntax (checked by udevadm if installed), and one for each supported device."""

from __future__ import annotations

import re
import shutil
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from transport.link.protocols.falcon.device import IDS as FALCON_IDS
from transport.link.protocols.spacemouse.device import IDS as SPACEMOUSE_IDS
from transport.link.serial_ports import PRODUCT_MARK
from transport.link.usb_bus import RULES

FILE = Path(__file__).parents[3] / RULES
MATCH_KEYS = {"ACTION", "KERNEL", "SUBSYSTEM", "ENV", "ATTR", "ATTRS"}
ASSIGN_KEYS = {"MODE", "GROUP", "TAG", "ENV", "GOTO", "LABEL"}
# KEY{attribute}operator"value": an operator that compares or one that assigns; a value has no quote inside.
PART = re.compile(r'(?P<key>[A-Z]+)(?:\{(?P<attribute>\w+)\})?(?P<operator>==|!=|\+=|:=|=)"(?P<value>[^"]*)"')


def lines() -> list[str]:
    return [line for line in FILE.read_text(encoding="ascii").splitlines() if line and not line.startswith("#")]


def complaints(line: str) -> list[str]:
    """What udev would not take in a rule."""
    found: list[str] = []
    for part in line.split(", "):
        read = PART.fullmatch(part)
        if read is None:
            found.append(f"{part} is no KEY operator value")
            continue
        compares = read["operator"] in ("==", "!=")
        if read["key"] not in (MATCH_KEYS if compares else ASSIGN_KEYS):
            found.append(f"{read['key']} is not {'compared' if compares else 'assigned'}")
        if (read["attribute"] is None) is (read["key"] in ("ENV", "ATTR", "ATTRS")):
            found.append(f"{read['key']} has an attribute or none")
        if read["key"] == "MODE" and not re.fullmatch(r"0[0-7]{3}", read["value"]):
            found.append(f"{read['value']} is no mode")
    return found


def ids(vendor: str, line: str) -> set[tuple[int, int]]:
    """The devices of a vendor that a line names."""
    products = re.search(r'ATTRS?\{idProduct\}=="([^"]*)"', line)
    if f'"{vendor}"' not in line or products is None:
        return set()
    return {(int(vendor, 16), int(product, 16)) for product in products[1].split("|")}


def test_every_line_is_a_valid_rule() -> None:
    assert [(line, complaints(line)) for line in lines() if complaints(line)] == []


@pytest.mark.parametrize(
    "line",
    ['SUBSYSTEM="usb" MODE="0660"', 'MODE=="0660"', 'ATTR=="0403"', 'SUBSYSTEM{x}=="usb"', 'MODE="rw"', "TAG+=uaccess"],
)
def test_check_detects_an_invalid_rule(line: str) -> None:
    assert complaints(line)


def test_every_jump_has_its_label() -> None:
    text = FILE.read_text(encoding="ascii")

    assert re.findall(r'GOTO="(\w+)"', text) == re.findall(r'LABEL="(\w+)"', text)


def test_seated_user_may_open_usb_devices() -> None:
    opened = [line for line in lines() if 'TAG+="uaccess"' in line]
    named = {one for line in opened for vendor in ("0403", "046d", "256f") for one in ids(vendor, line)}

    assert named == FALCON_IDS | SPACEMOUSE_IDS


@pytest.mark.parametrize(("vendor", "product"), [("16c0", "0483"), ("2fe3", "0100")])
def test_modem_manager_ignores_boards(vendor: str, product: str) -> None:
    ignoring = [line for line in lines() if 'ENV{ID_MM_DEVICE_IGNORE}="1"' in line]

    assert sum(f'"{vendor}"' in line and f'"{product}"' in line for line in ignoring) == 2


def test_modem_manager_ignores_arduino_boards_and_a_seated_user_may_open_them() -> None:
    (usb, tty) = [line for line in lines() if 'ATTRS{idVendor}=="2341|2a03"' in line.replace("ATTR{", "ATTRS{")]

    assert [usb.partition(",")[0], tty.partition(",")[0]] == ['SUBSYSTEM=="usb"', 'SUBSYSTEM=="tty"']
    for line in (usb, tty):
        assert "idProduct" not in line
        assert 'ENV{ID_MM_DEVICE_IGNORE}="1"' in line
    assert 'GROUP="dialout", TAG+="uaccess"' in tty


def test_boards_naming_the_protocol_are_accessible_for_any_vendor() -> None:
    lines_of_theirs = [line for line in lines() if "[Oo]pen [Hh]aptic [Ll]ink" in line]

    assert [line.partition(",")[0] for line in lines_of_theirs] == ['SUBSYSTEM=="usb"', 'SUBSYSTEM=="tty"']
    assert all('ENV{ID_MM_DEVICE_IGNORE}="1"' in line for line in lines_of_theirs)
    assert 'GROUP="dialout"' in lines_of_theirs[1]
    (pattern,) = set(re.findall(r'product\}=="([^"]*)"', "".join(lines_of_theirs)))
    for text in (PRODUCT_MARK, PRODUCT_MARK.title(), f"My {PRODUCT_MARK.capitalize()} arm"):
        assert fnmatchcase(text, pattern)


def test_file_number_precedes_the_access_rules() -> None:
    assert int(FILE.name.split("-")[0]) < 73


def test_udevadm_verifies_the_file() -> None:
    if shutil.which("udevadm") is None:
        pytest.skip("udevadm is not installed")
    known = subprocess.run(["udevadm", "verify", "--help"], capture_output=True, text=True, check=False)
    if known.returncode != 0:
        pytest.skip("this udevadm has no verify: it came with systemd 254")

    done = subprocess.run(
        ["udevadm", "verify", "--resolve-names=never", str(FILE)], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


# Where nobody else's rules are: what is mounted and written here is gone with the process.
READ = """
set -e
mount -t tmpfs none /run
mkdir -p /run/udev/rules.d
cat > "/run/udev/rules.d/$1"
udevadm test --action=add /sys/class/net/lo 2>&1
"""


def read_by_udev(name: str, text: str) -> list[str]:
    """What udev's own reader says of a rules file of that name; skips the test where there is none, or no namespace for it."""
    if shutil.which("udevadm") is None or shutil.which("unshare") is None:
        pytest.skip("udevadm or unshare is not installed")
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no namespaces here")
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", READ, "sh", name], input=text, capture_output=True, text=True, check=False
    )
    said = [line for line in done.stdout.splitlines() if f"/run/udev/rules.d/{name}" in line]
    if not said:
        pytest.skip(f"udevadm does not read rules here: {done.stdout[-200:]}{done.stderr[-200:]}")
    return said


def test_udev_reads_the_file_without_a_complaint() -> None:
    (said,) = read_by_udev(FILE.name, FILE.read_text(encoding="ascii"))

    assert said.startswith("Reading rules file: ")


@pytest.mark.parametrize("line", ['SUBSYSTEM="usb", MODE="0660"', 'FOO=="x", MODE="0660"'])
def test_udev_reports_an_invalid_rule(line: str) -> None:
    _, complaint = read_by_udev("70-broken.rules", f"{line}\n")

    assert complaint.startswith("/run/udev/rules.d/70-broken.rules:1 ")
