"""Workspace presets: accepted kinds, origins, and the origins that changed since interface 3.5.2."""

from __future__ import annotations

import itertools

import pytest

from actors.kit.errors import InvalidInput
from actors.session import presets
from actors.values.identity import Kind
from actors.values.spatial import ORIGIN, Basis, Reach, Transform, Vec3
from fastpath.space.spatial_py import Space, basis_apply

BASES = [
    Basis.parse("".join(sign + axis for sign, axis in zip(signs, axes, strict=True)))
    for axes in itertools.permutations("XYZ")
    for signs in itertools.product(("", "-"), repeat=3)
]
SHARED = ["arm_front", "arm_front_centered", "custom", "defaults", "device_defaults", "led_front", "led_front_centered"]
BUILT_IN = [
    *((Kind.ARM, name) for name in SHARED if name != "custom"),
    *((Kind.COMPACT, name) for name in [*SHARED, "compact_centered", "compact_zup"] if name != "custom"),
]


def reach(kind: Kind) -> Reach:
    found = kind.spec.reach
    assert found is not None
    return found


def moved(new: Vec3, old: Vec3) -> tuple[float, ...]:
    """Millimetres from the old origin to the new one."""
    return tuple(round((a - b) * 1000, 6) for a, b in zip(new, old, strict=True))


def test_compact_accepts_arm_presets_and_two_of_its_own() -> None:
    assert list(presets.preset_names(Kind.ARM)) == SHARED
    assert list(presets.preset_names(Kind.COMPACT)) == sorted([*SHARED, "compact_centered", "compact_zup"])


@pytest.mark.parametrize("kind", [Kind.ARM, Kind.COMPACT])
def test_each_preset_of_a_kind_is_taken(kind: Kind) -> None:
    for name in presets.preset_names(kind):
        assert presets.check(name, kind) == name


@pytest.mark.parametrize(
    ("kind", "name", "likely"),
    [
        (Kind.ARM, "compact_zup", "defaults is one, GET /openapi.json has all"),
        (Kind.ARM, "", "defaults is one, GET /openapi.json has all"),
        (Kind.ARM, "Defaults", "did you mean defaults?"),
        (Kind.ARM, "arm_front_center", "did you mean arm_front_centered?"),
        (Kind.COMPACT, "minverse_zup", "defaults is one, GET /openapi.json has all"),
        (Kind.COMPACT, "x" * 10_000, "defaults is one, GET /openapi.json has all"),
    ],
)
def test_unknown_preset_is_refused_with_the_likely_one(kind: Kind, name: str, likely: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        presets.check(name, kind)

    assert raised.value.reason.endswith(f'has no preset "{name[:20]}": {likely}')
    assert len(raised.value.reason) <= 100


@pytest.mark.parametrize("kind", [Kind.ARM, Kind.COMPACT])
@pytest.mark.parametrize("name", ["defaults", "device_defaults", "arm_front", "led_front"])
@pytest.mark.parametrize("basis", BASES)
def test_identity_presets_have_an_identity_mount_in_any_basis(kind: Kind, name: str, basis: Basis) -> None:
    mount = presets.mount(name, reach(kind), basis)

    assert mount == Transform()
    assert str(mount) == str(Transform())


def test_centres_of_the_reach_are_as_documented() -> None:
    assert reach(Kind.ARM).centre == (0, -0.120, 0.135)
    assert reach(Kind.COMPACT).centre == (0, -0.085, 0.100)


@pytest.mark.parametrize(("kind", "name"), [(k, n) for k, n in BUILT_IN if n.endswith("_centered")])
def test_centred_presets_put_the_origin_at_the_centre(kind: Kind, name: str) -> None:
    assert presets.origin(name, reach(kind)) == reach(kind).centre


def test_the_origin_of_an_arm_moved_25_mm_along_its_depth() -> None:
    box = reach(Kind.ARM)

    for name in ("arm_front_centered", "led_front_centered"):
        assert moved(presets.origin(name, box), box.centre_with_zones) == (0, 25, 0)


def test_the_origin_of_a_compact_moved_10_20_20_mm() -> None:
    box = reach(Kind.COMPACT)

    assert moved(presets.origin("compact_centered", box), box.centre_with_zones) == (10, 20, 20)


def test_the_origin_of_compact_zup_moved_20_and_30_mm_from_its_own() -> None:
    box = reach(Kind.COMPACT)

    before = (0.000, -0.105, 0.080)
    assert presets.origin("compact_zup", box) == (0.020, -0.075, 0.080)
    assert moved(presets.origin("compact_zup", box), before) == (20, 30, 0)


@pytest.mark.parametrize(("kind", "name"), BUILT_IN)
@pytest.mark.parametrize("basis", BASES)
def test_the_origin_of_a_preset_is_zero_for_the_client(kind: Kind, name: str, basis: Basis) -> None:
    mount = presets.mount(name, reach(kind), basis)
    space = Space(basis=(basis.axes, basis.signs), mount=(mount.position, mount.rotation, mount.scale))

    assert space.position_to_application(presets.origin(name, reach(kind))) == pytest.approx(ORIGIN, abs=1e-15)
    assert (mount.rotation, mount.scale) == (Transform().rotation, Transform().scale)


def test_the_mount_turns_with_the_basis() -> None:
    box, basis = reach(Kind.ARM), Basis.parse("XZ-Y")

    mount = presets.mount("arm_front_centered", box, basis)

    assert mount.position == tuple(0.0 - part for part in basis_apply((basis.axes, basis.signs), box.centre))
    assert mount.position == (0, -0.135, -0.120)


@pytest.mark.parametrize("kind", [Kind.ARM, Kind.COMPACT])
def test_every_origin_lies_in_reach_and_outside_the_zones(kind: Kind) -> None:
    box = reach(kind)

    for name in presets.preset_names(kind):
        at = presets.origin(name, box)
        if at == ORIGIN:
            continue
        for i in range(3):
            assert box.low[i] + box.zone_low[i] < at[i] < box.high[i] - box.zone_high[i]
