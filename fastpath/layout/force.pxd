"""Structs of the force path: parameters and loop-private memory of filter, set-points, monitors and motors.

Units as in `arena.pxd`, which puts them together; every struct is a multiple of 8 bytes.
"""

from libc.stdint cimport int64_t, uint64_t

cdef enum:
    # stage of an oscillation filter that is not at work
    OSCILLATION_FREE = 8
    # vibrations that one session plays on one device at once
    EFFECTS = 2

# ---------------------------------------------------------------- oscillation filter

cdef struct OscillationParams:
    # W to vote for oscillation, and W below which a half-cycle is quiet; the tremor band needs more
    double power_on
    double power_off
    double tremor_factor
    # s: half-cycles that are tremor, the shortest and longest that count, and silence that forgets
    double tremor_period
    double shortest
    double longest
    double forget
    # N at which the filtered force changes sign
    double crossing
    # share of the peaks two half-cycles ago
    double sustained
    int64_t votes
    int64_t relapse_votes
    double floor_gain
    # s: time constants of the gain, quiet window of stage 0 and what each stage adds
    double attack
    double release
    double window
    double window_step
    # N.s/m that an axis is damped with while it is not free, at most
    double damping
    # s: time constant with which that ends in a contact that is free again
    double guard
    # s after the filter came free in which a return lowers the ceiling; N and s without which a contact has ended
    double relapse_window
    double contact
    double contact_end
    uint64_t enabled

cdef enum:
    # what changes the commanded force
    BY_FILTER = 0
    BY_DAMPER = 1
    BY_MONITORS = 2
    CHANGERS = 3

cdef struct ForceChanges:
    # N.s that each takes from the commanded force, and that it adds to it
    double taken[CHANGERS]
    double added[CHANGERS]

cdef struct OscillationRate:
    # what follows from the parameters at one loop rate
    double dt
    double low
    double b
    double a1
    double a2
    double attack
    double release
    double gain[9]

cdef struct OscillationAxis:
    double force_low
    double speed_low
    double force_in[2]
    double force_out[2]
    double speed_in[2]
    double speed_out[2]
    double since
    double force_peak
    double speed_peak
    double force_before
    double speed_before
    double low
    double high
    double low_before
    double high_before
    double peaks[4]
    double quiet
    double since_free
    double released
    double gain
    # N.s/m, and its share of the largest one
    double damping
    double guard
    # what this contact is: 0: it was never found, 1: once, on trial, 2: sure, or again
    uint64_t found
    # W of the last half-cycle
    double power
    int64_t sign
    int64_t votes
    int64_t stage
    int64_t ceiling
    uint64_t entries
    uint64_t ceilings

# ---------------------------------------------------------------- motion of the last half second

cdef enum:
    MOMENTS = 40
    # blocks of 10 ms, and samples of 1 ms for the autocorrelation of velocity
    MOTION_BLOCKS = 48
    MOTION_LAGS = 32

cdef struct MotionBlock:
    double moment[MOMENTS]

cdef struct MotionWindow:
    # sums over the last blocks, the newest one at `head`; the sample and the block that are being taken
    MotionBlock block[MOTION_BLOCKS]
    MotionBlock open
    double origin[3]
    # low-passed force and position; force that the motors hold, and position before
    double force[3]
    double position[3]
    double held[3]
    double before[3]
    # sums over the open sample, s of it, work in it (J)
    double sample_force[3]
    double sample_speed[3]
    double sample_position[3]
    double sample_time
    double sample_work
    double last_speed[MOTION_LAGS][3]
    double turn[3]
    int64_t newest
    int64_t head
    int64_t filled
    int64_t begun

cdef struct OscillationJudge:
    # logarithm of the odds of an oscillation, smoothed and as it is; share of each axis in the motion of 120 ms; in this tick it was
    # found, or what is damped persists
    double score
    double latest
    double share[3]
    uint64_t found
    uint64_t persists

# ---------------------------------------------------------------- motors, monitors, set-points

cdef struct ThermalParams:
    # K of the winding over the housing at the torque limit, and share of that which the housing has over the room
    double rise
    double ratio
    # s
    double winding
    double housing
    # degrees Celsius
    double ambient

cdef struct SetPoint:
    # linear interpolation between two commanded set-points, over the interval between their messages
    double origin[3]
    double target[3]
    double now[3]
    int64_t command_ns
    int64_t begun_ns
    int64_t span_ns
    uint64_t held
    # on its way back to the line after an interruption, and how fast
    uint64_t returns
    double speed
    # an interruption, which the next set-point answers: when (0: none), and for how long there was no force, s
    int64_t interrupted_ns
    double silent

cdef struct Share:
    # share of the new sample in a low-pass, for ticks of dt seconds
    double dt
    double value

cdef struct MonitorMemory:
    # s over the lower speed threshold with power from the motors
    double fast
    # s below the safe speed since the e-brake engaged; share of what is wanted that comes back after it
    double slow
    double return_gain
    # m/s, low-passed for the stall monitor
    double still_speed
    Share still_share
    # s of a stall so far
    double stalled
    # N, momentum observer of foreign objects; m/s of the last tick
    double observer[3]
    double last_velocity[3]
    # s that the observer still ignores an axis whose stop has pushed
    double at_stop[3]
    # s over the hard threshold of a foreign object, and below the threshold of the present stage
    double hard
    double calm
    # s that the grip is not held, and that it is held again
    double grip_away
    double grip_back
    # factors of the output, 0 to 1: grip dropped, foreign object
    double grip_gain
    double fod_gain
    uint64_t ebrake
    uint64_t fod
    uint64_t dropped
    uint64_t begun
    # a condition of the e-brake held in the last tick
    uint64_t tripped

cdef struct OptionalLimits:
    # limits of the optional monitors, 0: off. J of the moving mass; W that the motors put out; J that they put out in one contact
    double kinetic_energy
    double power
    double contact_energy
    # 1: on
    uint64_t stiffness_warning
    uint64_t brake_latch
    uint64_t stop_brake
    # bits of `buttons` of which one has to be held; 0: none
    uint64_t enable_button

cdef struct OptionalMemory:
    # ns of the last tick with monitors, s since then; joints (degrees) and cursor (m) in it, 0 in `measured`: unknown
    int64_t time_ns
    double since
    double joint[3]
    double position[3]
    uint64_t measured
    # what shifts coordinates when it changes: homing, handedness
    uint64_t coordinates
    # W that the motors put out, low-passed; whether it, or the kinetic energy, is over its limit
    double power
    Share power_share
    uint64_t over_power
    uint64_t over_kinetic
    # J that the motors put out since the contact began; N commanded in the last tick; s below the contact threshold
    double contact_energy
    double commanded
    double released
    # rendered stiffness: means of position (m) and of the clients' force (N), variances and covariance of both
    double mean_position[3]
    double mean_force[3]
    double covariance
    double variance
    double force_variance
    # s: mean ages of the oldest command and of the sample, time since the last sample that counted, time of too much stiffness
    double command_age
    double sample_age
    double unseen
    double stiff
    # s until the next warning may come
    double warned
    Share stiffness_share
    uint64_t sample
    uint64_t fitting
    # number of the brake that waits for a request, 0: none; number of brakes with a latch in this lease
    uint64_t waiting
    uint64_t brakes
    # the request for the present brake has come; the e-brake's condition held in the last tick
    uint64_t asked
    uint64_t tripped
    # an optional monitor has engaged the e-brake in this tick
    uint64_t braked
    # s that a stop may still brake, and whether it does
    double stop_left
    uint64_t stopping
    # factor of the output, 0 to 1, and whether the enabling button is held
    double enable_gain
    uint64_t enabled
    uint64_t begun

cdef struct Rendering:
    # s: how late a force answers to the position and to the velocity, the largest of the last time
    double position_lag
    double velocity_lag

cdef struct Thermal:
    double winding[3]
    double housing[3]
    double felt[3]
    uint64_t begun

cdef struct Effect:
    # N at its peak along each device axis, and Hz: none while 0
    double force[3]
    double frequency
    int64_t begun_ns
    # peaks of force (N), and of speed (m/s) and excursion (m) of a free mass of 1 kg
    double size
    double speed
    double way

cdef struct Chain:
    OscillationAxis axis[3]
    MotionWindow motion
    OscillationJudge judge
    double slewed[3]
    double slewed_torque[3]
    uint64_t catching_up
    uint64_t mode
    uint64_t obeyed
    # no force reached the motors since the last tick: the filter and the observer of foreign objects take new samples
    uint64_t interrupted
    # s since then
    double since_interrupted
