"""Each alert of ops/prometheus/alerts.yml is fired in a real Prometheus by what it is for.

One Prometheus watches five services at once, ten times as often as scrape.yml says (`faster_rules`). First all of them are as they
should be, then each gets its causes; most of these are over long before their alert fires.
"""

from __future__ import annotations

import errno
import fcntl
import math
import os
import pty
import re
import shutil
import threading
import tty
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest

from actors.control.messages import FASTPATH
from actors.control.silence_watch import SilenceWatch
from actors.device.messages import SimulatedSpec
from actors.kit.mailbox import INBOX_LIMIT
from actors.values.identity import Connection, Kind
from tests.support.service.actor_faults import blocked_actor, crash, crash_and_restart
from tests.support.service.addresses import FREE_PORTS
from tests.support.service.board_service import BoardService
from tests.support.service.event_causes import (
    ARM,
    COMPACT,
    FORCE,
    GRIP,
    SPARE,
    charge_of,
    commanded,
    connection_loop,
    session,
    starved,
)
from tests.support.service.polling import eventually
from tests.support.service.process import RunningService
from tests.support.service.prometheus_server import OPS, Api, faster_job, faster_rules, prometheus
from tests.support.service.running_system import RunningSystem
from tests.support.service.safety_service import STRAIN, SafetyService, force_command, stall_at_full_reach
from tests.support.service.silence_looks import counted_looks

pytestmark = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="prometheus is not installed (Debian package prometheus)"
)

DEVICES: Final = (
    SimulatedSpec(Kind.ARM, Connection.SIMULATED, ARM),
    SimulatedSpec(Kind.COMPACT, Connection.SIMULATED, COMPACT),
    SimulatedSpec(Kind.COMPACT, Connection.SIMULATED, SPARE),
    SimulatedSpec(Kind.GRIP, Connection.WIRELESS, GRIP),
)
# A device whose actor crashes once more is given up.
DEVICE_RESTARTS: Final = 3
BOARD: Final = "A9"
# Longer than the dead man's switch waits, 500 ms.
SILENCE_S: Final = 0.8
SHAKES: Final = 12
# As many as raise HapticdDeviceStale.
SILENCES: Final = 3
UP_SAMPLES: Final = 'min(count_over_time(up{job="hapticd"}[10s])) > 3'


@dataclass(frozen=True, slots=True)
class Row:
    """An alert, the service that fires it, and the labels that it has."""

    alert: str
    service: str
    labels: dict[str, str]
    quiet: bool = True  # whether its cause comes after the first look, and a busy machine is none

    def __str__(self) -> str:
        return self.alert


ROWS: Final = (
    Row("HapticdDown", "installed", {}),
    Row("HapticdPortUnusable", "installed", {}, quiet=False),
    Row("HapticdLoopNotRealtime", "live", {}, quiet=False),
    Row("HapticdForceInterrupted", "live", {"device_id": ARM}, quiet=False),
    Row("HapticdLoopRateLow", "live", {}, quiet=False),
    Row("HapticdLoopRateCritical", "live", {}, quiet=False),
    Row("HapticdTicksMissed", "live", {}, quiet=False),
    Row("HapticdDeadManTripped", "live", {}, quiet=False),
    Row("HapticdActorRestarts", "live", {"actor": "device"}),
    Row("HapticdActorGivenUp", "live", {"actor": "device"}),
    Row("HapticdDeviceFailed", "live", {"type": "compact", "phase": "failed"}),
    Row("HapticdPortBlocked", "live", {}),
    Row("HapticdBatteryLow", "live", {"device_id": GRIP}),
    Row("HapticdMessagesDropped", "live", {"actor": "fastpath", "reason": "full"}),
    Row("HapticdStateNotWritable", "live", {}),
    Row("HapticdStopLatched", "live", {"device_id": ARM}),
    Row("HapticdNotReady", "live", {}),
    Row("HapticdLoopStalled", "live", {}),
    Row("HapticdOscillationOften", "stepped", {"device_id": ARM}),
    Row("HapticdDeviceStale", "stepped", {"device_id": ARM}),
    Row("HapticdEbrake", "stepped", {"device_id": ARM}),
    Row("HapticdForeignObject", "stepped", {"device_id": ARM}),
    Row("HapticdStall", "hot", {"device_id": ARM}),
    Row("HapticdMotorsHot", "hot", {"device_id": ARM}),
    Row("HapticdPortErrors", "boards", {}),
)


@dataclass(slots=True)
class Watched:
    """A Prometheus, the address of each service, and what fired before any cause."""

    api: Api
    targets: dict[str, str]
    before: list[dict[str, str]]

    def fired(self, row: Row) -> bool:
        return self.is_among(row, self.api.fired())

    def is_among(self, row: Row, alerts: list[dict[str, str]]) -> bool:
        wanted = {"alertname": row.alert, "instance": self.targets[row.service], **row.labels}
        return any(wanted.items() <= labels.items() for labels in alerts)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("alerts")
    with ExitStack() as stack:
        port = stack.enter_context(port_that_somebody_holds())
        unusable = {"devices/detection/serial_ports": f'["{port}"]'}
        installed = stack.enter_context(RunningService(settings={**FREE_PORTS, **unusable}))
        live = stack.enter_context(
            RunningSystem(folder / "live", simulated=DEVICES, settings={"control/frequency": 400})
        )
        stepped = stack.enter_context(SafetyService(folder / "stepped"))
        slow = {"control__frequency": 100, "sessions__command_timeout": 0.5}
        hot = stack.enter_context(SafetyService(folder / "hot", **slow))
        boards = stack.enter_context(BoardService(folder / "boards", f"arm:{BOARD}"))
        urls = {
            "installed": installed.http,
            "live": live.http,
            "stepped": stepped.service.http,
            "hot": hot.service.http,
            "boards": boards.service.http,
        }
        targets = {name: urlsplit(url).netloc for name, url in urls.items()}
        (folder / "prometheus.yml").write_text(faster_job(list(targets.values())), encoding="utf-8")
        rules = (OPS / "alerts.yml").read_text(encoding="utf-8")
        (folder / "alerts.yml").write_text(faster_rules(rules), encoding="utf-8")
        watching = Watched(stack.enter_context(prometheus(folder)), targets, [])
        eventually(lambda: watching.api.query(UP_SAMPLES) is not None, "each service was scraped")
        watching.before = watching.api.fired()
        begin_monitors(stepped)
        begin_heat(hot)
        boards.boards.damage(0.02)
        begin_live(live, watching, stack)
        wait_for(watching, "HapticdPortUnusable")
        installed.kill()
        yield watching
        boards.boards.damage(0)


def wait_for(watching: Watched, *names: str) -> None:
    """Wait until the alerts of these names have fired."""
    for row in ROWS:
        if row.alert in names:
            eventually(partial(watching.fired, row), f"{row.alert} fires")


def begin_live(live: RunningSystem, watching: Watched, stack: ExitStack) -> None:
    """Everything that can go wrong with a service whose loop runs, one after the other; the last things stay."""
    with session(live) as client:
        client.recv()
        starved(0.025)(live)

        def lost() -> bool:
            commanded(client, FORCE)
            alerts = watching.api.fired()
            rows = (row for row in ROWS if row.alert in {"HapticdForceInterrupted", "HapticdTicksMissed"})
            return all(watching.is_among(row, alerts) for row in rows)

        eventually(lost, "force is lost, and it is told", pause_s=0.02)
    starved(0.3)(live)
    wait_for(watching, "HapticdLoopRateLow", "HapticdLoopRateCritical")
    starved(1)(live)

    charge_of(0.1)(live)
    connection_loop(live)
    for _ in range(DEVICE_RESTARTS):
        crash_and_restart(live.directory, f"device/{SPARE}")
    crash(live.directory, f"device/{SPARE}")
    with blocked_actor(live.directory, FASTPATH):
        counters = live.system.timekeeper
        for _ in range(INBOX_LIMIT + 1):
            counters.send_counters()
    silence_timekeeper()
    stack.enter_context(full_disk())
    assert live.ask("POST", f"/arm/{ARM}/stop").status == 507
    wait_for(watching, "HapticdDeadManTripped", "HapticdStopLatched")
    live.runtime.stop()


def begin_monitors(stepped: SafetyService) -> None:
    """A client shakes the arm, the arm hangs, is thrown, and something pushes it while nobody holds it."""
    stepped.simulate("arm", ARM, hand={"path": "rest"})
    stepped.service.wait(0.5)
    shaken(stepped, SHAKES)
    with counted_looks() as looks:
        for times in range(1, SILENCES + 1):
            stepped.simulate("arm", ARM, fault="hang")
            stepped.service.wait(0.03)
            eventually(partial(_fell_silent, stepped, times), "the silence is told")
            stepped.simulate("arm", ARM, fault="none")
            stepped.service.wait(0.3)
            # That it is over is seen before the next one begins.
            looks.more(stepped.service.system)
    stepped.simulate("arm", ARM, fault="throw")
    stepped.service.wait(4)
    stepped.simulate("arm", ARM, fault="none")
    stepped.set_attached(attached=False)
    stepped.service.wait(0.7)
    stepped.simulate("arm", ARM, fault="foreign_object")
    stepped.service.wait(0.6)


def _fell_silent(stepped: SafetyService, times: int) -> bool:
    return stepped.received_events().count("device_stale") == times


def shaken(stepped: SafetyService, times: int) -> None:
    """A client shakes the arm in one contact after another, until the filter has found so many oscillations."""
    for _ in range(3 * times):
        for tick in range(0, 400, 2):
            push = 1 + 4 * math.sin(math.tau * 15 * tick * 0.001)
            stepped.frame(force_command(x=push))
            stepped.service.step(2)
        stepped.service.wait(2)
        if int(stepped.service.state(ARM)["oscillations"]) >= times:
            return
    raise AssertionError("the filter finds too few oscillations")


def begin_heat(hot: SafetyService) -> None:
    """The arm pushes against a stop with all that its motors have."""
    stall_at_full_reach(hot)
    hot.stream(400, STRAIN, every=0.4)
    assert hot.metric("hapticd_motor_derating_ratio") < 1


def silence_timekeeper() -> None:
    """The timekeeper's thread is busy for longer than the dead man's switch waits."""
    over = threading.Event()

    def busy(_watch: object) -> None:
        over.wait(SILENCE_S)
        over.set()

    with patch.object(SilenceWatch, "poll", busy):
        assert over.wait(60)


@contextmanager
def full_disk() -> Generator[None]:
    """No file reaches the disk."""

    def refuse(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with patch.object(os, "fsync", refuse):
        yield


@contextmanager
def port_that_somebody_holds() -> Generator[str]:
    """Path of a serial port that another program, this one, has for itself."""
    master, slave = pty.openpty()
    try:
        tty.setraw(slave)
        fcntl.flock(slave, fcntl.LOCK_EX)
        yield os.ttyname(slave)
    finally:
        os.close(slave)
        os.close(master)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_alert_is_fired_by_its_cause_and_not_before(watched: Watched, row: Row) -> None:
    assert not row.quiet or not watched.is_among(row, watched.before), "before its cause"

    eventually(lambda: watched.fired(row), f"{row.alert} fires", pause_s=0.1)


def test_every_alert_has_a_row() -> None:
    rules = (OPS / "alerts.yml").read_text(encoding="utf-8")

    assert sorted(re.findall(r"- alert: (\w+)", rules)) == sorted(row.alert for row in ROWS)


def test_faster_rules_keep_expressions_and_shorten_durations() -> None:
    rules = "expr: rate(x[5m]) > 0.01 unless x offset 10m\n  for: 10m\n  for: 5s\n"

    assert faster_rules(rules) == "expr: rate(x[30000ms]) > 0.01 unless x offset 60000ms\n  for: 1000ms\n  for: 500ms\n"
