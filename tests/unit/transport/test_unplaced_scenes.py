"""Scenes that the loop does not take: the device keeps the last one and says why, the configuration goes back to it."""

from __future__ import annotations

import asyncio
from types import MappingProxyType
from typing import Any, cast

import pytest

from actors.kit.errors import Busy
from actors.session.api import Applied, ConfigureSession, SessionConfig, SetScene
from actors.session.messages import DeviceConfig
from actors.session.scene_fields import checked_field
from actors.values.spatial import Transform
from fastpath.scene.values import NO_SCENE, Scene
from tests.support.actors.doubles import inventory_of, settings_view
from transport.session.device import SessionDevice
from transport.session.unplaced_scenes import UnplacedScene, take_back, unplaced_scenes

AIR = checked_field("damper", {"damping": 2.0})
BALL = checked_field("sphere", {"centre": (0.0, 0.0, 0.0), "radius": 0.03, "stiffness": 500.0})
REASON = "ball: a sphere needs the same scale along x, y and z"
ON, OFF = (settings_view({"features/scene/enabled": enabled}) for enabled in (True, False))
(ARM,) = inventory_of("arm").devices
(GRIP,) = inventory_of("grip").devices


def _take(*_values: object) -> None:
    """What the view is made of besides the scene."""


class Writer:
    """Takes any view, and scenes without a sphere."""

    def __init__(self) -> None:
        self.scenes: list[Scene] = []

    def set_scene(self, scene: Scene) -> None:
        self.scenes.append(scene)
        if any(field.field == "sphere" for field in scene.values()):
            raise ValueError(REASON)

    def __getattr__(self, name: str) -> Any:
        return _take


class Runtime:
    """Hands out one writer."""

    def __init__(self) -> None:
        self.made = Writer()

    def writer(self, *_: object) -> Writer:
        return self.made

    def reader(self, *_: object) -> None:
        return None


@pytest.fixture
def runtime() -> Runtime:
    return Runtime()


def device_of(runtime: Runtime, record: Any = ARM) -> SessionDevice:
    return SessionDevice(cast("Any", runtime), cast("Any", None), record, Transform())


def config_with(scene: Scene, device_id: str = ARM.device_id) -> SessionConfig:
    return SessionConfig(devices=MappingProxyType({device_id: DeviceConfig(scene=scene)}))


def test_loop_gets_a_scene_once_and_no_scene_when_it_is_removed(runtime: Runtime) -> None:
    device = device_of(runtime)
    device.view(SessionConfig(), ON)
    assert runtime.made.scenes == []

    assert device.view(config_with({"air": AIR}), ON)
    assert not device.view(config_with({"air": AIR}), ON)
    assert device.view(config_with(NO_SCENE), ON)
    assert runtime.made.scenes == [{"air": AIR}, {}]


def test_loop_has_no_scene_while_they_are_switched_off(runtime: Runtime) -> None:
    device = device_of(runtime)
    device.view(config_with({"air": AIR}), OFF)
    assert runtime.made.scenes == []

    device.view(config_with({"air": AIR}), ON)
    device.view(config_with({"air": AIR}), OFF)
    assert runtime.made.scenes == [{"air": AIR}, {}]


def test_device_without_motors_gets_no_scene(runtime: Runtime) -> None:
    device_of(runtime, GRIP).view(config_with({"air": AIR}, GRIP.device_id), ON)

    assert runtime.made.scenes == []


def test_refused_scene_leaves_the_last_one_and_is_tried_again(runtime: Runtime) -> None:
    device = device_of(runtime)
    device.view(config_with({"air": AIR}), ON)

    assert not device.view(config_with({"ball": BALL}), ON)
    assert (device.scene, device.scene_fault) == ({"air": AIR}, REASON)
    device.view(config_with({"ball": BALL}), ON)
    assert runtime.made.scenes == [{"air": AIR}, {"ball": BALL}, {"ball": BALL}]

    device.view(config_with({"air": AIR}), ON)
    assert (device.scene, device.scene_fault) == ({"air": AIR}, "")
    assert unplaced_scenes([device]) == ()


def test_refused_scene_is_taken_back_from_the_configuration(runtime: Runtime) -> None:
    device = device_of(runtime)
    device.view(config_with({"air": AIR}), ON)
    device.view(config_with({"ball": BALL}), ON)
    unplaced = unplaced_scenes([device])
    back = SetScene(ARM.device_id, (("air", AIR),), replace=True)
    assert unplaced == (UnplacedScene(ARM.device_id, REASON, back),)
    asked: list[ConfigureSession] = []
    configured: list[SessionConfig] = []

    async def ask(request: ConfigureSession) -> Applied:
        asked.append(request)
        return Applied(config_with({"air": AIR}), (), ())

    asyncio.run(take_back(unplaced, ask, configured.append))

    assert asked == [ConfigureSession((back,))]
    assert configured == [config_with({"air": AIR})]


def test_actor_that_does_not_answer_is_no_error() -> None:
    async def ask(_request: ConfigureSession) -> Applied:
        raise Busy

    asyncio.run(take_back((UnplacedScene("049D", REASON, SetScene("049D")),), ask, _fail))


def _fail(_config: SessionConfig) -> None:
    pytest.fail("there is no configuration")
