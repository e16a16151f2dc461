"""A robot that writes down where it is led; LeRobot finds it as a plugin."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lerobot.robots.config import RobotConfig
from lerobot.robots.robot import Robot

NAMES = ("ee.x", "ee.y", "ee.z", "ee.qw", "ee.qx", "ee.qy", "ee.qz", "button.a", "button.b", "button.c", "clutch")


@RobotConfig.register_subclass("recorder")
@dataclass(kw_only=True)
class RecorderConfig(RobotConfig):
    path: Path


class Recorder(Robot):
    config_class = RecorderConfig
    name = "recorder"
    is_connected = True
    is_calibrated = True

    def __init__(self, config: RecorderConfig) -> None:
        super().__init__(config)
        self.lines: list[str] = []
        self.path = config.path

    @property
    def observation_features(self) -> dict[str, type]:
        return dict.fromkeys(NAMES, float)

    action_features = observation_features

    def connect(self, calibrate: bool = True) -> None: ...
    def calibrate(self) -> None: ...
    def configure(self) -> None: ...

    def get_observation(self) -> dict[str, Any]:
        return dict.fromkeys(NAMES, 0.0)

    def send_action(self, action: dict[str, Any]) -> dict[str, Any]:
        assert set(action) == set(NAMES)
        self.lines.append(str(action["ee.z"]))
        return action

    def disconnect(self) -> None:
        self.path.write_text("\n".join(self.lines), "utf-8")
