"""Judge facts: one rule for each subject, findings with the exact command that mends what is missing. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from transport.cli.doctor.facts import UNLIMITED, Facts, Holder, RealtimeFacts
from transport.cli.text import clean
from transport.link.udev_rules import BRIDGES, brltty_cure, keep_rule

PRIORITY: Final = 80  # default of control/realtime_priority
GRANTED_PRIORITY: Final = 90
MEMLOCK: Final = 16 * 1024 * 1024
LIMITS_FILE: Final = "/etc/security/limits.d/hapticd.conf"
RULES_FOLDER: Final = "/etc/udev/rules.d/"
LOCAL_RULES: Final = "/etc/udev/rules.d/71-hapticd-vendors.rules"
LEAST_BYTES: Final = 16 * 1024 * 1024
LEAST_FILES: Final = 16
FIRST_YEAR: Final = 2024
SLOW_GOVERNORS: Final = frozenset({"powersave", "conservative", "ondemand", "schedutil"})
# A read of these takes microseconds, or they tick too seldom.
SLOW_CLOCKS: Final = frozenset({"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"})
LIBUSB_INSTALL: Final[Mapping[str, str]] = MappingProxyType(
    {
        "debian": "apt-get install -y libusb-1.0-0",
        "fedora": "dnf install -y libusb1",
        "arch": "pacman -S --noconfirm libusb",
        "suse": "zypper install -y libusb-1_0-0",
    }
)
OURS: Final = "hapticd"


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    HINT = "hint"  # it works, less well than it could
    MISSING = "missing"  # something does not work


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence about one subject, and what mends it."""

    subject: str
    level: Level
    sentence: str
    mend: str = ""  # a command, "" when there is none
    then: str = ""  # what else is to be done, in words


def diagnose(facts: Facts) -> list[Finding]:
    """Return the findings of every rule, in the order of the table."""
    found = [(rule, finding) for rule in RULES.values() for finding in rule(facts)]
    return [_for_later(one) if facts.service.simulates and rule in OF_REAL_DEVICES else one for rule, one in found]


def _for_later(finding: Finding) -> Finding:
    """Return what is missing for real devices alone as a hint: the service has none."""
    if finding.level is not Level.MISSING:
        return finding
    then = f"{finding.then} Only real devices need it, and the service has simulated ones.".strip()
    return replace(finding, level=Level.HINT, then=then)


def judge_realtime(facts: Facts) -> Iterator[Finding]:
    """Yield whether the loop gets SCHED_FIFO."""
    found = facts.realtime
    if found.granted:
        yield Finding("realtime", Level.OK, f"SCHED_FIFO at priority {PRIORITY} is granted.")
    elif found.runtime_us == 0:
        yield Finding(
            "realtime",
            Level.MISSING,
            "The kernel gives realtime threads no time (kernel.sched_rt_runtime_us is 0).",
            _as_root(facts, "sysctl -w kernel.sched_rt_runtime_us=950000"),
        )
    elif found.configured:
        yield Finding(
            "realtime",
            Level.MISSING,
            f"{LIMITS_FILE} permits realtime priority from the next login on.",
            _login(facts),
            "If it stays so, the login does not read limits (pam_limits), or a container forbids it: "
            "docker run --cap-add=SYS_NICE --ulimit rtprio=90",
        )
    elif _permitted(found):
        yield Finding(
            "realtime",
            Level.MISSING,
            "The limits permit realtime priority, and the kernel refuses it: a container, or a control group without realtime time.",
            "docker run --cap-add=SYS_NICE --ulimit rtprio=90",
            "In a container start it so; otherwise kernel.sched_rt_runtime_us, or the control group, gives realtime threads no time.",
        )
    else:
        yield Finding(
            "realtime",
            Level.MISSING,
            f"User {facts.user} may not use realtime priority {PRIORITY} "
            f"(RLIMIT_RTPRIO is {found.limit}, no CAP_SYS_NICE): forces stutter when the machine is busy.",
            _limit(facts, f"rtprio {GRANTED_PRIORITY}"),
            "Then log in again. A service of ops/systemd needs no such file.",
        )


def judge_memlock(facts: Facts) -> Iterator[Finding]:
    """Yield whether the loop's memory can be locked."""
    limit = facts.realtime.memlock
    if limit == UNLIMITED or limit >= MEMLOCK:
        yield Finding("memory lock", Level.OK, "The loop's memory can be locked.")
    elif facts.realtime.memlock_configured:
        yield Finding("memory lock", Level.MISSING, f"{LIMITS_FILE} permits it from the next login on.", _login(facts))
    else:
        yield Finding(
            "memory lock",
            Level.MISSING,
            f"User {facts.user} may lock {limit // 1024} KiB of memory, {MEMLOCK // 1024} are wanted.",
            _limit(facts, f"memlock {MEMLOCK // 1024}"),
            "Then log in again.",
        )


def judge_processors(facts: Facts) -> Iterator[Finding]:
    """Yield whether the loop can have a processor of its own, at full speed."""
    if facts.cpus < 2:
        yield Finding(
            "processors",
            Level.HINT,
            "This process may use one processor: the loop shares it with everything else.",
            "taskset -pc 0-$(($(nproc --all) - 1)) $$",
            "Helps where the shell was bound to one processor; otherwise give the machine a second one.",
        )
    else:
        yield Finding("processors", Level.OK, f"{facts.cpus} processors, one of them for the loop.")
    slow = sorted({name for name in facts.governors.values() if name in SLOW_GOVERNORS})
    if slow:
        yield Finding(
            "governor",
            Level.HINT,
            f"The processors save power (governor {', '.join(slow)}): ticks come late after a pause.",
            f"echo performance | {_as_root(facts, 'tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor')}",
        )
    else:
        named = ", ".join(sorted(set(map(clean, facts.governors.values())))) or "none: the host decides"
        yield Finding("governor", Level.OK, f"CPU governor: {named}.")


def judge_groups(facts: Facts) -> Iterator[Finding]:
    """Yield whether this user is in the groups that own the ports; root needs none."""
    for name, group in facts.groups.items():
        if facts.root:
            yield Finding(f"group {name}", Level.OK, "root may open every port.")
        elif group.joined:
            yield Finding(f"group {name}", Level.OK, f"{facts.user} is a member.")
        elif group.listed:
            yield Finding(
                f"group {name}", Level.MISSING, f"{facts.user} is a member from the next login on.", _login(facts)
            )
        else:
            made = "" if group.exists else _as_root(facts, f"groupadd --system {name}") + " && "
            lack = "is not a member" if group.exists else "is not a member, and there is no such group"
            yield Finding(
                f"group {name}",
                Level.MISSING,
                f"{facts.user} {lack}: its devices cannot be opened.",
                made + _as_root(facts, f"usermod -aG {name} {shlex.quote(facts.user)}"),
                "Then log in again.",
            )


def judge_udev(facts: Facts) -> Iterator[Finding]:
    """Yield whether the udev rules are installed and current."""
    if facts.rules_installed is not None and facts.rules_current:
        yield Finding("udev rules", Level.OK, f"{facts.rules_installed} is current.")
        return
    if facts.rules_installed is None and facts.root and not facts.modem_manager:
        yield Finding(
            "udev rules", Level.OK, "root needs none: it may open every device, and there is no ModemManager."
        )
        return
    what = (
        "are not installed" if facts.rules_installed is None else f"in {facts.rules_installed} are of another version"
    )
    source = facts.rules_source or "70-hapticd.rules"
    reload = f"{_as_root(facts, 'udevadm control --reload')} && {_as_root(facts, 'udevadm trigger')}"
    yield Finding(
        "udev rules",
        Level.MISSING,
        f"The udev rules {what}: USB devices belong to root{', and ModemManager writes to boards' if facts.modem_manager else ''}.",
        f"{_as_root(facts, f'install -D -m 644 {shlex.quote(str(source))} {RULES_FOLDER}70-hapticd.rules')} && {reload}",
    )


def judge_takers(facts: Facts) -> Iterator[Finding]:
    """Yield which other programs of the machine take serial boards, or write to them."""
    if facts.brltty is None:
        yield Finding("brltty", Level.OK, "brltty takes no serial board.")
    else:
        path, vendors = facts.brltty
        chips = ", ".join(f"{BRIDGES[vendor]} ({vendor:04x})" for vendor in sorted(vendors))
        command, _, reload = brltty_cure(path).partition(" && ")
        yield Finding(
            "brltty",
            Level.MISSING,
            f"{path} gives boards with {chips} to brltty, half a second after they are plugged in.",
            f"{_as_root(facts, command)} && {_as_root(facts, reload)}",
            "Then plug the board in again. Whoever uses a braille display comments the vendor's lines out in a copy instead.",
        )
    if facts.modem_manager and facts.unkept:
        ids = ", ".join(f"{vendor:04x}" for vendor in facts.unkept)
        rule = shlex.quote(keep_rule(facts.unkept))
        reload = f"{_as_root(facts, 'udevadm control --reload')} && {_as_root(facts, 'udevadm trigger')}"
        yield Finding(
            "ModemManager",
            Level.MISSING,
            f"ModemManager writes to boards of the vendors {ids}, which the settings name.",
            f"echo {rule} | {_as_root(facts, f'tee {LOCAL_RULES}')} && {reload}",
        )
    else:
        yield Finding("ModemManager", Level.OK, "ModemManager leaves the boards alone that the settings name.")


def judge_libusb(facts: Facts) -> Iterator[Finding]:
    """Yield whether libusb is there."""
    if facts.libusb:
        yield Finding("libusb", Level.OK, "libusb 1.0 is installed.")
        return
    install = LIBUSB_INSTALL.get(facts.family)
    yield Finding(
        "libusb",
        Level.MISSING,
        "libusb 1.0 is not installed: no Falcon is found.",
        _as_root(facts, install) if install else "",
        "" if install else "Install libusb 1.0 with the package manager of this system.",
    )


def judge_serial(facts: Facts) -> Iterator[Finding]:
    """Yield who holds which serial port, and which of them this user may not open."""
    for port in facts.serial:
        subject = f"port {clean(port.path)}"
        if port.holder is not None and not _is_ours(port.holder):
            yield _held(facts, subject, port.holder)
        elif not port.exists:
            yield Finding(
                subject,
                Level.MISSING,
                "There is no such device: it is not plugged in, or has another name.",
                "ls -l /dev/serial/by-id /dev/ttyACM* /dev/ttyUSB*",
                "This lists those that are there.",
            )
        elif not port.usable:
            yield Finding(
                subject,
                Level.MISSING,
                f"{facts.user} may not open it; it belongs to group {clean(port.group)}.",
                _as_root(facts, f"usermod -aG {shlex.quote(port.group)} {shlex.quote(facts.user)}"),
                "Then log in again.",
            )
        else:
            held = f"hapticd holds it (process {port.holder.pid})" if port.holder else "It is free"
            unsure = "" if facts.sees_all or port.holder else ", as far as this user sees; root sees all processes"
            yield Finding(subject, Level.OK, f"{held}{unsure}.")
    if not facts.serial:
        yield Finding("serial ports", Level.OK, "No serial port is plugged in.")


def judge_tcp(facts: Facts) -> Iterator[Finding]:
    """Yield who holds the service's own ports."""
    for number, holder in facts.tcp.items():
        subject = f"TCP port {number}"
        if holder is None:
            yield Finding(subject, Level.OK, "Nobody listens there.")
        elif _is_ours(holder) or (holder.pid == 0 and facts.service.answers):
            yield Finding(
                subject, Level.OK, f"hapticd listens there{f' (process {holder.pid})' if holder.pid else ''}."
            )
        else:
            yield _held(facts, subject, holder)


def judge_clock(facts: Facts) -> Iterator[Finding]:
    """Yield whether the clock is fast to read and right."""
    if facts.clock_source in SLOW_CLOCKS:
        path = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
        better = next((one for one in facts.clock_sources if one not in SLOW_CLOCKS), "")
        yield Finding(
            "clock",
            Level.HINT,
            f"The clock source {clean(facts.clock_source)} takes microseconds for each read.",
            f"echo {shlex.quote(better)} | {_as_root(facts, f'tee {path}')}" if better else "",
            "" if better else "The kernel offers no faster one: look for `clocksource` in `dmesg`.",
        )
    else:
        yield Finding("clock", Level.OK, f"Clock source {clean(facts.clock_source) or 'unknown'}.")
    if facts.year < FIRST_YEAR:
        yield Finding(
            "date",
            Level.HINT,
            f"The date says {facts.year}: times of events and session ids are wrong.",
            _as_root(facts, "timedatectl set-ntp true"),
        )


def judge_state(facts: Facts) -> Iterator[Finding]:
    """Yield whether the state directory can be written, is private and has space."""
    state, path = facts.state, shlex.quote(str(facts.state.path))
    subject = "state directory"
    if state.obstacle:
        yield Finding(
            subject,
            Level.MISSING,
            f"{state.path} cannot be written: {state.obstacle}.",
            "hapticd run --state-dir DIR",
            "DIR is a folder on a disk that can be written; hapticd doctor --state-dir DIR looks at it first.",
        )
    elif not state.owned:
        yield Finding(
            subject,
            Level.MISSING,
            f"{state.path} belongs to another user.",
            _as_root(facts, f"chown -R {shlex.quote(facts.user)} {path}"),
        )
    elif not state.writable:
        made = f"install -d -m 700 -o {shlex.quote(facts.user)} {path}"
        yield Finding(
            subject,
            Level.MISSING,
            f"{state.path} cannot be written.",
            f"chmod u+rwx {path}" if state.exists else _as_root(facts, made),
            "If that does not help: hapticd run --state-dir DIR, with a folder that can be written.",
        )
    elif not state.private:
        yield Finding(subject, Level.MISSING, f"Others may write {state.path}.", f"chmod go-w {path}")
    elif state.free_bytes < LEAST_BYTES or state.free_files < LEAST_FILES:
        yield Finding(
            subject,
            Level.MISSING,
            f"The disk of {state.path} is full ({max(state.free_bytes, 0) // 1024} KiB, {state.free_files} files left).",
            _as_root(facts, "journalctl --vacuum-size=100M"),
            "If that is not enough: hapticd run --state-dir on another disk.",
        )
    else:
        free = f"{state.free_bytes // (1024 * 1024)} MiB free"
        yield Finding(subject, Level.OK, f"{state.path} can be {'written' if state.exists else 'made'}, {free}.")


def judge_service(facts: Facts) -> Iterator[Finding]:
    """Yield what the running service says."""
    service = facts.service
    if not service.answers:
        yield Finding("service", Level.HINT, clean(service.sentence), "hapticd run")
        return
    if service.sentence:
        yield Finding("service", Level.MISSING, f"It is not ready: {clean(service.sentence)}", "hapticd status")
    elif service.realtime is False:
        then = "Start it again, when the realtime permission above is granted."
        yield Finding("service", Level.MISSING, "It runs without realtime priority.", _restart(facts), then)
    else:
        yield Finding("service", Level.OK, f"{clean(service.url)} is ready.")
    for port in service.blocked:
        name = clean(port)
        yield Finding(
            f"port {name}",
            Level.MISSING,
            "It is blocked.",
            f"hapticd reset {shlex.quote(name)}",
            "Check its cable first.",
        )
    for port, reason in service.unusable:
        yield Finding(
            f"port {clean(port)}",
            Level.HINT,
            f"The service cannot use it ({clean(reason)}).",
            f"hapticd reset {shlex.quote(clean(port))}",
            "When what the other findings name is mended.",
        )


# In the order in which findings are shown.
RULES: Final[Mapping[str, Callable[[Facts], Iterator[Finding]]]] = MappingProxyType(
    {
        "realtime": judge_realtime,
        "memlock": judge_memlock,
        "processors": judge_processors,
        "clock": judge_clock,
        "groups": judge_groups,
        "udev": judge_udev,
        "takers": judge_takers,
        "libusb": judge_libusb,
        "serial": judge_serial,
        "state": judge_state,
        "tcp": judge_tcp,
        "service": judge_service,
    }
)
# What they find missing is a hint while the service has simulated devices only.
OF_REAL_DEVICES: Final = frozenset({judge_groups, judge_udev, judge_takers, judge_libusb})


def _permitted(found: RealtimeFacts) -> bool:
    return found.capability or found.limit == UNLIMITED or found.limit >= PRIORITY


def _is_ours(holder: Holder) -> bool:
    return holder.name.startswith(OURS)


def _held(facts: Facts, subject: str, holder: Holder) -> Finding:
    if holder.pid == 0:
        return Finding(
            subject,
            Level.MISSING,
            "A program of another user holds it.",
            "sudo hapticd doctor",
            "As root it is named.",
        )
    if holder.name == "ModemManager":
        mend = _as_root(facts, "systemctl mask --now ModemManager")
        return Finding(subject, Level.MISSING, f"ModemManager holds it (process {holder.pid}).", mend)
    return Finding(
        subject,
        Level.MISSING,
        f"{clean(holder.name)} holds it (process {holder.pid}).",
        _as_root(facts, f"kill {holder.pid}"),
        "Or end that program in its own way.",
    )


def _as_root(facts: Facts, command: str) -> str:
    return command if facts.root else f"sudo {command}"


def _limit(facts: Facts, limit: str) -> str:
    line = shlex.quote(f"{facts.user} - {limit}")
    return f"echo {line} | {_as_root(facts, f'tee -a {LIMITS_FILE}')}"


def _login(facts: Facts) -> str:
    return _as_root(facts, f"su - {shlex.quote(facts.user)}")


def _restart(facts: Facts) -> str:
    return _as_root(facts, "systemctl restart hapticd")
