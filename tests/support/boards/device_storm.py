"""Device storm: unplug, plug and break eleven emulated devices and kill actors at random, then check the service."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pykka

from actors.device.messages import Phase
from tests.emulators.boards import Boards
from tests.emulators.falcon_backend import FalconBus
from tests.support.boards.storm_ports import MECHANISM, FalconPort, HapiPort, SpaceMousePort, StormLinks, StormPort
from tests.support.clients.event_client import EventClient
from tests.support.clients.exchange import exchange
from tests.support.clients.reconnecting_client import ReconnectingClient
from tests.support.service.actor_faults import PlannedCrash, raise_planned_crash, run_in_actor
from tests.support.service.in_process_service import InProcessService
from tests.support.service.polling import eventually
from tests.support.service.resource_count import ResourceCount
from tests.support.service.timeouts import shipped_silence_limits

# Ports in this order; the devices of a port by their index on it.
DEVICES: Final = (
    ("A1",),
    ("A2",),
    ("C1",),
    ("C2",),
    ("G1",),
    ("P1",),
    ("W1", "W2"),
    (HapiPort.device_id,),
    (FalconPort.device_id,),
    (SpaceMousePort.device_id,),
)
BOARDS: Final = ("arm:A1", "arm:A2", "compact:C1", "compact:C2", "grip:G1", "pen:P1", "receiver:W1,W2")
MOVERS: Final = range(4)
RECEIVER: Final = 6
PORTS: Final = range(len(DEVICES))
OTHERS: Final = PORTS[len(BOARDS) :]
# One actor is started again three times in ten seconds; a fourth death would be the end of its device.
LEAST_BETWEEN_DEATHS_S: Final = 4.0
STEPS: Final = 25
SETTINGS: Final[dict[str, object]] = {
    "control/frequency": 1000,
    "devices/settle_time": 0,
    "devices/detection/period": 100,
    "devices/detection/timeout": 500,
    "devices/detection/loop_threshold": 4,
    "devices/detection/loop_window": 2,
}
VICTIMS: Final = (
    *(f"device/{one}" for ids in DEVICES for one in ids),
    *(f"{kind}/board{port}" for kind in ("port", "link") for port in range(len(BOARDS))),
    *(f"{kind}/hapi7" for kind in ("port", "link")),
)
# A fault is the controls that make it; what is put back is QUIET.
FAULTS: Final[tuple[dict[str, float], ...]] = (
    {"hang": 1},
    {"deaf": 1},
    {"flip": 3000, "lose": 3000, "twice": 3000, "stray": 3000},
    {"drop": 200_000},
    {"late": 300_000, "late_ms": 30},
    {"asleep": 1},
    {"cold": 1},
    {"faults": 0x11},
    {"buttons": 3, "battery": 0.05},
    {"attached": 0},
    {"bounce_ms": 300, "bounce_off_ms": 60},
    {"firmware": 703},
    {"settle_ms": 200},
)
QUIET: Final = {
    "hang": 0,
    "deaf": 0,
    "flip": 0,
    "lose": 0,
    "twice": 0,
    "stray": 0,
    "drop": 0,
    "late": 0,
    "asleep": 0,
    "cold": 0,
    "faults": 0,
    "buttons": 0,
    "battery": 1,
    "attached": 1,
    "bounce_ms": 0,
    "bounce_off_ms": 0,
    "firmware": 705,
    "settle_ms": 20,
}


# Eleven devices, a client and the test itself on a busy machine: one of its threads may have no turn for 500 ms.
STALLED: Final = (
    "actors.control.actor",
    "the timekeeper was silent for 500 ms: forces that the loop makes by itself were ramped to zero",
)


def unexpected_log_lines(records: Iterable[logging.LogRecord]) -> list[str]:
    """Return the logged lines other than planned actor crashes and late turns of the timekeeper."""
    told = (one for one in records if one.exc_info is None or not isinstance(one.exc_info[1], PlannedCrash))
    return [one.getMessage() for one in told if (one.name, one.getMessage()) != STALLED]


class DeviceStorm:
    """Context manager: the service and its boards, nothing plugged in; `disturb` some, then `recover` compares everything with the truth."""

    service: InProcessService
    events: EventClient

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._random = random.Random(seed)
        self._stack = ExitStack()
        self.boards = Boards(*BOARDS)
        bus = FalconBus()
        self._mouse = SpaceMousePort()
        self._hapi = HapiPort(folder)
        self._others: dict[int, StormPort] = dict(zip(OTHERS, (self._hapi, FalconPort(bus), self._mouse), strict=True))
        paths = [self.boards.path(port) for port in range(len(BOARDS))]
        self._links = StormLinks(paths, bus, self._mouse)
        self._killed_s = -LEAST_BETWEEN_DEATHS_S
        self.deaths = 0
        self.plugged = [True] * len(DEVICES)
        self.here = {device_id: True for ids in DEVICES for device_id in ids}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self.boards)
            self._quiet()
            for port in PORTS:
                self._plug(port, there=False)
            for plug in self._others.values():
                stack.callback(plug.unplug)
            chosen = {**SETTINGS, "devices/hapi/ports": f"{self._hapi.path}={MECHANISM}"}
            inside = InProcessService(self._folder, simulated=(), settings=chosen, links=self._links, settled=False)
            self.service = stack.enter_context(inside)
            stack.enter_context(shipped_silence_limits())
            self.events = stack.enter_context(EventClient(self.service.events))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    # ------------------------------------------------------------ the storm

    def disturb(self, steps: int, pause_s: float = 0.1) -> None:
        """Apply that many random faults one after the other; at most three ports are broken at a time."""
        broken: list[int] = []
        for _ in range(steps):
            port = self._random.randrange(len(DEVICES))
            draw, victim = self._random.random(), self._random.choice(VICTIMS)
            if draw < 0.20:
                self._plug(port, there=not self.plugged[port])
            elif draw < 0.25:
                self._kill(victim)
            elif draw < 0.35:
                self._reboot(port)
            elif draw < 0.40:
                self._loop(port, self._random.randint(1, 4), self._random.uniform(0.02, 0.3))
            elif draw < 0.50:
                device = self._random.randrange(2)
                self._show(device, there=not self.here[DEVICES[RECEIVER][device]])
            elif draw < 0.55:
                self._reset_blocked()
            else:
                broken.append(port)
                self._break(port)
                if len(broken) > 3:
                    self._mend(broken.pop(0))
            threading.Event().wait(self._random.uniform(0, 2 * pause_s))

    def recover(self, *, plugged: bool | None = None) -> None:
        """End all faults, plug in a random choice, all or nothing, and wait until the service lists exactly these devices."""
        self._quiet()
        for port in PORTS:
            if port not in self._others:
                self.boards.loop(0, 0.0, port)
            self._plug(port, there=self._random.random() < 0.7 if plugged is None else plugged)
        for device in range(2):
            self._show(device, there=self._random.random() < 0.7 if plugged is None else plugged)
        try:
            eventually(self._as_in_truth, f"exactly {sorted(self.plugged_ids)} are there", pause_s=0.02)
        except AssertionError as error:
            error.add_note(f"{self._shown()}, {self.service.runtime.slots()}, {self.service.system.ports.value}")
            raise
        self.events_match()

    @property
    def plugged_ids(self) -> set[str]:
        """Return the ids of the plugged-in devices."""
        ids = (ids for ids, there in zip(DEVICES, self.plugged, strict=True) if there)
        return {one for group in ids for one in group if self.here[one]}

    def events_match(self) -> None:
        """Check that connected and disconnected events of each device alternate and end in its present state."""

        def turns() -> dict[str, list[bool]]:
            told: dict[str, list[bool]] = {one: [] for one in self.here}
            for event in list(self.events.events):
                if event["name"] in {"device-connected", "device-disconnected"}:
                    told[event["data"]["device_id"]].append(event["name"] == "device-connected")
            return told

        def last() -> set[str]:
            return {one for one, told in turns().items() if told and told[-1]}

        eventually(
            lambda: last() == self.plugged_ids, f"the last that was told is {sorted(self.plugged_ids)}", pause_s=0.02
        )
        for device_id, told in turns().items():
            assert told == [number % 2 == 0 for number in range(len(told))], f"{device_id}: {told}"

    def _as_in_truth(self) -> bool:
        self._reset_blocked()
        devices = self.service.system.inventory.value.devices
        here = {one.device_id for one in devices} == self.plugged_ids and all(
            one.phase is Phase.READY for one in devices
        )
        return here and self.service.runtime.slots()[1] == len(devices)

    def _shown(self) -> dict[str, str]:
        return {one.device_id: str(one.phase) for one in self.service.system.inventory.value.devices}

    def _let_go(self) -> bool:
        others = any(plug.driven for plug in self._others.values())
        return not (others or any(self.boards.see(port).driven for port in MOVERS))

    def _reset_blocked(self) -> None:
        for row in exchange(self.service.http, "GET", "/ports").json["ports"]:
            if row["state"] == "blocked":
                exchange(self.service.http, "POST", f"/ports/{row['port']}/reset")

    # ------------------------------------------------------------ boards

    def _plug(self, port: int, *, there: bool) -> None:
        self.plugged[port] = there
        other = self._others.get(port)
        if other is not None:
            (other.plug if there else other.unplug)()
        else:
            (self.boards.plug if there else self.boards.unplug)(port)

    def _reboot(self, port: int) -> None:
        other = self._others.get(port)
        if other is not None:
            other.reboot()
        else:
            self.boards.reboot(port)

    def _loop(self, port: int, times: int, gap_s: float) -> None:
        if port in self._others:
            self._plug(port, there=False)
            self._plug(port, there=True)
        else:
            self.boards.loop(times, gap_s, port)
            self.plugged[port] = True

    def _show(self, device: int, *, there: bool) -> None:
        self.here[DEVICES[RECEIVER][device]] = there
        self.boards.set("here", float(there), RECEIVER, device)

    def _break(self, port: int) -> None:
        other = self._others.get(port)
        if other is not None:
            other.hang(hung=True)
            return
        for control, value in self._random.choice(FAULTS).items():
            self.boards.set(control, value, port, self._random.randrange(len(DEVICES[port])))

    def _mend(self, port: int) -> None:
        other = self._others.get(port)
        if other is not None:
            other.hang(hung=False)
            return
        for device in range(len(DEVICES[port])):
            for control, value in QUIET.items():
                self.boards.set(control, value, port, device)

    def _quiet(self) -> None:
        for port in PORTS:
            self._mend(port)

    # ------------------------------------------------------------ actors

    def _kill(self, name: str) -> None:
        """Crash that actor unless it is down or another one was crashed a moment ago."""
        ref, now_s = self.service.system.context.directory.ref(name), time.monotonic()
        if ref is None or now_s - self._killed_s < LEAST_BETWEEN_DEATHS_S:
            return
        with suppress(pykka.ActorDeadError, AttributeError):
            run_in_actor(ref, raise_planned_crash)
            self._killed_s, self.deaths = now_s, self.deaths + 1

    # ------------------------------------------------------------ the whole course

    def run(self, rounds: int, seconds: float = 0.0) -> int:
        """Alternate storms and recoveries while a client sends commands; check that nothing leaks; return the number of storms."""
        self.recover(plugged=True)
        with ReconnectingClient(self.service.ws) as pusher:
            eventually(lambda: pusher.frames > 10, "it pushes", pause_s=0.01)
        self.service.wait_for_sessions()
        self.recover(plugged=False)
        before = ResourceCount()

        done, began = 0, time.monotonic()
        with ReconnectingClient(self.service.ws):
            while done < rounds or time.monotonic() - began < seconds:
                self.disturb(STEPS)
                self.recover()
                done += 1
        self.service.wait_for_sessions()
        self.recover(plugged=True)
        eventually(self._let_go, "nobody is pushed any more", pause_s=0.01)
        self.recover(plugged=False)

        eventually(lambda: ResourceCount().is_at_most(before), "no thread and no descriptor is left", pause_s=0.05)
        assert self.service.runtime.slots() == (0, 0)
        assert len(self.events.received_events("device-connected")) == len(
            self.events.received_events("device-disconnected")
        )
        return done
