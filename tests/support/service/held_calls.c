/* Preloaded into a service: a call waits while a file with its name is in the folder HELD_CALLS.
 *
 *   fsync; open, opendir (of paths that begin with a line of the file); names (of machines); recv (5 ms, of a streaming thread)
 *
 * The first call that waits makes NAME.waits there. The file is read by system calls, not by what is held.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static const struct timespec PAUSE = {0, 5000000};

static int place(const char *name, const char *suffix, int flags) {
    const char *folder = getenv("HELD_CALLS");
    char path[PATH_MAX];
    if (folder == NULL) return -1;
    snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
}

static int is_held(const char *name, const char *path) {
    char text[4 * PATH_MAX], *rest = NULL, *line;
    const int file = place(name, "", O_RDONLY);
    if (file < 0) return 0;
    const ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    if (size < 0) return 0;
    text[size] = '\0';
    int held = path == NULL;
    for (line = strtok_r(text, "\n", &rest); line != NULL && !held; line = strtok_r(NULL, "\n", &rest))
        held = strncmp(path, line, strlen(line)) == 0;
    if (held) close(place(name, ".waits", O_WRONLY | O_CREAT));
    return held;
}

static void wait_while_held(const char *name, const char *path) {
    while (is_held(name, path)) nanosleep(&PAUSE, NULL);
}

int fsync(int fd) {
    wait_while_held("fsync", NULL);
    return REAL(fsync)(fd);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    wait_while_held("open", path);
    return REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    wait_while_held("open", path);
    return REAL(open64)(path, flags, mode);
}

DIR *opendir(const char *path) {
    wait_while_held("opendir", path);
    return REAL(opendir)(path);
}

int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found) {
    wait_while_held("names", NULL);
    return REAL(getaddrinfo)(host, port, hints, found);
}

int getnameinfo(const struct sockaddr *address, socklen_t size, char *host, socklen_t host_size, char *port, socklen_t port_size, int flags) {
    wait_while_held("names", NULL);
    return REAL(getnameinfo)(address, size, host, host_size, port, port_size, flags);
}

/* The streaming threads alone never wait in it, and have the lock of a session meanwhile. */
ssize_t recv(int fd, void *into, size_t size, int flags) {
    if (flags & MSG_DONTWAIT && is_held("recv", NULL)) nanosleep(&PAUSE, NULL);
    return REAL(recv)(fd, into, size, flags);
}
