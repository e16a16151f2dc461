"""Drawn contacts: a device in one or two hands, the clients that render it, where the hands want to go, and the laws of force.

Metres, newtons, seconds, kilograms. Everything follows from a class and a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from fastpath.testing.contact_trial import KINDS, LAW, LOOP, SAMPLE_RATE, contact_trial

SECONDS: Final = 3.0
SAMPLES: Final = round(SECONDS * SAMPLE_RATE)
TIME: Final[NDArray[np.float64]] = np.arange(SAMPLES + 1) / SAMPLE_RATE
LOOP_RATES: Final = (1000, 2000, 4000, 4000, 4000, 4000, 8000, 16000, 32000)
SPEED_CUTOFF_HZ: Final = 100.0
OMEGA: Final[NDArray[np.float64]] = 2 * np.pi * np.geomspace(0.3, 450.0, 1200)

PLAYED: Final = (KINDS["vibration"], KINDS["pulses"], KINDS["transient"], KINDS["step"])

Array = NDArray[np.float64]
# kg and N/m, N.s/m of grip and arm
Hand = tuple[float, float, float, float, float]


Maker = Callable[["Draw", str, int], "Contact"]


def named(table: dict[str, Maker], name: str) -> Callable[[Maker], Maker]:
    """Add a maker of contacts to a table under a name."""

    def add(make: Maker) -> Maker:
        table[name] = make
        return make

    return add


class Draw:
    """Random numbers of one contact, from its class and seed."""

    def __init__(self, name: str, seed: int) -> None:
        self.random = np.random.default_rng([crc32(name.encode()), seed])

    def even(self, low: float, high: float) -> float:
        """Return a number between both, evenly distributed."""
        return float(self.random.uniform(low, high))

    def wide(self, low: float, high: float) -> float:
        """Return a number between both, evenly distributed in its logarithm."""
        return float(np.exp(self.random.uniform(np.log(low), np.log(high))))

    def chance(self, share: float) -> bool:
        """Return whether something happens that does in this share (0 to 1) of all draws."""
        return bool(self.random.uniform() < share)

    def one_of(self, *options: Any) -> Any:
        """Return one of the options."""
        return options[int(self.random.integers(len(options)))]

    def direction(self) -> Array:
        """Return a unit vector: every third time along an axis."""
        if self.chance(1 / 3):
            vector = np.zeros(3)
            vector[self.random.integers(3)] = self.one_of(-1.0, 1.0)
            return vector
        vector = self.random.normal(size=3)
        return np.asarray(vector / np.linalg.norm(vector))

    def across(self, normal: Array) -> Array:
        """Return a unit vector at a right angle to another."""
        vector = np.cross(normal, self.random.normal(size=3))
        return np.asarray(vector / np.linalg.norm(vector))

    def smooth(self, seconds: float) -> Array:
        """Return a random course of about -1 to 1 that turns about once in so many seconds, one value for each point of TIME."""
        knots = max(4, int(SECONDS / seconds) + 3)
        values = self.random.uniform(-1, 1, knots)
        return smoothed(np.interp(TIME, np.linspace(0, SECONDS, knots), values), 0.5 * seconds)


@dataclass(frozen=True, slots=True)
class Client:
    """A client on the wire."""

    period: float  # s between two commands
    delay: float  # s of a command's way
    jitter: float  # share by which both vary


@dataclass(frozen=True, slots=True)
class Rig:
    """A device, the hands that hold it, the loop and its clients."""

    device: tuple[float, float, float]  # kg, N.s/m, N
    encoder_step: float  # m
    noise: int  # counts
    hands: tuple[Hand, ...]
    grips: Array  # hands x SAMPLES, factor of the grip
    frequency: int  # Hz
    latency: int  # ticks from order to motor
    clients: tuple[Client, ...]
    peak: float  # N

    def delay(self, client: int) -> tuple[float, float]:
        """Return the mean time (s) from a position to the force that answers to it, and the time (s) for which that is held."""
        tick = 1 / self.frequency
        if client == LOOP:
            return (0.5 + self.latency) * tick, tick
        wire = self.clients[client]
        held = max(wire.period * (1 + 0.25 * wire.jitter), tick)
        return max(wire.delay * (1 + 0.5 * wire.jitter), tick) + 0.5 * held + (0.5 + self.latency) * tick, held

    def critical(self, client: int, stiffness: float, damping: float = 0.0) -> float:
        """Return the factor by which a spring (N/m) with damper (N.s/m) becomes as stiff as oscillates, without dry friction.

        Nyquist: the loop of device, hands, time lags and hold has its phase of -180 degrees where its gain is 1. The weakest and
        the strongest grip count.
        """
        lag, held = self.delay(client)
        rendered = (stiffness + damping * 1j * OMEGA / (1 + 1j * OMEGA / (2 * np.pi * SPEED_CUTOFF_HZ))) * np.exp(
            -1j * OMEGA * lag
        )
        rendered *= np.sinc(OMEGA * held / (2 * np.pi))
        factors = [np.inf]
        for grip in {float(self.grips.min()), float(self.grips.max())} if self.hands else {0.0}:
            gain = rendered * self.compliance(grip)
            turns = np.flatnonzero((gain.imag[1:] * gain.imag[:-1] <= 0) & (gain.real[1:] < 0))
            factors += [1 / float(-gain.real[turn]) for turn in turns if gain.real[turn] < 0]
        return min(factors)

    def compliance(self, grip: float) -> NDArray[np.complex128]:
        """Return the way (m) of the device for each N at OMEGA, in hands that grip by this factor."""
        mass, viscous, _ = self.device
        s = 1j * OMEGA
        inverse = mass * s * s + viscous * s
        for own, grip_stiffness, grip_damping, arm_stiffness, arm_damping in self.hands:
            near = grip * (grip_stiffness + grip_damping * s) + 1e-9
            far = own * s * s + arm_damping * s + arm_stiffness
            inverse = inverse + near * far / (near + far)
        return np.asarray(1 / inverse)

    def wanted(self, path: Array, press: Array | None = None, hand: int = 0) -> Array:
        """Return where a hand has to want to be, so that it moves along a path (m) and presses (N), as far as it is alone."""
        own, _, _, stiffness, damping = self.hands[hand]
        share = 1 / len(self.hands)
        speed = np.gradient(path, 1 / SAMPLE_RATE, axis=0)
        force = share * (self.device[0] * np.gradient(speed, 1 / SAMPLE_RATE, axis=0) + self.device[1] * speed)
        force += own * np.gradient(speed, 1 / SAMPLE_RATE, axis=0)
        if press is not None:
            force = force + share * press
        if stiffness == 0:
            return path + np.cumsum(force, axis=0) / (damping * SAMPLE_RATE)
        return path + lagged(force / stiffness, damping / stiffness)


@dataclass(frozen=True, slots=True)
class Contact:
    """One run: a rig, where its hands want to be, and what is rendered."""

    name: str
    seed: int
    rig: Rig
    paths: Array  # hands x (SAMPLES + 1) x 3, m
    laws: NDArray[np.void]
    bubble: tuple[float, float, float] | None = None  # m, m, m/s

    def run(self, mode: str = "free", features: NDArray[np.float32] | None = None) -> NDArray[np.void]:
        """Return one sample of dtype CONTACT for each ms; fill one row of features for each 10 ms."""
        rig = self.rig
        return contact_trial(
            rig.device,
            rig.hands,
            self.paths,
            rig.grips,
            self.laws,
            [(one.period, one.delay, one.jitter) for one in rig.clients],
            frequency=rig.frequency,
            encoder_step=rig.encoder_step,
            latency=rig.latency,
            noise=rig.noise,
            peak=rig.peak,
            mode=mode,
            seed=self.seed,
            bubble=self.bubble,
            features=features,
        )

    def left_alone(self, begin: float) -> Contact:
        """Return the same contact whose hands stop where they want to be at a time (s); what is played ends then."""
        tick = round(begin * SAMPLE_RATE)
        paths, rows = self.paths.copy(), self.laws.copy()
        paths[:, tick:] = paths[:, tick : tick + 1]
        for row in rows:
            if row["kind"] in PLAYED:
                row["end"] = min(row["end"], begin)
        return replace(self, paths=paths, laws=rows)


def law(kind: str, client: int, **values: Any) -> NDArray[np.void]:
    """Return one row of dtype LAW that acts for the whole run; `normal` and `at` may be given as vectors."""
    row = np.zeros(1, dtype=LAW)
    row["kind"] = KINDS[kind]
    row["client"] = client
    row["end"] = 1e9
    for name, value in values.items():
        row[name] = value
    return row


def laws(*rows: NDArray[np.void]) -> NDArray[np.void]:
    """Return all rows in one array."""
    return np.concatenate(rows) if rows else np.zeros(0, dtype=LAW)


def smoothed(course: Array, seconds: float) -> Array:
    """Return a course (one row for each ms) averaged over a Hann window of so many seconds; its ends are continued."""
    width = max(3, 2 * round(0.5 * seconds * SAMPLE_RATE) + 1)
    window = np.hanning(width + 2)[1:-1]
    window /= window.sum()
    padded = np.pad(course, [(width // 2, width // 2)] + [(0, 0)] * (course.ndim - 1), mode="edge")
    columns = [np.convolve(column, window, mode="valid") for column in padded.reshape(len(padded), -1).T]
    return np.asarray(np.stack(columns, axis=1).reshape(course.shape), dtype=np.float64)


def lagged(course: Array, seconds: float) -> Array:
    """Return a course (rows for each ms) behind a first-order lag with this time constant (s), from 0."""
    kept = np.exp(-np.arange(len(course)) / (seconds * SAMPLE_RATE))
    kernel = np.fft.rfft(kept * (1 - np.exp(-1 / (seconds * SAMPLE_RATE))), 2 * len(course))
    result: Array = np.fft.irfft(np.fft.rfft(course, 2 * len(course), axis=0) * kernel[:, None], axis=0)[: len(course)]
    return result


def line(direction: Array, course: Array) -> Array:
    """Return points (m) along a direction, one for each value of a course (m)."""
    return np.outer(course, direction)


def there_and_back(speed: float, span: float, turn: float = 0.04) -> Array:
    """Return a course (m) from 0 to `span` and back at a speed (m/s), its turns rounded over `turn` s."""
    return smoothed(span * np.abs(2 * ((0.5 * speed * TIME / span + 0.5) % 1) - 1), min(turn, 0.5 * span / speed))


def ramp(begin: float, seconds: float) -> Array:
    """Return a smooth course from 0 before `begin` (s) to 1 after `seconds` more."""
    share = np.clip((TIME - begin) / seconds, 0, 1)
    return np.asarray(share * share * (3 - 2 * share))


def draw_hand(draw: Draw) -> Hand:
    """Return a hand between that of a child's fingertip and a firm fist; no arm is damped less than a tenth of critically."""
    mass, stiffness = draw.wide(0.1, 2.5), 0.0 if draw.chance(0.1) else draw.wide(20, 2000)
    damping = max(draw.wide(1, 60), 0.2 * float(np.sqrt(stiffness * mass)))
    return mass, draw.wide(100, 3000), draw.wide(1, 20), stiffness, damping


def draw_client(draw: Draw, frequency: int) -> Client:
    """Return a client of 200 Hz to the loop's rate whose commands take 0 to 20 ms."""
    rate = draw.one_of(200.0, 250.0, 500.0, 1000.0, draw.wide(200, frequency), float(frequency))
    low, high = draw.one_of((1e-5, 1e-4), (1e-4, 1e-3), (1e-3, 5e-3), (5e-3, 20e-3))
    return Client(
        1 / min(rate, frequency), draw.wide(low, high), draw.one_of(0.0, draw.even(0, 0.3), draw.even(0.3, 1))
    )


def draw_grips(draw: Draw, hands: int, *, changes: float = 0.4) -> Array:
    """Return the factor of each hand's grip at each ms: constant, or one that swells and ebbs in this share of all draws."""
    grips = np.ones((hands, SAMPLES))
    for hand in range(hands):
        grips[hand] *= draw.wide(0.3, 1.5)
        if draw.chance(changes):
            grips[hand] *= 1 + draw.even(0.1, 0.8) * draw.smooth(draw.wide(0.2, 1.5))[:SAMPLES]
    return np.clip(grips, 0.02, 3)


def draw_rig(draw: Draw, *, clients: int = 1, two_hands: float = 0.15, changes: float = 0.4) -> Rig:
    """Return a device of 0.05 to 0.6 kg in one hand or two, with a loop and clients."""
    frequency = int(draw.one_of(*LOOP_RATES))
    hands = tuple(draw_hand(draw) for _ in range(2 if draw.chance(two_hands) else 1))
    return Rig(
        device=(
            draw.wide(0.05, 0.6),
            draw.wide(0.03, 2.0),
            draw.one_of(0.0, draw.wide(0.02, 0.5), draw.wide(0.02, 0.5)),
        ),
        encoder_step=draw.wide(2e-6, 100e-6),
        noise=int(draw.one_of(0, 0, 0, 1)),
        hands=hands,
        grips=draw_grips(draw, len(hands), changes=changes),
        frequency=frequency,
        latency=int(draw.one_of(0, 1, 1, 2)),
        clients=tuple(draw_client(draw, frequency) for _ in range(clients)),
        peak=draw.one_of(3.3, 10.0, 10.0, 10.0, 20.0),
    )


def draw_renderer(draw: Draw) -> int:
    """Return who renders: the client on the wire, or a module that computes in each tick."""
    return int(draw.one_of(0, 0, LOOP))


def hands_paths(rig: Rig, draw: Draw, path: Array, press: Array | None = None) -> Array:
    """Return where each hand wants to be for a path (m) and a press (N) that they share, with the tremor of living hands."""
    paths = []
    for hand in range(len(rig.hands)):
        shake = draw.wide(3e-6, 40e-6) * np.sin(2 * np.pi * draw.even(7, 12) * TIME + draw.even(0, 6))
        paths.append(rig.wanted(path, press, hand) + line(draw.direction(), shake))
    return np.stack(paths)


def unit(vector: Sequence[float] | Array) -> Array:
    """Return a vector of length 1 in the same direction."""
    array = np.asarray(vector, dtype=np.float64)
    return array / float(np.linalg.norm(array))
