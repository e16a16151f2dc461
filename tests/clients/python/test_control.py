"""What a client does beside its loop: configuration, settings, ports, pairs, calibration, stop, trips, check, events."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import pytest

import hapticd_client as haptics
from hapticd_client import (
    Box,
    Constant,
    Damper,
    InvalidCommand,
    NoSuchDevice,
    Plane,
    Refused,
    Spring,
    testing,
)
from hapticd_client.core import operations
from hapticd_client.core.scene import Field
from tests.support.service.polling import eventually


@pytest.fixture(scope="module")
def running() -> Iterator[testing.TestService]:
    previews = {"features/clutch/enabled": True, "features/scene/enabled": True}
    with testing.service(simulate="arm,grip", settings=previews) as service:
        yield service


@pytest.fixture
def service(running: testing.TestService) -> Iterator[haptics.Service]:
    with running.connect(profile="a test") as connected:
        yield connected


def test_devices_are_found_by_kind_and_id(service: haptics.Service) -> None:
    arm = service.arm

    assert (service.arms, service.devices[arm.id]) == ((arm,), arm)
    assert service.grip.kind == "grip"
    assert service.compacts == ()
    assert repr(arm) == f"<arm {arm.id}>"
    with pytest.raises(NoSuchDevice, match="no pen is here"):
        _ = service.pen
    with pytest.raises(NoSuchDevice, match="no device FFFF"):
        _ = service.devices["FFFF"]


def test_instance_and_version_name_the_running_service(running: testing.TestService, service: haptics.Service) -> None:
    version = service.version

    assert service.instance == version["instance"]
    assert version["project_version"] == haptics.__version__
    with running.connect(expect_instance=service.instance) as again:
        assert again.instance == service.instance


def test_configuration_by_attribute_is_shown_after_an_update(service: haptics.Service) -> None:
    arm = service.arm
    arm.mount = {"position": (0, 0, 0.25)}
    arm.damping = 2
    arm.force_gate = 0.5
    arm.basis = "XZY"
    arm.workspace = {"scale": 2}
    arm.modules["clutch"] = {"ratio": 0.5}
    arm.navigation = "bubble"
    service.update()

    assert arm.preset == "custom"
    assert arm.mount["position"]["z"] == 0.25
    assert (arm.damping, arm.force_gate, arm.basis) == (2, 0.5, "XZY")
    assert arm.workspace["scale"] == {"x": 2, "y": 2, "z": 2}
    assert arm.modules["clutch"]["ratio"] == 0.5
    assert arm.navigation["mode"] == "bubble"

    arm.preset = "arm_front_centered"
    arm.navigation = "off"
    service.update()
    assert (arm.preset, arm.navigation["mode"]) == ("arm_front_centered", "off")


def test_scene_is_assigned_whole_and_changed_by_field(service: haptics.Service) -> None:
    arm = service.arm
    assert dict(arm.scene) == {}
    arm.scene = [Damper(2), Constant(np.array([0, 0, 0.5]))]
    service.update()
    assert arm.scene["1"] == {"field": "damper", "damping": 2}
    assert arm.scene["2"]["force"] == {"x": 0, "y": 0, "z": 0.5}

    del arm.scene["2"]
    arm.scene["floor"] = Plane((0, 0, 0.1), (0, 0, 1), stiffness=500, friction=0.3)
    assert list(arm.scene) == ["1", "floor"]
    service.update()
    assert arm.scene["floor"]["friction"] == {"static": 0.3, "dynamic": 0.3}
    assert len(arm.scene) == 2
    assert arm.state.raw["scene"]["touched"] == []

    arm.scene["floor"] = {"field": "damper", "damping": -1}
    with pytest.raises(haptics.FrameErrors, match="damping is 0 to 20"):
        service.update()
    arm.scene = {"lane": Spring((0, 0, 0), 200, axes="x")}
    service.update()
    assert arm.scene["lane"]["axes"] == ["x"]
    arm.scene = []
    service.update()
    assert dict(arm.scene) == {}


@pytest.mark.parametrize(
    "bad",
    [
        5,
        "wall",
        Plane((0, 0, 0), (0, 0, 1), 1),
        [5],
        {"a": 5},
        [Plane(3, (0, 0, 1), 1)],  # type: ignore[arg-type]
        [Plane((0, 0, float("nan")), (0, 0, 1), 1)],
        [Plane((0, 0, 0), (0, 0, 1), 1, friction=("much", 1))],  # type: ignore[arg-type]
        [Plane((0, 0, 0), (0, 0, 1), 1, friction=(1, 2, 3))],  # type: ignore[arg-type]
        [Box((0, 0, 0), (1, 1, 1), 1, rotation=(1, 0))],
        [Box((0, 0, 0), (1, 1, 1), 1, rotation=3)],  # type: ignore[arg-type]
        [Damper(matrix="curl")],
        [Spring((0, 0, 0), 1, axes=3)],  # type: ignore[arg-type]
    ],
    ids=str,
)
def test_scene_of_what_is_no_field_is_refused_at_once(service: haptics.Service, bad: object) -> None:
    with pytest.raises(InvalidCommand):
        service.arm.scene = bad  # type: ignore[assignment]
    with pytest.raises(KeyError):
        del service.arm.scene["nothing"]


@pytest.mark.parametrize(
    ("field", "document"),
    [
        (Damper(matrix=np.eye(3)), {"field": "damper", "matrix": [1, 0, 0, 0, 1, 0, 0, 0, 1]}),
        (Damper((1, 2, 3)), {"field": "damper", "damping": {"x": 1, "y": 2, "z": 3}}),
        (
            Box((0, 0, 0), (1, 2, 3), 500, rotation=(1, 0, 0, 0), inside=True),
            {
                "field": "box",
                "centre": {"x": 0, "y": 0, "z": 0},
                "size": {"x": 1, "y": 2, "z": 3},
                "stiffness": 500,
                "rotation": {"w": 1, "x": 0, "y": 0, "z": 0},
                "inside": True,
            },
        ),
    ],
)
def test_field_is_written_as_the_wire_has_it(field: Field, document: dict[str, object]) -> None:
    assert field.document() == document


def test_configuration_that_the_service_refuses_is_an_error_with_its_reason(service: haptics.Service) -> None:
    service.arm.preset = "arm_frontt"

    with pytest.raises(haptics.FrameErrors, match="arm_front"):
        service.update()
    service.grip.basis = "YXZ"
    service.update()
    with pytest.raises(InvalidCommand, match="basis only"):
        service.grip.preset = "defaults"


def test_set_points_of_every_kind_arrive(service: haptics.Service) -> None:
    arm = service.arm
    for name, value, mode in (
        ("torques", (0, 10, 0), "force"),
        ("target_position", (0, -0.12, 0.135), "position"),
        ("target_angles", (1, 70, -130), "position"),
    ):
        for turn in service.loop(rate=200):
            setattr(arm, name, value)
            if turn.number and arm.mode == mode:
                break


def test_rendering_says_what_the_device_bears_and_follows_rate_and_force_scale(service: haptics.Service) -> None:
    arm, key = service.arm, "control/frequency"
    before = service.settings[key]
    told = arm.rendering()
    assert told["device_id"] == arm.id
    assert told["stiffness"] > 0
    assert told["damping"] == pytest.approx(2 * told["stiffness_damping"])
    assert told["reason"].startswith(f"A force answers to a position {1e3 * told['position_lag']:.2f} ms old")
    try:
        service.settings[key] = 1000
        eventually(lambda: arm.rendering()["stiffness"] < 0.6 * told["stiffness"], "a slower loop bears less")
        eventually(lambda: "raise control/frequency" in arm.rendering()["reason"], "the rate bounds it")
        slow = arm.rendering()["stiffness"]
        service.settings["devices/haptic*/filters/force_scale/gain"] = 2
        assert arm.rendering()["stiffness"] < 0.6 * slow
    finally:
        service.settings[key] = before
        del service.settings["devices/haptic*/filters/force_scale/gain"]


def test_settings_are_checked_against_their_descriptions(service: haptics.Service) -> None:
    key = "sessions/command_timeout"
    described = service.settings.describe(key)

    assert (described.low, described.high, described.unit, described.default) == (0.02, 0.5, "s", 0.05)
    with pytest.raises(InvalidCommand, match=r"0\.02 to 0\.5 s"):
        service.settings[key] = 7
    with pytest.raises(InvalidCommand, match="is a number"):
        service.settings[key] = "long"
    with pytest.raises(InvalidCommand, match="true or false"):
        service.settings["features/clutch/enabled"] = 1
    service.settings[key] = 0.1
    assert service.settings[key] == 0.1
    del service.settings[key]
    assert service.settings[key] == 0.05
    assert key in service.settings.all("sessions")
    with pytest.raises(Refused) as caught:
        _ = service.settings["sessions/comand_timeout"]
    assert caught.value.status == 404


def stopped(service: haptics.Service) -> tuple[bool, bool]:
    return service.stopped, service.arm.stopped


def test_stop_and_release_of_one_and_of_all(service: haptics.Service) -> None:
    arm = service.arm
    assert stopped(service) == (False, False)
    arm.stop()
    assert arm.check()[-3].subject == "stop"
    assert [found.sentence for found in arm.check() if not found.ok] == ["it is stopped: call release()"]
    arm.release()
    service.stop()
    assert stopped(service) == (True, True)
    service.release()
    assert stopped(service) == (False, False)
    assert all(found.ok for found in arm.check())
    assert arm.trips() == []


def test_pairs_calibration_and_ports(service: haptics.Service) -> None:
    arm, grip = service.arm, service.grip

    assert arm.pair(grip).origin == "manual"
    assert grip.pairing.paired_with == arm.id
    states = [found.state for found in arm.calibrate()]
    assert (states[0], states[-1]) == ("running", "calibrated")
    assert arm.calibration.state == "calibrated"
    assert arm.unpair().paired_with is None
    (port,) = [port for port in service.ports() if port["device_id"] == arm.id]
    assert service.reset_port(port["port"])["state"] == "active"


def test_values_of_the_device_are_read_and_changed_over_http(service: haptics.Service) -> None:
    arm = service.arm
    arm.handedness, arm.gravity_compensation, arm.torque_scaling, arm.home_return = "left", 0.5, False, True

    assert (arm.handedness, arm.gravity_compensation, arm.torque_scaling, arm.home_return) == ("left", 0.5, False, True)
    arm.handedness, arm.gravity_compensation, arm.torque_scaling, arm.home_return = "right", 1.0, True, False


def test_events_come_by_iterator_by_callback_and_from_a_time(service: haptics.Service) -> None:
    begun = datetime.now(UTC)
    heard: list[haptics.Event] = []
    with service.events(kinds=["device-safety-triggered"]) as events:
        service.on_event(heard.append, kinds="device-safety-triggered", level="error")
        service.arm.stop()
        stopped = next(iter(events))
        assert (stopped.name, stopped.data["safety_type"], stopped.gap) == ("device-safety-triggered", "stopped", 0)
        assert stopped.time >= begun
        assert events.next(within=0) is None
        service.arm.release()
        assert next(iter(events)).data["safety_type"] == "released"
    for _ in service.loop(rate=200):
        if heard:
            break
    assert [event.data["safety_type"] for event in heard] == ["stopped"]
    with service.events(kinds=["device-safety-triggered"], since=begun) as replayed:
        assert next(iter(replayed)) == stopped


def test_local_session_configures_what_acts_in_the_device_frame(running: testing.TestService) -> None:
    with running.connect(local=True) as service:
        service.arm.damping = 3
        service.update()
        shown = service._run(
            operations.of_device("arm", service.arm.id, "GET", "/config/filters", session=str(service.session_id))
        )
        assert shown["damping"]["scalar"] == 3
        service.arm.preset = "arm_front_centered"
        with pytest.raises(InvalidCommand, match="over a socket"):
            service.update()


def test_asyncio_twin_has_the_same_names(running: testing.TestService) -> None:
    async def run() -> None:
        async with running.connect_aio(profile="twin") as service:
            arm, grip = service.arm, service.grip
            arm.damping = 1
            await service.update()
            assert arm.damping == 1
            assert (await service.version())["instance"] == service.instance
            assert await service.settings.get("sessions/command_timeout") == 0.05
            with pytest.raises(InvalidCommand):
                await service.settings.set("sessions/command_timeout", 9)
            assert (await arm.pair(grip)).paired_with == grip.id
            assert [found.state async for found in arm.calibrate()][-1] == "calibrated"
            await arm.unpair()
            async with await service.events(kinds=["device-safety-triggered"]) as events:
                await arm.stop()
                assert await arm.stopped()
                async for event in events:
                    assert event.data["safety_type"] == "stopped"
                    break
                await arm.release()
            assert all(found.ok for found in await arm.check())
            assert await arm.trips() == []
            assert len(await service.ports()) == 2

    asyncio.run(run())


def test_rate_under_three_turns_per_time_out_warns(service: haptics.Service) -> None:
    with pytest.warns(haptics.SlowLoopWarning, match="under three") as warned:
        next(service.loop(rate=50))

    assert [warning.filename for warning in warned] == [__file__]


def test_loop_ends_after_its_seconds(service: haptics.Service) -> None:
    turns = list(service.loop(rate=200, seconds=0.05))

    assert turns[0].number == 0
    assert turns[-1].time < 0.05
