"""Facts about a machine, as plain values: what `gather` finds and the rules judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

UNLIMITED = -1


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds a port."""

    pid: int
    name: str  # its command, not to be trusted


@dataclass(frozen=True, slots=True)
class GroupFact:
    """A group that owns ports of devices."""

    exists: bool = True
    joined: bool = True  # this process is a member
    listed: bool = True  # the user is a member from the next login on


@dataclass(frozen=True, slots=True)
class SerialFact:
    """A serial port at which a device may be."""

    path: str
    exists: bool = True  # a device node of this path is there
    usable: bool = True  # this user may read and write it
    group: str = "dialout"
    holder: Holder | None = None


@dataclass(frozen=True, slots=True)
class RealtimeFacts:
    """What the scheduler grants."""

    granted: bool = True  # SCHED_FIFO at the wanted priority was tried
    limit: int = UNLIMITED  # RLIMIT_RTPRIO, soft
    capability: bool = False  # CAP_SYS_NICE
    configured: bool = False  # the limits of the next login permit it
    runtime_us: int = 950_000  # kernel.sched_rt_runtime_us; 0 forbids all, -1: no limit
    memlock: int = UNLIMITED  # RLIMIT_MEMLOCK in bytes, soft
    memlock_configured: bool = False


@dataclass(frozen=True, slots=True)
class StateFacts:
    """The state directory."""

    path: Path = Path("/var/lib/hapticd")
    exists: bool = True
    obstacle: str = (
        ""  # why no permission would help, such as a read-only file system; "" when nothing stands in the way
    )
    writable: bool = True  # it, or the folder in which it would be made
    private: bool = True  # no other user may write it
    owned: bool = True  # by this user or root
    free_bytes: int = 1 << 30
    free_files: int = 1 << 20


@dataclass(frozen=True, slots=True)
class ServiceFacts:
    """The running service, by its public interface."""

    url: str = "http://localhost:10001"
    answers: bool = True
    sentence: str = ""  # why it does not answer, or is not ready
    realtime: bool | None = True
    blocked: tuple[str, ...] = ()
    unusable: tuple[tuple[str, str], ...] = ()  # port, reason
    simulates: bool = False  # it has devices, and all are simulated


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that the rules look at; the defaults are those of a machine that lacks nothing."""

    user: str = "haptics"
    root: bool = False
    family: str = "debian"  # debian, fedora, arch, or "" when unknown: how packages are installed
    realtime: RealtimeFacts = field(default_factory=RealtimeFacts)
    governors: Mapping[int, str] = field(default_factory=lambda: {0: "performance", 1: "performance"})
    cpus: int = 4
    groups: Mapping[str, GroupFact] = field(
        default_factory=lambda: {"dialout": GroupFact(), "plugdev": GroupFact()},
    )
    serial: tuple[SerialFact, ...] = ()
    sees_all: bool = True  # processes of other users are visible
    tcp: Mapping[int, Holder | None] = field(default_factory=dict[int, Holder | None])  # who listens, None: nobody
    rules_source: Path | None = Path("ops/udev/70-hapticd.rules")
    rules_installed: Path | None = Path("/etc/udev/rules.d/70-hapticd.rules")
    rules_current: bool = True
    libusb: bool = True
    brltty: tuple[Path, frozenset[int]] | None = None  # its rules, and the vendors whose boards they take
    modem_manager: bool = False  # installed
    unkept: tuple[int, ...] = ()  # vendors in the settings that no rule keeps it from
    clock_source: str = "tsc"
    clock_sources: tuple[str, ...] = ("tsc", "hpet", "acpi_pm")
    year: int = 2030
    state: StateFacts = field(default_factory=StateFacts)
    service: ServiceFacts = field(default_factory=ServiceFacts)
