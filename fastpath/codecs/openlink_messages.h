/* Messages of the open link protocol: types, enumerations, structs, and for each a function that encodes or decodes its fields in wire order.
 *
 * Written by `make build` from openlink_messages.py; do not edit. Included by openlink.h.
 */
#ifndef HAPTICD_OPENLINK_MESSAGES_H
#define HAPTICD_OPENLINK_MESSAGES_H

enum {
    OL_IDENTIFY = 0x01,
    OL_WAKE = 0x02,
    OL_COMMAND = 0x03,
    OL_CONFIGURE = 0x04,
    OL_CALIBRATE = 0x05,
    OL_LED = 0x06,
    OL_IDENTITY = 0x81,
    OL_SETTLE = 0x82,
    OL_STATE = 0x83,
    OL_CONFIGURATION = 0x84,
    OL_CALIBRATION = 0x85,
    OL_HEARTBEAT = 0xC1,
    OL_FAULT = 0xC2,
    OL_PRESENCE = 0xC3,
    OL_REFUSED = 0xC4,
};

enum {
    OL_KIND_ARM = 1,
    OL_KIND_COMPACT = 2,
    OL_KIND_GRIP = 3,
    OL_KIND_PEN = 4,
    OL_KIND_RECEIVER = 5,
};
enum {
    OL_CAPABILITY_FORCE = 0x1,
    OL_CAPABILITY_TORQUE = 0x2,
    OL_CAPABILITY_POSITION = 0x4,
    OL_CAPABILITY_JOINTS = 0x8,
    OL_CAPABILITY_CURSOR = 0x10,
    OL_CAPABILITY_ORIENTATION = 0x20,
    OL_CAPABILITY_HALL = 0x40,
    OL_CAPABILITY_BATTERY = 0x80,
    OL_CAPABILITY_TEMPERATURE = 0x100,
    OL_CAPABILITY_DAMPING = 0x200,
    OL_CAPABILITY_HOME_RETURN = 0x400,
    OL_CAPABILITY_HANDEDNESS = 0x800,
    OL_CAPABILITY_GRAVITY = 0x1000,
    OL_CAPABILITY_TORQUE_SCALING = 0x2000,
    OL_CAPABILITY_SAVE = 0x4000,
    OL_CAPABILITY_CALIBRATE = 0x8000,
    OL_CAPABILITY_LED = 0x10000,
};
enum {
    OL_RELEASE = 0,
    OL_FORCE = 1,
    OL_TORQUE = 2,
    OL_POSITION = 3,
};
enum {
    OL_ASLEEP = 0,
    OL_WAKING = 1,
    OL_SETTLING = 2,
    OL_READY = 3,
    OL_FAILED = 4,
};
enum {
    OL_STATE_ATTACHED = 0x1,
    OL_STATE_AWAKE = 0x2,
    OL_STATE_CALIBRATED = 0x4,
    OL_STATE_POWER = 0x8,
    OL_STATE_HOMED = 0x10,
    OL_STATE_SETTLED = 0x20,
    OL_STATE_DRIVEN = 0x40,
    OL_STATE_WATCHDOG = 0x80,
    OL_STATE_CHARGING = 0x100,
};
enum {
    OL_FAULT_OVERHEATED = 0x1,
    OL_FAULT_OVERCURRENT = 0x2,
    OL_FAULT_ENCODER = 0x4,
    OL_FAULT_MOTOR_DRIVER = 0x8,
    OL_FAULT_SUPPLY = 0x10,
    OL_FAULT_HALL = 0x20,
    OL_FAULT_STORAGE = 0x40,
    OL_FAULT_WATCHDOG = 0x80,
    OL_FAULT_RADIO = 0x100,
};
enum {
    OL_CONFIGURE_LEFT_HANDED = 0x1,
    OL_CONFIGURE_TORQUE_SCALING = 0x2,
    OL_CONFIGURE_GRAVITY_ENABLED = 0x4,
    OL_CONFIGURE_GRAVITY_SCALE = 0x8,
    OL_CONFIGURE_HOME_RETURN = 0x10,
    OL_CONFIGURE_DAMPING = 0x20,
    OL_CONFIGURE_SAVE = 0x8000,
};
enum {
    OL_RESULT_DONE = 0,
    OL_RESULT_UNSUPPORTED = 1,
    OL_RESULT_OUT_OF_RANGE = 2,
    OL_RESULT_BUSY = 3,
    OL_RESULT_STORAGE_FAILED = 4,
};
enum {
    OL_CALIBRATION_IDLE = 0,
    OL_CALIBRATION_RUNNING = 1,
    OL_CALIBRATION_DONE = 2,
    OL_CALIBRATION_FAILED = 3,
};
enum {
    OL_CALIBRATION_REASON_NONE = 0,
    OL_CALIBRATION_REASON_BLOCKED = 1,
    OL_CALIBRATION_REASON_OSCILLATING_HALL = 2,
    OL_CALIBRATION_REASON_PEN_NOT_CONNECTED = 3,
    OL_CALIBRATION_REASON_PEN_ASLEEP = 4,
    OL_CALIBRATION_REASON_PEN_LOST = 5,
};
enum {
    OL_LED_OFF = 0,
    OL_LED_STEADY = 1,
    OL_LED_BLINK = 2,
    OL_LED_BREATHE = 3,
};
enum {
    OL_REFUSED_VERSION = 1,
    OL_REFUSED_TYPE = 2,
    OL_REFUSED_DEVICE = 3,
    OL_REFUSED_ASLEEP = 4,
    OL_REFUSED_VALUE = 5,
};

typedef struct {
    uint16_t fields;
    uint8_t left_handed;
    uint8_t torque_scaling;
    uint8_t gravity_enabled;
    uint8_t home_return;
    uint8_t reserved[2];
    float gravity_scale;
    float damping[3];
} ol_configure; /* 24 bytes on the wire */
typedef struct {
    uint8_t nothing;
} ol_identify; /* 0 bytes on the wire */
typedef struct {
    uint8_t awake;
    uint8_t reserved;
    uint16_t rate_hz;
} ol_wake; /* 4 bytes on the wire */
typedef struct {
    uint8_t mode;
    uint8_t reserved[3];
    float value[3];
} ol_command; /* 16 bytes on the wire */
typedef struct {
    uint8_t start;
    uint8_t run;
} ol_calibrate; /* 2 bytes on the wire */
typedef struct {
    uint8_t mode;
    uint8_t red;
    uint8_t green;
    uint8_t blue;
} ol_led; /* 4 bytes on the wire */
typedef struct {
    uint8_t kind;
    uint8_t wireless;
    uint8_t firmware_major;
    uint8_t firmware_minor;
    uint8_t firmware_patch;
    uint8_t hardware;
    uint8_t mechanism;
    uint8_t slots;
    uint32_t capabilities;
    uint16_t rate_hz;
    uint16_t settle_ms;
    uint8_t device_id[8];
    uint8_t uuid[16];
    float shoulder[3];
    float link[2];
    float counts_per_turn;
    float torque_limit;
    float peak_force;
    float reach_low[3];
    float reach_high[3];
} ol_identity; /* 96 bytes on the wire */
typedef struct {
    uint8_t phase;
    uint8_t reserved;
    uint16_t remaining_ms;
    uint16_t watchdog_trips;
    uint16_t request;
} ol_settle; /* 8 bytes on the wire */
typedef struct {
    uint32_t clock_us;
    uint16_t command;
    uint16_t flags;
    uint16_t faults;
    uint16_t buttons;
    float joint[3];
    float position[3];
    float orientation[4];
    float hall;
    float battery_level;
    float battery_voltage;
    float temperature;
} ol_state; /* 68 bytes on the wire */
typedef struct {
    uint16_t request;
    uint8_t result;
    uint8_t reserved;
    ol_configure now;
} ol_configuration; /* 28 bytes on the wire */
typedef struct {
    uint16_t request;
    uint8_t progress;
    uint8_t reason;
} ol_calibration; /* 4 bytes on the wire */
typedef struct {
    uint32_t uptime_ms;
    float hall;
} ol_heartbeat; /* 8 bytes on the wire */
typedef struct {
    uint32_t clock_us;
    uint16_t faults;
    uint16_t changed;
} ol_fault; /* 8 bytes on the wire */
typedef struct {
    uint8_t present;
    uint8_t asleep;
} ol_presence; /* 2 bytes on the wire */
typedef struct {
    uint16_t request;
    uint8_t type;
    uint8_t reason;
    uint8_t newest_version;
    uint8_t reserved;
} ol_refused; /* 6 bytes on the wire */
typedef union {
    ol_identify identify;
    ol_wake wake;
    ol_command command;
    ol_configure configure;
    ol_calibrate calibrate;
    ol_led led;
    ol_identity identity;
    ol_settle settle;
    ol_state state;
    ol_configuration configuration;
    ol_calibration calibration;
    ol_heartbeat heartbeat;
    ol_fault fault;
    ol_presence presence;
    ol_refused refused;
} ol_body;

static inline void ol_walk_configure(ol_cursor *c, ol_configure *m) {
    ol_u16(c, &m->fields, 1);
    ol_u8(c, &m->left_handed, 1);
    ol_u8(c, &m->torque_scaling, 1);
    ol_u8(c, &m->gravity_enabled, 1);
    ol_u8(c, &m->home_return, 1);
    ol_u8(c, m->reserved, 2);
    ol_f32(c, &m->gravity_scale, 1);
    ol_f32(c, m->damping, 3);
}
static inline void ol_walk_identify(ol_cursor *c, ol_identify *m) {
    (void)c; (void)m;
}
static inline void ol_walk_wake(ol_cursor *c, ol_wake *m) {
    ol_u8(c, &m->awake, 1);
    ol_u8(c, &m->reserved, 1);
    ol_u16(c, &m->rate_hz, 1);
}
static inline void ol_walk_command(ol_cursor *c, ol_command *m) {
    ol_u8(c, &m->mode, 1);
    ol_u8(c, m->reserved, 3);
    ol_f32(c, m->value, 3);
}
static inline void ol_walk_calibrate(ol_cursor *c, ol_calibrate *m) {
    ol_u8(c, &m->start, 1);
    ol_u8(c, &m->run, 1);
}
static inline void ol_walk_led(ol_cursor *c, ol_led *m) {
    ol_u8(c, &m->mode, 1);
    ol_u8(c, &m->red, 1);
    ol_u8(c, &m->green, 1);
    ol_u8(c, &m->blue, 1);
}
static inline void ol_walk_identity(ol_cursor *c, ol_identity *m) {
    ol_u8(c, &m->kind, 1);
    ol_u8(c, &m->wireless, 1);
    ol_u8(c, &m->firmware_major, 1);
    ol_u8(c, &m->firmware_minor, 1);
    ol_u8(c, &m->firmware_patch, 1);
    ol_u8(c, &m->hardware, 1);
    ol_u8(c, &m->mechanism, 1);
    ol_u8(c, &m->slots, 1);
    ol_u32(c, &m->capabilities, 1);
    ol_u16(c, &m->rate_hz, 1);
    ol_u16(c, &m->settle_ms, 1);
    ol_u8(c, m->device_id, 8);
    ol_u8(c, m->uuid, 16);
    ol_f32(c, m->shoulder, 3);
    ol_f32(c, m->link, 2);
    ol_f32(c, &m->counts_per_turn, 1);
    ol_f32(c, &m->torque_limit, 1);
    ol_f32(c, &m->peak_force, 1);
    ol_f32(c, m->reach_low, 3);
    ol_f32(c, m->reach_high, 3);
}
static inline void ol_walk_settle(ol_cursor *c, ol_settle *m) {
    ol_u8(c, &m->phase, 1);
    ol_u8(c, &m->reserved, 1);
    ol_u16(c, &m->remaining_ms, 1);
    ol_u16(c, &m->watchdog_trips, 1);
    ol_u16(c, &m->request, 1);
}
static inline void ol_walk_state(ol_cursor *c, ol_state *m) {
    ol_u32(c, &m->clock_us, 1);
    ol_u16(c, &m->command, 1);
    ol_u16(c, &m->flags, 1);
    ol_u16(c, &m->faults, 1);
    ol_u16(c, &m->buttons, 1);
    ol_f32(c, m->joint, 3);
    ol_f32(c, m->position, 3);
    ol_f32(c, m->orientation, 4);
    ol_f32(c, &m->hall, 1);
    ol_f32(c, &m->battery_level, 1);
    ol_f32(c, &m->battery_voltage, 1);
    ol_f32(c, &m->temperature, 1);
}
static inline void ol_walk_configuration(ol_cursor *c, ol_configuration *m) {
    ol_u16(c, &m->request, 1);
    ol_u8(c, &m->result, 1);
    ol_u8(c, &m->reserved, 1);
    ol_walk_configure(c, &m->now);
}
static inline void ol_walk_calibration(ol_cursor *c, ol_calibration *m) {
    ol_u16(c, &m->request, 1);
    ol_u8(c, &m->progress, 1);
    ol_u8(c, &m->reason, 1);
}
static inline void ol_walk_heartbeat(ol_cursor *c, ol_heartbeat *m) {
    ol_u32(c, &m->uptime_ms, 1);
    ol_f32(c, &m->hall, 1);
}
static inline void ol_walk_fault(ol_cursor *c, ol_fault *m) {
    ol_u32(c, &m->clock_us, 1);
    ol_u16(c, &m->faults, 1);
    ol_u16(c, &m->changed, 1);
}
static inline void ol_walk_presence(ol_cursor *c, ol_presence *m) {
    ol_u8(c, &m->present, 1);
    ol_u8(c, &m->asleep, 1);
}
static inline void ol_walk_refused(ol_cursor *c, ol_refused *m) {
    ol_u16(c, &m->request, 1);
    ol_u8(c, &m->type, 1);
    ol_u8(c, &m->reason, 1);
    ol_u8(c, &m->newest_version, 1);
    ol_u8(c, &m->reserved, 1);
}
/* Encode or decode the body of a message of any type; 0 for an unknown type. */
static inline int ol_walk_body(ol_cursor *c, uint8_t type, ol_body *body) {
    switch (type) {
    case OL_IDENTIFY: ol_walk_identify(c, &body->identify); return 1;
    case OL_WAKE: ol_walk_wake(c, &body->wake); return 1;
    case OL_COMMAND: ol_walk_command(c, &body->command); return 1;
    case OL_CONFIGURE: ol_walk_configure(c, &body->configure); return 1;
    case OL_CALIBRATE: ol_walk_calibrate(c, &body->calibrate); return 1;
    case OL_LED: ol_walk_led(c, &body->led); return 1;
    case OL_IDENTITY: ol_walk_identity(c, &body->identity); return 1;
    case OL_SETTLE: ol_walk_settle(c, &body->settle); return 1;
    case OL_STATE: ol_walk_state(c, &body->state); return 1;
    case OL_CONFIGURATION: ol_walk_configuration(c, &body->configuration); return 1;
    case OL_CALIBRATION: ol_walk_calibration(c, &body->calibration); return 1;
    case OL_HEARTBEAT: ol_walk_heartbeat(c, &body->heartbeat); return 1;
    case OL_FAULT: ol_walk_fault(c, &body->fault); return 1;
    case OL_PRESENCE: ol_walk_presence(c, &body->presence); return 1;
    case OL_REFUSED: ol_walk_refused(c, &body->refused); return 1;
    default: return 0;
    }
}

#endif
