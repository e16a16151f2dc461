"""Each thing that a machine lacks is named, with the command that mends it; a machine that lacks nothing gets no finding."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from transport.cli.doctor.facts import (
    Facts,
    GroupFact,
    Holder,
    RealtimeFacts,
    SerialFact,
    ServiceFacts,
    StateFacts,
)
from transport.cli.doctor.gather import permits, tcp_holder
from transport.cli.doctor.rules import RULES, Finding, Level, diagnose

WHOLE = Facts()
NO_FIFO = RealtimeFacts(granted=False, limit=0)
TTY = "/dev/ttyACM0"


def findings(**changes: Any) -> list[Finding]:
    """What is not as it should be on a machine that differs so from one that lacks nothing."""
    return [one for one in diagnose(replace(WHOLE, **changes)) if one.level is not Level.OK]


def test_whole_machine_has_no_finding() -> None:
    assert findings() == []
    assert {one.level for one in diagnose(WHOLE)} == {Level.OK}


BRLTTY = Path("/usr/lib/udev/rules.d/85-brltty.rules")
MISSING: list[tuple[dict[str, Any], str, str, str]] = [
    # facts, subject, part of the sentence, mend
    (
        {"brltty": (BRLTTY, frozenset({0x1A86, 0x0403}))},
        "brltty",
        "85-brltty.rules gives boards with FTDI (0403), CH340 (1a86) to brltty",
        "sudo ln -sf /dev/null /etc/udev/rules.d/85-brltty.rules && sudo udevadm control --reload",
    ),
    (
        {"modem_manager": True, "unkept": (0x1A86,)},
        "ModemManager",
        "boards of the vendors 1a86",
        "sudo tee /etc/udev/rules.d/71-hapticd-vendors.rules && sudo udevadm control --reload",
    ),
    (
        {"realtime": NO_FIFO},
        "realtime",
        "RLIMIT_RTPRIO is 0, no CAP_SYS_NICE",
        "echo 'haptics - rtprio 90' | sudo tee -a /etc/security/limits.d/hapticd.conf",
    ),
    ({"realtime": replace(NO_FIFO, limit=79)}, "realtime", "RLIMIT_RTPRIO is 79", "rtprio 90"),
    ({"realtime": replace(NO_FIFO, configured=True)}, "realtime", "next login", "sudo su - haptics"),
    ({"realtime": replace(NO_FIFO, limit=99)}, "realtime", "the kernel refuses it", "--cap-add=SYS_NICE"),
    ({"realtime": replace(NO_FIFO, capability=True)}, "realtime", "the kernel refuses it", "--ulimit rtprio=90"),
    (
        {"realtime": replace(NO_FIFO, runtime_us=0)},
        "realtime",
        "no time",
        "sudo sysctl -w kernel.sched_rt_runtime_us=950000",
    ),
    (
        {"realtime": RealtimeFacts(memlock=8 * 1024 * 1024)},
        "memory lock",
        "8192 KiB of memory, 16384 are wanted",
        "echo 'haptics - memlock 16384' | sudo tee -a /etc/security/limits.d/hapticd.conf",
    ),
    ({"realtime": RealtimeFacts(memlock=0, memlock_configured=True)}, "memory lock", "next login", "su - haptics"),
    (
        {"groups": {"dialout": GroupFact(joined=False, listed=False)}},
        "group dialout",
        "not a member",
        "sudo usermod -aG dialout haptics",
    ),
    (
        {"groups": {"plugdev": GroupFact(joined=False, listed=False)}},
        "group plugdev",
        "not a member",
        "sudo usermod -aG plugdev haptics",
    ),
    (
        {"groups": {"dialout": GroupFact(exists=False, joined=False, listed=False)}},
        "group dialout",
        "no such group",
        "sudo groupadd --system dialout && sudo usermod -aG dialout haptics",
    ),
    ({"groups": {"dialout": GroupFact(joined=False)}}, "group dialout", "next login", "sudo su - haptics"),
    (
        {"rules_installed": None},
        "udev rules",
        "are not installed",
        "sudo install -D -m 644 ops/udev/70-hapticd.rules /etc/udev/rules.d/70-hapticd.rules && sudo udevadm control --reload && sudo udevadm trigger",
    ),
    ({"rules_current": False}, "udev rules", "of another version", "sudo install -D"),
    ({"libusb": False}, "libusb", "not installed", "sudo apt-get install -y libusb-1.0-0"),
    ({"libusb": False, "family": "fedora"}, "libusb", "not installed", "sudo dnf install -y libusb1"),
    ({"libusb": False, "family": "arch"}, "libusb", "not installed", "sudo pacman -S --noconfirm libusb"),
    (
        {"serial": (SerialFact(TTY, holder=Holder(7, "screen")),)},
        f"port {TTY}",
        "screen holds it (process 7)",
        "sudo kill 7",
    ),
    (
        {"serial": (SerialFact(TTY, holder=Holder(7, "ModemManager")),)},
        f"port {TTY}",
        "ModemManager holds it",
        "sudo systemctl mask --now ModemManager",
    ),
    (
        {"serial": (SerialFact(TTY, usable=False, group="uucp"),)},
        f"port {TTY}",
        "group uucp",
        "sudo usermod -aG uucp haptics",
    ),
    ({"tcp": {10001: Holder(9, "nginx")}}, "TCP port 10001", "nginx holds it (process 9)", "sudo kill 9"),
    (
        {"state": StateFacts(obstacle="it lies")},
        "state directory",
        "cannot be written: it lies",
        "hapticd run --state-dir",
    ),
    ({"serial": (SerialFact(TTY, exists=False, usable=False),)}, f"port {TTY}", "no such device", "ls -l /dev/serial"),
    ({"state": StateFacts(writable=False)}, "state directory", "cannot be written", "chmod u+rwx /var/lib/hapticd"),
    (
        {"state": StateFacts(writable=False, exists=False)},
        "state directory",
        "cannot be written",
        "sudo install -d -m 700 -o haptics /var/lib/hapticd",
    ),
    ({"state": StateFacts(private=False)}, "state directory", "Others may write", "chmod go-w /var/lib/hapticd"),
    ({"state": StateFacts(owned=False)}, "state directory", "another user", "sudo chown -R haptics /var/lib/hapticd"),
    ({"state": StateFacts(free_bytes=4096)}, "state directory", "4 KiB", "sudo journalctl --vacuum-size=100M"),
    ({"state": StateFacts(free_files=0)}, "state directory", "0 files left", "sudo journalctl --vacuum-size=100M"),
    ({"state": StateFacts(path=Path("/a b"), writable=False)}, "state directory", "/a b", "chmod u+rwx '/a b'"),
    (
        {"service": ServiceFacts(realtime=False)},
        "service",
        "without realtime priority",
        "sudo systemctl restart hapticd",
    ),
    ({"service": ServiceFacts(sentence="the loop stands still")}, "service", "the loop stands still", "hapticd status"),
    ({"service": ServiceFacts(blocked=("sim0",))}, "port sim0", "blocked", "hapticd reset sim0"),
    ({"service": ServiceFacts(blocked=("$(reboot)",))}, "port $(reboot)", "blocked", "hapticd reset '$(reboot)'"),
]

HINTS: list[tuple[dict[str, Any], str, str, str]] = [
    ({"cpus": 1}, "processors", "one processor", "taskset"),
    (
        {"governors": {0: "powersave", 1: "performance"}},
        "governor",
        "governor powersave",
        "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    ),
    (
        {"clock_source": "hpet"},
        "clock",
        "hpet",
        "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    ({"clock_source": "acpi_pm", "clock_sources": ("acpi_pm",)}, "clock", "acpi_pm", ""),
    ({"year": 1970}, "date", "1970", "sudo timedatectl set-ntp true"),
    (
        {"service": ServiceFacts(answers=False, sentence="No service answers.")},
        "service",
        "No service answers.",
        "hapticd run",
    ),
    ({"service": ServiceFacts(unusable=(("ttyACM0", "in_use"),))}, "port ttyACM0", "in_use", "hapticd reset ttyACM0"),
]


@pytest.mark.parametrize(("changes", "subject", "says", "mend"), MISSING)
def test_missing_thing_is_named_with_the_command_that_mends_it(
    changes: dict[str, Any], subject: str, says: str, mend: str
) -> None:
    (found,) = findings(**changes)

    assert (found.subject, found.level) == (subject, Level.MISSING)
    assert says in found.sentence
    assert mend in found.mend
    assert found.mend


@pytest.mark.parametrize(("changes", "subject", "says", "mend"), HINTS)
def test_weakness_is_a_hint(changes: dict[str, Any], subject: str, says: str, mend: str) -> None:
    (found,) = findings(**changes)

    assert (found.subject, found.level) == (subject, Level.HINT)
    assert says in found.sentence
    assert mend in found.mend


@pytest.mark.parametrize(("changes", "subject", "says", "mend"), [*MISSING, *HINTS])
def test_root_is_told_commands_without_sudo(changes: dict[str, Any], subject: str, says: str, mend: str) -> None:
    del subject, says, mend
    for found in findings(**changes, root=True):
        assert "sudo " not in found.mend.replace("sudo hapticd", "")


def test_root_needs_no_group() -> None:
    assert findings(root=True, groups={"dialout": GroupFact(exists=False, joined=False, listed=False)}) == []


def test_everything_missing_is_named_at_once() -> None:
    bare = {
        "realtime": replace(NO_FIFO, memlock=0),
        "groups": {name: GroupFact(joined=False, listed=False) for name in ("dialout", "plugdev")},
        "rules_installed": None,
        "libusb": False,
        "state": StateFacts(writable=False),
    }

    assert [one.subject for one in findings(**bare)] == [
        "realtime",
        "memory lock",
        "group dialout",
        "group plugdev",
        "udev rules",
        "libusb",
        "state directory",
    ]


@pytest.mark.parametrize("holder", [Holder(5, "hapticd"), Holder(5, "hapticd-fails")])
def test_port_that_the_service_itself_holds_is_no_finding(holder: Holder) -> None:
    assert findings(serial=(SerialFact(TTY, holder=holder),), tcp={10001: holder}) == []


def test_unseen_listener_while_no_service_answers_is_looked_for_as_root() -> None:
    found, _ = findings(tcp={10001: Holder(0, "")}, service=ServiceFacts(answers=False, sentence="No service answers."))

    assert (found.subject, found.level, found.mend) == ("TCP port 10001", Level.MISSING, "sudo hapticd doctor")


def test_unseen_listener_is_the_service_when_it_answers() -> None:
    assert findings(tcp={10001: Holder(0, "")}) == []


@pytest.mark.parametrize("rule", RULES)
def test_name_from_outside_cannot_reach_the_terminal(rule: str) -> None:
    evil = "\x1b[2J\u202e"
    facts = replace(
        WHOLE,
        clock_source=evil,
        governors={0: evil},
        serial=(SerialFact(evil, usable=False, group=evil), SerialFact(evil, holder=Holder(1, evil))),
        tcp={1: Holder(1, evil)},
        service=ServiceFacts(url=evil, blocked=(evil,), unusable=((evil, evil),), sentence=evil),
    )

    for found in RULES[rule](facts):
        assert "\x1b" not in found.subject + found.sentence + found.then


@pytest.mark.parametrize(
    ("text", "permitted"),
    [
        ("haptics - rtprio 90", True),
        ("@lab - rtprio 80", True),
        ("* soft rtprio unlimited", True),
        ("haptics - rtprio 79", False),
        ("other - rtprio 90", False),
        ("@other - rtprio 90", False),
        ("# haptics - rtprio 90", False),
        ("haptics - memlock 90", False),
        ("haptics - rtprio", False),
        ("haptics - rtprio many", False),
        ("", False),
    ],
)
def test_file_of_limits_is_read(text: str, permitted: bool) -> None:
    assert permits(text, "haptics", ["lab"], "rtprio", 80) is permitted


def test_what_only_real_devices_need_is_a_hint_while_all_are_simulated() -> None:
    lacks = {
        "groups": {"dialout": GroupFact(joined=False)},
        "libusb": False,
        "rules_installed": None,
        "brltty": (BRLTTY, frozenset({0x1A86})),
        "realtime": NO_FIFO,
    }
    levels = {one.subject: one.level for one in findings(**lacks, service=ServiceFacts(simulates=True))}
    assert levels.pop("realtime") is Level.MISSING
    assert set(levels) == {"group dialout", "libusb", "udev rules", "brltty"}
    assert set(levels.values()) == {Level.HINT}
    assert {one.level for one in findings(**lacks)} == {Level.MISSING}


def test_listener_is_found_by_its_socket(tmp_path: Path) -> None:
    head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    row = "   0: 0100007F:2711 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1\n"
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "tcp").write_text(head + row)
    (tmp_path / "42" / "fd").mkdir(parents=True)
    (tmp_path / "42" / "comm").write_text("nginx\n")
    (tmp_path / "42" / "fd" / "3").symlink_to("socket:[4711]")

    assert tcp_holder(0x2711, tmp_path) == Holder(42, "nginx")
    assert tcp_holder(0x2712, tmp_path) is None
    (tmp_path / "42" / "fd" / "3").unlink()
    assert tcp_holder(0x2711, tmp_path) == Holder(0, "")
