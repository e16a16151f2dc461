"""Cause each kind of event in a running service, over its sockets."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Final
from unittest.mock import patch

from websockets.sync.client import ClientConnection, connect

from actors.control.messages import RateStage
from actors.device.messages import Phase
from actors.port.messages import PORTS, PortClosed, PortOpened
from tests.support.service.polling import TIMEOUT_S, eventually
from tests.support.service.running_system import RunningSystem
from transport.failsafe_events import follow
from transport.link.failsafe import FailsafeProcess

ARM, OLD_ARM, COMPACT, GRIP = "A001", "A073", "C001", "B001"
SPARE, PEN = "C002", "D002"
LOOPS: Final = 5

FORCE: Final = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 0.5}}}
POSITION: Final = {"set_cursor_position": {"position": {"x": 0, "y": -0.1, "z": 0.1}}}

Cause = Callable[[RunningSystem], object]


def session(system: RunningSystem, query: str = "") -> AbstractContextManager[ClientConnection]:
    """A client of the session channel."""
    return connect(f"{system.ws}/?{query}", compression=None, proxy=None, open_timeout=TIMEOUT_S)


def said(client: ClientConnection, message: Mapping[str, Any]) -> Any:
    """The frame that answers a message."""
    client.send(json.dumps(message))
    return json.loads(client.recv())


def commanded(client: ClientConnection, commands: Mapping[str, Any], device_id: str = ARM) -> Any:
    return said(client, {"arm": [{"device_id": device_id, "commands": commands}]})


def configured(client: ClientConnection, configure: Mapping[str, Any], device_id: str = ARM) -> Any:
    return said(client, {"arm": [{"device_id": device_id, "configure": configure}]})


def start(_system: RunningSystem) -> None:
    """The devices of the start connected before anybody listened; `since` tells of them."""


def refused_position(system: RunningSystem) -> None:
    with session(system) as holder, session(system) as other:
        holder.recv()
        other.recv()

        def refused() -> bool:
            """Whoever holds it does so for the command timeout only, in which the other one has to come."""
            answers = [commanded(one, POSITION) for one in (holder, other)]
            return any("holds the position" in one["reason"] for answer in answers for one in answer.get("errors", ()))

        eventually(refused, "one of the two is refused", pause_s=0.002)


def damping_of_an_old_arm(system: RunningSystem) -> None:
    with session(system) as client:
        client.recv()
        configured(client, {"damping": {"scalar": 1}}, OLD_ARM)


def home_return_of_an_old_arm(system: RunningSystem) -> None:
    assert system.ask("POST", f"/arm/{OLD_ARM}/home_return").status == 422


def stop(system: RunningSystem) -> None:
    assert system.ask("POST", f"/arm/{ARM}/stop").status == 200


def release(system: RunningSystem) -> None:
    assert system.ask("DELETE", f"/arm/{ARM}/stop").status == 200


def connection_loop(system: RunningSystem) -> None:
    """The link of the compact's port drops and opens again, too often."""
    port = system.system.inventory.value.get(COMPACT).identity.port
    for _ in range(LOOPS):
        system.directory.tell(PORTS, PortClosed(port))
        system.directory.tell(PORTS, PortOpened(port, port, COMPACT))


def port_reset(system: RunningSystem) -> None:
    (blocked,) = (one for one in system.ask("GET", "/ports").json["ports"] if one["state"] == "blocked")
    assert system.ask("POST", f"/ports/{blocked['port']}/reset").status == 200


def pair_dissolved(system: RunningSystem) -> None:
    assert system.ask("DELETE", f"/arm/{ARM}/config/paired_with").status == 200


def made(system: RunningSystem, device_id: str, **change: object) -> None:
    """A simulated device does what is asked for."""
    reply = system.ask("POST", f"/simulation/*/{device_id}", change)
    assert reply.status == 200, reply.body


def asleep(system: RunningSystem) -> None:
    made(system, GRIP, awake=False)
    made(system, GRIP, awake=True)


def let_go(system: RunningSystem) -> None:
    made(system, GRIP, attached=False)
    eventually(lambda: not system.device(GRIP).bond.attached, "the grip is let go", pause_s=0.005, tries=4_000)
    made(system, GRIP, attached=True)
    eventually(lambda: system.device(GRIP).bond.attached, "the grip is held", pause_s=0.005, tries=4_000)


def charge_of(level: float) -> Cause:
    def cause(system: RunningSystem) -> None:
        made(system, GRIP, battery_level=level)

    return cause


def until_ready(system: RunningSystem, device_id: str) -> None:
    def ready() -> bool:
        found = system.system.inventory.value.find(device_id)
        return found is not None and found.phase is Phase.READY

    eventually(ready, f"{device_id} is ready", pause_s=0.005, tries=4_000)


def until_gone(system: RunningSystem, device_id: str) -> None:
    eventually(lambda: system.system.inventory.value.find(device_id) is None, "it has gone", pause_s=0.005, tries=4_000)


@contextmanager
def faulty(system: RunningSystem, device_id: str, fault: str) -> Generator[None]:
    """A simulated device has a fault for as long as the block lasts, and is ready behind it."""
    made(system, device_id, fault=fault)
    try:
        yield
    finally:
        made(system, device_id, fault="none")
        until_ready(system, device_id)


def hang(system: RunningSystem) -> None:
    """The device sends nothing until it is given up."""
    with faulty(system, SPARE, "hang"):
        until_gone(system, SPARE)


def paired(system: RunningSystem) -> None:
    assert system.ask("POST", f"/compact/{SPARE}/config/paired_with", PEN).status == 200


def calibrated(system: RunningSystem, seconds: float = 0.05) -> int:
    """Return the status of the answer to a calibration of so many seconds."""
    with patch("actors.device.actor.CALIBRATION_S", seconds):
        return system.ask("POST", f"/compact/{SPARE}/calibration").status


def calibration_without_its_pen(system: RunningSystem) -> None:
    paired(system)
    with faulty(system, PEN, "unplug"):
        until_gone(system, PEN)
        assert calibrated(system) == 409


def calibration_with_a_pen_that_sleeps(system: RunningSystem) -> None:
    paired(system)
    made(system, PEN, awake=False)
    eventually(lambda: system.device(PEN).phase is Phase.ASLEEP, "the pen sleeps", pause_s=0.005, tries=4_000)
    assert calibrated(system) == 409
    made(system, PEN, awake=True)
    until_ready(system, PEN)


def calibration_that_loses_its_pen(system: RunningSystem) -> None:
    paired(system)
    assert calibrated(system, seconds=5) == 200
    with faulty(system, PEN, "unplug"):
        until_gone(system, PEN)


def calibration_with(fault: str) -> Cause:
    def failed(system: RunningSystem) -> bool:
        return bool(system.ask("GET", f"/compact/{SPARE}/calibration").json["state"] == "failed")

    def cause(system: RunningSystem) -> None:
        paired(system)
        with faulty(system, SPARE, fault):
            assert calibrated(system) == 200
            eventually(partial(failed, system), "it fails", pause_s=0.005, tries=4_000)

    return cause


def a_session(system: RunningSystem) -> None:
    with session(system) as client:
        client.recv()


def a_new_preset(system: RunningSystem) -> None:
    with session(system) as client:
        client.recv()
        configured(client, {"preset": "arm_front_centered"})


def a_profile(system: RunningSystem) -> None:
    with session(system) as client:
        client.recv()
        said(client, {"session": {"configure": {"profile": {"name": "drawing"}}}})


def a_damping_over_http(system: RunningSystem) -> None:
    with session(system) as client:
        session_id = json.loads(client.recv())["session_id"]
        path = f"/arm/{ARM}/config/filters/damping?session={session_id}"
        assert system.ask("POST", path, {"scalar": 1}).status == 200


def a_failsafe_process_that_is_killed(system: RunningSystem) -> None:
    failsafe = FailsafeProcess()
    follow(failsafe, system.system)
    assert failsafe.pid is not None
    os.kill(failsafe.pid, signal.SIGKILL)
    eventually(lambda: failsafe.restarts == 1 and failsafe.pid is not None, "another one runs", pause_s=0.005)
    failsafe.close()


def commands_that_come_too_seldom(system: RunningSystem) -> None:
    def faded() -> int:
        return int(system.shown(system.device(ARM))["faded"])

    def fades(times: int) -> bool:
        return faded() >= times

    with session(system) as client:
        client.recv()
        begun = faded()
        for times in range(1, 5):
            commanded(client, FORCE)
            eventually(partial(fades, begun + times), "the force fades", pause_s=0.002, tries=5_000)


def a_session_that_never_was(system: RunningSystem) -> None:
    with session(system, "session_id=999999999") as client:
        client.recv()


def a_version_to_come(system: RunningSystem) -> None:
    with session(system) as client:
        client.recv()
        said(client, {"session": {"configure": {"required_sdk_version": "99"}}})


def starved(ratio: float) -> Cause:
    def cause(system: RunningSystem) -> None:
        assert system.ask("POST", "/simulation/loop", {"ratio": ratio}).status == 200

    return cause


def interrupted(system: RunningSystem) -> None:
    """One tick in 40 at 400 Hz is 100 ms after the one before; the force is held meanwhile."""

    def lost() -> bool:
        commanded(client, FORCE)
        return bool(system.system.loop_watch.value.interruptions)

    starved(0.025)(system)
    with session(system) as client:
        client.recv()
        eventually(lost, "force is lost", pause_s=0.02)
    starved(1)(system)


def starved_a_little(system: RunningSystem) -> None:
    """Low and no worse from a whole rate on: a hole in the machine's time may make it critical at once."""

    def stage() -> RateStage:
        return system.system.loop_watch.value.stage

    def low() -> bool:
        starved(1)(system)
        eventually(lambda: stage() is RateStage.ENOUGH, "the rate is whole", pause_s=0.005)
        starved(0.7)(system)
        eventually(lambda: stage() is not RateStage.ENOUGH, "the rate is low", pause_s=0.005)
        return stage() is RateStage.LOW

    eventually(low, "the rate is low and not critical", pause_s=0.005)


def an_unknown_group(system: RunningSystem) -> None:
    with session(system) as client:
        client.recv()
        said(client, {"boat": 1})


def an_old_command(system: RunningSystem) -> None:
    with session(system) as client:
        client.recv()
        commanded(client, {"set_cursor_force": {"values": [0, 0, 0]}})


def an_old_route(system: RunningSystem) -> None:
    assert system.ask("POST", "/torque_scaling", {"enable": True}).status == 200
