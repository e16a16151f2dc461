"""A Gymnasium environment over hapticd's simulated devices: `gymnasium.make("hapticd/Feel-v0")`."""

from __future__ import annotations

import gymnasium

from hapticd_gym.env import FeelEnv, Observation
from hapticd_gym.feel import Feel, floor, spring

__all__ = ["Feel", "FeelEnv", "Observation", "floor", "register", "spring"]


def register() -> None:
    """Make `hapticd/Feel-v0` known to Gymnasium, which calls this by itself."""
    if "hapticd/Feel-v0" not in gymnasium.registry:
        gymnasium.register(id="hapticd/Feel-v0", entry_point="hapticd_gym.env:FeelEnv")


register()
