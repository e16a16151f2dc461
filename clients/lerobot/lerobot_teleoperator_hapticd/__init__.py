"""A LeRobot teleoperator over hapticd: `lerobot-teleoperate --teleop.type=hapticd …`."""

from lerobot_teleoperator_hapticd.config_hapticd import HapticdConfig
from lerobot_teleoperator_hapticd.hapticd import Hapticd

__all__ = ["Hapticd", "HapticdConfig"]
