"""The open link protocol of `openlink.h`, declared for Cython: messages, their frames, and what a link counts."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "codecs/openlink.h" nogil:
    enum:
        OL_VERSION, OL_MAX_WIRE, OL_EVERY_DEVICE, OL_MAX_DEVICES, OL_LATE_WINDOW, OL_WATCHDOG_MS, OL_HEARTBEAT_MS
        OL_IDENTIFY, OL_WAKE, OL_COMMAND, OL_CONFIGURE, OL_CALIBRATE, OL_LED
        OL_IDENTITY, OL_SETTLE, OL_STATE, OL_CONFIGURATION, OL_CALIBRATION
        OL_HEARTBEAT, OL_FAULT, OL_PRESENCE, OL_REFUSED
        OL_RELEASE, OL_FORCE, OL_TORQUE, OL_POSITION
        OL_STATE_ATTACHED, OL_STATE_AWAKE, OL_STATE_CALIBRATED, OL_STATE_POWER, OL_STATE_HOMED, OL_STATE_SETTLED
        OL_STATE_DRIVEN, OL_STATE_WATCHDOG, OL_STATE_CHARGING

    ctypedef struct ol_wake:
        uint8_t awake
        uint16_t rate_hz

    ctypedef struct ol_command:
        # N in the device frame, N mm in joint order, or m
        uint8_t mode
        float value[3]

    ctypedef struct ol_configure:
        uint16_t mask
        uint8_t left_handed
        uint8_t torque_scaling
        uint8_t gravity_enabled
        uint8_t home_return
        float gravity_scale
        float damping[3]

    ctypedef struct ol_calibrate:
        uint8_t start
        uint8_t run

    ctypedef struct ol_led:
        uint8_t mode
        uint8_t red
        uint8_t green
        uint8_t blue

    ctypedef struct ol_identity:
        uint8_t kind
        uint8_t wireless
        uint8_t firmware_major
        uint8_t firmware_minor
        uint8_t firmware_patch
        uint8_t hardware
        uint8_t mechanism
        uint8_t slots
        uint32_t capabilities
        uint16_t rate_hz
        uint16_t settle_ms
        uint8_t id[8]
        uint8_t uuid[16]
        float shoulder[3]
        float link[2]
        float counts_per_turn
        float torque_limit
        float peak_force
        float reach_low[3]
        float reach_high[3]

    ctypedef struct ol_settle:
        uint8_t phase
        uint16_t remaining_ms
        uint16_t watchdog_trips
        uint16_t request

    ctypedef struct ol_state:
        uint32_t clock_us
        uint16_t command
        uint16_t flags
        uint16_t faults
        uint16_t buttons
        float joint[3]
        float position[3]
        float orientation[4]
        float hall
        float battery_level
        float battery_voltage
        float temperature

    ctypedef struct ol_configuration:
        uint16_t request
        uint8_t result
        ol_configure now

    ctypedef struct ol_calibration:
        uint16_t request
        uint8_t progress
        uint8_t reason

    ctypedef struct ol_heartbeat:
        uint32_t uptime_ms
        float hall

    ctypedef struct ol_fault:
        uint32_t clock_us
        uint16_t faults
        uint16_t changed

    ctypedef struct ol_presence:
        uint8_t present
        uint8_t asleep

    ctypedef struct ol_refused:
        uint16_t request
        uint8_t type
        uint8_t reason
        uint8_t newest_version

    ctypedef union ol_body:
        ol_wake wake
        ol_command command
        ol_configure configure
        ol_calibrate calibrate
        ol_led led
        ol_identity identity
        ol_settle settle
        ol_state state
        ol_configuration configuration
        ol_calibration calibration
        ol_heartbeat heartbeat
        ol_fault fault
        ol_presence presence
        ol_refused refused

    ctypedef struct ol_message:
        uint8_t version
        uint8_t type
        uint8_t device
        uint16_t sequence
        ol_body body

    ctypedef struct ol_decoder:
        uint64_t frames
        uint64_t bad
        uint64_t foreign
        uint64_t unknown
        uint64_t invalid

    uint16_t ol_crc(const uint8_t *data, size_t length)
    int ol_newer(uint16_t newest, uint16_t sequence)
    int ol_valid(const ol_message *message)
    size_t ol_encode(const ol_message *message, uint8_t *out)
    int ol_decode(ol_decoder *decoder, const uint8_t **at, const uint8_t *end, ol_message *message)
