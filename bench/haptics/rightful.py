"""Rightful use of a haptic device in many classes: what a filter has to leave alone, however it moves.

Every slope that a class renders, and every damping, is at most 0.3 of what device and hands keep passive with this client
(`Rig.critical`); where that leaves less than a force that one feels, another rig is drawn. What is played over time is not bounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench.haptics.contacts import (
    SAMPLES,
    TIME,
    Array,
    Contact,
    Draw,
    Maker,
    Rig,
    draw_renderer,
    draw_rig,
    hands_paths,
    law,
    laws,
    line,
    named,
    ramp,
    smoothed,
    there_and_back,
)
from bench.haptics.seeds import Use, check
from fastpath.testing.contact_trial import LOOP

PASSIVE: Final = 0.3
TRIES: Final = 60
# N/m for each N of amplitude and m of period or width, at the steepest place: sine, bumps, detents, well
SINE, BUMPS, DETENTS, WELL = 2 * np.pi, 13.74, 20.0, 1.65
CLASSES: Final[dict[str, Maker]] = {}
rightful_class = partial(named, CLASSES)


class TooSoft(ValueError):
    """Raised when a rig keeps too little passive for the class: another one is drawn."""


def rightful(name: str, seed: int, use: Use = Use.TUNING) -> Contact:
    """Return the contact of a class and seed. KeyError; TestSeedRefused; ValueError when no rig can render it."""
    check(seed, use)
    draw = Draw(name, seed)
    for _ in range(TRIES):
        try:
            return CLASSES[name](draw, name, seed)
        except TooSoft:
            continue
    raise ValueError(f"no rig of {TRIES} renders {name!r} of seed {seed}: widen what its class draws")


def passive(
    draw: Draw, rig: Rig, client: int, *, least: float, most: float, share: float = 1.0, lag: float = 0.0
) -> float:
    """Return a stiffness (N/m) with a damper of `lag` s from a fifth of what stays passive to all of it. TooSoft below `least`."""
    bound = min(PASSIVE * share * min(rig.critical(client, 1, lag), 1e6), most)
    if bound < least:
        raise TooSoft
    return draw.wide(max(least, 0.2 * bound), bound)


def passive_damping(draw: Draw, rig: Rig, client: int, *, least: float, most: float, share: float = 1.0) -> float:
    """Return a damping (N.s/m) that stays passive. TooSoft below `least`."""
    bound = min(PASSIVE * share * min(rig.critical(client, 0, 1), 1e4), most)
    if bound < least:
        raise TooSoft
    return draw.wide(max(least, 0.2 * bound), bound)


def field(
    draw: Draw, rig: Rig, client: int, form: int, direction: Array, pitch: tuple[float, float]
) -> NDArray[np.void]:
    """Return a field that is periodic in position, of 0.08 to 3 N. TooSoft."""
    size = draw.wide(*pitch)
    slope = (SINE, BUMPS, DETENTS)[form] / size
    amplitude = passive(draw, rig, client, least=0.08 * slope, most=3 * slope) / slope
    return law(
        "periodic",
        client,
        form=form,
        normal=direction,
        size=size,
        amplitude=amplitude,
        at=draw.even(0, size) * direction,
    )


def bounded_speed(draw: Draw, low: float, high: float, hertz: float) -> float:
    """Return an amplitude (m) of a swing whose peak speed is 1 m/s at most."""
    return min(draw.wide(low, high), 1 / (2 * np.pi * hertz))


def swing(draw: Draw, hertz: float, size: float) -> Array:
    """Return a course (m) that swings with slowly changing size, as hands do."""
    uneven = 1 + draw.even(0, 0.3) * draw.smooth(0.5)
    pace = np.cumsum(1 + draw.even(0, 0.15) * draw.smooth(0.4)) / 1000
    return np.asarray(size * uneven * np.sin(2 * np.pi * hertz * pace + draw.even(0, 6)) * ramp(0, 0.2))


def approach(draw: Draw, towards: Array, force: float) -> tuple[Array, Array]:
    """Return path (m) and press (N) of a hand that comes to 0 along a direction and stays."""
    begin, seconds = draw.even(0.02, 0.2), draw.wide(0.15, 0.6)
    path = line(towards, draw.wide(0.001, 0.01) * (ramp(begin, seconds) - 1))
    return path, line(towards, force * ramp(begin + 0.7 * seconds, seconds))


def soft_wall(draw: Draw, rig: Rig, client: int, normal: Array, share: float = 1.0) -> NDArray[np.void]:
    """Return a wall through 0. TooSoft."""
    lag = draw.one_of(0.0, 0.0, draw.wide(1e-4, 3e-3))
    stiffness = passive(draw, rig, client, least=40, most=30000, share=share, lag=lag)
    return law("wall", client, normal=normal, stiffness=stiffness, damping=lag * stiffness)


def on_a_wall(
    draw: Draw, name: str, seed: int, moved: Callable[[Draw, Array], Array], *, force: tuple[float, float]
) -> Contact:
    """Return a press on a wall with a motion besides, which begins with the contact."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    path, press = approach(draw, -normal, draw.wide(*force))
    path = path + moved(draw, normal) * ramp(0.4, 0.3)[:, None]
    return Contact(name, seed, rig, hands_paths(rig, draw, path, press), laws(soft_wall(draw, rig, client, normal)))


def still(_draw: Draw, _normal: Array) -> Array:
    """Return no motion."""
    return np.zeros((SAMPLES + 1, 3))


# ---------------------------------------------------------------- motion without force, and presses


@rightful_class("free motion")
def free_motion(draw: Draw, name: str, seed: int) -> Contact:
    """Nothing is rendered."""
    rig, hertz = draw_rig(draw), draw.wide(0.5, 8)
    path = line(draw.direction(), swing(draw, hertz, bounded_speed(draw, 0.003, 0.1, hertz)))
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws())


@rightful_class("free motion before a wall")
def before_a_wall(draw: Draw, name: str, seed: int) -> Contact:
    """A wall that the hand reaches now and then."""
    rig, client, normal, hertz = draw_rig(draw), draw_renderer(draw), draw.direction(), draw.wide(0.5, 6)
    size = bounded_speed(draw, 0.005, 0.05, hertz)
    path = line(normal, swing(draw, hertz, size) + 0.9 * size)
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(soft_wall(draw, rig, client, normal)))


@rightful_class("press")
def press(draw: Draw, name: str, seed: int) -> Contact:
    """A steady press."""
    return on_a_wall(draw, name, seed, still, force=(0.3, 8))


@rightful_class("press with tremor")
def tremor(draw: Draw, name: str, seed: int) -> Contact:
    """A press by a hand that trembles at 6 to 13 Hz."""

    def shaken(draw: Draw, normal: Array) -> Array:
        return line(draw.one_of(normal, draw.direction()), swing(draw, draw.even(6, 13), draw.wide(0.0001, 0.0015)))

    return on_a_wall(draw, name, seed, shaken, force=(0.5, 5))


@rightful_class("tremor in the air")
def free_tremor(draw: Draw, name: str, seed: int) -> Contact:
    """A hand that trembles while a spring guides it."""
    rig, client = draw_rig(draw), draw_renderer(draw)
    path = line(draw.direction(), swing(draw, draw.even(6, 13), draw.wide(0.0002, 0.003)))
    stiffness = passive(draw, rig, client, least=20, most=2000)
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(law("spring", client, stiffness=stiffness)))


@rightful_class("motion in contact")
def moving_in_contact(draw: Draw, name: str, seed: int) -> Contact:
    """A press that swells and ebbs at 1 to 8 Hz."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    path, force = approach(draw, -normal, draw.wide(1, 6))
    force *= (1 + draw.even(0.2, 0.9) * swing(draw, draw.wide(1, 8), 1.0))[:, None]
    return Contact(name, seed, rig, hands_paths(rig, draw, path, force), laws(soft_wall(draw, rig, client, normal)))


@rightful_class("rubbing in a corner")
def in_a_corner(draw: Draw, name: str, seed: int) -> Contact:
    """Two walls, and a hand that rubs along both."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    other = draw.across(normal)
    path, force = approach(draw, -(normal + other) / np.sqrt(2), draw.wide(0.5, 6))
    hertz = draw.wide(0.5, 4)
    path = path + line(np.cross(normal, other), swing(draw, hertz, bounded_speed(draw, 0.005, 0.05, hertz)))
    rows = (soft_wall(draw, rig, client, normal, 0.7), soft_wall(draw, rig, client, other, 0.7))
    return Contact(name, seed, rig, hands_paths(rig, draw, path, force), laws(*rows))


@rightful_class("letting go of a wall")
def letting_go(draw: Draw, name: str, seed: int) -> Contact:
    """A press whose hands loosen their grip; the wall stays passive for the loosest."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    loose = 1 - draw.even(0.4, 0.9) * ramp(draw.even(0.6, 1.5), draw.wide(0.1, 0.6))[:SAMPLES]
    rig = replace(rig, grips=np.maximum(rig.grips * loose, 0.05))
    path, force = approach(draw, -normal, draw.wide(0.3, 5))
    return Contact(name, seed, rig, hands_paths(rig, draw, path, force), laws(soft_wall(draw, rig, client, normal)))


@rightful_class("platform")
def platform(draw: Draw, name: str, seed: int) -> Contact:
    """A wall that carries the hand up and down."""
    rig, client, normal, hertz = draw_rig(draw), draw_renderer(draw), draw.direction(), draw.wide(0.2, 3)
    row = soft_wall(draw, rig, client, normal)
    row["swing"] = bounded_speed(draw, 0.002, 0.03, 2 * hertz) * normal
    row["swing_hz"] = hertz
    path, force = approach(draw, -normal, draw.wide(0.3, 4))
    return Contact(name, seed, rig, hands_paths(rig, draw, path, force), laws(row))


@rightful_class("wall that swings")
def swinging_wall(draw: Draw, name: str, seed: int) -> Contact:
    """A wall that swings at 0.3 to 8 Hz under a hand that rests on it."""
    rig, client, normal, hertz = draw_rig(draw), draw_renderer(draw), draw.direction(), draw.wide(0.3, 8)
    row = soft_wall(draw, rig, client, normal)
    row["swing"] = min(draw.wide(0.0005, 0.02), 0.2 / (2 * np.pi * hertz)) * normal
    row["swing_hz"] = hertz
    row["swing_phase"] = draw.even(0, 6)
    path, force = approach(draw, -normal, draw.wide(0.5, 6))
    return Contact(name, seed, rig, hands_paths(rig, draw, path, force), laws(row))


@rightful_class("grip that changes in contact")
def regrip(draw: Draw, name: str, seed: int) -> Contact:
    """A press whose hands tighten and loosen their grip, once or several times; the wall stays passive for each."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    course = np.zeros(SAMPLES)
    for _ in range(draw.one_of(1, 1, 2, 3)):
        course += draw.even(-1.5, 1.5) * ramp(draw.even(0.5, 2.4), draw.wide(0.05, 0.6))[:SAMPLES]
    rig = replace(rig, grips=np.clip(rig.grips * np.exp(course), 0.05, 3))
    path, force = approach(draw, -normal, draw.wide(0.5, 6))
    return Contact(name, seed, rig, hands_paths(rig, draw, path, force), laws(soft_wall(draw, rig, client, normal)))


@rightful_class("scan along a corner")
def corner_scan(draw: Draw, name: str, seed: int) -> Contact:
    """A stroke to and fro over two or three faces that meet, pressed into each, along their edge or from one to the next."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    other = draw.across(normal)
    third = np.cross(normal, other)
    faces = [normal, other] + ([third] if draw.chance(0.5) else [])
    inwards = -sum(faces) / np.sqrt(len(faces))
    along = third if len(faces) == 2 and draw.chance(0.5) else draw.across(inwards)
    path, force = approach(draw, inwards, draw.wide(0.5, 6))
    stroke = there_and_back(draw.wide(0.01, 0.4), draw.wide(0.005, 0.06), draw.even(0.03, 0.1))
    path = path + line(along, (stroke - stroke.mean()) * ramp(0.3, 0.3))
    rows = [soft_wall(draw, rig, client, face, 0.6) for face in faces]
    return Contact(name, seed, rig, hands_paths(rig, draw, path, force), laws(*rows))


@rightful_class("strong tremor in contact")
def slow_tremor(draw: Draw, name: str, seed: int) -> Contact:
    """A press by a hand that trembles strongly, as in Parkinson's disease or essential tremor."""

    def shaken(draw: Draw, normal: Array) -> Array:
        hertz = draw.even(4, 12)
        return line(
            draw.one_of(normal, draw.direction()), swing(draw, hertz, bounded_speed(draw, 0.0002, 0.006, hertz))
        )

    return on_a_wall(draw, name, seed, shaken, force=(0.5, 6))


# ---------------------------------------------------------------- taps and pulses


def tapped(draw: Draw, name: str, seed: int, *, most_hertz: float, sounds: bool, two_hands: float = 0.15) -> Contact:
    """Return taps on a wall, some with a transient that the client plays at each contact."""
    rig = draw_rig(draw, two_hands=two_hands)
    client, normal, hertz = draw_renderer(draw), draw.direction(), draw.wide(1, most_hertz)
    path = line(normal, swing(draw, hertz, bounded_speed(draw, 0.002, 0.02, hertz)) + draw.even(-0.002, 0.002))
    rows = [soft_wall(draw, rig, client, normal)]
    if sounds:
        wire = rig.delay(client)[1]
        rows.append(
            law(
                "transient",
                client,
                normal=normal,
                amplitude=draw.wide(0.3, 4),
                frequency=min(draw.wide(40, 300), 0.3 / wire),
                seconds=draw.wide(0.005, 0.04),
                size=0.0005,
            )
        )
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(*rows))


@rightful_class("tapping")
def tapping(draw: Draw, name: str, seed: int) -> Contact:
    """1 to 8 Hz, 4 to 40 mm."""
    return tapped(draw, name, seed, most_hertz=8, sounds=False)


@rightful_class("tapping with two hands")
def two_hands_tap(draw: Draw, name: str, seed: int) -> Contact:
    """The same, of a device that two hands hold."""
    return tapped(draw, name, seed, most_hertz=8, sounds=False, two_hands=1.0)


@rightful_class("taps with transients")
def taps_with_transients(draw: Draw, name: str, seed: int) -> Contact:
    """Taps that sound hard."""
    return tapped(draw, name, seed, most_hertz=5, sounds=True)


@rightful_class("impulses")
def impulses(draw: Draw, name: str, seed: int) -> Contact:
    """Half-sines of force, once or thirty times a second, on a resting or moving hand."""
    rig, client = draw_rig(draw), draw_renderer(draw)
    rate = draw.wide(1, 30)
    row = law(
        "pulses",
        client,
        normal=draw.direction(),
        amplitude=draw.wide(0.3, 5) * draw.one_of(-1.0, 1.0),
        rate=rate,
        seconds=min(draw.wide(0.003, 0.05), 0.5 / rate),
        begin=draw.even(0.1, 0.8),
    )
    path = line(draw.direction(), draw.wide(0.0005, 0.03) * draw.smooth(draw.wide(0.2, 1)))
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(row))


@rightful_class("weight that comes and goes")
def weight(draw: Draw, name: str, seed: int) -> Contact:
    """A constant force, put on and taken off."""
    rig, client = draw_rig(draw), draw_renderer(draw)
    down = draw.direction()
    begin = draw.even(0.3, 1)
    force = draw.wide(0.3, 5)
    row = law(
        "spring",
        client,
        normal=down,
        at=10 * down,
        stiffness=10.0,
        amplitude=force,
        begin=begin,
        end=begin + draw.even(0.4, 1.8),
    )
    path = line(down, draw.wide(0.001, 0.03) * draw.smooth(draw.wide(0.2, 1)))
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(row))


def resting(draw: Draw) -> Array:
    """Return the path of a hand that rests or wanders slowly."""
    return line(draw.direction(), draw.wide(0.0002, 0.02) * draw.smooth(draw.wide(0.3, 1.5)))


def step(draw: Draw, client: int, direction: Array, begin: float, end: float) -> NDArray[np.void]:
    """Return a force of 0.5 to 10 N that comes and goes at once."""
    force = draw.wide(0.5, 10) * draw.one_of(-1.0, 1.0)
    return law("step", client, normal=direction, amplitude=force, begin=begin, end=end)


@rightful_class("steps")
def steps(draw: Draw, name: str, seed: int) -> Contact:
    """One to four steps of force, up and down."""
    rig, client, direction = draw_rig(draw), draw_renderer(draw), draw.direction()
    times = np.sort(draw.random.uniform(0.1, 2.7, draw.one_of(1, 2, 3, 4)))
    ends = [*times[1:], draw.one_of(1e9, draw.even(2.7, 2.9))]
    rows = [
        step(draw, client, direction if draw.chance(0.7) else draw.direction(), float(begin), float(end))
        for begin, end in zip(times, ends, strict=True)
    ]
    return Contact(name, seed, rig, hands_paths(rig, draw, resting(draw)), laws(*rows))


@rightful_class("pulses")
def pulses(draw: Draw, name: str, seed: int) -> Contact:
    """One to eight rectangular pulses of 3 to 100 ms, beside a constant force or alone."""
    rig, client, direction = draw_rig(draw), draw_renderer(draw), draw.direction()
    count, begin, seconds = draw.one_of(1, 1, 2, 4, 8), draw.even(0.1, 1.2), draw.wide(0.003, 0.1)
    apart = seconds + draw.wide(0.01, 0.5)
    first = step(draw, client, direction, begin, begin + seconds)
    rows = [first]
    for k in range(1, count):
        row = first.copy()
        row["begin"], row["end"] = begin + k * apart, begin + k * apart + seconds
        rows.append(row)
    if draw.chance(0.4):
        rows.append(law("step", client, normal=draw.direction(), amplitude=draw.wide(0.3, 3), begin=draw.even(0, 0.1)))
    return Contact(name, seed, rig, hands_paths(rig, draw, resting(draw)), laws(*rows))


@rightful_class("handing over")
def handing_over(draw: Draw, name: str, seed: int) -> Contact:
    """A pulse or a step of one session; then it and another hold the device with constant forces."""
    rig, direction = draw_rig(draw, clients=2), draw.direction()
    begin = draw.even(0.1, 1)
    end = begin + draw.wide(0.003, 0.6)
    rows = [step(draw, 0, direction, begin, end)]
    for client in (0, 1):
        along = direction if draw.chance(0.6) else draw.direction()
        start = end + draw.one_of(0.0, draw.even(0, 0.1))
        rows.append(law("step", client, normal=along, amplitude=draw.wide(0.2, 3), begin=start, end=1e9))
    return Contact(name, seed, rig, hands_paths(rig, draw, resting(draw)), laws(*rows))


# ---------------------------------------------------------------- surfaces


def scanned(
    draw: Draw, name: str, seed: int, form: int, *, pitch: tuple[float, float], speed: tuple[float, float]
) -> Contact:
    """Return a stroke there and back over a field that is periodic in position."""
    rig, client, direction = draw_rig(draw), draw_renderer(draw), draw.direction()
    row = field(draw, rig, client, form, direction, pitch)
    path = line(direction, there_and_back(draw.wide(*speed), draw.wide(0.02, 0.12), draw.even(0.03, 0.1)))
    path += line(draw.across(direction), draw.even(0, 0.01) * draw.smooth(0.7))
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(row))


@rightful_class("ridges scanned fast")
def ridges(draw: Draw, name: str, seed: int) -> Contact:
    """Bumps each 2 to 15 mm at 100 to 800 mm/s."""
    return scanned(draw, name, seed, 1, pitch=(0.002, 0.015), speed=(0.1, 0.8))


@rightful_class("ridges scanned slowly")
def slow_ridges(draw: Draw, name: str, seed: int) -> Contact:
    """Bumps each 1 to 15 mm at 10 to 100 mm/s."""
    return scanned(draw, name, seed, 1, pitch=(0.001, 0.015), speed=(0.01, 0.1))


@rightful_class("click detents")
def detents(draw: Draw, name: str, seed: int) -> Contact:
    """Notches each 2 to 20 mm."""
    return scanned(draw, name, seed, 2, pitch=(0.002, 0.02), speed=(0.02, 0.5))


@rightful_class("texture")
def texture(draw: Draw, name: str, seed: int) -> Contact:
    """A sine of position each 0.7 to 6 mm."""
    return scanned(draw, name, seed, 0, pitch=(0.0007, 0.006), speed=(0.02, 0.6))


@rightful_class("texture on a wall")
def texture_on_a_wall(draw: Draw, name: str, seed: int) -> Contact:
    """A texture whose force is a share of the press."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    along, force = draw.across(normal), draw.wide(0.5, 4)
    size = draw.wide(0.001, 0.01)
    share = (
        passive(draw, rig, client, least=0.04 * SINE / size, most=0.6 * force * SINE / size, share=0.5)
        * size
        / SINE
        / force
    )
    path, pressed = approach(draw, -normal, force)
    path = path + line(along, there_and_back(draw.wide(0.02, 0.5), draw.wide(0.02, 0.1)))
    rows = (
        soft_wall(draw, rig, client, normal, 0.5),
        law("periodic", client, form=draw.one_of(0, 1), normal=along, size=size, share=min(1, share)),
    )
    return Contact(name, seed, rig, hands_paths(rig, draw, path, pressed), laws(*rows))


@rightful_class("sliding fast along a wall")
def sliding(draw: Draw, name: str, seed: int) -> Contact:
    """A pressed hand that strokes at 0.1 to 1 m/s."""

    def along(draw: Draw, normal: Array) -> Array:
        return line(draw.across(normal), there_and_back(draw.wide(0.1, 1), draw.wide(0.03, 0.15)))

    return on_a_wall(draw, name, seed, along, force=(0.5, 6))


@rightful_class("tilted stroke on a wall")
def tilted(draw: Draw, name: str, seed: int) -> Contact:
    """A stroke that presses, lifts off and presses again."""

    def along(draw: Draw, normal: Array) -> Array:
        hertz = draw.wide(0.5, 4)
        lifted = swing(draw, hertz, draw.wide(0.001, 0.01))
        return line(draw.across(normal), there_and_back(draw.wide(0.05, 0.6), draw.wide(0.03, 0.15))) + line(
            normal, lifted
        )

    return on_a_wall(draw, name, seed, along, force=(0.5, 3))


@rightful_class("friction")
def friction(draw: Draw, name: str, seed: int) -> Contact:
    """A block that sticks and slips under the hand."""
    rig, client, direction = draw_rig(draw), draw_renderer(draw), draw.direction()
    stiffness = passive(draw, rig, client, least=60, most=5000)
    hertz = draw.wide(0.3, 4)
    path = line(direction, swing(draw, hertz, bounded_speed(draw, 0.005, 0.06, hertz)))
    row = law("friction", client, stiffness=stiffness, amplitude=draw.wide(0.1, 3))
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(row))


@rightful_class("friction on a wall")
def friction_on_a_wall(draw: Draw, name: str, seed: int) -> Contact:
    """A stroke on a surface that holds it back, elastic before it slips."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    path, force = approach(draw, -normal, draw.wide(0.5, 5))
    path = path + line(draw.across(normal), there_and_back(draw.wide(0.02, 0.4), draw.wide(0.02, 0.1)))
    rows = (
        soft_wall(draw, rig, client, normal, 0.5),
        law(
            "friction",
            client,
            normal=normal,
            stiffness=passive(draw, rig, client, least=40, most=5000, share=0.5),
            share=draw.even(0.1, 0.9),
        ),
    )
    return Contact(name, seed, rig, hands_paths(rig, draw, path, force), laws(*rows))


@rightful_class("sawing")
def sawing(draw: Draw, name: str, seed: int) -> Contact:
    """To and fro at 1.5 to 7 Hz over teeth, with friction."""
    rig, client, direction, hertz = draw_rig(draw), draw_renderer(draw), draw.direction(), draw.wide(1.5, 7)
    size = draw.wide(0.002, 0.012)
    amplitude = passive(draw, rig, client, least=0.06 * BUMPS / size, most=2 * BUMPS / size, share=0.6) * size / BUMPS
    rows = (
        law("periodic", client, form=draw.one_of(0, 1), normal=direction, size=size, amplitude=amplitude),
        law(
            "friction",
            client,
            stiffness=passive(draw, rig, client, least=20, most=4000, share=0.4),
            amplitude=draw.wide(0.1, 2),
        ),
    )
    path = line(direction, swing(draw, hertz, bounded_speed(draw, 0.01, 0.06, hertz)))
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(*rows))


@rightful_class("handwriting")
def handwriting(draw: Draw, name: str, seed: int) -> Contact:
    """Loops of 2 to 6 Hz on paper: a soft wall with friction."""
    rig, client, normal = draw_rig(draw, two_hands=0.0), draw_renderer(draw), draw.direction()
    along = draw.across(normal)
    up, hertz, size = np.cross(normal, along), draw.wide(2, 6), draw.wide(0.001, 0.006)
    path, force = approach(draw, -normal, draw.wide(0.3, 2))
    lifts = smoothed((draw.smooth(0.4) > 0.5).astype(float), 0.1) * draw.wide(0.001, 0.004)
    path = (
        path + line(along, swing(draw, hertz, size) + 0.02 * ramp(0.3, 2.5)) + line(up, swing(draw, hertz, 1.5 * size))
    )
    path = path + line(normal, lifts)
    rows = (
        soft_wall(draw, rig, client, normal, 0.6),
        law(
            "friction",
            client,
            normal=normal,
            stiffness=passive(draw, rig, client, least=20, most=3000, share=0.4),
            share=draw.even(0.1, 0.5),
        ),
    )
    return Contact(name, seed, rig, hands_paths(rig, draw, path, force), laws(*rows))


# ---------------------------------------------------------------- played over time


def played(draw: Draw, name: str, seed: int, *, lowest: float = 20.0, **values: object) -> Contact:
    """Return a vibration that a client plays while the hand rests, moves or presses."""
    rig, client = draw_rig(draw), draw_renderer(draw)
    highest = 0.3 / rig.delay(client)[1]
    hertz = draw.wide(lowest, 300)
    if hertz > highest:
        raise TooSoft
    direction = draw.direction()
    # W that the vibration does on the bare mass, F^2 / (2 m 2 pi f): 3 to 50 mW, and 0.1 to 4 N
    force = np.sqrt(2 * draw.wide(0.003, 0.05) * rig.device[0] * 2 * np.pi * hertz)
    row = law("vibration", client, normal=direction, frequency=hertz, amplitude=float(np.clip(force, 0.1, 4)), **values)
    row["begin"] = draw.even(0.05, 0.6)
    if draw.chance(0.4):
        normal = draw.direction()
        path, pressed = approach(draw, -normal, draw.wide(0.3, 4))
        rows = laws(soft_wall(draw, rig, client, normal), row)
        return Contact(name, seed, rig, hands_paths(rig, draw, path, pressed), rows)
    path = line(draw.direction(), draw.wide(0.0005, 0.05) * draw.smooth(draw.wide(0.2, 1)))
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(row))


@rightful_class("strong vibration")
def vibration(draw: Draw, name: str, seed: int) -> Contact:
    """A sine or square of 20 to 300 Hz."""
    return played(draw, name, seed, form=draw.one_of(0, 0, 1))


@rightful_class("bursts of vibration")
def bursts(draw: Draw, name: str, seed: int) -> Contact:
    """The same, on and off one to eight times a second."""
    return played(draw, name, seed, form=0, rate=draw.wide(1, 8), share=draw.even(0.1, 0.7))


@rightful_class("noise")
def noise(draw: Draw, name: str, seed: int) -> Contact:
    """Low-passed noise, as recorded textures are played."""
    return played(draw, name, seed, lowest=60.0, form=2)


# ---------------------------------------------------------------- objects and fields


@rightful_class("ball on a paddle")
def ball(draw: Draw, name: str, seed: int) -> Contact:
    """A ball that bounces on the device or is kept up."""
    rig, client = draw_rig(draw, two_hands=0.0), draw_renderer(draw)
    up = np.array((0.0, 0.0, 1.0)) if draw.chance(0.5) else draw.direction()
    stiffness = passive(draw, rig, client, least=80, most=6000)
    mass = draw.wide(0.02, 0.3)
    row = law(
        "ball",
        client,
        normal=up,
        stiffness=stiffness,
        damping=draw.even(0.02, 0.3) * np.sqrt(stiffness * mass),
        size=draw.wide(0.005, 0.03),
        mass=mass,
        share=draw.even(0.3, 1),
    )
    hertz = draw.wide(1, 5)
    path = line(up, swing(draw, hertz, bounded_speed(draw, 0.002, 0.03, hertz)))
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(row))


def round_path(draw: Draw, hertz: float, size: float) -> Array:
    """Return a path in circles or ellipses."""
    first = draw.direction()
    return line(first, swing(draw, hertz, size)) + line(
        draw.across(first), swing(draw, hertz, draw.even(0.3, 1) * size)
    )


@rightful_class("viscous field")
def viscous(draw: Draw, name: str, seed: int) -> Contact:
    """Motion to and fro in a viscous field."""
    rig, client, hertz = draw_rig(draw), draw_renderer(draw), draw.wide(0.5, 6)
    path = line(draw.direction(), swing(draw, hertz, bounded_speed(draw, 0.005, 0.1, hertz)))
    row = law("viscous", client, damping=passive_damping(draw, rig, client, least=0.3, most=40))
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(row))


@rightful_class("stirring")
def stirring(draw: Draw, name: str, seed: int) -> Contact:
    """Circles of 0.5 to 5 Hz in syrup, some with a bottom."""
    rig, client, hertz = draw_rig(draw), draw_renderer(draw), draw.wide(0.5, 5)
    path = round_path(draw, hertz, bounded_speed(draw, 0.005, 0.06, hertz))
    rows = [law("viscous", client, damping=passive_damping(draw, rig, client, least=0.2, most=30, share=0.6))]
    if draw.chance(0.4):
        rows.append(soft_wall(draw, rig, client, draw.direction(), 0.4))
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(*rows))


@rightful_class("buttons")
def buttons(draw: Draw, name: str, seed: int) -> Contact:
    """A button that gives way and clicks, pressed one to five times a second."""
    rig, client, normal, hertz = draw_rig(draw), draw_renderer(draw), draw.direction(), draw.wide(0.7, 5)
    size = draw.wide(0.001, 0.006)
    bound = passive(draw, rig, client, least=60, most=8000)
    share = draw.even(0.2, 0.7)
    stiffness = bound / max(1.0, 5 * share)
    row = law("button", client, normal=normal, stiffness=stiffness, size=size, share=share, second=bound)
    path = line(
        normal, -0.5 * draw.even(1.2, 2.5) * size * (1 - np.cos(2 * np.pi * hertz * TIME)) + draw.even(0.0, 0.5) * size
    )
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(row))


@rightful_class("snaps")
def snaps(draw: Draw, name: str, seed: int) -> Contact:
    """Wells that pull the hand in as it passes."""
    rig, client, direction = draw_rig(draw), draw_renderer(draw), draw.direction()
    size = draw.wide(0.002, 0.02)
    slope = WELL / size
    amplitude = passive(draw, rig, client, least=0.08 * slope, most=4 * slope) / slope
    apart = draw.even(4, 8) * size
    rows = [law("snap", client, at=k * apart * direction, size=size, amplitude=amplitude) for k in range(3)]
    path = line(direction, there_and_back(draw.wide(0.02, 0.5), 3 * apart) - 0.5 * apart)
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(*rows))


@rightful_class("plucked string")
def string(draw: Draw, name: str, seed: int) -> Contact:
    """A string that is bent until it slips off; it lets go at most 3 N."""
    rig, client, normal, hertz = draw_rig(draw), draw_renderer(draw), draw.direction(), draw.wide(0.7, 6)
    stiffness = passive(draw, rig, client, least=30, most=3000)
    size = min(draw.wide(0.001, 0.01), 3 / stiffness)
    path = line(normal, swing(draw, hertz, draw.even(1.3, 3) * size))
    row = law("string", client, normal=normal, stiffness=stiffness, size=size)
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(row))


@rightful_class("guidance")
def guidance(draw: Draw, name: str, seed: int) -> Contact:
    """A spring to a point that leads the hand, at most 0.5 to 4 N."""
    rig, client, direction, hertz = draw_rig(draw), draw_renderer(draw), draw.direction(), draw.wide(0.2, 4)
    lag = draw.one_of(0.0, draw.wide(1e-3, 2e-2))
    stiffness = passive(draw, rig, client, least=20, most=2000, lag=lag)
    size = bounded_speed(draw, 0.003, 0.05, hertz)
    phase = draw.even(0, 6)
    row = law(
        "spring",
        client,
        stiffness=stiffness,
        damping=lag * stiffness,
        amplitude=draw.wide(0.5, 4),
        swing=size * direction,
        swing_hz=hertz,
        swing_phase=phase,
    )
    follows = draw.even(0.5, 1) * size * np.sin(2 * np.pi * hertz * (TIME - draw.even(0, 0.1)) + phase) * ramp(0, 0.3)
    return Contact(name, seed, rig, hands_paths(rig, draw, line(direction, follows)), laws(row))


@rightful_class("guidance to a moving target")
def moving_target(draw: Draw, name: str, seed: int) -> Contact:
    """A spring to a target that swings or travels, while the hand rests, follows late, or wanders."""
    rig, client, direction, hertz = draw_rig(draw), draw_renderer(draw), draw.direction(), draw.wide(0.2, 4)
    lag = draw.one_of(0.0, draw.wide(1e-3, 2e-2))
    stiffness = passive(draw, rig, client, least=20, most=2000, lag=lag)
    size = bounded_speed(draw, 0.003, 0.06, hertz)
    row = law("spring", client, stiffness=stiffness, damping=lag * stiffness, amplitude=draw.wide(0.5, 6))
    row["swing"], row["swing_hz"], row["swing_phase"] = size * direction, hertz, draw.even(0, 6)
    if draw.chance(0.3):
        row["drift"] = draw.even(-0.03, 0.03) * draw.direction()
    follows = draw.one_of(0.0, draw.even(0, 0.6)) * size
    path = line(direction, follows * np.sin(2 * np.pi * hertz * (TIME - draw.even(0, 0.3)) + row["swing_phase"]))
    path = path * ramp(0, 0.3)[:, None] + resting(draw)
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(row))


@rightful_class("guidance along a plane")
def valley(draw: Draw, name: str, seed: int) -> Contact:
    """A spring to a plane, while the hand strokes along it and strays."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    stiffness = passive(draw, rig, client, least=30, most=4000)
    path = line(draw.across(normal), there_and_back(draw.wide(0.05, 0.6), draw.wide(0.03, 0.15)))
    path = path + line(normal, draw.wide(0.0005, 0.008) * draw.smooth(draw.wide(0.15, 0.6)))
    row = law("spring", client, normal=normal, stiffness=stiffness, size=draw.one_of(0.0, draw.wide(0.0003, 0.003)))
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(row))


@rightful_class("position set-point followed")
def set_point(draw: Draw, name: str, seed: int) -> Contact:
    """A held position that a client leads about; the loop's spring holds it."""
    rig, direction, hertz = draw_rig(draw), draw.direction(), draw.wide(0.2, 3)
    if PASSIVE * rig.critical(LOOP, 1, 0.01) < 500:
        raise TooSoft
    size = bounded_speed(draw, 0.003, 0.04, 2 * hertz)
    rows = (
        law("held", LOOP, stiffness=500.0, damping=5.0, amplitude=0.8 * rig.peak),
        law("target", 0, swing=size * direction, swing_hz=hertz),
    )
    path = line(direction, 0.8 * size * np.sin(2 * np.pi * hertz * TIME) * ramp(0, 0.3))
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(*rows))


@rightful_class("virtual mass")
def virtual_mass(draw: Draw, name: str, seed: int) -> Contact:
    """A mass on a spring that the hand moves about; a damper lets it come to rest."""
    rig, client, hertz = draw_rig(draw), draw_renderer(draw), draw.wide(0.5, 4)
    stiffness = passive(draw, rig, client, least=40, most=3000)
    mass = draw.wide(0.05, 1)
    stiffness = min(stiffness, mass / rig.delay(client)[1] ** 2)
    row = law("mass", client, stiffness=stiffness, damping=draw.even(0.05, 0.2) * np.sqrt(stiffness * mass), mass=mass)
    if row["damping"][0] > PASSIVE * rig.critical(client, 0, 1):
        raise TooSoft
    path = line(draw.direction(), swing(draw, hertz, bounded_speed(draw, 0.003, 0.06, 2 * hertz)))
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(row))


@rightful_class("tool on a wall")
def tool(draw: Draw, name: str, seed: int) -> Contact:
    """A virtual tool, coupled to the device, that knocks on a wall and rests there."""
    rig, client, normal, hertz = draw_rig(draw), draw_renderer(draw), draw.direction(), draw.wide(0.5, 3)
    mass = draw.wide(0.05, 0.5)
    stiffness = min(passive(draw, rig, client, least=60, most=3000), mass / rig.delay(client)[1] ** 2)
    damping = draw.even(0.1, 0.25) * np.sqrt(stiffness * mass)
    if damping > PASSIVE * rig.critical(client, 0, 1):
        raise TooSoft
    row = law(
        "mass",
        client,
        normal=normal,
        stiffness=stiffness,
        damping=damping,
        mass=mass,
        second=draw.wide(2, 10) * stiffness,
    )
    path = line(normal, swing(draw, hertz, draw.wide(0.003, 0.015)) + draw.wide(0.001, 0.005))
    return Contact(name, seed, rig, hands_paths(rig, draw, path), laws(row))


@rightful_class("bubble")
def bubble(draw: Draw, name: str, seed: int) -> Contact:
    """Navigation in and out of a bubble; a soft wall may come."""
    rig, client, outward, hertz = (
        draw_rig(draw, two_hands=0.0),
        draw_renderer(draw),
        draw.direction(),
        draw.wide(0.2, 1.5),
    )
    radius, width = draw.even(0.02, 0.05), draw.even(0.015, 0.04)
    if PASSIVE * rig.critical(LOOP, 1) < 680:
        raise TooSoft
    wall = soft_wall(draw, rig, client, -outward)
    wall["scene"] = 1
    wall["at"] = (radius + width * draw.even(0.5, 3)) * outward
    course = (radius + 0.4 * width) * (0.6 + 0.4 * ramp(0.05, 0.4)) + 0.4 * width * np.sin(
        2 * np.pi * hertz * TIME
    ) * ramp(0.4, 0.3)
    return Contact(
        name, seed, rig, hands_paths(rig, draw, line(outward, course)), laws(wall), (radius, width, draw.wide(0.1, 0.5))
    )


@rightful_class("two sessions")
def two_sessions(draw: Draw, name: str, seed: int) -> Contact:
    """A wall of one client and a texture of another."""
    rig, normal = draw_rig(draw, clients=2), draw.direction()
    along, size = draw.across(normal), draw.wide(0.001, 0.01)
    amplitude = passive(draw, rig, 1, least=0.06 * SINE / size, most=1.5 * SINE / size, share=0.5) * size / SINE
    path, pressed = approach(draw, -normal, draw.wide(0.3, 4))
    path = path + line(along, there_and_back(draw.wide(0.02, 0.4), draw.wide(0.02, 0.1)))
    rows = (soft_wall(draw, rig, 0, normal, 0.5), law("periodic", 1, normal=along, size=size, amplitude=amplitude))
    return Contact(name, seed, rig, hands_paths(rig, draw, path, pressed), laws(*rows))


NAMES: Final[tuple[str, ...]] = tuple(CLASSES)
