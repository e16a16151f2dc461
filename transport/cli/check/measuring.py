"""Measure a device through an ordinary session: short gentle pushes along each axis, travel by hand, buttons, port counters.

Each push is bounded in force, time and way. When the command ends, however, the session closes and the service zeroes the force
at its next tick; when it hangs, the force fades after `sessions/command_timeout`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from transport.cli.channel import Channel, opened
from transport.cli.check import link
from transport.cli.check.measured import AXES, Buttons, Measured, Numbers, Push, Step, Travel
from transport.cli.check.verdict import wrong_parts
from transport.cli.client import Client, device_path, results_of
from transport.cli.devices import ShownDevice, devices_of, numbers, part
from transport.cli.exit_codes import NoService, Refused

REST_S: Final = 0.15  # how long the drift before a push is measured
RAMP_S: Final = 0.05
PUSH_S: Final = 0.4
CALM_S: Final = 0.25
ENOUGH_M: Final = 0.008  # a push ends early when the device has moved so far
RUN_AWAY_M: Final = 0.05
LEAST_LOOKS: Final = 3
PAUSE_S: Final = 0.002  # between two messages; a command lasts 0.05 s
STEP_S: Final = 0.02
FASTEST: Final = 5.0  # m/s; a hand is slower


@dataclass(frozen=True, slots=True)
class Plan:
    """What a self-test does."""

    force: float = 0.8  # N
    push: bool = True
    travel_s: float = 0.0
    buttons_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Look:
    """The device at one moment."""

    at: float  # s
    position: Numbers
    angles: Numbers


Say = Callable[[str], None]


def find_device(client: Client, named: str) -> tuple[ShownDevice, dict[str, Any]]:
    """Return the one device that is named, and its entry; Refused when there is none, or several."""
    entries = results_of(client.get(device_path(named)))
    if len(entries) != 1:
        raise Refused(f"{len(entries)} devices are meant: name one by its id, hapticd devices lists them.")
    entry = entries[0]
    kind = str(part(entry, "config").get("type", ""))
    found = next(devices_of({kind: [entry]}), None)
    if found is None:
        raise NoService(f"What answers at {client.address.url} is not hapticd: give the service's address with --url.")
    return found, entry


async def measure(client: Client, device: ShownDevice, plan: Plan, say: Say) -> Measured:
    """Run the self-test and return what was measured; NoService, Refused, ServiceFailed."""
    partner = device.config.get("paired_with") if device.moves else device.device_id
    before = link.read(client, device)
    async with opened(client.address, client.token, client.timeout_s, vocabulary="neutral") as channel:
        bench = Bench(channel, device, str(partner) if partner else None)
        await bench.declare()
        found = Measured(device.device_id, device.kind, device.moves)
        if plan.push and device.moves:
            found = await bench.push_surely(found, plan.force, say)
        if plan.travel_s > 0 and device.moves:
            say(f"Move the handle through its whole reach for {plan.travel_s:g} s.")
            found = replace(found, travel=await bench.travel(plan.travel_s))
        if plan.buttons_s > 0 and bench.button_names:
            say(f"Press and release each button within {plan.buttons_s:g} s: {', '.join(bench.button_names)}.")
            await bench.look_for(plan.buttons_s)
        else:
            await bench.look_for(REST_S)
    found = replace(found, buttons=bench.buttons(asked=plan.buttons_s > 0))
    passed = await link.count_since(before, client, device)
    shown, entry = find_device(client, device.device_id)
    battery = shown.state.get("battery_level")
    return replace(
        found,
        link=passed,
        reports=str(entry.get("reports") or ""),
        status={name: value for name, value in shown.status.items() if isinstance(value, bool)},
        battery=battery if isinstance(battery, float) and shown.config.get("connection") == "wireless" else None,
    )


class Bench:
    """One open session with one device, and the handle that is paired with it."""

    def __init__(self, channel: Channel, device: ShownDevice, handle: str | None) -> None:
        self._channel = channel
        self._device = device
        self._handle = handle
        self._pressed: set[str] = set()
        self._released: set[str] = set()
        self.button_names: tuple[str, ...] = ()
        self._commanded = False

    async def declare(self) -> None:
        """Take the first frame, and name the session; Refused when another session commands the device."""
        frame = await self._channel.receive(self._channel_timeout)
        self._look(frame)
        answer = await self._channel.exchange({"session": {"configure": {"profile": {"name": "hapticd check"}}}})
        self._look(answer)
        shown = self._find(answer, self._device.device_id)
        if shown is not None and shown.status.get("in_use") is True:
            raise Refused(
                f"Another session commands {self._device.device_id}: end that program first, hapticd sessions lists it."
            )

    @property
    def _channel_timeout(self) -> float:
        return 5.0

    async def push_surely(self, found: Measured, force: float, say: Say) -> Measured:
        """Push, and once more if something did wrong: on a busy machine a push that was cut short looks like a dead motor."""
        first = await self.push_all(found, force, say)
        if first.ran_away or first.lost or not wrong_parts(first):
            return first
        say("Once more, to be sure.")
        second = await self.push_all(found, force, say)
        return second if second.ran_away or second.lost else min(first, second, key=wrong_parts)

    async def push_all(self, found: Measured, force: float, say: Say) -> Measured:
        """Push along each axis, one way and the other; end early when the device runs away or is lost."""
        pushes: list[Push] = []
        steps: list[Step] = []
        for axis, name in enumerate(AXES):
            for sign in (1.0, -1.0):
                say(f"push along {'+' if sign > 0 else '-'}{name} with {force:g} N")
                push, looks = await self._push(axis, sign * force)
                steps += steps_of(looks)
                if push is None:
                    lost = "The device was gone, or its data stood still, during a push."
                    return replace(found, pushes=tuple(pushes), steps=tuple(steps), lost=lost)
                pushes.append(push)
                if max(map(abs, push.moved)) > RUN_AWAY_M:
                    return replace(found, pushes=tuple(pushes), steps=tuple(steps), ran_away=True)
        return replace(found, pushes=tuple(pushes), steps=tuple(steps))

    async def travel(self, seconds: float) -> Travel:
        """Look at the range of a hand's motion."""
        looks = await self.look_for(seconds)
        places, angles = [look.position for look in looks], [look.angles for look in looks]
        jumps = sum(
            distance(one.position, other.position) > FASTEST * max(other.at - one.at, 0.001)
            for one, other in pairwise(looks)
        )
        return Travel(
            seconds,
            tuple(map(min, zip(*places, strict=True))),
            tuple(map(max, zip(*places, strict=True))),
            tuple(max(one) - min(one) for one in zip(*angles, strict=True)),
            jumps,
        )

    async def look_for(self, seconds: float, force: Numbers | None = None) -> list[Look]:
        """Return what the device did for so long, without a force."""
        looks: list[Look] = []
        until = time.monotonic() + seconds
        asked = 0
        # On a busy machine one answer may take longer than all of that time.
        while time.monotonic() < until or asked < LEAST_LOOKS:
            looks += await self._ask(force)
            asked += 1
        return looks

    def buttons(self, *, asked: bool) -> Buttons:
        """Return what was seen of the buttons."""
        return Buttons(asked, self.button_names, frozenset(self._pressed), frozenset(self._released))

    async def _push(self, axis: int, force: float) -> tuple[Push | None, list[Look]]:
        rest = await self.look_for(REST_S)
        began = time.monotonic()
        looks: list[Look] = []
        if len(rest) < 2:
            return None, looks
        drift = slope(rest)
        while (passed := time.monotonic() - began) < PUSH_S:
            size = force * min(1.0, passed / RAMP_S)
            looks += await self._ask(tuple(size if place == axis else 0.0 for place in range(3)))
            if looks and distance(looks[-1].position, rest[-1].position) > ENOUGH_M:
                break
        await self.look_for(CALM_S)
        if not looks:
            return None, looks
        return Push(axis, force, *moved_from(rest[-1], looks[-1], drift)), looks

    async def _ask(self, force: Numbers | None) -> list[Look]:
        """Send a force, or release, and return the look of the frame; none when the device is not in it."""
        commands: dict[str, object] = {"keep_alive": {}}
        if force is not None:
            commands = {"set_cursor_force": {"vector": dict(zip(AXES, force, strict=True))}}
        if self._device.moves:
            message: object = {self._device.kind: [{"device_id": self._device.device_id, "commands": commands}]}
        else:
            message = {}
        frame = await self._channel.exchange(message)
        await asyncio.sleep(PAUSE_S)
        return self._look(frame)

    def _look(self, frame: Any) -> list[Look]:
        if self._handle is not None and (handle := self._find(frame, self._handle)) is not None:
            told = {str(name): down is True for name, down in part(handle.state, "buttons").items()}
            self.button_names = tuple(told)
            self._pressed |= {name for name, down in told.items() if down}
            self._released |= {name for name, down in told.items() if not down}
        shown = self._find(frame, self._device.device_id)
        if shown is None:
            return []
        place, angles = numbers(shown.state, "cursor_position"), numbers(shown.state, "angular_position")
        return [Look(time.monotonic(), place, angles)] if len(place) == len(AXES) else []

    def _find(self, frame: Any, device_id: str) -> ShownDevice | None:
        return next((one for one in devices_of(frame) if one.device_id == device_id), None)


def slope(looks: list[Look]) -> tuple[Numbers, Numbers]:
    """Return the mean velocity of device and joints, 1/s."""
    first, last = looks[0], looks[-1]
    passed = max(last.at - first.at, 1e-6)
    return tuple(d / passed for d in less(last.position, first.position)), tuple(
        d / passed for d in less(last.angles, first.angles)
    )


def moved_from(start: Look, end: Look, drift: tuple[Numbers, Numbers]) -> tuple[Numbers, Numbers]:
    """Return how far device and joints went from one look to another, without the drift."""
    passed = end.at - start.at
    return tuple(d - v * passed for d, v in zip(less(end.position, start.position), drift[0], strict=True)), tuple(
        d - v * passed for d, v in zip(less(end.angles, start.angles), drift[1], strict=False)
    )


def steps_of(looks: list[Look]) -> list[Step]:
    """Return the motion in pieces of STEP_S."""
    steps: list[Step] = []
    last: Look | None = None
    for look in looks:
        if last is None:
            last = look
        elif look.at - last.at >= STEP_S:
            steps.append(Step(less(look.position, last.position), less(look.angles, last.angles)))
            last = look
    return steps


def less(one: Numbers, other: Numbers) -> Numbers:
    """Return the difference of two lists of numbers."""
    return tuple(a - b for a, b in zip(one, other, strict=False))


def distance(one: Numbers, other: Numbers) -> float:
    """Return the largest difference along an axis."""
    return max((abs(d) for d in less(one, other)), default=0.0)
