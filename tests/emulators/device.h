/* Emulated boards, the upper half: how an arm, a compact, a grip, a pen and a receiver respond to messages. */
#ifndef EMULATORS_DEVICE_H
#define EMULATORS_DEVICE_H

#include "line.h"

/* ------------------------------------------------------------ the device */

static int moves(const device *d) { return d->identity.kind == OL_KIND_ARM || d->identity.kind == OL_KIND_COMPACT; }

static void forward(const device *d, float *position) {
    double a = d->encoder[1], ab = d->encoder[1] + d->encoder[2];
    double r = d->identity.link[0] * cos(a) + d->identity.link[1] * cos(ab);
    position[0] = (float)(d->identity.shoulder[0] + r * sin(d->encoder[0]));
    position[1] = (float)(d->identity.shoulder[1] - r * cos(d->encoder[0]));
    position[2] = (float)(d->identity.shoulder[2] + d->identity.link[0] * sin(a) + d->identity.link[1] * sin(ab));
}

/* Joints with a mass and oil, driven by the motors (N mm). */
static void move(device *d, double dt) {
    double inertia = 0.2 * d->identity.link[0] * d->identity.link[0];
    double before = sin(M_PI * d->swayed), after = sin(M_PI * (d->swayed + dt));
    int i, dead = (int)d->controls.of.dead, reversed = (int)d->controls.of.reversed, stuck = (int)d->controls.of.stuck;
    d->swayed += dt;
    for (i = 0; i < 3; i++) {
        double torque = dead >> i & 1 ? 0 : reversed >> i & 1 ? -d->motor[i] : d->motor[i];
        d->speed[i] += dt * (torque * 1e-3 / inertia - 20 * d->speed[i]);
        d->joint[i] += dt * d->speed[i] + d->controls.of.sway * M_PI / 180 * (after - before);
        if (!(stuck >> i & 1)) d->encoder[i] = d->joint[i];
    }
}

static void drive(device *d, const ol_command *c, int64_t now) {
    double before = fabs(d->motor[0]) + fabs(d->motor[1]) + fabs(d->motor[2]), after;
    int live = c->mode == OL_TORQUE && d->phase == OL_READY && !d->calibrating_ns && !d->tripped, i;
    for (i = 0; i < 3; i++) {
        double wanted = live ? c->value[i] : 0, limit = d->identity.torque_limit;
        d->motor[i] = wanted > limit ? limit : wanted < -limit ? -limit : wanted;
    }
    d->mode = live ? c->mode : OL_RELEASE;
    after = fabs(d->motor[0]) + fabs(d->motor[1]) + fabs(d->motor[2]);
    if (before == 0 && after > 0) {
        d->driven_ns = now;
        d->driven_command = d->commands;
        memcpy(d->begun, d->motor, sizeof d->begun);
    }
    if (before > 0 && after == 0) d->zeroed_ns = now;
}

static const ol_command released;

static void say_settle(port *p, int i, int64_t now) {
    device *d = &p->devices[i];
    ol_message m = {.type = OL_SETTLE};
    m.body.settle.phase = (uint8_t)d->phase;
    m.body.settle.remaining_ms = (uint16_t)(d->phase == OL_SETTLING ? (d->settled_ns - now) / MS : 0);
    m.body.settle.watchdog_trips = d->trips;
    m.body.settle.request = d->wake_request;
    d->settle_said_ns = now;
    talk(p, i, &m);
}

static void say_state(port *p, int i, int64_t now) {
    device *d = &p->devices[i];
    ol_message m = {.type = OL_STATE, .device = (uint8_t)i, .sequence = d->state_sequence++};
    ol_state *s = &m.body.state;
    int j;
    s->clock_us = (uint32_t)(now / 1000);
    s->command = d->command_sequence;
    s->flags = OL_STATE_AWAKE | OL_STATE_POWER | OL_STATE_HOMED | (d->phase == OL_READY ? OL_STATE_SETTLED : 0)
        | (d->controls.of.attached ? OL_STATE_ATTACHED : 0) | (d->calibrated_ns ? OL_STATE_CALIBRATED : 0)
        | (d->mode != OL_RELEASE ? OL_STATE_DRIVEN : 0) | (d->tripped ? OL_STATE_WATCHDOG : 0);
    s->faults = (uint16_t)((uint16_t)d->controls.of.faults | (d->tripped ? 0x80 : 0));
    s->buttons = (uint16_t)d->controls.of.buttons;
    for (j = 0; j < 3; j++) s->joint[j] = (float)(d->encoder[j] * 180 / M_PI);
    if (moves(d)) forward(d, s->position);
    s->orientation[0] = (float)cos(d->body / 2);
    s->orientation[3] = (float)sin(d->body / 2);
    s->hall = d->controls.of.attached ? 1 : 0;
    s->battery_level = (float)d->controls.of.battery;
    s->battery_voltage = (float)(3.3 + 0.9 * d->controls.of.battery);
    s->temperature = 25;
    d->states++;
    post(p, &m);
}

static void say_calibration(port *p, int i) {
    ol_message m = {.type = OL_CALIBRATION};
    m.body.calibration.request = p->devices[i].calibrate_request;
    m.body.calibration.progress = p->devices[i].progress;
    m.body.calibration.reason = p->devices[i].reason;
    talk(p, i, &m);
}

static void say_presence(port *p, int64_t now) {
    ol_message m = {.type = OL_PRESENCE};
    int i;
    for (i = 0; i < p->count; i++) {
        if (p->devices[i].controls.of.here) m.body.presence.present |= (uint8_t)(1 << i);
        if (p->devices[i].phase == OL_ASLEEP) m.body.presence.asleep |= (uint8_t)(1 << i);
    }
    p->presence = m.body.presence.present;
    p->presence_ns = now;
    talk(p, OL_EVERY_DEVICE, &m);
}

static void identify(port *p, int i) {
    ol_message m = {.type = OL_IDENTITY};
    m.body.identity = p->devices[i].identity;
    m.body.identity.firmware_major = (uint8_t)(p->devices[i].controls.of.firmware / 100);
    m.body.identity.firmware_minor = (uint8_t)((int)p->devices[i].controls.of.firmware % 100);
    m.body.identity.settle_ms = (uint16_t)p->devices[i].controls.of.settle_ms;
    talk(p, i, &m);
}

static void wake(port *p, int i, const ol_message *m, int64_t now) {
    device *d = &p->devices[i];
    d->wake_request = m->sequence;
    if (!m->body.wake.awake) {
        d->phase = OL_ASLEEP;
        drive(d, &released, now);
    } else if (d->wakes++ < d->controls.of.cold) {
        return;
    } else if (d->phase == OL_ASLEEP && !d->controls.of.asleep) {
        d->phase = OL_SETTLING;
        d->settled_ns = now + (int64_t)(d->controls.of.settle_ms * 1e6);
        d->woken_ns = d->command_ns = d->state_ns = d->beat_ns = now;
        d->rate_hz = m->body.wake.rate_hz < d->identity.rate_hz ? m->body.wake.rate_hz : d->identity.rate_hz;
        if (d->rate_hz == 0) d->rate_hz = 1;
        d->commanded = 0;
        d->gap_ns = 0;
    }
    say_settle(p, i, now);
}

static void configure(port *p, int i, const ol_message *m) {
    static const uint16_t has = 0x3F | 0x8000;
    device *d = &p->devices[i];
    const ol_configure *c = &m->body.configure;
    ol_message answer = {.type = OL_CONFIGURATION};
    answer.body.configuration.request = m->sequence;
    if (d->controls.of.refuse && c->fields) answer.body.configuration.result = (uint8_t)d->controls.of.refuse;
    else if (!moves(d) && c->fields) answer.body.configuration.result = 1;
    else if (c->fields & ~has || ((c->fields & 16) && d->controls.of.firmware < 704)
             || ((c->fields & 32) && d->controls.of.firmware < 705))
        answer.body.configuration.result = 1;
    else if ((c->fields & 8) && !(c->gravity_scale >= 0 && c->gravity_scale <= 1.5f)) answer.body.configuration.result = 2;
    else {
        if (c->fields & 1) d->configuration.left_handed = c->left_handed;
        if (c->fields & 2) d->configuration.torque_scaling = c->torque_scaling;
        if (c->fields & 4) d->configuration.gravity_enabled = c->gravity_enabled;
        if (c->fields & 8) d->configuration.gravity_scale = c->gravity_scale;
        if (c->fields & 16) d->configuration.home_return = c->home_return;
        if (c->fields & 32) memcpy(d->configuration.damping, c->damping, sizeof c->damping);
        if (c->fields & 0x8000) d->saves++;
    }
    answer.body.configuration.now = d->configuration;
    answer.body.configuration.now.fields = 0x3F;
    talk(p, i, &answer);
}

static void calibrate(port *p, int i, const ol_message *m, int64_t now) {
    device *d = &p->devices[i];
    d->calibrate_request = m->sequence;
    int known = m->body.calibrate.run && m->body.calibrate.run == d->run;
    if (m->body.calibrate.start) d->run = m->body.calibrate.run;
    if (m->body.calibrate.start && !d->calibrating_ns && !known) {
        d->calibrating_ns = now;
        d->progress = 1;
        d->reason = 0;
        d->calibrates++;
        d->calm = d->pushed = 0;
        drive(d, &released, now);
    } else if (!m->body.calibrate.start) {
        d->calibrating_ns = 0;
        d->progress = d->reason = 0;
    }
    say_calibration(p, i);
}

static void take_command(device *d, const ol_message *m, int64_t now) {
    if (m->body.command.mode != OL_RELEASE && d->commanded && !ol_newer(d->command_sequence, m->sequence)) return;
    if (now - d->command_ns > d->gap_ns) d->gap_ns = now - d->command_ns;
    d->command_sequence = m->sequence;
    d->commanded = 1;
    d->command_ns = now;
    d->tripped = 0;
    d->commands++;
    if (d->calibrating_ns) {
        if (m->body.command.mode == OL_RELEASE) d->calm++;
        else if (d->calm) d->pushed++;
    }
    drive(d, &m->body.command, now);
}

static void take(port *p, const ol_message *m, int64_t now) {
    ol_message refusal = {.type = OL_REFUSED};
    int i = m->device == OL_EVERY_DEVICE ? 0 : m->device;
    if (m->type != OL_COMMAND) {
        if (m->type != OL_IDENTIFY && p->heard && !ol_newer(p->host_talk, m->sequence)) return;
        p->heard = 1;
        p->host_talk = m->sequence;
    }
    if (m->type == OL_IDENTIFY && m->device == OL_EVERY_DEVICE && p->receiver) {
        ol_message answer = {.type = OL_IDENTITY};
        answer.body.identity.kind = OL_KIND_RECEIVER;
        answer.body.identity.firmware_major = 1;
        answer.body.identity.slots = (uint8_t)p->count;
        memcpy(answer.body.identity.device_id, "RECEIVER", 8);
        talk(p, OL_EVERY_DEVICE, &answer);
        say_presence(p, now);
        return;
    }
    if (i >= p->count || !p->devices[i].controls.of.here) {
        refusal.body.refused.request = m->sequence;
        refusal.body.refused.type = m->type;
        refusal.body.refused.reason = 3;
        refusal.body.refused.newest_version = OL_VERSION;
        if (m->type != OL_COMMAND && m->type != OL_LED) talk(p, m->device, &refusal);
        return;
    }
    if (p->devices[i].controls.of.deaf) return;
    switch (m->type) {
    case OL_IDENTIFY: p->devices[i].run = 0; identify(p, i); break;
    case OL_WAKE: wake(p, i, m, now); break;
    case OL_COMMAND: take_command(&p->devices[i], m, now); break;
    case OL_CONFIGURE: configure(p, i, m); break;
    case OL_LED: p->devices[i].led = m->body.led; break;
    case OL_CALIBRATE: calibrate(p, i, m, now); break;
    default: break;
    }
}

/* ------------------------------------------------------------ each millisecond */

static void beat(port *p, int i, int64_t now) {
    device *d = &p->devices[i];
    int64_t off = (int64_t)(d->controls.of.bounce_off_ms * 1e6), period = (int64_t)(d->controls.of.bounce_ms * 1e6);
    ol_message m = {.type = OL_HEARTBEAT};
    if (moves(d) || !d->controls.of.attached || now < d->beat_ns) return;
    d->beat_ns = now + OL_HEARTBEAT_MS * MS;
    if (period > 0 && now % period < off) return;
    m.body.heartbeat.uptime_ms = (uint32_t)(now / MS);
    m.body.heartbeat.hall = 1;
    talk(p, i, &m);
}

static void live(port *p, int i, int64_t now) {
    device *d = &p->devices[i];
    uint16_t faults;
    if (d->controls.of.asleep && d->phase != OL_ASLEEP) {
        d->phase = OL_ASLEEP;
        drive(d, &released, now);
        say_settle(p, i, now);
    } else if (!d->controls.of.asleep && d->said_asleep) {
        ol_message m = {.body.wake = {.awake = 1, .rate_hz = (uint16_t)d->rate_hz}, .sequence = d->wake_request};
        wake(p, i, &m, now);
    }
    d->said_asleep = d->controls.of.asleep != 0 && d->rate_hz > 0;
    if (moves(d) && d->phase != OL_ASLEEP) {
        move(d, 1e-3);
        if (now - d->command_ns > OL_WATCHDOG_MS * MS && !d->tripped) {
            d->tripped = 1;
            d->trips++;
            drive(d, &released, now);
        }
    }
    faults = (uint16_t)((uint16_t)d->controls.of.faults | (d->tripped ? 0x80 : 0));
    if (d->phase == OL_ASLEEP) return;
    if (faults != d->faults_said) {
        ol_message m = {.type = OL_FAULT};
        m.body.fault.clock_us = (uint32_t)(now / 1000);
        m.body.fault.faults = faults;
        m.body.fault.changed = faults ^ d->faults_said;
        d->faults_said = faults;
        talk(p, i, &m);
    }
    if (d->phase == OL_SETTLING && now >= d->settled_ns) { d->phase = OL_READY; say_settle(p, i, now); }
    if (d->phase == OL_SETTLING && now - d->settle_said_ns >= 100 * MS) say_settle(p, i, now);
    if (d->calibrating_ns && now - d->calibrating_ns >= (int64_t)(d->controls.of.calibration_ms * 1e6)) {
        int reason = (int)d->controls.of.calibration;
        d->calibrating_ns = 0;
        d->calibrated_ns = reason ? 0 : now;
        if (!reason && d->controls.of.firmware >= 705) d->body = d->controls.of.turned * M_PI / 180;
        d->progress = reason ? 3 : 2;
        d->reason = (uint8_t)reason;
        if (d->controls.of.ends_lost > 0) d->controls.of.ends_lost--;
        else say_calibration(p, i);
    }
    if (now >= d->state_ns) {
        d->state_ns += 1000000000 / d->rate_hz;
        if (now > d->state_ns + 20 * MS) d->state_ns = now;
        say_state(p, i, now);
    }
    beat(p, i, now);
}

static void listen_to(port *p, int64_t now) {
    uint8_t bytes[4096], carried[8192];
    const uint8_t *at = carried, *end;
    ol_message m;
    ssize_t n = p->master < 0 ? 0 : read(p->master, bytes, sizeof bytes);
    if (n <= 0 || p->devices[0].controls.of.hang) return;
    end = carried + carry(&p->devices[0].controls, bytes, (size_t)n, carried);
    while (ol_decode(&p->decoder, &at, end, &m)) take(p, &m, now);
    flush(p, now);
}

static void tick(port *p, int64_t now) {
    int i;
    if (p->loops > 0 && now >= p->loop_ns) {
        p->loop_ns = now + p->loop_gap_ns;
        if (p->master >= 0) unplug(p); else { plug(p); p->loops--; }
    }
    if (p->master < 0 || p->devices[0].controls.of.hang) return;
    if (p->receiver && p->heard) {
        uint8_t here = 0;
        for (i = 0; i < p->count; i++) here |= (uint8_t)(p->devices[i].controls.of.here ? 1 << i : 0);
        if (here != p->presence || now - p->presence_ns >= 500 * MS) say_presence(p, now);
    }
    for (i = 0; i < p->count; i++) if (p->devices[i].controls.of.here) live(p, i, now);
    flush(p, now);
}

#endif
