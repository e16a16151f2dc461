/* System calls of a port thread: wait for bytes, read, write, count the bytes not sent yet. */
#ifndef HAPTICD_PORT_WAIT_H
#define HAPTICD_PORT_WAIT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "platform/realtime.h"

#define HD_PORT_READ 1
#define HD_PORT_WRITE 2
#define HD_PORT_WOKEN 4
#define HD_PORT_HUNG_UP 8

/* Wait until the descriptor has bytes (or room, if `want_room`), the wake pipe was written to, or the time is reached. */
static inline int hd_port_wait(int descriptor, int want_room, int wake, int64_t until_ns) {
    struct pollfd ends[2];
    int64_t left = until_ns - hd_now_ns();
    int seen = 0;
    ends[0].fd = descriptor;
    ends[0].events = (short)(POLLIN | (want_room ? POLLOUT : 0));
    ends[1].fd = wake;
    ends[1].events = POLLIN;
    ends[0].revents = ends[1].revents = 0;
    if (left < 0) left = 0;
#ifdef __linux__
    struct timespec t;
    t.tv_sec = left / 1000000000;
    t.tv_nsec = left % 1000000000;
    if (ppoll(ends, 2, &t, NULL) <= 0) return 0;
#else
    if (poll(ends, 2, (int)((left + 999999) / 1000000)) <= 0) return 0;
#endif
    if (ends[0].revents & POLLIN) seen |= HD_PORT_READ;
    if (ends[0].revents & POLLOUT) seen |= HD_PORT_WRITE;
    if (ends[0].revents & (POLLHUP | POLLERR | POLLNVAL)) seen |= HD_PORT_HUNG_UP;
    if (ends[1].revents) seen |= HD_PORT_WOKEN;
    return seen;
}

/* Read; return the number of bytes, 0 = none, or minus an errno. */
static inline int hd_port_read(int descriptor, void *bytes, size_t most) {
    ssize_t n;
    do n = read(descriptor, bytes, most); while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : (int)n;
}

/* Write; return the number of bytes, 0 = no room, or minus an errno. */
static inline int hd_port_write(int descriptor, const void *bytes, size_t length) {
    ssize_t n;
    do n = write(descriptor, bytes, length); while (n < 0 && errno == EINTR);
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
    return (int)n;
}

/* Return the number of written bytes that are not sent yet; 0 where the system cannot tell. */
static inline int hd_port_queued(int descriptor) {
    int queued = 0;
    return ioctl(descriptor, TIOCOUTQ, &queued) == 0 ? queued : 0;
}

/* Discard written bytes that are not sent yet. */
static inline void hd_port_discard(int descriptor) { tcflush(descriptor, TCOFLUSH); }

#endif
