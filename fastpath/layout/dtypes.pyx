"""numpy dtypes of the shared structs that Python reads or writes; names, types and offsets of the fields come from the C structs."""

import numpy as np

from fastpath.layout.arena cimport DeviceGaps, DeviceParams, DeviceState, LoopState, MechanismParams
from fastpath.layout.constants cimport KEPT_SAMPLES, KEPT_TRIPS
from fastpath.layout.force cimport OptionalLimits, OscillationParams, ThermalParams
from fastpath.layout.simulation cimport HandParams, PlantParams, SimulationParams
from fastpath.layout.trips cimport MotionSample, Trip

cdef HandParams hand_params
cdef PlantParams plant_params
cdef MechanismParams mechanism_params
cdef SimulationParams simulation_params
cdef ThermalParams thermal_params
cdef OscillationParams oscillation_params
cdef OptionalLimits optional_limits
cdef Trip trip
cdef MotionSample motion_sample
cdef DeviceParams device_params
cdef DeviceState device_state
cdef DeviceGaps device_gaps
cdef LoopState loop_state

# A typed memoryview describes the fields of its struct; numpy reads that description.
HAND_PARAMS = np.asarray(<HandParams[:1]>&hand_params).dtype
PLANT_PARAMS = np.asarray(<PlantParams[:1]>&plant_params).dtype
MECHANISM_PARAMS = np.asarray(<MechanismParams[:1]>&mechanism_params).dtype
SIMULATION_PARAMS = np.asarray(<SimulationParams[:1]>&simulation_params).dtype
THERMAL_PARAMS = np.asarray(<ThermalParams[:1]>&thermal_params).dtype
OSCILLATION_PARAMS = np.asarray(<OscillationParams[:1]>&oscillation_params).dtype
OPTIONAL_LIMITS = np.asarray(<OptionalLimits[:1]>&optional_limits).dtype
DEVICE_PARAMS = np.asarray(<DeviceParams[:1]>&device_params).dtype
DEVICE_STATE = np.asarray(<DeviceState[:1]>&device_state).dtype
DEVICE_GAPS = np.asarray(<DeviceGaps[:1]>&device_gaps).dtype
LOOP_STATE = np.asarray(<LoopState[:1]>&loop_state).dtype
# Cython describes no array of structs. `Reader.history` compares the size with that of the struct.
TRIP_HISTORY = np.dtype(
    [
        ("generation", np.uint64),
        ("samples", np.uint64),
        ("trips", np.uint64),
        ("trip", np.asarray(<Trip[:1]>&trip).dtype, (KEPT_TRIPS,)),
        ("sample", np.asarray(<MotionSample[:1]>&motion_sample).dtype, (KEPT_SAMPLES,)),
    ]
)
