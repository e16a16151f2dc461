"""Every struct that the loop and the rest share, once; `dtypes.pyx` shows these layouts to Python as numpy dtypes.

Units: metres, newtons, newton-millimetres, degrees for joint angles, seconds; times in nanoseconds of CLOCK_MONOTONIC.
Vectors are three doubles; quaternions four, w x y z. Every struct is a multiple of 8 bytes.
"""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from fastpath.cells.cells cimport hd_triple
from fastpath.layout.constants cimport (
    COMMANDS, GAP_BUCKETS, KEPT_GAPS, LATENESS_BUCKETS, MAX_DEVICES, MAX_SESSIONS, SESSION_WORDS, STEPS,
)
from fastpath.layout.contact cimport Contact, Touch
from fastpath.layout.force cimport (
    EFFECTS, Chain, Effect, ForceChanges, MonitorMemory, OptionalLimits, OptionalMemory, OscillationParams, OscillationRate, Rendering,
    SetPoint, Thermal, ThermalParams,
)
from fastpath.layout.local cimport LocalCommands, LocalShared
from fastpath.layout.navigation cimport Navigated, Navigation, Navigator
from fastpath.layout.port cimport PortInner, PortOrder, PortSample
from fastpath.layout.scene cimport SCENES, SceneCell
from fastpath.layout.simulation cimport HandParams, PlantParams, SimDevice, SimulationParams
from fastpath.layout.trips cimport TripHistory, TripMemory
from fastpath.mechanisms.pose cimport Pose

# ---------------------------------------------------------------- spaces

cdef struct Basis:
    # signed permutation: application axis i takes sign[i] times device axis[i]
    int8_t axis[3]
    int8_t sign[3]
    int8_t determinant
    int8_t spare

cdef struct Transform:
    # p_parent = t + R(q) (s * p)
    double t[3]
    double q[4]
    double s[3]

cdef struct View:
    # application = workspace . mount . basis . clutch . device; the clutch is anchor + ratio (p - anchor), m, device frame
    Basis basis
    Transform mount
    Transform workspace
    double clutch
    double anchor[3]

# ---------------------------------------------------------------- one session on one device

cdef enum Act:
    # what a session does to a device beside its commands, as bits of `acts`
    ACT_DAMPING = 1
    ACT_NAVIGATION = 2
    ACT_EFFECTS = 4
    ACT_SCENE = 8

cdef struct Record:
    # fields that the loop reads in each tick come first, up to the force: 64 bytes
    uint32_t session_generation
    uint32_t device_generation
    int64_t command_ns
    uint32_t commands
    # Act bits: the loop looks at `damping`, `navigation`, `effects` and `scene` only for these
    uint32_t acts
    # 0 to 1: how much the force gate takes of this session's output while the filter is at work, and how much is let through
    double gate
    double duck
    # three numbers of each Command whose bit `commands` has, beside CONTACT_COMMAND: force N, device frame; position m, application space; N mm; degrees
    double set_points[COMMANDS][3]
    # N s/m along each device axis; acts while the session is open, commands or not
    double damping[3]
    # vibrations that go on until they are replaced, while the session is open
    Effect effects[EFFECTS]
    # in the device frame; while `commands` has CONTACT_COMMAND
    Contact contact
    Navigation navigation
    uint64_t revision
    uint64_t workspace_revision
    # number of the scene's cell, counted from 1; 0: none
    uint64_t scene
    View view

# ---------------------------------------------------------------- parameters

cdef struct MechanismParams:
    # serial arm: the shoulder and both links; five-bar: motor 1, proximal and distal link, and the way from motor to motor;
    # delta: its base, the rest of it is that of the Falcon; hinge: the centre of its axis and, as first link, its radius
    double shoulder[3]
    double link[2]
    double base
    double counts_per_turn
    uint64_t kind

cdef struct DeviceParams:
    # Capability bits
    uint32_t capabilities
    uint32_t flags
    uint32_t accepts_commands
    uint32_t torque_scaling
    uint64_t plant_revision
    uint64_t seed
    double peak_force
    double torque_limit
    double gravity_scale
    double force_scale
    uint32_t left_handed
    uint32_t home_return
    double home[3]
    MechanismParams mechanism
    PlantParams plant
    HandParams hand
    uint32_t buttons
    int32_t grip_slot
    double battery_start
    double battery_life
    # m of cursor that one encoder count is worth; depth of the safety-spring zones inside the reach
    double encoder_step
    double zone_low[3]
    double zone_high[3]
    # m/s, speed limit of held positions, 0 = none; s that a paired grip may be released, 0 = unlimited
    double safe_speed
    double grip_timeout
    # N/s, limit of the output's growth, and the lower one until a new source has caught up; 0 = none
    double slew
    double slow_slew
    ThermalParams thermal
    SimulationParams simulation
    # SOURCE_; s without a packet after which a device at a port is silent
    uint64_t source
    double silence
    OptionalLimits optional

cdef struct LoopParams:
    double frequency
    double command_timeout
    # s without a sign of life of its client after which a scene fades
    double scene_timeout
    # share of ticks that run, 0 to 1: below 1 to simulate a starved loop
    double duty
    uint64_t spin
    # changes with the filter's parameters
    uint64_t revision
    OscillationParams oscillation

# ---------------------------------------------------------------- what the loop shows

cdef struct DeviceState:
    uint64_t tick
    int64_t time_ns
    uint32_t generation
    uint32_t flags
    uint32_t domain
    uint32_t mode
    uint64_t live[SESSION_WORDS]
    double position[3]
    double velocity[3]
    double joint[3]
    double joint_velocity[3]
    double orientation[4]
    double force[3]
    double torque[3]
    double target[3]
    double target_joint[3]
    double hand_force[3]
    double hall
    double battery_level
    double battery_voltage
    # seconds without motion
    double still
    uint64_t buttons
    uint64_t clamped
    uint64_t saturated
    uint64_t faded
    # SAFETY_ bits that are latched, the filter's stage on the worst axis, and the severity for force gates, 0 to 1
    uint32_t safety
    uint32_t oscillation_stage
    double severity
    # N that the observer sees besides the motors; degrees Celsius and share of the torque limit of the hottest winding
    double external
    double temperature
    double derating
    # counts since the slot was leased
    uint64_t oscillations
    uint64_t ceilings
    uint64_t ebrakes
    uint64_t ebrake_releases
    uint64_t guards
    uint64_t stalls
    uint64_t deratings
    uint64_t grip_drops
    # of a device at a port: PORT_ bits, fault bits of its protocol, number of packets and of silences
    uint64_t port_bits
    uint64_t port_faults
    uint64_t samples
    uint64_t silences
    # counts of the optional monitors since the slot was leased
    uint64_t kinetic_trips
    uint64_t power_trips
    uint64_t contact_trips
    uint64_t stiffness_warnings
    uint64_t ebrake_waits
    uint64_t stop_brakes
    uint64_t enable_drops
    # number of the brake that waits for a request to resume, 0: none; number of trips in the trip log of this lease
    uint64_t waiting
    uint64_t trips
    # how late a force answers, which bounds what the loop may render by itself
    Rendering rendering

cdef struct DeviceGaps:
    # counts since the slot was leased; time of the device's newest tick, ns
    int64_t tick_ns
    # s with an output other than zero; s of these in which the motors did not get it
    double force_seconds
    double interrupted_seconds
    # number of gaps, sum and maximum of their lengths, s
    uint64_t gaps
    double gap_seconds
    double longest
    # gaps by length; length of gap number n (s) at n % KEPT_GAPS
    uint64_t buckets[GAP_BUCKETS]
    double lengths[KEPT_GAPS]
    # what else kept the commanded force from the motors
    ForceChanges changes

cdef struct LoopState:
    uint64_t ticks
    uint64_t missed
    int64_t started_ns
    int64_t tick_ns
    double frequency
    double target_frequency
    double margin
    uint64_t running
    uint64_t fifo
    uint64_t pinned
    uint64_t locked
    uint64_t dead_man_trips
    uint64_t gaps
    double lateness_sum
    double lateness_max
    uint64_t lateness[LATENESS_BUCKETS]
    uint64_t step_samples
    double step_seconds[STEPS]
    double tick_seconds

# ---------------------------------------------------------------- loop-private memory

cdef struct DevicePrivate:
    SimDevice sim
    DeviceState state
    # of the joint angles that were read last, rad
    Pose pose
    double posed[3]
    double position_ramp
    double angle_ramp
    double home_ease
    SetPoint position
    SetPoint angle
    # handedness of the last tick: joint angles are counted the other way round after a change
    uint64_t left_handed
    Chain chain
    MonitorMemory monitors
    OptionalMemory optional
    TripMemory tripped
    Thermal thermal
    PortInner port
    DeviceGaps gaps
    int64_t gaps_shown_ns

cdef struct DeviceSlot:
    uint64_t state
    uint64_t stop
    uint64_t generation
    uint64_t fresh[SESSION_WORDS]
    uint64_t live[SESSION_WORDS]
    uint64_t damped[SESSION_WORDS]
    uint64_t navigating[SESSION_WORDS]
    uint64_t playing[SESSION_WORDS]
    uint64_t scened[SESSION_WORDS]
    # sessions whose commands come from a page of shared memory
    uint64_t local[SESSION_WORDS]
    # of each session: the stamp of the command that fades, and its gain in the last tick
    int64_t fading_ns[MAX_SESSIONS]
    double fading_gain[MAX_SESSIONS]
    # of each session: present values of gate and duck on their ramps, and the generation that they belong to
    double gate[MAX_SESSIONS]
    double duck[MAX_SESSIONS]
    uint32_t ramped_for[MAX_SESSIONS]
    hd_triple params_cell
    DeviceParams params[3]
    uint64_t sequence
    DeviceState shown
    uint64_t gap_sequence
    DeviceGaps shown_gaps
    DevicePrivate inner
    # request to resume: generation of the lease in the upper half, number of the brake in the lower one
    uint64_t resume
    # written by the loop under the sequence; it outlives the lease until the slot's next one
    uint64_t trip_sequence
    TripHistory history
    # written by the thread of the device's port, and by the loop
    hd_triple sample_cell
    PortSample samples[3]
    hd_triple order_cell
    PortOrder orders[3]
    # written by who takes the orders to the device: how often that came more than OLDEST_ORDER_NS late
    uint64_t order_gaps

cdef struct SessionSlot:
    uint64_t state
    uint64_t generation
    # the newest sign of life of its client
    uint64_t heard_ns

cdef struct RecordCell:
    hd_triple cell
    Record buffers[3]
    # the loop's own, and what it shows of it under the sequence of the device's state
    Navigator navigator
    Navigated shown
    # the loop's own
    Touch touch
    LocalCommands local

cdef struct Arena:
    uint64_t bytes
    uint64_t session_count
    uint64_t session_words
    # words between the loop and the rest
    uint64_t halt
    uint64_t running
    uint64_t beat_ns
    uint64_t retiring_sessions[SESSION_WORDS]
    uint64_t virtual_clock
    uint64_t virtual_ns
    # how the loop thread is asked to run
    int64_t priority
    int64_t cpu
    # cells of the loop itself
    hd_triple params_cell
    LoopParams params[3]
    uint64_t sequence
    LoopState shown
    # loop-private
    LoopState state
    OscillationParams oscillation
    OscillationRate oscillation_rate
    uint64_t loop_revision
    double output_gain
    double dead_man_gain
    int64_t dead_man_back_ns
    double duty_due
    uint64_t measure
    uint64_t window_ticks
    int64_t window_ns
    SessionSlot sessions[MAX_SESSIONS]
    DeviceSlot devices[MAX_DEVICES]
    LocalShared local
    RecordCell *records
    # of each scene's cell: 1 while a Writer holds it
    uint64_t scene_owners[SCENES]
    SceneCell *scenes
