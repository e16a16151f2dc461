/* Clients of a benchmark: each sends a message, waits for the text frame that answers it, and sends the next.
 *
 * Built as a library and called through ctypes, so that what the clients cost is the kernel's and not an interpreter's.
 * The connections are WebSocket connections whose first frame was read.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define IN_BYTES 65536
#define TEXT_FRAME 0x81

typedef struct {
    int fd;
    int next;         /* number of its next message */
    int waits;        /* for an answer */
    size_t received;
    int64_t sent_ns;
    int64_t due_ns;   /* when it sends next, if it was answered */
    int64_t answered_ns;
    uint8_t in[IN_BYTES];
} client;

typedef struct {
    int64_t trips;        /* of all clients */
    int64_t bytes;        /* of the answers' text */
    int64_t worst_gap_ns; /* between two answers of one client */
    int64_t taken_ns;
    int64_t lost;         /* messages that were not answered within `patience_ns` after the end */
} totals;

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Send whole; 0 when the connection broke. */
static int put(int fd, const uint8_t *bytes, size_t size) {
    while (size > 0) {
        const ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) return 0;
        if (sent > 0) { bytes += sent; size -= (size_t)sent; }
    }
    return 1;
}

/* Send a client's next message; 0 when the connection broke. */
static int send_next(client *c, const uint8_t *messages, const int64_t *ends, int count) {
    const int number = c->next++ % count;
    const int64_t begin = number ? ends[number - 1] : 0;
    c->waits = 1;
    c->sent_ns = now_ns();
    return put(c->fd, messages + begin, (size_t)(ends[number] - begin));
}

/* Bytes of the whole frame at the beginning, 0 for none; its text's size in `*text`. */
static size_t frame_size(const uint8_t *bytes, size_t count, size_t *text) {
    size_t header = 2;
    if (count < 2) return 0;
    *text = bytes[1] & 0x7F;
    if (*text == 126) {
        if (count < 4) return 0;
        *text = (size_t)bytes[2] << 8 | bytes[3];
        header = 4;
    } else if (*text == 127) {
        if (count < 10) return 0;
        *text = 0;
        for (int i = 2; i < 10; i++) *text = *text << 8 | bytes[i];
        header = 10;
    }
    return count < header + *text ? 0 : header + *text;
}

/* Drive `count` clients for `drive_ns`: messages are whole masked frames, taken in rotation; one each `every_ns`, 0: as soon as the last is
 * answered. Waits for answers go to `waits_ns` (room for `most`; further ones are counted only), trips of each client to `each`.
 * Returns 0, or the errno of a connection that broke or answered with what is no text.
 */
int load_drive(const int *fds, int count, const uint8_t *messages, const int64_t *ends, int message_count, int64_t drive_ns,
               int64_t every_ns, int64_t patience_ns, int64_t *waits_ns, int64_t most, int64_t *each, totals *t) {
    struct epoll_event events[64], watched = {.events = EPOLLIN};
    client *clients = calloc((size_t)count, sizeof(client));
    const int poll = epoll_create1(EPOLL_CLOEXEC);
    const int64_t begun = now_ns(), until = begun + drive_ns;
    int error = clients == NULL || poll < 0 ? ENOMEM : 0, waiting = 0;
    memset(t, 0, sizeof *t);
    for (int i = 0; i < count && !error; i++) {
        clients[i].fd = fds[i];
        clients[i].next = i;
        clients[i].due_ns = begun + (every_ns ? every_ns * i / count : 0);
        each[i] = 0;
        watched.data.u32 = (uint32_t)i;
        if (epoll_ctl(poll, EPOLL_CTL_ADD, fds[i], &watched) != 0) error = errno;
    }
    while (!error) {
        int64_t now = now_ns(), soonest = INT64_MAX;
        for (int i = 0; i < count && now < until && (every_ns || t->trips == 0); i++) {
            client *c = &clients[i];
            if (c->waits) continue;
            if (c->due_ns <= now) {
                if (!send_next(c, messages, ends, message_count)) { error = ECONNRESET; break; }
                waiting++;
                /* A client that is late does not hurry afterwards. */
                c->due_ns += every_ns;
                if (c->due_ns < now) c->due_ns = now;
            } else if (c->due_ns < soonest) soonest = c->due_ns;
        }
        if (error) break;
        if (waiting == 0 && now >= until) break;
        if (now > until + patience_ns) { t->lost = waiting; break; }
        struct timespec rest = {0, 100000000};
        if (every_ns && now < until && soonest < now + 100000000) rest.tv_nsec = soonest - now;
        const int ready = epoll_pwait2(poll, events, 64, &rest, NULL);
        for (int k = 0; k < ready && !error; k++) {
            client *c = &clients[events[k].data.u32];
            const ssize_t got = recv(c->fd, c->in + c->received, IN_BYTES - c->received, MSG_DONTWAIT);
            if (got == 0) { error = ECONNRESET; break; }
            if (got < 0) {
                if (errno != EAGAIN && errno != EINTR) error = errno;
                continue;
            }
            c->received += (size_t)got;
            size_t text, size;
            while ((size = frame_size(c->in, c->received, &text)) > 0) {
                if (c->in[0] != TEXT_FRAME || !c->waits) { error = EPROTO; break; }
                now = now_ns();
                if (t->trips < most) waits_ns[t->trips] = now - c->sent_ns;
                if (c->answered_ns && now - c->answered_ns > t->worst_gap_ns) t->worst_gap_ns = now - c->answered_ns;
                c->answered_ns = now;
                t->trips++;
                t->bytes += (int64_t)text;
                each[events[k].data.u32]++;
                c->waits = 0;
                waiting--;
                c->received -= size;
                if (c->received > 0) memmove(c->in, c->in + size, c->received);
                if (every_ns == 0 && now < until) {
                    if (!send_next(c, messages, ends, message_count)) { error = ECONNRESET; break; }
                    waiting++;
                }
            }
            if (c->received == IN_BYTES) error = EMSGSIZE;
        }
    }
    t->taken_ns = now_ns() - begun;
    if (poll >= 0) close(poll);
    free(clients);
    return error;
}
