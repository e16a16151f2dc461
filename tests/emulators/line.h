/* Emulated boards, the lower half: pseudo-terminals as ports, with simulated transmission errors. */
#ifndef EMULATORS_LINE_H
#define EMULATORS_LINE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "codecs/openlink.h"

enum { MAX_PORTS = 32, QUEUE = 64, CONTROLS = 29 };
static const int64_t MS = 1000000;

/* What a test may turn while the boards run; names as in `control_names`. */
typedef union {
    struct {
        /* of the port: parts in a million of bytes, or of frames */
        double flip, lose, twice, stray, drop, late, late_ms, hang;
        /* of the device */
        double cold, battery, attached, bounce_ms, bounce_off_ms, calibration, calibration_ms, firmware, settle_ms, buttons,
            faults, here, asleep, deaf, turned, refuse, ends_lost;
        /* bit j: the motor of joint j is dead, or turns the wrong way; its encoder stands still. Degrees that a hand moves all joints */
        double dead, reversed, stuck, sway;
    } of;
    double at[CONTROLS];
} controls;
static const char *const control_names[CONTROLS] = {
    "flip", "lose", "twice", "stray", "drop", "late", "late_ms", "hang", "cold", "battery", "attached", "bounce_ms",
    "bounce_off_ms", "calibration", "calibration_ms", "firmware", "settle_ms", "buttons", "faults", "here", "asleep", "deaf",
    "turned", "refuse", "ends_lost", "dead", "reversed", "stuck", "sway",
};

typedef struct {
    ol_identity identity;
    ol_configure configuration;
    int saves;
    controls controls;
    /* body: how far it says that it is turned about z, rad: as it was when it last calibrated */
    double joint[3], speed[3], motor[3], body;
    /* what the encoders say, rad; how far the hand is in its sway, s */
    double encoder[3], swayed;
    int phase, mode, tripped, said_asleep;
    uint16_t state_sequence, command_sequence, wake_request, calibrate_request, faults_said, trips;
    /* the newest calibration: which one, and how it ended */
    uint8_t run, progress, reason;
    int commanded;
    uint32_t rate_hz, wakes;
    int64_t settled_ns, state_ns, settle_said_ns, beat_ns, calibrated_ns, calibrating_ns, command_ns, driven_ns, zeroed_ns, woken_ns;
    /* which of the commands last put torque on motors that had none, and that torque, N mm */
    uint64_t commands, states, driven_command;
    double begun[3];
    /* CALIBRATE that began one; commands while it runs: those of zero, and those with a force behind one of zero */
    uint32_t calibrates, calm, pushed;
    int64_t gap_ns;
    ol_led led;
} device;

typedef struct { int64_t due; size_t length; uint8_t bytes[OL_MAX_WIRE]; } parcel;

typedef struct {
    int master, slave, receiver, count, loops;
    int64_t loop_ns, loop_gap_ns, presence_ns;
    char path[256];
    uint16_t talk, host_talk;
    int heard;
    uint8_t presence;
    ol_decoder decoder;
    uint64_t unsent;
    parcel queue[QUEUE];
    device devices[OL_MAX_DEVICES];
} port;

static port ports[MAX_PORTS];
static int port_count;
static uint64_t random_state = 88172645463325252u;

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint32_t any(uint32_t below) {
    random_state ^= random_state << 13; random_state ^= random_state >> 7; random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 20) % below);
}
static int falls(double millionths) { return millionths > 0 && any(1000000) < millionths; }

/* ------------------------------------------------------------ the line */

/* Bytes as a bad line carries them; `out` has room for twice as many. */
static size_t carry(const controls *k, const uint8_t *in, size_t length, uint8_t *out) {
    size_t n = 0, i;
    for (i = 0; i < length; i++) {
        if (falls(k->of.lose)) continue;
        if (falls(k->of.stray)) out[n++] = (uint8_t)any(256);
        else if (falls(k->of.twice)) out[n++] = in[i];
        out[n++] = falls(k->of.flip) ? (uint8_t)(in[i] ^ (1 + any(255))) : in[i];
    }
    return n;
}

static void post(port *p, ol_message *m) {
    const controls *k = &p->devices[0].controls;
    int64_t now = now_ns();
    int i;
    m->version = OL_VERSION;
    if (falls(k->of.drop)) return;
    for (i = 0; i < QUEUE; i++) {
        if (p->queue[i].length) continue;
        p->queue[i].due = falls(k->of.late) ? now + (int64_t)(k->of.late_ms * 1e6) : now;
        p->queue[i].length = ol_encode(m, p->queue[i].bytes);
        return;
    }
    p->unsent++;
}

static void talk(port *p, int index, ol_message *m) {
    m->device = (uint8_t)index;
    m->sequence = p->talk++;
    post(p, m);
}

static void flush(port *p, int64_t now) {
    uint8_t bytes[2 * OL_MAX_WIRE];
    int i;
    for (i = 0; i < QUEUE; i++) {
        parcel *q = &p->queue[i];
        size_t n;
        if (!q->length || q->due > now) continue;
        n = carry(&p->devices[0].controls, q->bytes, q->length, bytes);
        if (p->master >= 0 && n > 0 && write(p->master, bytes, n) != (ssize_t)n) p->unsent++;
        q->length = 0;
    }
}

static void plug(port *p) {
    struct termios raw;
    if (p->master >= 0) return;
    p->master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (p->master < 0 || grantpt(p->master) || unlockpt(p->master)) { perror("pseudo-terminal"); exit(1); }
    p->slave = open(ptsname(p->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    tcgetattr(p->slave, &raw);
    cfmakeraw(&raw);
    tcsetattr(p->slave, TCSANOW, &raw);
    unlink(p->path);
    if (symlink(ptsname(p->master), p->path)) { perror(p->path); exit(1); }
}

static void start_again(port *p) {
    int i;
    for (i = 0; i < p->count; i++) {
        device *d = &p->devices[i];
        d->phase = OL_ASLEEP;
        d->wakes = 0;
        d->tripped = d->commanded = 0;
        d->calibrating_ns = 0;
        d->run = d->progress = d->reason = 0;
        memset(d->motor, 0, sizeof d->motor);
    }
    p->heard = 0;
    p->talk = (uint16_t)any(65536);
    memset(&p->decoder, 0, sizeof p->decoder);
    memset(p->queue, 0, sizeof p->queue);
}

static void unplug(port *p) {
    if (p->master < 0) return;
    unlink(p->path);
    close(p->slave);
    close(p->master);
    p->master = p->slave = -1;
    start_again(p);
}

#endif
