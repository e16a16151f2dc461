/* Boards that speak the open link protocol, each at a pseudo-terminal of its own, all in one process at 1 kHz.
 *
 *   boards DIRECTORY BOARD...      BOARD: arm:ID, compact:ID, grip:ID, pen:ID, or receiver:ID,ID,... (wireless grips)
 *
 * Port i is the symbolic link DIRECTORY/i; it points to the terminal while the board is plugged in. Standard input takes
 * one line for each command and standard output gives one line for each: see `obey`. Times are CLOCK_MONOTONIC in ns.
 */
#define _GNU_SOURCE
#include "device.h"

/* Ticks that a busy machine owes are made up for, but no more of them than these. */
enum { MOST_AT_ONCE = 20 };

/* ------------------------------------------------------------ commands */

static void show(const port *p, const device *d) {
    printf("{\"phase\": %d, \"mode\": %d, \"motor\": [%.9g, %.9g, %.9g], \"joint\": [%.9g, %.9g, %.9g], \"trips\": %u, "
           "\"tripped\": %d, \"commands\": %llu, \"states\": %llu, \"command_ns\": %lld, \"driven_ns\": %lld, \"zeroed_ns\": %lld, "
           "\"woken_ns\": %lld, \"gap_ns\": %lld, \"wakes\": %u, \"bad\": %llu, \"frames\": %llu, \"unsent\": %llu, \"left_handed\": %d, "
           "\"torque_scaling\": %d, \"gravity_enabled\": %d, \"gravity_scale\": %.9g, \"home_return\": %d, \"saved\": %d, "
           "\"damping\": [%.9g, %.9g, %.9g], \"led\": [%d, %d, %d, %d], \"rate_hz\": %u, \"calibrates\": %u, \"calibrating\": %d, "
           "\"calibrated_ns\": %lld, \"calm\": %u, \"pushed\": %u, \"driven_command\": %llu, \"begun\": [%.9g, %.9g, %.9g]}\n",
           d->phase, d->mode, d->motor[0], d->motor[1], d->motor[2], d->joint[0], d->joint[1], d->joint[2], d->trips, d->tripped,
           (unsigned long long)d->commands, (unsigned long long)d->states, (long long)d->command_ns, (long long)d->driven_ns,
           (long long)d->zeroed_ns, (long long)d->woken_ns, (long long)d->gap_ns, d->wakes, (unsigned long long)p->decoder.bad,
           (unsigned long long)p->decoder.frames, (unsigned long long)p->unsent, d->configuration.left_handed,
           d->configuration.torque_scaling, d->configuration.gravity_enabled, (double)d->configuration.gravity_scale,
           d->configuration.home_return, d->saves, (double)d->configuration.damping[0],
           (double)d->configuration.damping[1], (double)d->configuration.damping[2], d->led.mode, d->led.red, d->led.green,
           d->led.blue, d->rate_hz, d->calibrates, d->calibrating_ns != 0, (long long)d->calibrated_ns, d->calm, d->pushed,
           (unsigned long long)d->driven_command, d->begun[0], d->begun[1], d->begun[2]);
}

/* "get P D", "set P D CONTROL NUMBER", "reboot P", "unplug P", "plug P", "loop P TIMES GAP_MS": one line in answer. */
static void obey(const char *line) {
    char verb[16] = "", name[32] = "";
    int at = 0, index = 0, k;
    double value = 0;
    port *p;
    if (sscanf(line, "%15s %d", verb, &at) < 2 || at < 0 || at >= port_count) {
        puts("no such command, or no such port");
        return;
    }
    p = &ports[at];
    if (sscanf(line, "%*s %*d %d %31s %lf", &index, name, &value) >= 1 && (index < 0 || index >= p->count)
        && strcmp(verb, "loop") != 0) { puts("no such device"); return; }
    if (!strcmp(verb, "get")) { show(p, &p->devices[index]); return; }
    if (!strcmp(verb, "set")) {
        for (k = 0; k < CONTROLS && strcmp(name, control_names[k]); k++) {}
        if (k == CONTROLS) { puts("no such control"); return; }
        p->devices[index].controls.at[k] = value;
    } else if (!strcmp(verb, "reboot")) start_again(p);
    else if (!strcmp(verb, "unplug")) unplug(p);
    else if (!strcmp(verb, "plug")) plug(p);
    else if (!strcmp(verb, "loop")) {
        if (sscanf(line, "%*s %*d %d %lf", &p->loops, &value) != 2) { puts("loop needs times and ms"); return; }
        p->loop_gap_ns = (int64_t)(value * 1e6);
        p->loop_ns = 0;
    } else { puts("no such command"); return; }
    puts("done");
}

static void be_born(device *d, int kind, const char *id, int wireless) {
    static const float low[3] = {-0.230f, -0.285f, -0.120f}, high[3] = {0.230f, -0.005f, 0.390f};
    static const float small_low[3] = {-0.090f, -0.185f, 0}, small_high[3] = {0.070f, -0.025f, 0.160f};
    ol_identity *i = &d->identity;
    size_t k;
    i->kind = (uint8_t)kind;
    i->wireless = (uint8_t)wireless;
    i->hardware = 1;
    i->rate_hz = moves(d) ? 1000 : 50;
    memcpy(i->device_id, id, strnlen(id, 8));
    for (k = 0; k < 16; k++) i->uuid[k] = (uint8_t)(id[k % strlen(id)] + (int)k);
    d->controls.of.here = d->controls.of.battery = d->controls.of.attached = 1;
    d->controls.of.calibration_ms = 200;
    d->controls.of.firmware = moves(d) ? 705 : 104;
    d->controls.of.settle_ms = moves(d) ? 300 : 0;
    d->calibrated_ns = 1;
    d->zeroed_ns = 1;
    d->configuration.torque_scaling = d->configuration.gravity_enabled = 1;
    d->configuration.gravity_scale = 1;
    i->capabilities = 0x10020 | (moves(d) ? 0xFF0A : 0x40 | 0x8000) | (wireless ? 0x80 : 0);
    if (!moves(d)) return;
    i->mechanism = 1;
    i->shoulder[1] = kind == OL_KIND_ARM ? 0.08f : 0.03f;
    i->shoulder[2] = kind == OL_KIND_ARM ? 0.135f : 0.08f;
    i->link[0] = i->link[1] = kind == OL_KIND_ARM ? 0.26f : 0.13f;
    i->counts_per_turn = 262144;
    i->torque_limit = kind == OL_KIND_ARM ? 6000 : 1200;
    i->peak_force = kind == OL_KIND_ARM ? 10 : 4;
    memcpy(i->reach_low, kind == OL_KIND_ARM ? low : small_low, sizeof low);
    memcpy(i->reach_high, kind == OL_KIND_ARM ? high : small_high, sizeof high);
    d->joint[1] = kind == OL_KIND_ARM ? 1.176 : 1.284;
    d->joint[2] = kind == OL_KIND_ARM ? -2.352 : -2.224;
    memcpy(d->encoder, d->joint, sizeof d->encoder);
}

static int settle_in(const char *directory, const char *board) {
    static const char *const kinds[] = {"", "arm", "compact", "grip", "pen", "receiver"};
    port *p = &ports[port_count];
    char text[256], *id, *rest = NULL;
    int kind;
    snprintf(text, sizeof text, "%s", board);
    id = strchr(text, ':');
    if (!id) return 0;
    *id++ = 0;
    for (kind = 1; kind <= 5 && strcmp(text, kinds[kind]); kind++) {}
    if (kind > 5 || port_count == MAX_PORTS) return 0;
    p->receiver = kind == OL_KIND_RECEIVER;
    for (id = strtok_r(id, ",", &rest); id && p->count < OL_MAX_DEVICES; id = strtok_r(NULL, ",", &rest))
        be_born(&p->devices[p->count++], p->receiver ? OL_KIND_GRIP : kind, id, p->receiver);
    if (p->count == 0 || (p->count > 1 && !p->receiver)) return 0;
    p->master = p->slave = -1;
    snprintf(p->path, sizeof p->path, "%s/%d", directory, port_count++);
    start_again(p);
    plug(p);
    return 1;
}

int main(int count, char **words) {
    struct pollfd waits[MAX_PORTS + 2];
    struct itimerspec each = {{0, 1000000}, {0, 1000000}};
    char line[256];
    size_t used = 0;
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), i;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (i = 2; i < count; i++)
        if (!settle_in(words[1], words[i])) { fprintf(stderr, "%s is no board: arm:ID, compact:ID, grip:ID, pen:ID, receiver:ID,ID\n", words[i]); return 2; }
    timerfd_settime(timer, 0, &each, NULL);
    puts("ready");
    for (;;) {
        uint64_t ticks;
        int64_t now;
        waits[0] = (struct pollfd){0, POLLIN, 0};
        waits[1] = (struct pollfd){timer, POLLIN, 0};
        for (i = 0; i < port_count; i++) waits[i + 2] = (struct pollfd){ports[i].master, POLLIN, 0};
        if (poll(waits, (nfds_t)port_count + 2, -1) < 0 && errno != EINTR) return 1;
        now = now_ns();
        for (i = 0; i < port_count; i++) if (waits[i + 2].revents & POLLIN) listen_to(&ports[i], now);
        if (waits[1].revents & POLLIN && read(timer, &ticks, sizeof ticks) == sizeof ticks)
            for (ticks = ticks < MOST_AT_ONCE ? ticks : MOST_AT_ONCE; ticks > 0; ticks--)
                for (i = 0; i < port_count; i++) tick(&ports[i], now);
        if (waits[0].revents & (POLLIN | POLLHUP)) {
            ssize_t n = read(0, line + used, sizeof line - 1 - used);
            char *end;
            if (n <= 0) break;
            used += (size_t)n;
            line[used] = 0;
            while ((end = strchr(line, '\n'))) {
                *end = 0;
                obey(line);
                used -= (size_t)(end + 1 - line);
                memmove(line, end + 1, used + 1);
            }
            if (used == sizeof line - 1) used = 0;
        }
    }
    for (i = 0; i < port_count; i++) unplug(&ports[i]);
    return 0;
}
