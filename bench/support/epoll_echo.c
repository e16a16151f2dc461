/* The least that a server of WebSocket frames in C can do: for each whole frame that comes it sends the same one back.
 *
 * One thread, epoll, no work on the message but finding its end. Built as a library; a program in Python shakes hands (epoll_echo.py).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define IN_BYTES 16384

typedef struct {
    int fd;
    size_t received;
    uint8_t in[IN_BYTES];
} client;

int echo_open(void) { return epoll_create1(EPOLL_CLOEXEC); }

/* Serve a connection behind its handshake; 0, or an errno. */
int echo_add(int poll, int fd) {
    client *c = calloc(1, sizeof *c);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (c == NULL) return ENOMEM;
    c->fd = fd;
    return epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : errno;
}

static size_t frame_size(const uint8_t *bytes, size_t count) {
    size_t size, header = 6;
    if (count < 2) return 0;
    size = bytes[1] & 0x7F;
    if (size == 126) {
        if (count < 4) return 0;
        size = (size_t)bytes[2] << 8 | bytes[3];
        header = 8;
    }
    return count < header + size ? 0 : header + size;
}

/* Answer until the end of the process; a client that does not read its frames is let go. */
void echo_serve(int poll, const uint8_t *frame, size_t frame_bytes) {
    struct epoll_event events[64];
    for (;;) {
        const int ready = epoll_wait(poll, events, 64, -1);
        for (int k = 0; k < ready; k++) {
            client *c = events[k].data.ptr;
            const ssize_t got = recv(c->fd, c->in + c->received, IN_BYTES - c->received, MSG_DONTWAIT);
            int gone = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
            size_t size;
            if (got > 0) c->received += (size_t)got;
            while (!gone && (size = frame_size(c->in, c->received)) > 0) {
                c->received -= size;
                if (c->received > 0) memmove(c->in, c->in + size, c->received);
                gone = send(c->fd, frame, frame_bytes, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)frame_bytes;
            }
            if (gone || c->received == IN_BYTES) {
                close(c->fd);
                free(c);
            }
        }
    }
}
