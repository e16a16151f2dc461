"""Structs of a simulated device and the hand that holds it: parameters and loop-private memory."""

from libc.stdint cimport int64_t, uint64_t

from fastpath.layout.force cimport Share

cdef struct HandParams:
    double mass
    double grip_stiffness
    double grip_damping
    double arm_stiffness
    double arm_damping
    double centre[3]
    double radius
    double period
    int64_t path

cdef struct PlantParams:
    double mass
    double viscous
    double coulomb
    double gravity_mass
    double stop_stiffness
    double stop_damping
    double low[3]
    double high[3]

cdef struct SimulationParams:
    # N that push the plant; m/s added to its speed once for each push_revision
    double external[3]
    double push[3]
    # N/m that hold the plant at its position of the moment when this became more than 0
    double lock_stiffness
    # unit quaternion; all zero: as the hand holds it
    double orientation[4]
    uint64_t push_revision
    # a new revision restarts the battery at battery_start
    uint64_t battery_revision
    # 1: the device sends no new data
    uint64_t frozen

cdef struct PlantState:
    double x[3]
    double v[3]
    double hand_x[3]
    double hand_v[3]
    double hand_force[3]
    double lock_x[3]
    double lock_stiffness

cdef struct SimDevice:
    PlantState plant
    double phase_time
    double measured[3]
    double filtered_velocity[3]
    Share velocity_share
    double force[3]
    double orientation[4]
    double noise_wait
    uint64_t random
    uint64_t plant_revision
    double hold[3]
    uint64_t started
    uint64_t push_revision
    uint64_t battery_revision
    double battery_since
    double rest[4]
    double rest_age
    uint64_t frozen
    uint64_t buttons
