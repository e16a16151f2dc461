"""Contacts that are rendered stiffer, or later, than device and hands keep passive: what a filter has to find.

Each family draws its parameters wide. Whether a contact oscillates is decided by what it does unfiltered (`judging.py`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench.haptics.contacts import (
    SAMPLES,
    Array,
    Client,
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
    unit,
)
from bench.haptics.seeds import Use, check
from fastpath.testing.contact_trial import LOOP

SOFTEST: Final = 30.0
STIFFEST: Final = 60000.0
FAMILIES: Final[dict[str, Maker]] = {}
family = partial(named, FAMILIES)


def oscillating(name: str, seed: int, use: Use = Use.TUNING) -> Contact:
    """Return the contact of a family and seed. KeyError; TestSeedRefused."""
    check(seed, use)
    return FAMILIES[name](Draw(name, seed), name, seed)


def too_stiff(draw: Draw, rig: Rig, client: int) -> tuple[float, float]:
    """Return stiffness (N/m) and damping (N.s/m) of 1.1 to 12 times what is critical."""
    lag = draw.one_of(0.0, 0.0, draw.wide(1e-4, 5e-3))
    stiffness = draw.wide(1.1, 12) * min(rig.critical(client, 1, lag), 1e6)
    stiffness = min(max(stiffness, SOFTEST), STIFFEST)
    return stiffness, lag * stiffness


def pressing(draw: Draw, rig: Rig, towards: Array, *, clear: float = 0.0) -> Array:
    """Return the paths of hands that come to 0 along a direction and press on, softly or briskly, some with a slow swell."""
    apart = clear + draw.wide(0.001, 0.02)
    begin, seconds, force = draw.even(0.02, 0.2), draw.wide(0.08, 0.6), draw.wide(0.3, 8)
    swell = 1 + (draw.even(0, 0.7) * draw.smooth(draw.wide(0.3, 1.5)) if draw.chance(0.4) else 0)
    path = line(towards, apart * (ramp(begin, seconds) - 1))
    if draw.chance(0.25):
        path = path + line(
            draw.across(towards), draw.wide(0.005, 0.06) * draw.smooth(draw.wide(0.2, 1)) * ramp(begin + seconds, 0.3)
        )
    return hands_paths(rig, draw, path, line(towards, force * swell * ramp(begin + 0.5 * seconds, seconds)))


def wall_at(draw: Draw, rig: Rig, client: int, normal: Array, **values: object) -> NDArray[np.void]:
    """Return a wall through 0 that is too stiff."""
    stiffness, damping = too_stiff(draw, rig, client)
    return law("wall", client, normal=normal, stiffness=stiffness, damping=damping, **values)


@family("wall")
def wall(draw: Draw, name: str, seed: int) -> Contact:
    """A plane that the hand presses on."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    return Contact(name, seed, rig, pressing(draw, rig, -normal), laws(wall_at(draw, rig, client, normal)))


@family("wall with friction")
def rough(draw: Draw, name: str, seed: int) -> Contact:
    """A plane with friction that the hand presses on."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    rows = wall_at(draw, rig, client, normal, share=draw.even(0.05, 0.6))
    return Contact(name, seed, rig, pressing(draw, rig, -normal), laws(rows))


def corner(draw: Draw, name: str, seed: int, planes: int) -> Contact:
    """Planes through 0, roughly at right angles, and a press into all of them."""
    rig, client, first = draw_rig(draw), draw_renderer(draw), draw.direction()
    second = draw.across(first)
    normals = [first, second, np.cross(first, second)][:planes]
    normals = [unit(normal + draw.even(0, 0.4) * draw.direction()) for normal in normals]
    towards = -unit(sum((draw.even(0.4, 1) * normal for normal in normals), np.zeros(3)))
    stiffness, damping = too_stiff(draw, rig, client)
    rows = [
        law("wall", client, normal=normal, stiffness=stiffness * uneven, damping=damping * uneven)
        for normal, uneven in ((normal, draw.wide(0.5, 1)) for normal in normals)
    ]
    return Contact(name, seed, rig, pressing(draw, rig, towards), laws(*rows))


@family("corner of two")
def corner_of_two(draw: Draw, name: str, seed: int) -> Contact:
    """Two planes."""
    return corner(draw, name, seed, 2)


@family("corner of three")
def corner_of_three(draw: Draw, name: str, seed: int) -> Contact:
    """Three planes."""
    return corner(draw, name, seed, 3)


@family("valley")
def valley(draw: Draw, name: str, seed: int) -> Contact:
    """A spring from both sides, to a plane or a point, some with a gap."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    stiffness, damping = too_stiff(draw, rig, client)
    along = {"normal": normal} if draw.chance(0.6) else {}
    gap = draw.one_of(0.0, 0.0, draw.wide(0.0002, 0.005))
    rows = law("spring", client, stiffness=stiffness, damping=damping, size=gap, **along)
    return Contact(name, seed, rig, pressing(draw, rig, -normal), laws(rows))


@family("moving wall")
def moving_wall(draw: Draw, name: str, seed: int) -> Contact:
    """A plane that swings or travels while the hand presses on it."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    hertz = draw.wide(0.2, 3)
    size = min(draw.wide(0.001, 0.03), 0.15 / (2 * np.pi * hertz))
    drift = normal * draw.even(-0.02, 0.02) if draw.chance(0.5) else np.zeros(3)
    rows = wall_at(
        draw, rig, client, normal, swing=size * normal, swing_hz=hertz, swing_phase=draw.even(0, 6), drift=drift
    )
    return Contact(name, seed, rig, pressing(draw, rig, -normal, clear=size), laws(rows))


def set_points(draw: Draw, name: str, seed: int, *, joint: bool) -> Contact:
    """A held position that a client moves out of a plane as deep as the device is in it; the loop holds it by a spring."""
    rig, normal = draw_rig(draw), draw.direction()
    along = {"normal": normal} if joint else {}
    stiffness = draw.wide(15, 400) if joint else draw.one_of(500.0, 500.0, draw.wide(200, 2000))
    damping = stiffness * draw.wide(0.002, 0.02)
    wanted = draw.wide(1.1, 12) * min(rig.critical(0, 1), 1e5) / stiffness
    rows = (
        law("held", LOOP, stiffness=stiffness, damping=damping, amplitude=0.8 * rig.peak, **along),
        law("target", 0, normal=normal, share=min(max(wanted, 0.8), 40)),
    )
    return Contact(name, seed, rig, pressing(draw, rig, -normal), laws(*rows))


@family("position set-point")
def position(draw: Draw, name: str, seed: int) -> Contact:
    """A held position."""
    return set_points(draw, name, seed, joint=False)


@family("angle set-point")
def angle(draw: Draw, name: str, seed: int) -> Contact:
    """A held angle: a spring along the direction of one joint."""
    return set_points(draw, name, seed, joint=True)


@family("two sessions")
def two_sessions(draw: Draw, name: str, seed: int) -> Contact:
    """Two clients whose walls or springs add, at about the same place."""
    rig, normal = draw_rig(draw, clients=2), draw.direction()
    rows = []
    for client in (0, draw.one_of(1, 1, LOOP)):
        stiffness, damping = too_stiff(draw, rig, client)
        kind = draw.one_of("wall", "wall", "spring")
        at = draw.even(-0.001, 0.001) * normal
        rows.append(law(kind, client, normal=normal, at=at, stiffness=0.7 * stiffness, damping=0.7 * damping))
    return Contact(name, seed, rig, pressing(draw, rig, -normal), laws(*rows))


@family("wall at a bubble's border")
def bubble(draw: Draw, name: str, seed: int) -> Contact:
    """A wall in a scene that a bubble moves: the hand holds the device outside of the bubble until the wall comes."""
    rig, client, outward = draw_rig(draw, two_hands=0.0), draw_renderer(draw), draw.direction()
    radius, width, speed = draw.even(0.02, 0.06), draw.even(0.015, 0.04), draw.wide(0.1, 0.6)
    stiffness, damping = too_stiff(draw, rig, client)
    depth = width * draw.even(0.5, 1.3)
    # The scene has to travel a tenth to 0.6 s at the speed that it has where the hand is.
    travel = draw.even(0.1, 0.6) * speed * min(depth / width, 1) ** 3
    path = line(outward, (radius + depth) * (0.6 + 0.4 * ramp(0.05, draw.even(0.2, 0.5))))
    rows = law(
        "wall",
        client,
        scene=1,
        normal=-outward,
        at=(radius + depth + travel) * outward,
        stiffness=stiffness,
        damping=damping,
    )
    paths = hands_paths(rig, draw, path, line(outward, draw.wide(0.3, 6) * ramp(0.2, 0.5)))
    return Contact(name, seed, rig, paths, laws(rows), (radius, width, speed))


@family("damper")
def damper(draw: Draw, name: str, seed: int) -> Contact:
    """A viscous field that is too strong for its delay."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    along = {"normal": normal} if draw.chance(0.5) else {}
    damping = min(draw.wide(1.1, 8) * rig.critical(client, 0, 1), 300.0)
    rows = law("viscous", client, damping=damping, **along)
    return Contact(name, seed, rig, pressing(draw, rig, -normal), laws(rows))


@family("object")
def held_object(draw: Draw, name: str, seed: int) -> Contact:
    """A virtual mass that is coupled too stiffly; some meet a wall."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    stiffness, damping = too_stiff(draw, rig, client)
    mass = draw.wide(0.03, 1)
    # The object's own integration is stable below its eighth of a client's period.
    stiffness = min(stiffness, 20 * mass / rig.delay(client)[1] ** 2)
    rows = law(
        "mass",
        client,
        normal=normal,
        stiffness=stiffness,
        damping=min(damping, 4 * mass / rig.delay(client)[1]),
        mass=mass,
        second=draw.one_of(0.0, 0.5 * stiffness),
    )
    return Contact(name, seed, rig, pressing(draw, rig, -normal), laws(rows))


@family("released at a wall")
def released(draw: Draw, name: str, seed: int) -> Contact:
    """A wall whose hands loosen their grip while they press on it."""
    rig, client, normal = draw_rig(draw), draw_renderer(draw), draw.direction()
    loose = 1 - draw.even(0.6, 0.97) * ramp(draw.even(0.6, 1.2), draw.wide(0.05, 0.6))[:SAMPLES]
    rig = replace(rig, grips=np.maximum(rig.grips * loose, 0.02))
    rows = wall_at(draw, rig, client, normal)
    rows["stiffness"] = np.minimum(rows["stiffness"], STIFFEST)
    return Contact(name, seed, rig, pressing(draw, rig, -normal), laws(rows))


def known_wall(ratio: float) -> Contact:
    """Return an arm of 0.2 kg in a medium hand, pressed with 2 N on a wall of so many times the critical stiffness."""
    rig = Rig(
        device=(0.2, 0.3, 0.0),
        encoder_step=12e-6,
        noise=0,
        hands=((0.4, 800.0, 3.0, 150.0, 8.0),),
        grips=np.ones((1, SAMPLES)),
        frequency=4000,
        latency=1,
        clients=(Client(1e-3, 2e-3, 0.0),),
        peak=10.0,
    )
    normal = np.array((0.0, 0.0, 1.0))
    path = line(-normal, 0.002 * (ramp(0.05, 0.15) - 1))
    paths = rig.wanted(path, line(-normal, 2 * ramp(0.1, 0.15)))[np.newaxis]
    stiffness = ratio * rig.critical(0, 1)
    return Contact("known wall", 0, rig, paths, laws(law("wall", 0, normal=normal, stiffness=stiffness)))


NAMES: Final[tuple[str, ...]] = tuple(FAMILIES)
