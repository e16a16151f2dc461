/* hapticd_local.h: commands to haptic devices and their states through shared memory, for programs on the service's machine.
 *
 * C11 or C++11 and newer, GCC or Clang, Linux; no library. The layout below is what the service itself is compiled with. docs/local.md of hapticd says
 * what is guaranteed. In short:
 *
 *     hapticd_local client;
 *     if (hapticd_local_open(&client, "/path/of/the/state-dir", "my renderer", NULL, HAPTICD_LOCAL_FORCE) != 0) puts(client.error);
 *     int arm = hapticd_local_find(&client, "049D");
 *     while (hapticd_local_wait(&client, 100000000) == 1) {
 *         hapticd_local_state state;
 *         if (!hapticd_local_read(&client, arm, &state)) continue;
 *         double force[3] = {0, 0, state.position[2] < 0 ? -500 * state.position[2] : 0};
 *         hapticd_local_force(&client, arm, state.generation, force);
 *     }
 *     hapticd_local_close(&client);
 *
 * All vectors are in the device frame: m, m/s, N; joints: degrees, degrees/s, N.mm. One thread writes commands.
 */
#ifndef HAPTICD_LOCAL_H
#define HAPTICD_LOCAL_H

#include <stdint.h>

#define HAPTICD_LOCAL_VERSION 1u
#define HAPTICD_LOCAL_MAGIC 0x314c434f4c445048ull
#define HAPTICD_LOCAL_DEVICES 16
#define HAPTICD_LOCAL_SEATS 32
#define HAPTICD_LOCAL_PLACES 16
#define HAPTICD_LOCAL_SOCKET "local.sock"

/* Bits of a record's commands; the number of a bit is the place of its three numbers in `set_points`. */
enum {
    HAPTICD_LOCAL_FORCE = 1,    /* N */
    HAPTICD_LOCAL_POSITION = 2, /* m, held */
    HAPTICD_LOCAL_TORQUE = 4,   /* N.mm */
    HAPTICD_LOCAL_ANGLE = 8     /* degrees, held */
};

/* Why the newest refused record was refused. */
enum {
    HAPTICD_LOCAL_TAKEN = 0,
    HAPTICD_LOCAL_BAD_SEQUENCE = 1, /* not above the last one, or not that of the record itself */
    HAPTICD_LOCAL_BAD_DEVICE = 2,   /* made for another device, which had this slot before */
    HAPTICD_LOCAL_BAD_COMMANDS = 3, /* a bit that is no command */
    HAPTICD_LOCAL_BAD_NUMBER = 4    /* not finite, or beyond 1e6 */
};

/* ---------------------------------------------------------------- written by the client */

typedef struct {
    uint64_t sequence;   /* the same as that of the cell */
    uint32_t generation; /* of the device's state that it was made for */
    uint32_t commands;   /* all that is in force from now on; 0 releases everything */
    double set_points[4][3];
    uint64_t spare[2];
} hapticd_local_record;

/* Record number n is written to place n % 16, then `sequence` becomes n. The service reads the place of the newest one: a client that writes
 * faster than the service reads overwrites older ones. */
typedef struct {
    uint64_t sequence;
    uint64_t spare[7];
    hapticd_local_record records[HAPTICD_LOCAL_PLACES];
} hapticd_local_cell;

typedef struct {
    hapticd_local_cell devices[HAPTICD_LOCAL_DEVICES];
} hapticd_local_page;

/* ---------------------------------------------------------------- written by the service, mapped for reading */

typedef struct {
    uint64_t tick;       /* number of the tick that this is of */
    int64_t time_ns;     /* CLOCK_MONOTONIC */
    uint32_t generation; /* changes when the slot gets another device; 0: no device */
    uint32_t flags;      /* 4: ready, 64: held in the hand, 256: stopped; see docs/local.md */
    uint32_t mode;       /* 0: idle, 1: force, 2: position */
    uint32_t safety;     /* not 0: a monitor is at work */
    double position[3];
    double velocity[3];
    double force[3]; /* at the cursor, as the motors got it */
    double angles[3];
    double angular_velocities[3];
    double torques[3];
    double orientation[4]; /* w x y z */
    double hall;
    uint64_t buttons;
} hapticd_local_state;

typedef struct {
    uint64_t sequence; /* odd while it is written */
    hapticd_local_state state;
} hapticd_local_shown;

typedef struct {
    uint64_t sequence; /* odd while it is written */
    uint64_t generation;
    char device_id[48];
    char kind[24];
} hapticd_local_name;

typedef struct {
    uint64_t taken;    /* sequence of the newest record that was taken */
    uint64_t records;  /* number of records taken */
    uint64_t refused;  /* number of records refused */
    uint32_t reason;   /* of the newest refusal */
    uint32_t in_force; /* commands of the newest record that are in force; the rest waits for the device or for who holds it */
} hapticd_local_answer;

typedef struct {
    uint64_t session; /* number of the session; 0 as soon as it has ended */
    uint64_t spare[7];
    hapticd_local_answer devices[HAPTICD_LOCAL_DEVICES];
} hapticd_local_seat;

typedef struct {
    uint64_t magic;
    uint32_t version;
    uint32_t bytes;
    uint64_t tick; /* written last in each tick */
    int64_t tick_ns;
    int64_t period_ns;
    int64_t timeout_ns; /* after which commands that are not repeated fade */
    uint64_t spare[10];
    hapticd_local_name names[HAPTICD_LOCAL_DEVICES];
    hapticd_local_shown devices[HAPTICD_LOCAL_DEVICES];
    hapticd_local_seat seats[HAPTICD_LOCAL_SEATS];
} hapticd_local_states;

#ifndef HAPTICD_LOCAL_LAYOUT_ONLY

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef CLOCK_MONOTONIC
/* Strict ISO C, and the system's headers may be included already. */
#define CLOCK_MONOTONIC 1
extern int clock_gettime(int clock, struct timespec *now);
extern int nanosleep(const struct timespec *pause, struct timespec *left);
#endif

/* Time that the service has for both of its answers while a session is opened, unless the caller says another. */
#define HAPTICD_LOCAL_ANSWER_NS 5000000000ll

/* A client; `error` is a sentence after a call that failed. */
typedef struct {
    int socket;
    int seat;
    uint64_t session;
    char instance[64]; /* random id of the running service, another one after each of its starts */
    int64_t until_ns;  /* when the service must have answered */
    hapticd_local_page *page;
    const hapticd_local_states *states;
    uint64_t next[HAPTICD_LOCAL_DEVICES];
    uint64_t waited;
    char error[512];
} hapticd_local;

static inline int64_t hapticd_local_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void hapticd_local_close(hapticd_local *c) {
    if (c->page) munmap((void *)c->page, sizeof(hapticd_local_page));
    if (c->states) munmap((void *)(uintptr_t)c->states, sizeof(hapticd_local_states));
    if (c->socket >= 0) close(c->socket);
    c->page = NULL;
    c->states = NULL;
    c->socket = -1;
}

static inline int hapticd_local_fails(hapticd_local *c, const char *what) {
    snprintf(c->error, sizeof c->error, "%s: %s", what, strerror(errno));
    hapticd_local_close(c);
    return -1;
}

/* Receive one line of at most `most` - 1 bytes and up to two descriptors; return 0 when there was one in time. */
static inline int hapticd_local_line(hapticd_local *c, char *line, size_t most, int *descriptors) {
    size_t length = 0;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    while (length + 1 < most) {
        struct iovec part;
        struct msghdr message;
        struct cmsghdr *found;
        ssize_t got;
        part.iov_base = line + length;
        part.iov_len = 1;
        memset(&message, 0, sizeof message);
        memset(&control, 0, sizeof control);
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        errno = ETIMEDOUT;
        if (hapticd_local_now() > c->until_ns) return -1;
        got = recvmsg(c->socket, &message, MSG_CMSG_CLOEXEC);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        found = CMSG_FIRSTHDR(&message);
        if (found && found->cmsg_type == SCM_RIGHTS && found->cmsg_len == CMSG_LEN(2 * sizeof(int)))
            memcpy(descriptors, CMSG_DATA(found), 2 * sizeof(int));
        if (line[length] == '\n') {
            line[length] = 0;
            return 0;
        }
        length++;
    }
    errno = EMSGSIZE;
    return -1;
}

static inline int hapticd_local_number(const char *line, const char *key, uint64_t *value) {
    const char *found = strstr(line, key);
    if (!found) return 0;
    found += strlen(key);
    for (*value = 0; *found >= '0' && *found <= '9'; found++) *value = *value * 10 + (uint64_t)(*found - '0');
    return 1;
}

/* Copy the text behind a key, cut to `size` - 1 bytes; empty without it. */
static inline void hapticd_local_text(const char *line, const char *key, char *text, size_t size) {
    const char *found = strstr(line, key);
    size_t length = 0;
    if (found)
        for (found += strlen(key); length + 1 < size && found[length] && found[length] != '"'; length++) text[length] = found[length];
    text[length] = 0;
}

/* As hapticd_local_open, and the service has `within_ns` to answer. */
static inline int hapticd_local_open_within(hapticd_local *c, const char *state_dir, const char *name, const char *devices, unsigned commands,
                                            int64_t within_ns) {
    static const char *const words[4] = {"\"set_cursor_force\"", "\"set_cursor_position\"", "\"set_angular_torques\"", "\"set_angular_position\""};
    static const char mapped[] = "{\"mapped\":true}\n";
    struct sockaddr_un address;
    struct stat page, states;
    struct timeval within;
    char line[4096];
    int descriptors[2] = {-1, -1};
    uint64_t seat = 0;
    int used, i, wanted = 0;
    memset(c, 0, sizeof *c);
    c->socket = -1;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    used = snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", state_dir, HAPTICD_LOCAL_SOCKET);
    errno = ENAMETOOLONG;
    if (used < 0 || (size_t)used >= sizeof address.sun_path) return hapticd_local_fails(c, "path of the socket");
    c->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    within.tv_sec = (time_t)(within_ns / 1000000000);
    within.tv_usec = (suseconds_t)(within_ns % 1000000000 / 1000) | 1; /* 0 and 0 would be no limit */
    c->until_ns = hapticd_local_now() + within_ns;
    if (c->socket >= 0) {
        (void)setsockopt(c->socket, SOL_SOCKET, SO_RCVTIMEO, &within, sizeof within);
        (void)setsockopt(c->socket, SOL_SOCKET, SO_SNDTIMEO, &within, sizeof within);
    }
    if (c->socket < 0 || connect(c->socket, (struct sockaddr *)&address, sizeof address) != 0) return hapticd_local_fails(c, address.sun_path);
    used = snprintf(line, sizeof line, "{\"hapticd_local\":%u,\"name\":\"%s\",\"devices\":%s,\"commands\":[", HAPTICD_LOCAL_VERSION, name,
                    devices ? devices : "\"all\"");
    for (i = 0; i < 4 && used > 0 && (size_t)used < sizeof line; i++)
        if (commands >> i & 1u) used += snprintf(line + used, sizeof line - (size_t)used, "%s%s", wanted++ ? "," : "", words[i]);
    if (used > 0 && (size_t)used < sizeof line) used += snprintf(line + used, sizeof line - (size_t)used, "]}\n");
    errno = EMSGSIZE;
    if (used < 0 || (size_t)used >= sizeof line) return hapticd_local_fails(c, "request");
    /* A service that refuses says so, also when it does not take the request. */
    (void)!send(c->socket, line, (size_t)used, MSG_NOSIGNAL);
    if (hapticd_local_line(c, line, sizeof line, descriptors) != 0) return hapticd_local_fails(c, "no answer");
    if (strstr(line, "\"error\"") || descriptors[0] < 0 || !hapticd_local_number(line, "\"seat\":", &seat) || seat >= HAPTICD_LOCAL_SEATS ||
        !hapticd_local_number(line, "\"session_id\":", &c->session)) {
        memcpy(c->error, line, sizeof c->error - 1);
        hapticd_local_close(c);
    } else if (fstat(descriptors[0], &page) != 0 || (size_t)page.st_size < sizeof(hapticd_local_page) || fstat(descriptors[1], &states) != 0 ||
               (size_t)states.st_size < sizeof(hapticd_local_states)) {
        errno = EPROTO;
        hapticd_local_fails(c, "the service has another layout than this header");
    } else {
        void *writes = mmap(NULL, sizeof(hapticd_local_page), PROT_READ | PROT_WRITE, MAP_SHARED, descriptors[0], 0);
        void *reads = mmap(NULL, sizeof(hapticd_local_states), PROT_READ, MAP_SHARED, descriptors[1], 0);
        c->page = writes == MAP_FAILED ? NULL : (hapticd_local_page *)writes;
        c->states = reads == MAP_FAILED ? NULL : (const hapticd_local_states *)reads;
        c->seat = (int)seat;
        hapticd_local_text(line, "\"instance\":\"", c->instance, sizeof c->instance);
        if (!c->page || !c->states) hapticd_local_fails(c, "mmap");
    }
    for (i = 0; i < 2; i++)
        if (descriptors[i] >= 0) close(descriptors[i]);
    if (c->socket < 0) return -1;
    if (c->states->magic != HAPTICD_LOCAL_MAGIC || c->states->version != HAPTICD_LOCAL_VERSION) {
        errno = EPROTO;
        return hapticd_local_fails(c, "the service has another layout than this header");
    }
    (void)!send(c->socket, mapped, sizeof mapped - 1, MSG_NOSIGNAL);
    if (hapticd_local_line(c, line, sizeof line, descriptors) != 0) return hapticd_local_fails(c, "no answer");
    if (!strstr(line, "\"ready\"")) {
        memcpy(c->error, line, sizeof c->error - 1);
        hapticd_local_close(c);
        return -1;
    }
    return 0;
}

/* Open a session. `devices` is a JSON array of device ids, NULL for all; `commands` are bits of what it will command. Return 0, or -1 with `error`.
 *
 * `name` is for people: plain characters without quotes. */
static inline int hapticd_local_open(hapticd_local *c, const char *state_dir, const char *name, const char *devices, unsigned commands) {
    return hapticd_local_open_within(c, state_dir, name, devices, commands, HAPTICD_LOCAL_ANSWER_NS);
}

/* Return whether the session is open; a service that was killed is known by ticks that no longer come. */
static inline int hapticd_local_is_open(const hapticd_local *c) {
    return c->states && __atomic_load_n(&c->states->seats[c->seat].session, __ATOMIC_ACQUIRE) == c->session;
}

/* Copy `size` bytes (a multiple of 8) under a sequence that is odd while it is written; return 1, or 0 when its writer stands still in a write. */
static inline int hapticd_local_copy(const uint64_t *sequence, const void *from, void *to, size_t size) {
    const uint64_t *source = (const uint64_t *)from;
    uint64_t words[64];
    int tries;
    if (size > sizeof words) return 0;
    for (tries = 0; tries < 100000; tries++) {
        uint64_t before = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);
        size_t i;
        if (before & 1u) continue;
        for (i = 0; i < size / 8; i++) words[i] = __atomic_load_n(&source[i], __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(sequence, __ATOMIC_RELAXED) == before) {
            memcpy(to, words, size);
            return 1;
        }
    }
    return 0;
}

/* Read the newest state of a device; return 0 when its slot has none. */
static inline int hapticd_local_read(const hapticd_local *c, int device, hapticd_local_state *state) {
    const hapticd_local_shown *shown;
    if (!c->states || device < 0 || device >= HAPTICD_LOCAL_DEVICES) return 0;
    shown = &c->states->devices[device];
    return hapticd_local_copy(&shown->sequence, &shown->state, state, sizeof *state) && state->generation != 0;
}

/* Return the slot of a device id, NULL for the first device with motors; -1 without one. */
static inline int hapticd_local_find(const hapticd_local *c, const char *device_id) {
    int i;
    for (i = 0; c->states && i < HAPTICD_LOCAL_DEVICES; i++) {
        const hapticd_local_name *name = &c->states->names[i];
        hapticd_local_name copy;
        hapticd_local_state state;
        memset(&copy, 0, sizeof copy);
        if (!hapticd_local_copy(&name->sequence, &name->generation, &copy.generation, sizeof copy - 8) || copy.generation == 0) continue;
        if (!hapticd_local_read(c, i, &state) || state.generation != (uint32_t)copy.generation) continue;
        copy.device_id[sizeof copy.device_id - 1] = 0;
        if (device_id ? strcmp(copy.device_id, device_id) == 0 : copy.kind[0] == 'a' || copy.kind[0] == 'c') return i;
    }
    return -1;
}

/* Command a device: `commands` are all that is in force from the next tick on. `generation` is that of the state that was rendered. */
static inline void hapticd_local_command(hapticd_local *c, int device, uint32_t generation, unsigned commands, const double set_points[4][3]) {
    hapticd_local_cell *cell = &c->page->devices[device];
    uint64_t number = ++c->next[device];
    hapticd_local_record record;
    uint64_t words[sizeof record / 8];
    uint64_t *place = (uint64_t *)&cell->records[number % HAPTICD_LOCAL_PLACES];
    size_t i;
    memset(&record, 0, sizeof record);
    record.sequence = number;
    record.generation = generation;
    record.commands = commands;
    memcpy(record.set_points, set_points, sizeof record.set_points);
    memcpy(words, &record, sizeof record);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (i = 0; i < sizeof words / sizeof words[0]; i++) __atomic_store_n(&place[i], words[i], __ATOMIC_RELAXED);
    __atomic_store_n(&cell->sequence, number, __ATOMIC_RELEASE);
}

/* Command a force at the cursor (N) and nothing else. */
static inline void hapticd_local_force(hapticd_local *c, int device, uint32_t generation, const double force[3]) {
    double set_points[4][3];
    memset(set_points, 0, sizeof set_points);
    memcpy(set_points[0], force, sizeof set_points[0]);
    hapticd_local_command(c, device, generation, HAPTICD_LOCAL_FORCE, (const double(*)[3])set_points);
}

/* Wait for a tick that was not waited for before, at most `most_ns`: return 1; 0 when none came; -1 when the session has ended.
 *
 * It sleeps while the next tick is more than 100 us away and spins then: on a loop above 8 kHz it only spins. */
static inline int hapticd_local_wait(hapticd_local *c, int64_t most_ns) {
    const int64_t begun = hapticd_local_now(), near = 100000;
    if (!c->states) return -1;
    for (;;) {
        uint64_t tick = __atomic_load_n(&c->states->tick, __ATOMIC_ACQUIRE);
        int64_t now;
        if (!hapticd_local_is_open(c)) return -1;
        if (tick != c->waited) {
            c->waited = tick;
            return 1;
        }
        now = hapticd_local_now();
        if (now - begun > most_ns) return 0;
        {
            int64_t left = __atomic_load_n(&c->states->tick_ns, __ATOMIC_RELAXED) + __atomic_load_n(&c->states->period_ns, __ATOMIC_RELAXED) - now;
            if (left > near || left < -10 * near) {
                struct timespec pause;
                pause.tv_sec = 0;
                pause.tv_nsec = (long)(left > near ? (left - near < 10000000 ? left - near : 10000000) : near);
                nanosleep(&pause, NULL);
            } else {
#if defined(__x86_64__) || defined(__i386__)
                __builtin_ia32_pause();
#endif
            }
        }
    }
}

#endif /* HAPTICD_LOCAL_LAYOUT_ONLY */
#endif
