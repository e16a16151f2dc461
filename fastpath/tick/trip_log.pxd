"""Trip log of one device: what tripped, when, and samples of the motion at 1 kHz from which the time before it is taken.

The loop writes it in every lease, whatever is switched on; nothing of it acts on the output.
"""

from libc.stdint cimport int64_t, uint64_t

from fastpath.cells.cells cimport hd_load, hd_seq_begin, hd_seq_end, hd_seq_put
from fastpath.layout.arena cimport DeviceParams, DevicePrivate, DeviceSlot, DeviceState
from fastpath.layout.constants cimport (
    KEPT_SAMPLES, KEPT_TRIPS, SAFETY_GUARD, SAFETY_HARD, SAMPLE_NS, TRIP_FAST, TRIP_GRIP, TRIP_GUARD, TRIP_HARD, TRIP_HEAT,
    TRIP_OSCILLATION, TRIP_RUNAWAY, TRIP_STALL,
)
from fastpath.layout.trips cimport MotionSample, Trip, TripMemory
from fastpath.tick.monitors cimport FAST, OBJECT, OBJECT_HARD, RUNAWAY, STALL_SECONDS, WARM, norm3


cdef inline void begin_trips(DeviceSlot *slot) noexcept nogil:
    """Empty the log of a slot's earlier lease."""
    cdef uint64_t empty[3]
    empty[0] = hd_load(&slot.generation)
    empty[1] = 0
    empty[2] = 0
    if slot.history.generation == empty[0]:
        return
    slot.inner.state.trips = 0
    hd_seq_begin(&slot.trip_sequence)
    # generation, samples and trips stand first in the history
    hd_seq_put(&slot.history, empty, sizeof(empty))
    hd_seq_end(&slot.trip_sequence)


cdef inline void note_trip(DeviceSlot *slot, int64_t now, uint64_t cause, double value, double limit) noexcept nogil:
    """Append a trip of a TripCause: the measured value and the limit that it passed, in the cause's unit."""
    cdef Trip trip
    cdef uint64_t count = slot.history.trips + 1
    trip.time_ns = now
    trip.cause = cause
    trip.value = value
    trip.limit = limit
    hd_seq_begin(&slot.trip_sequence)
    hd_seq_put(&slot.history.trip[(count - 1) % KEPT_TRIPS], &trip, sizeof(Trip))
    hd_seq_put(&slot.history.trips, &count, sizeof(count))
    hd_seq_end(&slot.trip_sequence)
    slot.inner.state.trips = count


cdef inline void take_sample(DeviceSlot *slot, int64_t now, double period) noexcept nogil:
    """Append a sample each SAMPLE_NS, in the tick that is nearest to its time; in each tick of a slower loop."""
    cdef TripMemory *memory = &slot.inner.tripped
    cdef DeviceState *s = &slot.inner.state
    cdef MotionSample sample
    cdef uint64_t count
    cdef int i
    if now + <int64_t>(0.5e9 * period) < memory.due_ns:
        return
    memory.due_ns += SAMPLE_NS
    if memory.due_ns <= now:
        memory.due_ns = now + SAMPLE_NS
    sample.time_ns = now
    sample.spare = 0
    for i in range(3):
        sample.position[i] = <float>s.position[i]
        sample.velocity[i] = <float>s.velocity[i]
        sample.force[i] = <float>s.force[i]
    count = slot.history.samples + 1
    hd_seq_begin(&slot.trip_sequence)
    hd_seq_put(&slot.history.sample[(count - 1) % KEPT_SAMPLES], &sample, sizeof(MotionSample))
    hd_seq_put(&slot.history.samples, &count, sizeof(count))
    hd_seq_end(&slot.trip_sequence)


cdef inline void note_speed_trip(DeviceSlot *slot, int64_t now) noexcept nogil:
    """Log the cause of an e-brake that no other monitor of this tick has engaged: the speed, alone or with power."""
    cdef double speed = norm3(slot.inner.state.velocity)
    if speed > RUNAWAY:
        note_trip(slot, now, TRIP_RUNAWAY, speed, RUNAWAY)
    else:
        note_trip(slot, now, TRIP_FAST, speed, FAST)


cdef inline void note_monitors(DeviceSlot *slot, const DeviceParams *p, int64_t now) noexcept nogil:
    """Log what the monitors that are always on have counted since the last call."""
    cdef DevicePrivate *d = &slot.inner
    cdef DeviceState *s = &d.state
    cdef TripMemory *memory = &d.tripped
    cdef bint hard = d.monitors.fod == SAFETY_HARD and memory.stage != SAFETY_HARD
    if s.grip_drops != memory.grip_drops:
        note_trip(slot, now, TRIP_GRIP, d.monitors.grip_away, p.grip_timeout)
    if hard:
        note_trip(slot, now, TRIP_HARD, s.external, OBJECT_HARD)
    elif d.monitors.fod == SAFETY_GUARD and memory.stage == 0:
        note_trip(slot, now, TRIP_GUARD, s.external, OBJECT)
    if s.ebrakes != memory.ebrakes and not hard and not d.optional.braked:
        note_speed_trip(slot, now)
    if s.stalls != memory.stalls:
        note_trip(slot, now, TRIP_STALL, STALL_SECONDS, STALL_SECONDS)
    if s.deratings != memory.deratings:
        note_trip(slot, now, TRIP_HEAT, s.temperature, WARM)
    if s.oscillations != memory.oscillations:
        note_trip(slot, now, TRIP_OSCILLATION, s.severity, 0)
    memory.grip_drops = s.grip_drops
    memory.stage = d.monitors.fod
    memory.ebrakes = s.ebrakes
    memory.stalls = s.stalls
    memory.deratings = s.deratings
    memory.oscillations = s.oscillations
