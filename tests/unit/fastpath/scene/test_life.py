"""Life of a scene: while its session is open and its client gives signs of life; its way through the rest of the force path."""

from __future__ import annotations

import pytest

from fastpath.arena.runtime import Runtime
from fastpath.layout.constants import ControlMode
from fastpath.navigation.values import Bubble
from fastpath.scene.description import NoScene
from tests.support.loop.scenes import Scened, X, Y, Z, below, field, plane

TIMEOUT = 0.5
PUSH = {"up": field("constant", force=(0.0, 0.0, 2.0))}


def rig_with(scene: dict[str, object] | None = None) -> Scened:
    rig = Scened(scene or PUSH)  # type: ignore[arg-type]
    rig.stay(0.3)
    return rig


def test_scene_stays_without_any_command() -> None:
    rig = rig_with()
    assert rig.stay(2.0)[2] == pytest.approx(2.0)
    assert rig.reader.snapshot()["mode"] == ControlMode.MODE_FORCE


def test_scene_fades_when_its_client_is_silent_and_comes_back() -> None:
    rig = rig_with()
    rig.heard = False
    assert rig.stay(TIMEOUT - 0.01)[2] == pytest.approx(2.0)
    assert 0.8 < rig.stay(0.060)[2] < 1.2
    assert rig.stay(0.060)[2] == 0
    rig.heard = True
    assert 0.8 < rig.stay(0.050)[2] < 1.2
    assert rig.stay(0.060)[2] == pytest.approx(2.0)


def test_time_out_can_be_set() -> None:
    rig = rig_with()
    rig.runtime.publish_loop(frequency=rig.frequency, command_timeout=0.05, scene_timeout=2.0)
    rig.heard = False
    assert rig.stay(1.9)[2] == pytest.approx(2.0)
    assert rig.stay(0.3)[2] == 0


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan")])
def test_time_out_is_a_time(timeout: float) -> None:
    with pytest.raises(ValueError, match="above 0 s"):
        Runtime(stepping=True).publish_loop(frequency=1000, command_timeout=0.05, scene_timeout=timeout)


def test_a_surface_that_comes_back_does_not_push() -> None:
    rig = Scened({"floor": plane()})
    rig.go(below(-0.01), 0.05)
    rig.go(below(0.004), 0.1)
    before = rig.stay(0.1)[2]
    rig.heard = False
    assert rig.stay(1.0)[2] == 0
    rig.heard = True
    assert rig.stay(0.5)[2] <= before
    rig.go(below(-0.01), 0.1)
    rig.go(below(0.004), 0.1)
    assert rig.stay(0.1)[2] == pytest.approx(before)


def test_closed_session_has_no_scene() -> None:
    rig = rig_with()
    rig.runtime.release_session(rig.session)
    assert rig.at(rig.place) == (0, 0, 0)


def test_revoked_writer_gives_its_scene_back() -> None:
    rig = rig_with()
    rig.writer.revoke()
    assert rig.at(rig.place) == (0, 0, 0)
    rig.writer.set_scene(PUSH)
    assert rig.stay(0.3) == (0, 0, 0)


def test_every_session_has_one_until_all_are_in_use() -> None:
    runtime = Runtime(stepping=True, max_sessions=64)
    devices = [runtime.lease_device(str(number)) for number in range(16)]
    sessions = [runtime.lease_session(str(number)) for number in range(9)]
    writers = [runtime.writer(session, device) for session in sessions for device in devices]
    for writer in writers[:128]:
        writer.set_scene(PUSH)
    with pytest.raises(NoScene, match="128 scenes of the service are in use"):
        writers[128].set_scene(PUSH)
    writers[3].revoke()
    writers[128].set_scene(PUSH)


def test_scenes_of_sessions_add_and_each_lives_by_its_own_client() -> None:
    rig = rig_with()
    session = rig.runtime.lease_session("2")
    other = rig.runtime.writer(session, rig.lease)
    other.set_scene(PUSH)
    other.publish(refresh=False)
    assert rig.stay(0.3)[2] == pytest.approx(4.0)
    assert rig.stay(0.4)[2] == pytest.approx(2.0)
    rig.runtime.hear(session)
    assert rig.stay(0.2)[2] == pytest.approx(4.0)


def test_stop_and_start_begin_anew() -> None:
    rig = Scened({"floor": plane()})
    rig.go(below(-0.01), 0.05)
    rig.go(below(0.004), 0.1)
    assert rig.stay(0.1)[2] == pytest.approx(2.0)
    rig.runtime.stop_device(rig.lease, True)
    assert rig.stay(0.1) == (0, 0, 0)
    rig.runtime.stop_device(rig.lease, False)
    # Met where the cursor is: only the hand's own way loads it.
    assert rig.stay(0.3) == (0, 0, 0)


def test_dead_mans_switch_ends_it() -> None:
    rig = rig_with()
    rig.runtime.step(round(0.7 * rig.frequency), beat=False)
    assert rig.reader.snapshot()["force"].tolist() == [0, 0, 0]


def test_duck_scales_it_and_the_gate_counts_it() -> None:
    rig = rig_with()
    rig.writer.set_duck(0.25)
    rig.writer.publish(refresh=False)
    assert rig.stay(0.3)[2] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("rotation", "force"),
    [((1.0, 0.0, 0.0, 0.0), (0, 0, 2.0)), ((0.5**0.5, 0.5**0.5, 0.0, 0.0), (0, 2.0, 0))],
)
def test_scene_follows_the_sessions_space(rotation: tuple[float, ...], force: tuple[float, float, float]) -> None:
    rig = rig_with()
    rig.writer.set_workspace((1.0, 2.0, 3.0), rotation, (2.0, 2.0, 2.0))
    rig.writer.publish(refresh=False)
    assert rig.stay(0.3) == pytest.approx(force, abs=1e-9)


def test_surface_is_where_the_space_puts_it() -> None:
    # Application space is twice the device's: a floor at 2 Z is at Z.
    rig = Scened()
    rig.writer.set_workspace((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (2.0, 2.0, 2.0))
    rig.describe({"ball": field("sphere", centre=(2 * X, 2 * Y, 2 * (Z - 0.03)), radius=0.06, stiffness=500.0)})
    rig.go(below(-0.01), 0.05)
    rig.go(below(0.004), 0.2)
    assert rig.stay(0.1)[2] == pytest.approx(2.0, rel=1e-3)
    assert rig.touched().proxy == pytest.approx((2 * X, 2 * Y, 2 * Z), abs=1e-6)


def test_space_without_a_place_for_a_field_keeps_it_for_the_next() -> None:
    rig = Scened({"ball": field("sphere", centre=below(0.03), radius=0.03, stiffness=500.0)})
    unlike, alike = (1.0, 1.0, 2.0), (1.0, 1.0, 1.0)
    rig.writer.set_workspace((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), unlike)
    egg = field("sphere", centre=below(0.03), radius=0.03, stiffness=500.0)
    with pytest.raises(ValueError, match="field egg: a sphere needs the same scale"):
        rig.describe({"egg": egg})
    rig.go(below(-0.01), 0.05)
    rig.go(below(0.004), 0.1)
    assert rig.stay(0.1) == (0, 0, 0)
    rig.writer.set_workspace((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), alike)
    rig.writer.publish(refresh=False)
    rig.go(below(-0.01), 0.05)
    rig.go(below(0.004), 0.1)
    assert rig.stay(0.1)[2] == pytest.approx(2.0, rel=1e-3)


def test_surface_that_gets_its_place_back_does_not_push_a_hand_that_stands_still() -> None:
    air = field("damper", damping=0.0)
    rig = Scened({"ball": field("sphere", centre=below(0.03), radius=0.03, stiffness=1000.0), "air": air})
    rig.go(below(-0.01), 0.05)
    rig.go(below(0.004), 0.1)
    assert rig.stay(0.1)[2] == pytest.approx(4.0, rel=1e-3)
    for scale in ((1.0, 1.0, 2.0), (1.0, 1.0, 1.0)):
        rig.writer.set_workspace((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), scale)
        rig.writer.publish(refresh=False)
        rig.stay(0.1)
        assert rig.stay(0.1) == (0, 0, 0)


def test_field_of_another_kind_under_the_same_id_is_a_new_one() -> None:
    rig = rig_with()
    rig.describe({"up": plane(point=below(-0.02))})
    assert rig.stay(0.3) == (0, 0, 0)
    rig.describe(PUSH)
    assert rig.at(rig.place)[2] < 0.1
    assert rig.stay(0.2)[2] == pytest.approx(2.0)


def test_bubble_that_travels_takes_the_scene_along_without_pushing() -> None:
    rig = Scened({"floor": plane()})
    rig.writer.set_navigation(Bubble(), (X, Y, Z))
    rig.writer.publish(refresh=False)
    rig.go(below(-0.01), 0.1)
    rig.go(below(0.004), 0.2)
    assert rig.stay(0.1)[2] > 0


def test_faulty_field_leaves_what_was_there() -> None:
    rig = rig_with()
    for bad in (
        field("constant", force=(0.0, 0.0, float("nan"))),
        field("capsule", start=(0.0, 0.0, 0.0), end=(0.0, 0.0, 0.0), radius=0.1, stiffness=1.0),
        field("plane", point=(0.0, 0.0, 0.0), normal=(0.0, 0.0, 0.0), stiffness=1.0),
        field("sphere", centre=(1e300, 0.0, 0.0), radius=0.1, stiffness=1.0),
    ):
        with pytest.raises(ValueError, match="field bad: "):
            rig.writer.set_scene({"good": PUSH["up"], "bad": bad})
    rig.writer.publish(refresh=False)
    assert rig.stay(0.3)[2] == pytest.approx(2.0)


def test_more_fields_than_there_are_places_are_refused() -> None:
    rig = rig_with()
    many = {str(number): PUSH["up"] for number in range(33)}
    with pytest.raises(ValueError, match="at most 32 fields, not 33"):
        rig.writer.set_scene(many)
    many.popitem()
    rig.writer.set_scene({name: field("constant", force=(0.0, 0.0, 0.1)) for name in many})
    assert rig.stay(0.3)[2] == pytest.approx(3.2)
