"""Cython declarations of `openlink.h`: the fields that Cython code uses; C has their layout."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint16_t, uint64_t

cdef extern from "codecs/openlink.h" nogil:
    enum:
        OL_VERSION, OL_MAX_PAYLOAD, OL_MAX_WIRE, OL_EVERY_DEVICE, OL_MAX_DEVICES, OL_LATE_WINDOW, OL_WATCHDOG_MS
        OL_HEARTBEAT_MS, OL_COMMAND, OL_STATE, OL_HEARTBEAT, OL_RELEASE, OL_FORCE, OL_TORQUE
        OL_STATE_ATTACHED, OL_STATE_AWAKE, OL_STATE_CALIBRATED, OL_STATE_POWER, OL_STATE_HOMED

    ctypedef struct ol_command:
        uint8_t mode
        float value[3]

    ctypedef struct ol_state:
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

    ctypedef union ol_body:
        ol_command command
        ol_state state

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
    size_t ol_get_payload(const ol_message *message, uint8_t *out)
    size_t ol_set_payload(ol_message *message, const uint8_t *payload, size_t length)
    size_t ol_encode(const ol_message *message, uint8_t *out)
    int ol_decode(ol_decoder *decoder, const uint8_t **at, const uint8_t *end, ol_message *message)
