"""Gather the facts of this machine: reads /proc, /sys and /etc, tries SCHED_FIFO for a moment, asks the service. Changes nothing."""

from __future__ import annotations

import grp
import os
import pwd
import resource
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from transport.cli.client import Client
from transport.cli.devices import devices_of, entries, metrics_of
from transport.cli.doctor.facts import (
    UNLIMITED,
    Facts,
    GroupFact,
    Holder,
    RealtimeFacts,
    SerialFact,
    ServiceFacts,
    StateFacts,
)
from transport.cli.doctor.rules import MEMLOCK, PRIORITY
from transport.cli.exit_codes import CommandError, NoService
from transport.link import udev_rules

PROC: Final = Path("/proc")
CPUS: Final = Path("/sys/devices/system/cpu")
CLOCK: Final = Path("/sys/devices/system/clocksource/clocksource0")
LIMITS: Final = Path("/etc/security/limits.d")
RULES_NAME: Final = "70-hapticd.rules"
RULES_FOLDERS: Final = udev_rules.FOLDERS
VENDORS: Final = "devices/detection/advanced/allowed_vendor_id_filter"
MODEM_MANAGER: Final = ("/usr/sbin/ModemManager", "/usr/bin/ModemManager")
GROUPS: Final = ("dialout", "plugdev")
SERIAL: Final = ("ttyACM*", "ttyUSB*")
SYS_NICE: Final = 23
LISTENING: Final = "0A"
SERVICE_PORTS: Final = (10000, 10020)
FAMILIES: Final = {
    "debian": "debian",
    "ubuntu": "debian",
    "fedora": "fedora",
    "rhel": "fedora",
    "arch": "arch",
    "suse": "suse",
}
PREFIX_SHARE: Final = "share/hapticd/udev"


def gather(client: Client, state_path: Path, more_ports: Iterable[str] = ()) -> Facts:
    """Return the facts for this process's user, the service behind `client`, and also the serial ports `more_ports`."""
    user = _user()
    service, ports = read_service(client)
    serial = sorted({*_serial_paths(), *more_ports, *filter(_is_terminal, ports)})
    installed, source = _rules_installed(), rules_source()
    return Facts(
        user=user,
        root=os.geteuid() == 0,
        family=_family(),
        realtime=_realtime(user),
        governors=_governors(),
        cpus=len(os.sched_getaffinity(0)),
        groups={name: _group(name, user) for name in GROUPS},
        serial=tuple(_serial(path) for path in serial),
        sees_all=os.geteuid() == 0,
        tcp={port: tcp_holder(port) for port in _tcp_ports(client)},
        rules_source=source,
        rules_installed=installed,
        rules_current=_same(installed, source),
        libusb=_libusb(),
        brltty=udev_rules.brltty_takes(),
        modem_manager=any(Path(path).exists() for path in MODEM_MANAGER),
        unkept=unkept(client),
        clock_source=_text(CLOCK / "current_clocksource"),
        clock_sources=tuple(_text(CLOCK / "available_clocksource").split()),
        year=time.gmtime().tm_year,
        state=_state(state_path),
        service=service,
    )


def read_service(client: Client) -> tuple[ServiceFacts, list[str]]:
    """Return what the service says, and the paths of its ports."""
    try:
        _, _, obstacle = client.exchange("GET", "/readyz")
    except NoService as error:
        return ServiceFacts(client.address.url, answers=False, sentence=error.sentence, realtime=None), []
    realtime: bool | None = None
    ports: list[Mapping[str, Any]] = []
    device_ports: list[str] = []
    with suppress(CommandError):
        ports = entries(client.get("/ports"), "ports")
        sample = metrics_of(client.text("/metrics")).get(("hapticd_loop_realtime", ""))
        realtime = None if sample is None else bool(sample)
        device_ports = [str(one.config.get("port")) for one in devices_of(client.get("/devices"))]
    facts = ServiceFacts(
        client.address.url,
        sentence=obstacle or "",
        realtime=realtime,
        blocked=tuple(str(one.get("port")) for one in ports if one.get("state") == "blocked"),
        unusable=tuple(
            (str(one.get("port")), str(one.get("reason"))) for one in ports if one.get("state") == "unusable"
        ),
        simulates=bool(device_ports) and all(port.startswith("sim") for port in device_ports),
    )
    return facts, [str(one.get("path")) for one in ports]


def unkept(client: Client) -> tuple[int, ...]:
    """Return the vendors that a setting of the service names and that the rules do not keep ModemManager from."""
    with suppress(CommandError, ValueError, TypeError):
        named = client.get(f"/settings/{VENDORS}").get("value", [])
        vendors = {int(str(vendor), 16) for vendor in named}
        return tuple(sorted(vendors - udev_rules.kept_from_modem_manager()))
    return ()


def rules_source() -> Path | None:
    """Return the udev rules that come with this installation: a clone's, or those beside an installed package."""
    here = Path(__file__).resolve()
    for path in (here.parents[3] / "ops" / "udev" / RULES_NAME, Path(sys.prefix) / PREFIX_SHARE / RULES_NAME):
        if path.is_file():
            return path
    return None


def permits(text: str, user: str, groups: Iterable[str], item: str, least: int) -> bool:
    """Return whether the text of a file of limits.d lets the user have `item` of at least that."""
    names = {user, "*", *(f"@{name}" for name in groups)}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if len(words) != 4 or words[0] not in names or words[2] != item:
            continue
        if words[3] in {"unlimited", "infinity", "-1"} or (words[3].isdecimal() and int(words[3]) >= least):
            return True
    return False


def tcp_holder(port: int, proc: Path = PROC) -> Holder | None:
    """Return who listens at a TCP port of this machine: pid 0 when it is not visible, None when nobody does."""
    inodes: set[str] = set()
    for table in ("net/tcp", "net/tcp6"):
        for line in _text(proc / table).splitlines()[1:]:
            words = line.split()
            if len(words) > 9 and words[3] == LISTENING and words[1].rpartition(":")[2] == f"{port:04X}":
                inodes.add(words[9])
    if not inodes:
        return None
    targets = {f"socket:[{inode}]" for inode in inodes}
    return next(_holders(targets, proc), Holder(0, ""))


def file_holder(path: str, proc: Path = PROC) -> Holder | None:
    """Return another process that has the file open; None when no visible one has."""
    targets = {path, os.path.realpath(path)}
    return next((holder for holder in _holders(targets, proc) if holder.pid != os.getpid()), None)


def _holders(targets: set[str], proc: Path) -> Iterator[Holder]:
    found: list[Holder] = []
    for folder in proc.iterdir():
        if not folder.name.isdecimal():
            continue
        with suppress(OSError):
            for descriptor in (folder / "fd").iterdir():
                with suppress(OSError):
                    if str(descriptor.readlink()) in targets:
                        found.append(Holder(int(folder.name), _text(folder / "comm")))
                        break
    # The service first: its failsafe process holds a copy of each port too.
    yield from sorted(found, key=lambda holder: (not holder.name.startswith("hapticd"), holder.pid))


def _realtime(user: str) -> RealtimeFacts:
    soft, _ = resource.getrlimit(resource.RLIMIT_RTPRIO)
    told = "\n".join(_text(path) for path in _limit_files())
    names = [grp.getgrgid(group).gr_name for group in os.getgroups() if _has_group(group)]
    runtime = _text(PROC / "sys/kernel/sched_rt_runtime_us")
    capability = _capability(_text(PROC / "self/status"))
    return RealtimeFacts(
        granted=fifo_granted(),
        limit=UNLIMITED if soft == resource.RLIM_INFINITY else soft,
        capability=capability,
        configured=permits(told, user, names, "rtprio", PRIORITY),
        runtime_us=int(runtime) if runtime.lstrip("-").isdecimal() else 950_000,
        memlock=memory_lock_limit(),
        memlock_configured=permits(told, user, names, "memlock", MEMLOCK // 1024),
    )


def memory_lock_limit() -> int:
    """Return how many bytes this process may lock, or UNLIMITED."""
    lock, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return UNLIMITED if lock == resource.RLIM_INFINITY or _locks_all(_text(PROC / "self/status")) else lock


def fifo_granted() -> bool:
    """Return whether SCHED_FIFO is granted; it is tried for a moment, and taken back."""
    before, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except OSError:
        return False
    os.sched_setscheduler(0, before, parameters)
    return True


def _capability(status: str, number: int = SYS_NICE) -> bool:
    """Return whether the effective capabilities in the text of /proc/self/status have that one."""
    for line in status.splitlines():
        name, _, value = line.partition(":")
        if name == "CapEff":
            with suppress(ValueError):
                return bool(int(value.strip(), 16) >> number & 1)
    return False


def _locks_all(status: str) -> bool:
    """Return whether CAP_IPC_LOCK is there, for which the limit does not count."""
    return _capability(status, 14)


def _limit_files() -> list[Path]:
    with suppress(OSError):
        return sorted(LIMITS.glob("*.conf"))
    return []


def _has_group(number: int) -> bool:
    with suppress(KeyError):
        return bool(grp.getgrgid(number))
    return False


def _group(name: str, user: str) -> GroupFact:
    try:
        found = grp.getgrnam(name)
    except KeyError:
        return GroupFact(exists=False, joined=False, listed=False)
    joined = found.gr_gid in {*os.getgroups(), os.getegid()}
    return GroupFact(joined=joined, listed=joined or user in found.gr_mem)


def _serial(path: str) -> SerialFact:
    group = "dialout"
    with suppress(OSError, KeyError):
        group = grp.getgrgid(Path(path).stat().st_gid).gr_name
    exists = False
    with suppress(OSError, ValueError):
        exists = stat.S_ISCHR(Path(path).stat().st_mode)
    return SerialFact(path, exists, os.access(path, os.R_OK | os.W_OK), group, file_holder(path))


def _is_terminal(path: str) -> bool:
    """Return whether the path of a port is that of a serial port or a pseudo-terminal."""
    with suppress(OSError, ValueError):
        real = Path(path).resolve()
        return real.name.startswith(("tty", "pts")) or (real.parent.name == "pts" and stat.S_ISCHR(real.stat().st_mode))
    return False


def _serial_paths() -> Iterator[str]:
    for pattern in SERIAL:
        with suppress(OSError):
            yield from map(str, Path("/dev").glob(pattern))


def _tcp_ports(client: Client) -> list[int]:
    here = client.address.host in {"localhost", "127.0.0.1", "::1"}
    return [client.address.port, *(port for port in SERVICE_PORTS if port != client.address.port)] if here else []


def _rules_installed() -> Path | None:
    return next((path for folder in RULES_FOLDERS if (path := Path(folder) / RULES_NAME).is_file()), None)


def _same(installed: Path | None, source: Path | None) -> bool:
    if installed is None or source is None:
        return True
    with suppress(OSError):
        return installed.read_bytes() == source.read_bytes()
    return False


def _libusb() -> bool:
    """Return whether the service finds a libusb: the same search."""
    try:
        from transport.link.usb_bus import libusb_backend

        return libusb_backend() is not None
    except Exception:  # noqa: BLE001 - whatever a broken library raises, it is not usable
        return False


def _governors() -> dict[int, str]:
    found: dict[int, str] = {}
    for cpu in os.sched_getaffinity(0):
        governor = _text(CPUS / f"cpu{cpu}/cpufreq/scaling_governor")
        if governor:
            found[cpu] = governor
    return found


def _family() -> str:
    for line in _text(Path("/etc/os-release")).splitlines():
        name, _, value = line.partition("=")
        if name in {"ID", "ID_LIKE"}:
            for word in value.strip('"').split():
                if word.split("-")[0] in FAMILIES:
                    return FAMILIES[word.split("-")[0]]
    return ""


def _state(path: Path) -> StateFacts:
    exists = path.is_dir()
    place = next((one for one in (path, *path.parents) if one.exists()), Path("/"))
    obstacle, writable, private, owned, free_bytes, free_files = "", False, True, True, 0, 0
    with suppress(OSError):
        disk = os.statvfs(place)
        free_bytes, free_files = disk.f_bavail * disk.f_frsize, disk.f_favail or (1 << 20 if disk.f_files == 0 else 0)
        if not place.is_dir():
            obstacle = f"{place} is no folder"
        elif disk.f_blocks == 0 or disk.f_flag & os.ST_RDONLY:
            # A file system without blocks, such as /proc, stores no files, whatever its permissions say.
            obstacle = "its file system is read-only, or stores no files as that of /proc"
        writable = os.access(place, os.W_OK | os.X_OK)
        if exists:
            found = path.stat()
            private = not found.st_mode & 0o002 and (not found.st_mode & 0o020 or found.st_gid == os.getegid())
            owned = found.st_uid in {os.geteuid(), 0}
    return StateFacts(path, exists, obstacle, writable, private, owned, free_bytes, free_files)


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
