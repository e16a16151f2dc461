# numpy dtypes of the shared structs that Python reads or writes.

from typing import Final

import numpy as np

HAND_PARAMS: Final[np.dtype[np.void]]
PLANT_PARAMS: Final[np.dtype[np.void]]
MECHANISM_PARAMS: Final[np.dtype[np.void]]
SIMULATION_PARAMS: Final[np.dtype[np.void]]
THERMAL_PARAMS: Final[np.dtype[np.void]]
OSCILLATION_PARAMS: Final[np.dtype[np.void]]
OPTIONAL_LIMITS: Final[np.dtype[np.void]]
DEVICE_PARAMS: Final[np.dtype[np.void]]
DEVICE_STATE: Final[np.dtype[np.void]]
DEVICE_GAPS: Final[np.dtype[np.void]]
LOOP_STATE: Final[np.dtype[np.void]]
TRIP_HISTORY: Final[np.dtype[np.void]]
