"""Drawn contacts: the same from the same seed, in the ranges that they promise, and judged as what they are."""

from __future__ import annotations

from dataclasses import replace
from math import pi
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.haptics.contacts import SAMPLES, Client, Contact, Draw, Rig, draw_rig, lagged, law, laws, smoothed
from bench.haptics.judging import (
    above,
    answer,
    band,
    force_error,
    judge,
    main_frequency,
    seconds_of_error,
    sustains,
)
from bench.haptics.oscillating import NAMES as FAMILIES
from bench.haptics.oscillating import known_wall, oscillating
from bench.haptics.rightful import NAMES as CLASSES
from bench.haptics.rightful import rightful
from bench.haptics.seeds import Part, Use, seeds
from bench.haptics.sets import Job, in_processes, plan, run, tables, wilson
from fastpath.testing.contact_trial import CONTACT, law_forces

SECONDS: Final = np.arange(3000) / 1000
TUNING: Final = seeds(Part.TRAINING, 3)
# As the task of the generator lists them.
PROMISED: Final = {
    "ridges scanned fast",
    "click detents",
    "sawing",
    "texture",
    "strong vibration",
    "sliding fast along a wall",
    "ball on a paddle",
    "viscous field",
    "tapping",
    "press with tremor",
    "impulses",
    "press",
    "free motion",
    "buttons",
    "snaps",
    "guidance",
    "virtual mass",
    "friction",
    "plucked string",
    "stirring",
    "handwriting",
    "steps",
    "pulses",
    "handing over",
    "scan along a corner",
    "grip that changes in contact",
    "wall that swings",
    "guidance to a moving target",
    "tapping with two hands",
    "strong tremor in contact",
}


def test_at_least_25_classes_of_rightful_use_among_them_the_promised_ones() -> None:
    assert len(CLASSES) >= 25
    assert set(CLASSES) >= PROMISED


@pytest.mark.parametrize("name", FAMILIES)
def test_contact_is_the_same_from_the_same_seed(name: str) -> None:
    first, again = oscillating(name, TUNING[0]), oscillating(name, TUNING[0])

    assert first.run("filter").tobytes() == again.run("filter").tobytes()


@pytest.mark.parametrize("name", CLASSES)
def test_rightful_use_is_the_same_from_the_same_seed_and_finite(name: str) -> None:
    samples = rightful(name, TUNING[0]).run()

    assert samples.tobytes() == rightful(name, TUNING[0]).run().tobytes()
    assert all(np.isfinite(samples[field]).all() for field in samples.dtype.names or ())


@pytest.mark.parametrize("name", ["wall", "damper"])
def test_another_seed_is_another_contact(name: str) -> None:
    first, other = (oscillating(name, seed) for seed in TUNING[:2])

    assert first.rig.device != other.rig.device


def test_rigs_are_in_the_ranges_that_are_promised() -> None:
    rigs = [draw_rig(Draw("ranges", seed), clients=2) for seed in range(400)]

    assert all(0.05 <= rig.device[0] <= 0.6 and 2e-6 <= rig.encoder_step <= 1e-4 for rig in rigs)
    hands = [hand for rig in rigs for hand in rig.hands]
    assert all(0.1 <= hand[0] <= 2.5 and 0 <= hand[3] <= 2000 and 1 <= hand[4] <= 60 for hand in hands)
    clients = [(client, rig.frequency) for rig in rigs for client in rig.clients]
    assert all(1 / rate <= client.period + 1e-12 <= 1 / 200 + 1e-9 for client, rate in clients)
    assert all(0 <= client.delay <= 0.02 for client, _ in clients)
    assert {len(rig.hands) for rig in rigs} == {1, 2}


def test_wall_of_0_3_of_critical_does_not_oscillate_and_one_of_twice_does() -> None:
    soft, stiff = judge(known_wall(0.3).run()), judge(known_wall(2.0).run())

    assert not soft.oscillates
    assert soft.onset is None
    assert stiff.oscillates
    assert stiff.speed > 50
    assert stiff.fed > 0
    assert stiff.onset is not None


def test_oscillation_goes_on_when_the_hand_is_left_alone_and_a_swing_of_the_hand_does_not() -> None:
    assert sustains(known_wall(2.0).left_alone(1.5).run())
    assert not sustains(rightful("free motion", TUNING[0]).left_alone(1.5).run())


def test_filter_finds_a_wall_of_twice_the_critical_stiffness_and_leaves_one_of_0_3_alone() -> None:
    stiff, soft = known_wall(2.0), known_wall(0.3)

    found = answer(stiff.run("filter"), stiff.run())
    left = answer(soft.run("filter"), soft.run())

    assert found.found is not None
    assert found.speed < 0.5 * found.unfiltered
    assert (left.entries, left.lost, left.error, left.error_after, left.error_seconds) == (0, 0.0, 0.0, 0.0, 0.0)
    assert 0 < found.error <= found.error_after


def test_without_a_filter_goes_out_what_was_asked() -> None:
    # The slew limit holds a step back for some ms: that is no error of a filter.
    step = law("vibration", 0, form=1, normal=np.array((0.0, 0.0, 1.0)), frequency=5.0, amplitude=8.0)
    samples = replace(known_wall(1.0), laws=laws(step)).run()

    assert samples["asked"].tobytes() == samples["output"].tobytes()
    assert np.abs(samples["asked"] - samples["command"]).max() > 1


def test_a_step_comes_and_goes_at_once() -> None:
    row = law("step", 0, normal=np.array((0.0, 0.0, 1.0)), amplitude=2.0, begin=0.5, end=0.6)

    force = law_forces(row, np.zeros((1000, 3)), dt=1e-3)[:, 2]

    assert force[499] == 0
    assert (force[500:600] == 2).all()
    assert (force[600:] == 0).all()


def of_forces(asked: float, output: NDArray[np.float64]) -> NDArray[np.void]:
    samples = np.zeros(len(output), dtype=CONTACT)
    samples["asked"][:, 1] = asked
    samples["output"][:, 1] = output
    return samples


def test_force_error_is_what_is_added_or_taken_over_what_was_asked() -> None:
    ones = np.ones(1000)

    assert force_error(of_forces(2.0, 2 * ones)) == 0
    assert force_error(of_forces(2.0, ones)) == pytest.approx(0.5)
    # What a damper adds on one way and takes on the other is an error, though no force is lost.
    assert force_error(of_forces(2.0, 2 + np.sin(np.arange(1000) * 2 * pi / 50))) == pytest.approx(0.5**0.5 / 2)
    assert force_error(of_forces(0.0, ones)) == 0


@pytest.mark.parametrize("last_ms", [0, 1, 350, 1000])
def test_error_lasts_until_100_ms_without_one(last_ms: int) -> None:
    output = np.ones(1000)
    output[:last_ms] = 0

    seconds = seconds_of_error(of_forces(1.0, output))

    # One ms of no force in 100 is a tenth of the rms, and not more.
    assert seconds == pytest.approx(0 if last_ms <= 1 else min(last_ms + 98, 1000) / 1000)


@pytest.mark.parametrize("mode", ["passivity", "brake"])
def test_references_quieten_a_wall_without_entries_of_the_filter(mode: str) -> None:
    stiff = known_wall(2.0)

    done = answer(stiff.run(mode), stiff.run())

    assert done.entries == 0
    assert done.speed < 0.9 * done.unfiltered


def bare_rig(client: Client, *, viscous: float) -> Rig:
    return Rig((0.2, viscous, 0.0), 1e-6, 0, (), np.ones((0, SAMPLES)), 32000, 0, (client,), 10.0)


def test_critical_stiffness_of_a_bare_device_is_its_damping_by_the_lag() -> None:
    rig = bare_rig(Client(1 / 32000, 0.002, 0.0), viscous=0.5)

    lag, _ = rig.delay(0)

    assert rig.critical(0, 1.0) == pytest.approx(0.5 / lag, rel=0.02)


def test_longer_delay_lowers_critical_stiffness() -> None:
    fast, slow = (bare_rig(Client(1e-3, delay, 0.0), viscous=0.5).critical(0, 1.0) for delay in (1e-3, 1e-2))

    assert slow < 0.3 * fast


def test_hand_without_stiffness_follows_by_its_damping() -> None:
    force = np.zeros((3001, 3))
    force[:, 0] = 2.0
    rig = Rig((0.2, 0.0, 0.0), 1e-6, 0, ((0.5, 500.0, 5.0, 0.0, 10.0),), np.ones((1, SAMPLES)), 4000, 0, (), 10.0)

    wanted = rig.wanted(np.zeros((3001, 3)), force)

    assert wanted[-1, 0] == pytest.approx(2.0 / 10 * 3, rel=0.01)


def test_lag_reaches_its_input_and_smoothing_keeps_a_constant() -> None:
    step = np.ones((3000, 3))

    assert lagged(step, 0.1)[100, 0] == pytest.approx(1 - np.exp(-1), abs=0.01)
    assert smoothed(step, 0.05) == pytest.approx(step)


def test_band_and_high_pass_let_through_what_lies_inside() -> None:
    wave = np.sin(2 * pi * 20 * SECONDS)
    motion = np.stack([wave, 0 * wave, 0 * wave], axis=1)

    assert band(motion) == pytest.approx(motion, abs=1e-9)
    assert np.abs(band(motion, 30)).max() < 1e-9
    assert main_frequency(motion) == pytest.approx(20, abs=0.2)
    assert np.abs(above(wave, 2)[1000:]).max() == pytest.approx(1, abs=0.02)
    assert np.abs(above(np.ones(3000), 8)[1000:]).max() < 1e-6


def test_filter_delays_onset_of_nothing_before_it_is_found() -> None:
    stiff = known_wall(2.0)
    bare, held = stiff.run(), stiff.run("filter")
    found = answer(held, bare).found

    assert found is not None
    assert held["x"][:found].tobytes() == bare["x"][:found].tobytes()


def test_two_processes_give_what_one_gives() -> None:
    jobs = plan("contact", Part.TRAINING, 1, Use.TUNING, ("filter",))[:4]

    alone, both = list(in_processes(run, jobs, 1)), list(in_processes(run, jobs, 2))

    assert [done.rows.tobytes() for done in alone] == [done.rows.tobytes() for done in both]


def test_signals_are_force_position_and_velocity_of_each_ms() -> None:
    done = next(
        done
        for seed in seeds(Part.TRAINING, 10)
        if len((done := run(Job("contact", "wall", seed, Use.TUNING, ("filter",), signals=True))).rows)
    )

    assert done.signals is not None
    assert done.signals.shape == (3, SAMPLES, 3)
    assert done.signals.dtype == np.float32


def test_tables_show_every_family_and_class() -> None:
    rows = np.concatenate(
        [
            run(Job(kind, name, seed, Use.TUNING, ("filter",), signals=False)).rows
            for kind, name in (("contact", "wall"), ("rightful", "press"))
            for seed in seeds(Part.TRAINING, 5)
        ]
    )

    text = "\n".join(tables(rows, ["filter"]))

    assert all(name in text for name in (*FAMILIES, *CLASSES))


@pytest.mark.parametrize(
    ("hits", "runs", "low", "high"), [(0, 300, 0.0, 0.0126), (30, 300, 0.071, 0.139), (0, 0, 0.0, 1.0)]
)
def test_wilson_interval(hits: int, runs: int, low: float, high: float) -> None:
    assert wilson(hits, runs) == pytest.approx((low, high), abs=0.001)


def test_law_without_an_end_acts_for_the_whole_run() -> None:
    rig = bare_rig(Client(1e-3, 1e-4, 0.0), viscous=1.0)
    push = law("spring", 0, normal=(1.0, 0.0, 0.0), at=(10.0, 0.0, 0.0), stiffness=100.0, amplitude=0.5)

    samples = Contact("push", 0, rig, np.zeros((1, SAMPLES + 1, 3)), laws(push)).run()

    assert samples["command"][10:, 0] == pytest.approx(0.5)
