/* Memory files that are shared with clients: of a fixed size, and mapped before anybody else may write or shorten them. */
#ifndef HAPTICD_MEMORY_CALLS_H
#define HAPTICD_MEMORY_CALLS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __linux__
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* Return a descriptor of a memory file of `bytes` that can neither shrink nor grow; -1 with errno. */
static inline int hd_file_make(const char *name, size_t bytes) {
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    if (ftruncate(file, (off_t)bytes) != 0 || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
        int error = errno;
        close(file);
        errno = error;
        return -1;
    }
    return file;
}

/* From now on nobody gets a new way to write the file, by a map, a write or a hole; maps that there are stay. 0, or -1 with errno. */
static inline int hd_file_close_writes(int file) { return fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL); }

/* Map a whole file with every page present, locked if the system lets us; NULL with errno. */
static inline void *hd_file_map(int file, size_t bytes, int writable) {
    void *map = mmap(NULL, bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED | MAP_POPULATE, file, 0);
    if (map == MAP_FAILED) return NULL;
    (void)mlock(map, bytes);
    /* Not in a core, not in a child. */
    (void)madvise(map, bytes, MADV_DONTFORK);
    return map;
}
#else
static inline int hd_file_make(const char *name, size_t bytes) { (void)name; (void)bytes; errno = ENOSYS; return -1; }
static inline int hd_file_close_writes(int file) { (void)file; errno = ENOSYS; return -1; }
static inline void *hd_file_map(int file, size_t bytes, int writable) { (void)file; (void)bytes; (void)writable; errno = ENOSYS; return NULL; }
#endif

static inline void hd_file_unmap(void *map, size_t bytes) { munmap(map, bytes); }

#endif
