"""Convert the settings of the oscillation filter to the loop's parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fastpath.arena.runtime import default_oscillation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from actors.settings.messages import SettingsView

SETTINGS: Final = "filters/oscillation/"
QUIET_SHARE: Final = 1 / 3


def oscillation_params(settings: SettingsView) -> NDArray[np.void]:
    """Return a 0-d array of dtype OSCILLATION_PARAMS; fields without a setting keep their tuned default."""
    params = default_oscillation()
    watts = settings.number(f"{SETTINGS}power") / 1000
    params["enabled"] = settings.flag(f"{SETTINGS}enabled")
    params["power_on"] = watts
    params["power_off"] = QUIET_SHARE * watts
    params["votes"] = settings.integer(f"{SETTINGS}votes")
    params["floor_gain"] = settings.number(f"{SETTINGS}floor_gain")
    params["window"] = settings.number(f"{SETTINGS}window")
    return params
