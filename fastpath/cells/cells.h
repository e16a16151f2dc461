/* The two cells between the control loop and the rest: triple buffer and seqlock.
 *
 * Triple buffer: one writer, one reader, neither ever waits, the newest value wins.
 * Seqlock: one writer, any number of readers, a reader repeats until it saw one whole value.
 * The loop reads triple buffers only: a reader of a seqlock may have to wait for its writer.
 *
 * Plain C so that the loop, the encoder and the ThreadSanitizer harness compile the same lines.
 * Sizes are in bytes and multiples of 8; payloads start on an 8-byte boundary.
 */
#ifndef HAPTICD_CELLS_H
#define HAPTICD_CELLS_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HD_FRESH 4u
#define HD_SEQ_SPINS 256u
/* Relaxed atomics are never made into vectors; without this the copy is one word per iteration. */
#define HD_UNROLLED _Pragma("GCC unroll 8")

static inline uint64_t hd_load(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
static inline void hd_store(uint64_t *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
static inline uint64_t hd_exchange(uint64_t *word, uint64_t value) { return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL); }
static inline uint64_t hd_or(uint64_t *word, uint64_t bits) { return __atomic_fetch_or(word, bits, __ATOMIC_ACQ_REL); }
static inline uint64_t hd_and(uint64_t *word, uint64_t bits) { return __atomic_fetch_and(word, bits, __ATOMIC_ACQ_REL); }

/* Three buffers by index: `back` is the writer's, `front` the reader's, `middle` is exchanged between them. */
typedef struct {
    uint32_t middle;
    uint32_t back;
    uint32_t front;
    uint32_t spare;
} hd_triple;

static inline void hd_triple_init(hd_triple *cell) {
    cell->back = 0;
    cell->front = 2;
    __atomic_store_n(&cell->middle, 1u, __ATOMIC_RELEASE);
}

/* Writer: copy one value in and hand it over. */
static inline void hd_triple_publish(hd_triple *cell, void *buffers, const void *value, size_t size) {
    memcpy((char *)buffers + cell->back * size, value, size);
    cell->back = __atomic_exchange_n(&cell->middle, cell->back | HD_FRESH, __ATOMIC_ACQ_REL) & 3u;
}

/* Reader: make the newest value the front one; return 1 when it is new since the last take. */
static inline int hd_triple_take(hd_triple *cell) {
    if (!(__atomic_load_n(&cell->middle, __ATOMIC_RELAXED) & HD_FRESH)) return 0;
    cell->front = __atomic_exchange_n(&cell->middle, cell->front, __ATOMIC_ACQ_REL) & 3u;
    return 1;
}

/* Reader: the front value; it stays whole until the next take. */
static inline void *hd_triple_front(const hd_triple *cell, void *buffers, size_t size) {
    return (char *)buffers + cell->front * size;
}

/* Writer: begin a write. The sequence stays odd until `hd_seq_end`; readers get all values of the write or none. */
static inline void hd_seq_begin(uint64_t *sequence) {
    __atomic_store_n(sequence, __atomic_load_n(sequence, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void hd_seq_put(void *cell, const void *value, size_t size) {
    uint64_t *to = (uint64_t *)cell;
    const uint64_t *from = (const uint64_t *)value;
    HD_UNROLLED
    for (size_t i = 0; i < size / 8; i++) __atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
}

static inline void hd_seq_end(uint64_t *sequence) {
    __atomic_store_n(sequence, __atomic_load_n(sequence, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
}

/* Writer: copy one value in. */
static inline void hd_seq_write(uint64_t *sequence, void *cell, const void *value, size_t size) {
    hd_seq_begin(sequence);
    hd_seq_put(cell, value, size);
    hd_seq_end(sequence);
}

static inline void hd_seq_get(const void *cell, void *value, size_t size) {
    const uint64_t *from = (const uint64_t *)cell;
    uint64_t *to = (uint64_t *)value;
    HD_UNROLLED
    for (size_t i = 0; i < size / 8; i++) to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

/* Reader: copy out two values that were written together, the second of which may have 0 bytes; return the number of repeats. */
static inline uint64_t hd_seq_read_both(const uint64_t *sequence, const void *cell, void *value, size_t size,
                                        const void *second, void *second_value, size_t second_size) {
    uint64_t repeats = 0;
    for (;;) {
        uint64_t before = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);
        if (!(before & 1u)) {
            hd_seq_get(cell, value, size);
            hd_seq_get(second, second_value, second_size);
            __atomic_thread_fence(__ATOMIC_ACQUIRE);
            if (__atomic_load_n(sequence, __ATOMIC_RELAXED) == before) return repeats;
        }
        if (++repeats % HD_SEQ_SPINS == 0) sched_yield();
    }
}

/* Reader: copy out one whole value; return the number of repeats. */
static inline uint64_t hd_seq_read(const uint64_t *sequence, const void *cell, void *value, size_t size) {
    return hd_seq_read_both(sequence, cell, value, size, cell, value, 0);
}

#endif
