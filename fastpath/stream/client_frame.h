/* Frames of a client (RFC 6455, 5.2) that the streaming thread takes by itself; all others go to the general parser.
 *
 * Taken are whole messages and pings and pongs in one masked frame each, up to HD_FRAME_LONGEST bytes.
 */
#ifndef HAPTICD_CLIENT_FRAME_H
#define HAPTICD_CLIENT_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HD_FRAME_LONGEST 8192
#define HD_MOST_HEADER 10

enum hd_frame_kind { HD_FRAME_PARTIAL, HD_FRAME_MESSAGE, HD_FRAME_PING, HD_FRAME_PONG, HD_FRAME_OTHER };

typedef struct {
    size_t begin;
    size_t size;
    uint8_t key[4];
} hd_frame;

/* Look at the frame that begins with these bytes; `frame` is filled in for a whole one of the first three kinds. */
static inline enum hd_frame_kind hd_look_at_frame(const uint8_t *bytes, size_t count, hd_frame *frame) {
    enum hd_frame_kind kind;
    size_t size, header;
    if (count < 1) return HD_FRAME_PARTIAL;
    switch (bytes[0]) {
        case 0x81: case 0x82: kind = HD_FRAME_MESSAGE; break;
        case 0x89: kind = HD_FRAME_PING; break;
        case 0x8A: kind = HD_FRAME_PONG; break;
        default: return HD_FRAME_OTHER;
    }
    if (count < 2) return HD_FRAME_PARTIAL;
    size = bytes[1] & 0x7F;
    if (!(bytes[1] & 0x80) || size == 127) return HD_FRAME_OTHER;
    header = 6;
    if (size == 126) {
        if (kind != HD_FRAME_MESSAGE) return HD_FRAME_OTHER;
        if (count < 4) return HD_FRAME_PARTIAL;
        size = (size_t)bytes[2] << 8 | bytes[3];
        header = 8;
        /* A length in more bytes than it needs is the general parser's to refuse. */
        if (size < 126 || size > HD_FRAME_LONGEST) return HD_FRAME_OTHER;
    }
    if (count < header + size) return HD_FRAME_PARTIAL;
    frame->begin = header;
    frame->size = size;
    memcpy(frame->key, bytes + header - 4, 4);
    return kind;
}

/* Copy a payload out, unmasked. */
static inline void hd_unmask(const uint8_t *from, size_t size, const uint8_t *key, uint8_t *to) {
    uint64_t wide, block;
    uint32_t narrow;
    size_t i = 0;
    memcpy(&narrow, key, 4);
    wide = (uint64_t)narrow << 32 | narrow;
    for (; i + 8 <= size; i += 8) {
        memcpy(&block, from + i, 8);
        block ^= wide;
        memcpy(to + i, &block, 8);
    }
    for (; i < size; i++) to[i] = from[i] ^ key[i & 3];
}

/* Write the header of an unmasked frame so that it ends at `end`; return where it begins. */
static inline uint8_t *hd_header_before(uint8_t *end, uint8_t first, size_t size) {
    if (size < 126) {
        end[-1] = (uint8_t)size;
        end[-2] = first;
        return end - 2;
    }
    if (size < 65536) {
        end[-1] = (uint8_t)size;
        end[-2] = (uint8_t)(size >> 8);
        end[-3] = 126;
        end[-4] = first;
        return end - 4;
    }
    for (int i = 0; i < 8; i++) end[-1 - i] = (uint8_t)(size >> (8 * i));
    end[-9] = 127;
    end[-10] = first;
    return end - 10;
}

#endif
