"""Kinematics of one rotation axis: x is the arc length along the rim, and a force along it is a torque times the radius."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.testing.formulas import Mechanism

RADIUS_M = 0.02
HINGE = Mechanism(shoulder=(0.1, 0.2, 0.3), links=(RADIUS_M, 1.0), kind="hinge")
angles = st.floats(-40, 40)


@given(angles)
def test_cursor_is_the_arc_length_and_converts_back(angle: float) -> None:
    position = HINGE.forward((angle, 1.0, 2.0))

    assert position == pytest.approx((0.1 + RADIUS_M * angle, 0.2, 0.3))
    assert HINGE.inverse(position) == pytest.approx((angle, 0, 0), abs=1e-12)


@given(angles, st.floats(-5, 5))
def test_rim_force_converts_to_torque_and_back(angle: float, force: float) -> None:
    torque = HINGE.torque((angle, 0, 0), (force, 3.0, 4.0))

    assert torque == pytest.approx((RADIUS_M * force, 0, 0))
    assert HINGE.force((angle, 0, 0), torque) == pytest.approx((force, 0, 0))


def test_other_axes_are_zero() -> None:
    assert HINGE.jacobian((1.0, 0, 0)) == ((RADIUS_M, 0, 0), (0, 0, 0), (0, 0, 0))
    assert HINGE.joint_velocity((1.0, 0, 0), (0.04, 1.0, 1.0)) == pytest.approx((2.0, 0, 0))
