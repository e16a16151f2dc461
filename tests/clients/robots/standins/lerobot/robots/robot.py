"""Robot."""

from __future__ import annotations

from lerobot.robots.config import RobotConfig


class Robot:
    config_class: type[RobotConfig]
    name: str

    def __init__(self, config: RobotConfig) -> None:
        self.id = config.id
