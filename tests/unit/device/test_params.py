"""Loop parameters of a device: for each kind and for each phase."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from actors.device.messages import DeviceRecord, DeviceWide, Phase
from actors.device.params import device_params, status_flags
from actors.values.identity import Kind
from actors.values.kinds.registry import specs
from fastpath.arena.runtime import Runtime
from fastpath.layout.constants import StatusFlag
from fastpath.layout.dtypes import DEVICE_PARAMS
from tests.support.actors.doubles import inventory_of
from tests.support.loop.devices import arm_params

ARM, COMPACT, WIRELESS, WIRED, PEN = inventory_of("arm", "compact", "grip", "grip:wired", "pen").devices
ALL = (ARM, COMPACT, WIRELESS, WIRED, PEN)


def params_of(record: DeviceRecord, seed: int = 0) -> Any:
    return device_params(record, seed)


def plain(params: Any) -> Any:
    """As dicts and lists."""
    if params.dtype.names is None:
        return params.tolist()
    return {name: plain(params[name]) for name in params.dtype.names}


# ---------------------------------------------------------------- life


@pytest.mark.parametrize("record", ALL)
@pytest.mark.parametrize("phase", Phase)
def test_status_follows_the_phase(record: DeviceRecord, phase: Phase) -> None:
    flags = status_flags(replace(record, phase=phase))

    assert bool(flags & StatusFlag.FLAG_READY) == (phase in {Phase.READY, Phase.ASLEEP})
    assert bool(flags & StatusFlag.FLAG_AWAKE) == (phase is not Phase.ASLEEP)
    assert bool(flags & StatusFlag.FLAG_POWER_SUPPLY) == record.kind.has_motors
    assert (
        flags
        & (StatusFlag.FLAG_STARTED | StatusFlag.FLAG_CONNECTED | StatusFlag.FLAG_ATTACHED | StatusFlag.FLAG_CALIBRATED)
        == StatusFlag.FLAG_STARTED | StatusFlag.FLAG_CONNECTED | StatusFlag.FLAG_ATTACHED | StatusFlag.FLAG_CALIBRATED
    )


@pytest.mark.parametrize("record", ALL)
@pytest.mark.parametrize("phase", Phase)
def test_only_a_ready_device_with_motors_takes_commands(record: DeviceRecord, phase: Phase) -> None:
    params = device_params(replace(record, phase=phase), 0)

    assert bool(params["accepts_commands"]) == (phase is Phase.READY and record.kind.has_motors)
    assert params["flags"] == status_flags(replace(record, phase=phase))


# ---------------------------------------------------------------- kinds


def test_an_arm_has_the_numbers_of_its_kind() -> None:
    params = params_of(ARM)

    assert params.dtype == DEVICE_PARAMS
    assert params.shape == ()
    assert (params["peak_force"], params["torque_limit"]) == (10, 6000)
    assert params["mechanism"]["shoulder"].tolist() == [0, 0.08, 0.135]
    assert params["mechanism"]["link"].tolist() == [0.26, 0.26]
    assert params["mechanism"]["counts_per_turn"] == 2**18
    assert params["plant"]["low"].tolist() == [-0.230, -0.285, -0.120]
    assert params["plant"]["high"].tolist() == [0.230, -0.005, 0.390]
    assert params["hand"]["centre"].tolist() == [0, -0.120, 0.135]
    assert (params["hand"]["radius"], params["hand"]["period"], params["hand"]["path"]) == (0.030, 4, 1)


def test_compact_is_smaller_than_an_arm() -> None:
    params = params_of(COMPACT)

    assert (params["peak_force"], params["torque_limit"]) == (4, 1200)
    assert params["mechanism"]["link"].tolist() == [0.13, 0.13]
    assert params["hand"]["centre"].tolist() == [0, -0.085, 0.100]


def test_arm_params_of_tests_equal_the_kind_s() -> None:
    ours, theirs = plain(params_of(ARM)), plain(arm_params())
    chain = ("slew", "slow_slew", "encoder_step", "zone_low", "zone_high", "thermal")
    bare = {name: theirs[name] for name in chain}

    assert {**ours, "seed": 0, "flags": 0, **bare} == {**theirs, "seed": 0, "flags": 0}


def test_an_arm_has_slew_limits_zones_and_motors_that_warm() -> None:
    params = params_of(ARM)

    assert (params["slew"], params["slow_slew"]) == (3000, 500)
    assert params["encoder_step"] == pytest.approx(12.46e-6, rel=1e-3)
    assert params["zone_low"].tolist() == [0.010, 0.060, 0.010]
    assert params["zone_high"].tolist() == [0.010, 0.010, 0.010]
    assert params["thermal"]["rise"] == 80


@pytest.mark.parametrize("record", [WIRELESS, WIRED, PEN])
def test_a_device_without_motors_has_no_mechanism(record: DeviceRecord) -> None:
    params = params_of(record)

    assert (params["peak_force"], params["torque_limit"], params["plant"]["mass"]) == (0, 0, 0)


@pytest.mark.parametrize("record", ALL)
def test_only_a_wireless_grip_has_a_battery(record: DeviceRecord) -> None:
    params = params_of(record)

    assert (params["battery_start"] > 0) == (params["battery_life"] > 0) == (record is WIRELESS)
    assert 0 <= params["battery_start"] <= 1


def test_every_kind_has_its_data_under_its_own_word() -> None:
    assert [spec.name for spec in specs()] == list(Kind)
    for spec in specs():
        has = {spec.reach is not None, spec.mechanism is not None, spec.dynamics is not None}
        assert has == {spec.has_motors}


@pytest.mark.parametrize("kind", [Kind.ARM, Kind.COMPACT])
def test_reach_leaves_room_between_its_zones(kind: Kind) -> None:
    reach = kind.spec.reach
    assert reach is not None

    for low, near, high, far in zip(reach.low, reach.zone_low, reach.high, reach.zone_high, strict=True):
        assert near > 0
        assert far > 0
        assert low + near < high - far


# ---------------------------------------------------------------- configuration and noise


@pytest.mark.parametrize(
    ("wide", "gravity", "torque_scaling"),
    [
        (DeviceWide(), 1, 1),
        (DeviceWide(gravity_scale=0.5), 0.5, 1),
        (DeviceWide(gravity_compensation=False, gravity_scale=0.5), 0, 1),
        (DeviceWide(torque_scaling=False), 1, 0),
    ],
)
def test_configuration_reaches_the_loop(wide: DeviceWide, gravity: float, torque_scaling: int) -> None:
    params = params_of(replace(ARM, wide=wide))

    assert (params["gravity_scale"], params["torque_scaling"]) == (gravity, torque_scaling)


@pytest.mark.parametrize(("hand", "left"), [("left", 1), ("right", 0)])
def test_handedness_and_home_return_reach_the_loop(hand: str, left: int) -> None:
    params = params_of(replace(ARM, wide=DeviceWide(handedness=hand, home_return=bool(left))))

    assert (params["left_handed"], params["home_return"]) == (left, left)
    assert params["home"].tolist() == [0, -0.120, 0.135]
    assert params_of(COMPACT)["home"].tolist() == [0, -0.085, 0.100]


def test_force_scale_defaults_to_one() -> None:
    assert params_of(ARM)["force_scale"] == 1
    assert device_params(ARM, 0, 0.25)["force_scale"] == 0.25


def test_noise_depends_on_seed_and_device() -> None:
    seeds = {int(device_params(record, seed)["seed"]) for record in ALL for seed in (0, 1, 2**32 - 1)}

    assert len(seeds) == 15
    assert 0 not in seeds
    assert device_params(ARM, 7) == device_params(ARM, 7)


def test_the_loop_takes_the_parameters_of_every_kind() -> None:
    runtime = Runtime(stepping=True, realtime=False)
    leases = [runtime.lease_device(record.device_id) for record in ALL]
    for record, lease in zip(ALL, leases, strict=True):
        assert runtime.publish_device(lease, params_of(record))

    runtime.step(4000)

    for record, lease in zip(ALL, leases, strict=True):
        state = runtime.reader(lease).snapshot()
        assert state["tick"] == 4000
        assert np.isfinite(state["position"]).all()
        assert state["flags"] == status_flags(record) | StatusFlag.FLAG_MEASURED
