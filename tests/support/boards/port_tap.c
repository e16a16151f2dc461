/* Preloaded into a process: when it wrote to a terminal (before the call) and when it had read from one (behind the call).
 *
 * PORT_TAP names a file of zeros: the number of entries, then as many as fit.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct { int64_t ns; int32_t bytes, out; } entry;

static struct { _Atomic uint64_t count; uint64_t spare; entry entries[]; } *tape;
static uint64_t room;
static ssize_t (*really_read)(int, void *, size_t);
static ssize_t (*really_write)(int, const void *, size_t);

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("PORT_TAP");
    struct stat about;
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    really_read = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    really_write = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    if (file < 0 || fstat(file, &about)) return;
    tape = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    if (tape == MAP_FAILED) tape = NULL;
    room = ((uint64_t)about.st_size - 16) / sizeof(entry);
    close(file);
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void keep(int64_t ns, ssize_t bytes, int out) {
    uint64_t at = atomic_fetch_add(&tape->count, 1);
    if (at < room) tape->entries[at] = (entry){ns, (int32_t)bytes, out};
}

ssize_t read(int descriptor, void *data, size_t most) {
    ssize_t n = really_read(descriptor, data, most);
    if (tape && n > 0 && isatty(descriptor)) keep(now_ns(), n, 0);
    return n;
}

ssize_t write(int descriptor, const void *data, size_t length) {
    int64_t ns = now_ns();
    ssize_t n = really_write(descriptor, data, length);
    if (tape && n > 0 && isatty(descriptor)) keep(ns, n, 1);
    return n;
}
