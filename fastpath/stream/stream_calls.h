/* System calls of the streaming thread: epoll, eventfd, sockets. */
#ifndef HAPTICD_STREAM_CALLS_H
#define HAPTICD_STREAM_CALLS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define HD_STREAM_EVENTS 64
#define HD_ENDED (-1)
/* In a key that was waited for: a read that does not fill its buffer may hide an end, or bytes behind urgent ones. */
#define HD_HIDES_MORE (1ull << 31)
/* The key of a connection is its generation and, in the low half, its slot; that of a thread's own bell has no slot. */
#define HD_LOW_HALF 0xFFFFFFFFull
#define HD_WAKE_KEY HD_LOW_HALF

static inline int hd_poll_open(void) { return epoll_create1(EPOLL_CLOEXEC); }
static inline int hd_bell_open(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
static inline void hd_ring(int bell) {
    const uint64_t one = 1;
    if (write(bell, &one, sizeof one) < 0) return;
}
static inline void hd_quiet(int bell) {
    uint64_t count;
    if (read(bell, &count, sizeof count) < 0) return;
}

/* Watch a connection: told once of each new chance to read and to write (edge-triggered). */
static inline int hd_watch(int poll, int how, int fd, uint64_t key) {
    struct epoll_event event;
    event.events = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLET;
    event.data.u64 = key;
    return epoll_ctl(poll, how, fd, &event);
}
static inline int hd_watch_begin(int poll, int fd, uint64_t key) { return hd_watch(poll, EPOLL_CTL_ADD, fd, key); }
/* Tell again of the chances that there are now. */
static inline int hd_watch_again(int poll, int fd, uint64_t key) { return hd_watch(poll, EPOLL_CTL_MOD, fd, key); }
static inline int hd_watch_end(int poll, int fd) { return hd_watch(poll, EPOLL_CTL_DEL, fd, 0); }

/* Watch a bell: told until it is quiet. */
static inline int hd_watch_bell(int poll, int bell, uint64_t key) {
    struct epoll_event event;
    event.events = EPOLLIN;
    event.data.u64 = key;
    return epoll_ctl(poll, EPOLL_CTL_ADD, bell, &event);
}

/* Wait for events; their keys, some with HD_HIDES_MORE. */
static inline int hd_wait(int poll, uint64_t *keys, int wait_ms) {
    struct epoll_event events[HD_STREAM_EVENTS];
    const int count = epoll_wait(poll, events, HD_STREAM_EVENTS, wait_ms);
    for (int i = 0; i < count; i++) keys[i] = events[i].data.u64 | (events[i].events & (EPOLLPRI | EPOLLRDHUP) ? HD_HIDES_MORE : 0);
    return count < 0 ? 0 : count;
}

/* Whether a poll (epoll), or -1 for none, has events for whoever waits on it. */
static inline int hd_has_events(int poll_of) {
    struct pollfd one = {.fd = poll_of, .events = POLLIN};
    return poll_of >= 0 && poll(&one, 1, 0) > 0;
}

/* Bytes that were received, 0 when there are none now, HD_ENDED. */
static inline int64_t hd_receive(int fd, void *into, size_t most) {
    const ssize_t got = recv(fd, into, most, MSG_DONTWAIT);
    if (got > 0) return got;
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? 0 : HD_ENDED;
}

/* Bytes that were sent, 0 when there is no room now, HD_ENDED. */
static inline int64_t hd_send(int fd, const void *from, size_t size) {
    const ssize_t sent = send(fd, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : HD_ENDED;
}

#endif
