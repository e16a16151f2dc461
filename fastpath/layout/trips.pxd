"""Structs of the trip log of one device: its newest trips, and samples of its motion from which the time before a trip is taken.

The loop writes a TripHistory under a sequence in the device's slot (`arena.pxd`); the timekeeper reads it when `trips` in the
device's state has grown. Every struct is a multiple of 8 bytes.
"""

from libc.stdint cimport int64_t, uint64_t

from fastpath.layout.constants cimport KEPT_SAMPLES, KEPT_TRIPS

cdef struct MotionSample:
    # end of the tick; m, m/s and N in the device frame: measured in this tick, put out in it
    int64_t time_ns
    float position[3]
    float velocity[3]
    float force[3]
    float spare

cdef struct Trip:
    # when; a TripCause; what was measured and the limit that it passed, in the cause's unit
    int64_t time_ns
    uint64_t cause
    double value
    double limit

cdef struct TripHistory:
    # generation of the lease that it belongs to
    uint64_t generation
    # samples and trips since then: number n is at n modulo what is kept
    uint64_t samples
    uint64_t trips
    Trip trip[KEPT_TRIPS]
    MotionSample sample[KEPT_SAMPLES]

cdef struct TripMemory:
    # loop-private: ns of the next sample; counters of the monitors at the last tick
    int64_t due_ns
    uint64_t ebrakes
    uint64_t stalls
    uint64_t stage
    uint64_t deratings
    uint64_t oscillations
    uint64_t grip_drops
