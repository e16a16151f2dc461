/* Codec of the open link protocol, version 1 (docs/link-protocol.md): encode and decode every message and its frame.
 *
 * Portable C99, no I/O, no allocation, no state beyond what the caller owns: the port threads, the Python binding, the emulators
 * and a firmware compile the same lines. openlink_messages.h has the messages; it is generated from one table.
 */
#ifndef HAPTICD_OPENLINK_H
#define HAPTICD_OPENLINK_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    OL_VERSION = 1,
    OL_HEADER = 6,
    OL_CRC = 2,
    OL_MAX_PAYLOAD = 240,
    OL_MAX_RAW = OL_HEADER + OL_MAX_PAYLOAD + OL_CRC,
    /* a zero before, one COBS code, a zero after */
    OL_MAX_WIRE = OL_MAX_RAW + 3,
    OL_EVERY_DEVICE = 0xFF,
    OL_MAX_DEVICES = 8,
    /* a sequence behind the newest one by less than this is late or duplicated; further behind, the sender has restarted */
    OL_LATE_WINDOW = 64,
    OL_WATCHDOG_MS = 50,
    /* a STATE beyond these limits is damaged */
    OL_MOST_DEGREES = 36000,
    OL_MOST_METRES = 10,
    OL_HEARTBEAT_MS = 20,
};

/* ------------------------------------------------------------ numbers, little-endian on every machine */

typedef struct { uint8_t *at; int writing; } ol_cursor;

static inline void ol_u8(ol_cursor *c, uint8_t *v, int n) {
    for (; n > 0; n--, v++, c->at++) {
        if (c->writing) *c->at = *v; else *v = *c->at;
    }
}
static inline void ol_u16(ol_cursor *c, uint16_t *v, int n) {
    for (; n > 0; n--, v++, c->at += 2) {
        if (c->writing) { c->at[0] = (uint8_t)*v; c->at[1] = (uint8_t)(*v >> 8); }
        else *v = (uint16_t)(c->at[0] | c->at[1] << 8);
    }
}
static inline void ol_u32(ol_cursor *c, uint32_t *v, int n) {
    int i;
    for (; n > 0; n--, v++, c->at += 4) {
        if (c->writing) for (i = 0; i < 4; i++) c->at[i] = (uint8_t)(*v >> 8 * i);
        else for (*v = 0, i = 0; i < 4; i++) *v |= (uint32_t)c->at[i] << 8 * i;
    }
}
static inline void ol_f32(ol_cursor *c, float *v, int n) {
    uint32_t bits = 0;
    for (; n > 0; n--, v++) {
        if (c->writing) memcpy(&bits, v, 4);
        ol_u32(c, &bits, 1);
        if (!c->writing) memcpy(v, &bits, 4);
    }
}

#include "openlink_messages.h"

typedef struct {
    uint8_t version, type, device, spare;
    uint16_t sequence;
    ol_body body;
} ol_message;

/* Counters of rejected frames of one link: `bad` CRC, COBS or length, `foreign` version, `unknown` type, `invalid` value. */
typedef struct {
    uint32_t used, overflow;
    uint64_t frames, bad, foreign, unknown, invalid;
    uint8_t raw[OL_MAX_WIRE];
} ol_decoder;

/* Encode or decode the payload of a message of any type; 0 for an unknown type. */
static inline int ol_walk(ol_cursor *c, ol_message *m) { return ol_walk_body(c, m->type, &m->body); }

/* Encode the payload of a message into OL_MAX_PAYLOAD bytes; return its length, 0 for an unknown type. */
static inline size_t ol_get_payload(const ol_message *message, uint8_t *out) {
    ol_message m = *message;
    ol_cursor c = {out, 1};
    return ol_walk(&c, &m) ? (size_t)(c.at - out) : 0;
}

/* Decode a payload of at least the length that its type needs; return that length. */
static inline size_t ol_set_payload(ol_message *m, const uint8_t *payload, size_t length) {
    uint8_t bytes[OL_MAX_PAYLOAD] = {0};
    ol_cursor c = {bytes, 0};
    memcpy(bytes, payload, length < sizeof bytes ? length : sizeof bytes);
    return ol_walk(&c, m) ? (size_t)(c.at - bytes) : 0;
}

/* ------------------------------------------------------------ values */

static inline int ol_finite(const float *v, int n) {
    for (; n > 0; n--, v++) if (!isfinite(*v)) return 0;
    return 1;
}

static inline int ol_within(const float *v, int n, float most) {
    for (; n > 0; n--, v++) if (!(*v >= -most && *v <= most)) return 0;
    return 1;
}

static inline int ol_share(float v) { return v >= 0 && v <= 1; }

/* Return whether every number of a message is in its range; other messages are dropped. */
static inline int ol_valid(const ol_message *m) {
    const ol_state *s = &m->body.state;
    const ol_identity *d = &m->body.identity;
    float norm;
    switch (m->type) {
    case OL_COMMAND: return m->body.command.mode <= OL_POSITION && ol_finite(m->body.command.value, 3);
    case OL_CONFIGURE: return ol_finite(&m->body.configure.gravity_scale, 1) && ol_finite(m->body.configure.damping, 3);
    case OL_CONFIGURATION:
        return ol_finite(&m->body.configuration.now.gravity_scale, 1) && ol_finite(m->body.configuration.now.damping, 3);
    case OL_IDENTITY:
        return d->kind >= OL_KIND_ARM && d->kind <= OL_KIND_RECEIVER && d->slots <= OL_MAX_DEVICES && ol_finite(d->shoulder, 3)
            && ol_finite(d->link, 2) && ol_finite(&d->counts_per_turn, 1) && ol_finite(&d->torque_limit, 1)
            && ol_finite(&d->peak_force, 1) && ol_finite(d->reach_low, 3) && ol_finite(d->reach_high, 3);
    case OL_SETTLE: return m->body.settle.phase <= OL_FAILED;
    case OL_STATE:
        norm = s->orientation[0] * s->orientation[0] + s->orientation[1] * s->orientation[1]
            + s->orientation[2] * s->orientation[2] + s->orientation[3] * s->orientation[3];
        return ol_within(s->joint, 3, OL_MOST_DEGREES) && ol_within(s->position, 3, OL_MOST_METRES) && (norm == 0 || (norm > 0.99f && norm < 1.01f))
            && ol_share(s->hall) && ol_share(s->battery_level) && ol_finite(&s->battery_voltage, 1)
            && ol_finite(&s->temperature, 1);
    case OL_HEARTBEAT: return ol_share(m->body.heartbeat.hall);
    default: return 1;
    }
}

/* Return whether a sequence is newer than the newest accepted one. */
static inline int ol_newer(uint16_t newest, uint16_t sequence) { return (uint16_t)(newest - sequence) >= OL_LATE_WINDOW; }

/* ------------------------------------------------------------ frames */

/* CRC-16/IBM-3740 ("CCITT-FALSE"): polynomial 0x1021, start 0xFFFF; of "123456789": 0x29B1. */
static inline uint16_t ol_crc(const uint8_t *data, size_t length) {
    uint16_t crc = 0xFFFF;
    for (; length > 0; length--, data++) {
        uint8_t x = (uint8_t)((crc >> 8) ^ *data);
        x = (uint8_t)(x ^ (x >> 4));
        crc = (uint16_t)((crc << 8) ^ ((uint16_t)x << 12) ^ ((uint16_t)x << 5) ^ x);
    }
    return crc;
}

/* Encode at most 253 bytes by COBS between two zeros; return the total length. */
static inline size_t ol_wrap(const uint8_t *raw, size_t length, uint8_t *out) {
    uint8_t *code = out + 1;
    uint8_t *at = out + 2;
    size_t i;
    out[0] = 0;
    for (i = 0; i < length; i++) {
        if (raw[i] != 0) { *at++ = raw[i]; continue; }
        *code = (uint8_t)(at - code);
        code = at++;
    }
    *code = (uint8_t)(at - code);
    *at++ = 0;
    return (size_t)(at - out);
}

/* Decode COBS in place; return the length, 0 when the codes do not end with the bytes. */
static inline size_t ol_unwrap(uint8_t *bytes, size_t length) {
    size_t in = 0, out = 0;
    while (in < length) {
        size_t code = bytes[in++];
        size_t k;
        if (code == 0 || in + code - 1 > length) return 0;
        for (k = 1; k < code; k++) bytes[out++] = bytes[in++];
        if (in < length) bytes[out++] = 0;
    }
    return out;
}

/* Encode one message with its zeros; return the length, 0 for an unknown type. `out` has room for OL_MAX_WIRE bytes. */
static inline size_t ol_encode(const ol_message *message, uint8_t *out) {
    uint8_t raw[OL_MAX_RAW];
    ol_message m = *message;
    ol_cursor c = {raw + OL_HEADER, 1};
    size_t length;
    uint16_t crc;
    if (!ol_walk(&c, &m)) return 0;
    length = (size_t)(c.at - raw);
    raw[0] = m.version; raw[1] = m.type; raw[2] = m.device; raw[3] = (uint8_t)(length - OL_HEADER);
    raw[4] = (uint8_t)m.sequence; raw[5] = (uint8_t)(m.sequence >> 8);
    crc = ol_crc(raw, length);
    raw[length] = (uint8_t)crc; raw[length + 1] = (uint8_t)(crc >> 8);
    return ol_wrap(raw, length + OL_CRC, out);
}

/* Decode the bytes between two zeros; 1 for a message, else 0, counted. Bytes after a known payload are ignored. */
static inline int ol_open(ol_decoder *d, ol_message *m) {
    size_t length = ol_unwrap(d->raw, d->used);
    uint8_t *raw = d->raw;
    ol_cursor c = {raw + OL_HEADER, 0};
    if (length < OL_HEADER + OL_CRC || raw[3] != length - OL_HEADER - OL_CRC
        || ol_crc(raw, length - OL_CRC) != (uint16_t)(raw[length - 2] | raw[length - 1] << 8)) { d->bad++; return 0; }
    memset(m, 0, sizeof *m);
    m->version = raw[0]; m->type = raw[1]; m->device = raw[2]; m->sequence = (uint16_t)(raw[4] | raw[5] << 8);
    if (m->version != OL_VERSION) { d->foreign++; return 0; }
    memset(raw + length - OL_CRC, 0, OL_MAX_WIRE - length + OL_CRC);
    if (!ol_walk(&c, m)) { d->unknown++; return 0; }
    if ((size_t)(c.at - raw) > length - OL_CRC) { d->bad++; return 0; }
    if (!ol_valid(m)) { d->invalid++; return 0; }
    d->frames++;
    return 1;
}

/* Consume bytes up to the end of the next message: 1 with the message, or 0 when all bytes are consumed. */
static inline int ol_decode(ol_decoder *d, const uint8_t **at, const uint8_t *end, ol_message *m) {
    while (*at < end) {
        uint8_t byte = *(*at)++;
        int opened = 0;
        if (byte != 0) {
            if (d->used < OL_MAX_WIRE) d->raw[d->used++] = byte; else d->overflow = 1;
            continue;
        }
        if (d->overflow) d->bad++;
        else if (d->used > 0) opened = ol_open(d, m);
        d->used = 0;
        d->overflow = 0;
        if (opened) return 1;
    }
    return 0;
}

#endif
