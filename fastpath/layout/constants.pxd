"""Constants of the shared structs: sizes, capabilities, flags, modes, tick steps, safety bits, port bits.

The only place with their numbers: `cpdef` ones are members of the Python module of the same name as well.
"""

cpdef enum:
    MAX_DEVICES = 16
    MAX_SESSIONS = 256
    SESSION_WORDS = 4
    LATENESS_BUCKETS = 24
    STEPS = 8
    COMMANDS = 4
    # ns: upper bound of the first bucket of the lateness histogram; each next one is twice as wide
    FIRST_LATENESS_NS = 250
    # a gap: no tick of a device for longer than this (ns) and for more than so many periods
    LEAST_GAP_NS = 2000000
    LEAST_GAP_PERIODS = 2
    GAP_BUCKETS = 10
    # ns: upper bound of the first bucket of the gap histogram; each next one is twice as wide
    FIRST_GAP_NS = 2500000
    # newest gaps whose length is kept
    KEPT_GAPS = 64
    # ms in which a stale command fades to zero
    FADE_MILLISECONDS = 20
    # N.s/m, damping of a session along an axis
    LARGEST_DAMPING = 20
    # newest trips of a device in the loop, and samples of its motion at SAMPLE_NS
    KEPT_TRIPS = 32
    KEPT_SAMPLES = 1024
    SAMPLE_NS = 1000000

cpdef enum Capability:
    # what a device has; its kind stays outside of the loop
    HAS_MOTORS = 1
    HAS_CURSOR = 2
    IS_HANDLE = 4

cpdef enum StateShape:
    # the text of a device's `state` in a frame; FIELDS: rows that Python gives
    SHAPE_CURSOR = 1
    SHAPE_HANDLE = 2
    SHAPE_FIELDS = 3

cdef enum SlotState:
    SLOT_FREE = 0
    SLOT_ACTIVE = 1
    SLOT_RETIRING = 2

cpdef enum Command:
    # index of a command's numbers in `set_points` of a record, and of its bit in `commands`
    COMMAND_FORCE = 0
    COMMAND_POSITION = 1
    COMMAND_TORQUE = 2
    COMMAND_ANGLE = 3

cpdef enum StatusFlag:
    # `status` of a device; the DeviceActor sets them in the parameters, the loop copies them to the state.
    FLAG_CALIBRATED = 1
    FLAG_POWER_SUPPLY = 2
    FLAG_READY = 4
    FLAG_STARTED = 8
    FLAG_CONNECTED = 16
    FLAG_AWAKE = 32
    FLAG_ATTACHED = 64
    # set by the loop alone; MEASURED: what the state shows of the device was read from it, in this lease
    FLAG_MEASURED = 128
    FLAG_STOPPED = 256

cpdef enum ControlDomain:
    DOMAIN_UNDEFINED = 0
    DOMAIN_CARTESIAN = 1
    DOMAIN_ANGULAR = 2

cpdef enum ControlMode:
    MODE_IDLE = 0
    MODE_FORCE = 1
    MODE_POSITION = 2

cpdef enum SafetyBit:
    SAFETY_EBRAKE = 1
    SAFETY_STALLED = 2
    SAFETY_GUARD = 4
    SAFETY_HARD = 8
    SAFETY_DROPPED = 16
    SAFETY_DERATED = 32
    # of the optional monitors
    SAFETY_WAITING = 64
    SAFETY_STIFF = 128
    SAFETY_DISABLED = 256

cpdef enum TripCause:
    # what a trip log names as the cause of a trip
    TRIP_ENABLE = 1
    TRIP_GRIP = 2
    TRIP_GUARD = 3
    TRIP_HARD = 4
    TRIP_STALL = 5
    TRIP_HEAT = 6
    TRIP_KINETIC = 7
    TRIP_POWER = 8
    TRIP_CONTACT = 9
    TRIP_RUNAWAY = 10
    TRIP_FAST = 11
    TRIP_OSCILLATION = 12
    TRIP_STIFFNESS = 13
    TRIP_STOP = 14

cpdef enum Mechanism:
    MECHANISM_SERIAL = 0
    MECHANISM_FIVE_BAR = 1
    MECHANISM_DELTA = 2
    # the device at a port reports its cursor; the loop computes no joints
    MECHANISM_CURSOR = 3
    MECHANISM_HINGE = 4

cpdef enum TickStep:
    STEP_READ = 0
    STEP_ARBITER = 1
    STEP_FILTER = 2
    STEP_MONITOR = 3
    STEP_CLAMP = 4
    STEP_TORQUE = 5
    STEP_OUTPUT = 6
    STEP_PUBLISH = 7

cpdef enum DeviceSource:
    SOURCE_SIMULATED = 0
    SOURCE_PORT = 1

cpdef enum PortBit:
    # what a device at a port reports of itself
    PORT_CALIBRATED = FLAG_CALIBRATED
    PORT_POWER = FLAG_POWER_SUPPLY
    PORT_AWAKE = FLAG_AWAKE
    PORT_ATTACHED = FLAG_ATTACHED
    PORT_HOMED = 512
    PORT_CALIBRATING = 1024

cpdef enum HandMotion:
    HAND_NONE = 0
    HAND_CIRCLE = 1
    HAND_REST = 2
    HAND_HOLD = 3

cpdef enum Zone:
    ZONE_DEAD = 0
    ZONE_VELOCITY = 1
    ZONE_WALL = 2
