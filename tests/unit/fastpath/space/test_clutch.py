"""A session's clutch: the offset that a release returns compensates the ratio, to less than a nanometre."""

from __future__ import annotations

import pytest

from fastpath.space.spatial_py import Space
from tests.unit.fastpath.text.frame_rig import FrameRig

BASIS = ((0, 2, 1), (1, 1, -1))
MOUNT = ((0.1, -0.2, 0.3), (0.6, 0.0, 0.8, 0.0), (2.0, 1.0, 0.5))
POSITION, ROTATION, SCALE = (1.0, 2.0, -3.0), (0.8, 0.0, 0.0, 0.6), (3.0, 0.25, 1.5)


@pytest.mark.parametrize("ratio", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("then", [1.0, 0.3])
def test_released_offset_compensates_the_ratio(ratio: float, then: float) -> None:
    rig = FrameRig()
    writer, reader = rig.writer("049D"), rig.reader("049D")
    writer.set_basis(*BASIS)
    writer.set_mount(*MOUNT)
    writer.set_workspace(POSITION, ROTATION, SCALE)
    rig.runtime.step(400)
    anchor = reader.snapshot()["position"].copy()
    assert writer.set_clutch(ratio, reader) == (0, 0, 0)
    rig.runtime.step(2000)
    device = reader.snapshot()["position"].copy()
    scene = Space(basis=BASIS, mount=MOUNT, workspace=(POSITION, ROTATION, SCALE)).position_to_application(
        [float(a + ratio * (x - a)) for a, x in zip(anchor, device, strict=True)]
    )

    shift = writer.set_clutch(then, reader)

    moved = [p + d for p, d in zip(POSITION, shift, strict=True)]
    after = Space(basis=BASIS, mount=MOUNT, workspace=(moved, ROTATION, SCALE)).position_to_application(
        [float(x) for x in device]
    )
    assert max(abs(part) for part in shift) > 1e-4
    assert after == pytest.approx(scene, abs=1e-12)
    assert writer.clutch == then
    assert writer.clutch_offset(reader) == (0, 0, 0)


@pytest.mark.parametrize("ratio", [-0.1, 1.1, float("nan")])
def test_ratio_outside_0_to_1_is_refused(ratio: float) -> None:
    rig = FrameRig()
    writer = rig.writer("049D")

    with pytest.raises(ValueError, match="0 to 1"):
        writer.set_clutch(ratio, rig.reader("049D"))

    assert writer.clutch == 1


def test_release_keeps_forces() -> None:
    writer = FrameRig().writer("049D")
    writer.force(1, 0, 0)
    writer.position(0, 0, 0)
    writer.angle(0, 0, 0)

    writer.release_positions()

    assert writer.commands == 1
