"""Random interleavings of all that reaches the loop, with the laws of the force path checked after every tick."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fastpath.arena.access import Reader, Writer
from fastpath.arena.runtime import Lease, Runtime, default_oscillation
from fastpath.navigation.values import Bubble
from fastpath.port.port_cell import PortCell
from tests.support.loop.devices import ARM_CENTRE, CIRCLE, HOLD, NO_HAND, REST, arm_params, fill, grip_params
from tests.support.loop.monitored_arm import ATTACHED, EBRAKE

PEAK_N: Final = 10.0
TORQUE_NMM: Final = 6000.0
SLEW: Final = 3000.0
BRAKE_ONSET_S: Final = 0.002
LONGEST_SLEW_S: Final = 0.003
HELD_S: Final = 0.020
FADE_S: Final = 0.020
CURSOR: Final = 3
SESSIONS: Final = 3
RATES: Final = (100.0, 128.0, 300.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 10_000.0, 32_000.0)
SIZES: Final = (0.0, 0.01, 0.5, 3.0, 9.0, 30.0, 1e4, 1e9)
GAPS_S: Final = (0.0005, 0.002, 0.005, 0.0195, 0.021, 0.080, 0.240, 0.260, 1.5)

Vector = tuple[float, float, float]
NOTHING: Final[Vector] = (0.0, 0.0, 0.0)


@dataclass(slots=True)
class Watched:
    """One device, and what its next output is judged by."""

    name: str
    lease: Lease
    reader: Reader
    params: NDArray[np.void]
    state: NDArray[np.void]
    cell: PortCell | None = None
    stopped: bool = False
    last: Vector = NOTHING
    place: list[float] = field(default_factory=lambda: list(ARM_CENTRE))

    @property
    def may_brake(self) -> bool:
        """Whether a stop may brake it before its force is zero."""
        return self.stopped and bool(self.params["accepts_commands"]) and bool(self.params["optional"]["stop_brake"])

    @property
    def may_move(self) -> bool:
        return not self.stopped and bool(self.params["accepts_commands"])


class Interleaving:
    """A loop with a simulated arm, an arm at a port, a grip and three sessions, driven by random numbers; AssertionError at a broken law."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = np.random.default_rng(seed)
        self.runtime = Runtime(stepping=True)
        self.frequency, self.timeout, self.filtered = 4_000.0, 0.05, True
        self.history: deque[str] = deque(maxlen=12)
        self.ticks = 0
        self._publish_loop()
        self.grip = self.runtime.lease_device("grip")
        self.sim = self._device("sim", arm_params(slew=SLEW, slow_slew=500.0, grip_slot=self.grip.slot))
        self.port = self._device("port", arm_params(slew=SLEW, slow_slew=500.0, source=1, silence=0.05))
        self.port.params["mechanism"]["kind"] = CURSOR
        self.port.cell = PortCell(self.runtime, self.port.lease)
        self._hold_grip(held=True)
        self.devices = (self.sim, self.port)
        self.sessions: list[tuple[Lease, list[Writer]]] = []
        self._packets = True
        self.jumped = True
        for device in self.devices:
            self._publish(device)
        while len(self.sessions) < SESSIONS:
            self._open_session()
        self.actions: tuple[tuple[float, Callable[[], None]], ...] = (
            (8.0, self.command),
            (2.0, self.publish_again),
            (1.0, self.configure),
            (1.0, self.navigate),
            (0.5, self.play_effect),
            (0.5, self.change_rate),
            (1.0, self.miss_ticks),
            (0.25, self.stop_or_release),
            (0.15, self.accept_or_refuse),
            (0.6, self.pair_or_drop),
            (1.0, self.simulate),
            (0.3, self.packets_stop_or_resume),
            (0.3, self.change_sessions),
            (0.15, self.end_everything),
            (0.4, self.limit),
            (0.3, self.resume),
        )
        self.weights = np.array([weight for weight, _ in self.actions]) / sum(weight for weight, _ in self.actions)

    def run(self, ticks: int) -> None:
        """Choose actions and run ticks after each, until so many have run."""
        begun = self.ticks
        while self.ticks - begun < ticks:
            _weight, action = self.actions[int(self.random.choice(len(self.actions), p=self.weights))]
            self.history.append(action.__name__)
            action()
            for _ in range(int(self.random.integers(1, 60))):
                self.tick()

    # ------------------------------------------------------------ the laws

    def tick(self, missed: int = 0) -> None:
        """Run one tick after so many missed periods, and judge every device."""
        if self._packets and self.ticks % 4 == 0:
            self._send_packet()
        self.runtime.step(1, missed=missed)
        self.ticks += 1
        interrupted = self.jumped or (missed > 0 and (1 + missed) / self.frequency > HELD_S)
        self.jumped = False
        for device in self.devices:
            device.reader.snapshot(device.state)
            self._judge(device, interrupted=interrupted)

    def _judge(self, device: Watched, *, interrupted: bool) -> None:
        force: Vector = tuple(device.state["force"].tolist())
        torque: Vector = tuple(device.state["torque"].tolist())
        for value in (*force, *torque, *device.state["position"].tolist(), *device.state["velocity"].tolist()):
            self._hold(math.isfinite(value), device, "a number that is not finite")
        size = math.hypot(*force)
        self._hold(size <= PEAK_N + 1e-6, device, f"{size} N, above the peak")
        self._hold(max(map(abs, torque)) <= TORQUE_NMM * (1 + 1e-9), device, f"{torque} N.mm, above the limit")
        if device.may_brake:
            velocity = device.state["velocity"].tolist()
            power = sum(part * speed for part, speed in zip(force, velocity, strict=True))
            self._hold(power <= 0, device, f"{power} W put out under a stop")
        elif not device.may_move:
            self._hold(force == NOTHING and torque == NOTHING, device, f"{force} N without being allowed to")
        period = 1 / self.frequency
        most = SLEW * min(period, LONGEST_SLEW_S)
        if int(device.state["safety"]) & EBRAKE or device.may_brake:
            most = max(most, PEAK_N / BRAKE_ONSET_S * period)
        step = distance(force, NOTHING if interrupted else device.last)
        self._hold(step <= most + 1e-6, device, f"{step} N from {device.last} to {force} in one tick, at most {most}")
        device.last = force

    def _hold(self, holds: bool, device: Watched, what: str) -> None:
        if not holds:
            told = ", ".join(self.history)
            raise AssertionError(
                f"{device.name}: {what}; seed {self.seed}, tick {self.ticks}, {self.frequency} Hz, after {told}"
            )

    # ------------------------------------------------------------ actions

    def command(self) -> None:
        """Publish a new set of commands of a session: of any kind and size."""
        writer = self._writer()
        writer.begin()
        if self._chance(0.7):
            writer.force(*self._vector())
        if self._chance(0.2):
            writer.torque(*self._vector(100.0))
        if self._chance(0.2):
            writer.position(*(np.array(ARM_CENTRE) + 0.05 * self.random.standard_normal(3)).tolist())
        if self._chance(0.1):
            writer.angle(*(40.0 * self.random.standard_normal(3)).tolist())
        if self._chance(0.3):
            self._contact(writer)
        writer.publish()

    def publish_again(self) -> None:
        """Refresh what a session holds."""
        self._writer().publish()

    def configure(self) -> None:
        """Change damping, gate, ducking and transforms of a session."""
        writer = self._writer()
        writer.set_damping(*self.random.uniform(0, 30, 3).tolist())
        writer.set_gate(float(self.random.random()))
        writer.set_duck(float(self.random.random()))
        turn = self.random.standard_normal(4)
        turn /= np.linalg.norm(turn)
        writer.set_workspace(NOTHING, turn.tolist(), (1.0, 1.0, float(self.random.uniform(0.2, 5))))
        writer.publish(refresh=False)

    def navigate(self) -> None:
        """Switch a session's bubble on or off."""
        writer = self._writer()
        writer.set_navigation(Bubble() if self._chance(0.6) else None)
        writer.publish(refresh=False)

    def play_effect(self) -> None:
        """Begin or end a vibration."""
        writer = self._writer()
        x, y, z = self.random.uniform(-1, 1, 3).tolist() if self._chance(0.6) else NOTHING
        writer.set_effect(int(self.random.integers(2)), (x, y, z), float(self.random.uniform(10, 500)))
        writer.publish(refresh=False)

    def change_rate(self) -> None:
        """Change the loop's rate, its time-out and its filter."""
        before, self.frequency = self.frequency, float(self.random.choice(RATES))
        self.timeout = float(self.random.uniform(0.02, 0.2))
        self.filtered = self._chance(0.8)
        self._publish_loop()
        self.jumped = self.frequency != before

    def miss_ticks(self) -> None:
        """Keep the loop from running for a while, up to 1.5 s."""
        seconds = float(self.random.choice(GAPS_S)) * float(self.random.uniform(0.9, 1.1))
        self.tick(missed=int(seconds * self.frequency))

    def stop_or_release(self) -> None:
        """Set or release the stop latch of a device."""
        device = self._device_of()
        device.stopped = not device.stopped and self._chance(0.4)
        assert self.runtime.stop_device(device.lease, device.stopped)

    def accept_or_refuse(self) -> None:
        """Let a device accept commands or not."""
        device = self._device_of()
        self._publish(device, accepts_commands=int(not device.params["accepts_commands"] or self._chance(0.6)))

    def pair_or_drop(self) -> None:
        """Hold the paired grip, drop it, or pair anew."""
        self._hold_grip(held=self._chance(0.5))
        slot = self.grip.slot if self._chance(0.7) else -1
        self._publish(self.sim, grip_slot=slot, grip_timeout=0.1 * float(self._chance(0.5)))

    def simulate(self) -> None:
        """Push the simulated arm, lock or freeze it, or change its hand."""
        orders = self.sim.params["simulation"]
        fill(
            orders,
            {
                "external": self._vector() if self._chance(0.1) else NOTHING,
                "lock_stiffness": 20_000.0 * float(self._chance(0.1)),
                "frozen": int(self._chance(0.1)),
            },
        )
        if self._chance(0.1):
            orders["push"] = self.random.uniform(-4, 4, 3)
            orders["push_revision"] += 1
        self.sim.params["hand"]["path"] = self.random.choice([NO_HAND, CIRCLE, REST, HOLD])
        self._publish(self.sim)

    def packets_stop_or_resume(self) -> None:
        """Let the device at the port fall silent, or send again."""
        self._packets = not self._packets or self._chance(0.5)

    def change_sessions(self) -> None:
        """Close a session and open another."""
        lease, _writers = self.sessions.pop(int(self.random.integers(len(self.sessions))))
        self.runtime.release_session(lease)
        self._open_session()

    def limit(self) -> None:
        """Switch optional monitors of a device on or off."""
        device = self._device_of()
        on = self.random.random(7) < 0.3
        drawn = (*self.random.uniform(0.01, [1.0, 20.0, 1.0]).tolist(), 1, 1, 1, 1)
        names = device.params["optional"].dtype.names or ()
        fill(
            device.params["optional"],
            dict(zip(names, (a * float(b) for a, b in zip(drawn, on, strict=True)), strict=True)),
        )
        self._publish(device)

    def resume(self) -> None:
        """Let a device whose latched brake waits obey again."""
        self.runtime.resume_device(self._device_of().lease)

    def end_everything(self) -> None:
        """Close all sessions, or say nothing more: in time there is no force, but for the brake, at home in the springs' free space."""
        quiet = self._chance(0.5)
        if quiet:
            for _lease, writers in self.sessions:
                for writer in writers:
                    writer.set_damping(0.0, 0.0, 0.0)
                    writer.set_navigation(None)
                    writer.set_effect(0)
                    writer.set_effect(1)
                    writer.publish(refresh=False)
        else:
            for lease, _writers in self.sessions:
                self.runtime.release_session(lease)
            self.sessions.clear()
        left = self.timeout + FADE_S if quiet else 0.0
        for _ in range(math.ceil(left * self.frequency) + 2):
            self.tick()
        for device in self.devices:
            if not int(device.state["safety"]) & EBRAKE and not device.may_brake:
                self._hold(device.last == NOTHING, device, f"{device.last} N after everything ended")
        while len(self.sessions) < SESSIONS:
            self._open_session()

    # ------------------------------------------------------------ parts

    def _device(self, name: str, params: NDArray[np.void]) -> Watched:
        lease = self.runtime.lease_device(name)
        # No limit springs: what is left when everything ends is zero.
        fill(params, {"zone_low": (-1.0,) * 3, "zone_high": (-1.0,) * 3})
        reader = self.runtime.reader(lease)
        assert self.runtime.publish_device(lease, params)
        return Watched(name, lease, reader, params, reader.snapshot())

    def _publish(self, device: Watched, **changes: object) -> None:
        fill(device.params, changes)
        assert self.runtime.publish_device(device.lease, device.params)

    def _publish_loop(self) -> None:
        oscillation = default_oscillation()
        oscillation["enabled"] = self.filtered
        self.runtime.publish_loop(frequency=self.frequency, command_timeout=self.timeout, oscillation=oscillation)

    def _hold_grip(self, *, held: bool) -> None:
        assert self.runtime.publish_device(self.grip, grip_params(flags=61 | (ATTACHED if held else 0)))

    def _open_session(self) -> None:
        lease = self.runtime.lease_session(f"session {self.ticks} {len(self.sessions)} {self.random.integers(1 << 30)}")
        self.sessions.append((lease, [self.runtime.writer(lease, device.lease) for device in self.devices]))

    def _send_packet(self) -> None:
        place = self.port.place
        # Mostly slow; a jump trips the e-brake.
        step = ((0.02 if self._chance(1e-4) else 2e-5) * self.random.standard_normal(3)).tolist()
        for axis in range(3):
            place[axis] = min(max(place[axis] + step[axis], ARM_CENTRE[axis] - 0.05), ARM_CENTRE[axis] + 0.05)
        assert self.port.cell is not None
        assert self.port.cell.put(position=(place[0], place[1], place[2]))

    def _writer(self) -> Writer:
        _lease, writers = self.sessions[int(self.random.integers(len(self.sessions)))]
        return writers[int(self.random.integers(len(writers)))]

    def _device_of(self) -> Watched:
        return self.devices[int(self.random.integers(len(self.devices)))]

    def _contact(self, writer: Writer) -> None:
        x, y, z = (np.array(ARM_CENTRE) + 0.05 * self.random.standard_normal(3)).tolist()
        stiffness, damping = float(self.random.uniform(0, 2000)), float(self.random.uniform(0, 20))
        if self._chance(0.5):
            normal: Vector = tuple(self.random.standard_normal(3).tolist())
            writer.contact_plane((x, y, z), normal, stiffness, damping)
            return
        # A session's space may be scaled unevenly: then a sphere is refused.
        with suppress(ValueError):
            writer.contact_sphere((x, y, z), float(self.random.uniform(0.001, 0.1)), stiffness, damping)

    def _vector(self, scale: float = 1.0) -> Vector:
        size = float(self.random.choice(SIZES)) * scale
        vector: Vector = tuple((size * self.random.standard_normal(3)).tolist())
        return vector

    def _chance(self, share: float) -> bool:
        return bool(self.random.random() < share)


def distance(force: Vector, last: Vector) -> float:
    """Distance (N) of a force from the way between zero and the last force, on which it may be at once."""
    square = last[0] * last[0] + last[1] * last[1] + last[2] * last[2]
    share = 0.0
    if square > 0:
        along = force[0] * last[0] + force[1] * last[1] + force[2] * last[2]
        share = min(max(along / square, 0.0), 1.0)
    return math.hypot(*(now - share * then for now, then in zip(force, last, strict=True)))
