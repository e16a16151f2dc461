/* Ring of short messages between one writer and one reader: all that a port carries other than orders and samples.
 *
 * Each message is two bytes of length and its bytes; the reader moves `head`, the writer `tail`. A message that finds no
 * room is refused whole. Plain C so that the port's thread and the stress harness compile the same lines.
 */
#ifndef HAPTICD_PORT_RING_H
#define HAPTICD_PORT_RING_H

#include <stddef.h>
#include <stdint.h>

#define HD_RING_BYTES 16384u
#define HD_RING_MESSAGE 1024u

typedef struct {
    uint64_t head;
    uint64_t tail;
    unsigned char bytes[HD_RING_BYTES];
} hd_ring;

/* Writer: append one message (1 to HD_RING_MESSAGE bytes); return 0 when there is no room for it. */
static inline int hd_ring_put(hd_ring *ring, const void *message, size_t length) {
    const unsigned char *from = (const unsigned char *)message;
    uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);
    uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
    if (length == 0 || length > HD_RING_MESSAGE || tail - head + length + 2 > HD_RING_BYTES) return 0;
    ring->bytes[tail++ % HD_RING_BYTES] = (unsigned char)(length & 255u);
    ring->bytes[tail++ % HD_RING_BYTES] = (unsigned char)(length >> 8);
    for (size_t i = 0; i < length; i++) ring->bytes[tail++ % HD_RING_BYTES] = from[i];
    __atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
    return 1;
}

/* Reader: move the oldest message into a buffer of HD_RING_MESSAGE bytes; return its length, 0 when there is none. */
static inline size_t hd_ring_take(hd_ring *ring, void *message) {
    unsigned char *to = (unsigned char *)message;
    uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
    if (head == __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE)) return 0;
    size_t length = ring->bytes[head++ % HD_RING_BYTES];
    length |= (size_t)ring->bytes[head++ % HD_RING_BYTES] << 8;
    for (size_t i = 0; i < length; i++) to[i] = ring->bytes[head++ % HD_RING_BYTES];
    __atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
    return length;
}

#endif
