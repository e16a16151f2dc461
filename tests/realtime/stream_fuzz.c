/* Mutated frames through the streaming thread's readers, fastpath/stream/client_frame.h and command_scan.h.
 *
 *   stream_fuzz ROUNDS [planted]      planted: the scan is told of one byte more than there is, for the sanitizer to find
 *   stream_fuzz -                     one stream of frames from standard input, for a fuzzer that sees which lines it reaches
 *
 * Each round masks one message, mutated or made of many parts, cuts or mutates its frame, and reads that. Every buffer is
 * allocated with exactly the bytes that it holds, so AddressSanitizer sees a read or a write beyond it.
 * Prints "rounds R messages M plain P" and exits with 1 when a reader broke what its header says.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>

#include "stream/client_frame.h"
#include "stream/command_scan.h"

#define LONGEST 12000

static const char *const SAMPLES[] = {
    "{}",
    "{\"arm\":[{\"device_id\":\"A001\",\"commands\":{\"set_cursor_force\":{\"vector\":{\"x\":0,\"y\":-0.5,\"z\":1e-3}}}}]}",
    "{\"arm\":{\"A001\":{\"commands\":{\"set_cursor_position\":{\"position\":{\"x\":0.1,\"y\":-0.12,\"z\":1.25E-1}},\"probe_position\":{}}}}}",
    "{ \"arm\" : [ { \"device_id\" : \"A001\" , \"command_data\" : { } } , { \"device_id\" : \"A002\" } ] , \"grip\" : [ ] }",
    "{\"grip\":[{\"device_id\":\"B001\",\"commands\":{\"probe_position\":{},\"probe_position\":{}}}],\"arm\":{}}",
    "{\"arm\":[{\"device_id\":\"A002\",\"commands\":{\"set_cursor_force\":{\"vector\":{\"x\":12345678901234567890123,\"y\":-0,\"z\":-0.0}}}}]}",
    "{\"arm\":[{\"device_id\":\"A002\",\"commands\":{\"set_cursor_force\":{\"vector\":{\"x\":0.1000000000000000055511151231257827021181583404541015625,"
    "\"y\":1e-400,\"z\":9007199254740993}}}}]}",
};
static const char ALPHABET[] = "{}[]:,\" \n\\0123456789.eE+-xyzarm\x01\x7f\x80\xff";
static uint64_t seed = 88172645463325252ull;

static uint64_t draw(uint64_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (seed >> 11) % below;
}

static hd_word word(const char *text) {
    hd_word made = {(uint32_t)strlen(text), {0}};
    memcpy(made.text, text, made.size);
    return made;
}

static hd_words *vocabulary(void) {
    static const char *const names[] = {"set_cursor_force", "set_cursor_position"}, *const fields[] = {"vector", "position"};
    static const char *const devices[] = {"A001", "A002", "B001"};
    hd_words *words = calloc(1, sizeof *words);
    words->groups[0] = (hd_group){word("arm"), 1};
    words->groups[1] = (hd_group){word("grip"), 2};
    words->group_count = 2;
    for (int i = 0; i < 2; i++)
        words->commands[i] = (hd_command){word(names[i]), word(fields[i]), {word("x"), word("y"), word("z")}, 1e6, (uint32_t)i, 0};
    words->command_count = 2;
    for (int i = 0; i < 3; i++) words->devices[i] = (hd_device){word(devices[i]), i < 2 ? 1 : 2, i < 2 ? 3 : 0};
    words->device_count = 3;
    words->probes[0] = word("probe_position");
    words->probe_count = 1;
    words->numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return words;
}

/* A message of up to a hundred devices, past every limit of the scan. */
static size_t many(char *into) {
    const int object = (int)draw(2), count = (int)draw(100);
    size_t size = (size_t)sprintf(into, "{\"arm\":%c", object ? '{' : '[');
    for (int i = 0; i < count && size < HD_FRAME_LONGEST; i++) {
        if (i > 0) into[size++] = ',';
        if (object) size += (size_t)sprintf(into + size, "\"%.*s%d\":", (int)draw(60), "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn", i);
        size += (size_t)sprintf(into + size, "{\"device_id\":\"A00%d\",\"commands\":{\"set_cursor_force\":{\"vector\":{\"x\":%llu,\"y\":-%llue-%llu,\"z\":0.5}}}}",
                                1 + (int)draw(2), (unsigned long long)draw(1000), (unsigned long long)draw(1ull << 50), (unsigned long long)draw(40));
    }
    return size + (size_t)sprintf(into + size, "%c}", object ? '}' : ']');
}

static size_t mutate(char *text, size_t size) {
    for (uint64_t times = draw(4); times > 0 && size > 0; times--) {
        const size_t at = (size_t)draw(size), some = (size_t)draw(size - at + 1);
        switch (draw(5)) {
            case 0: text[at] = ALPHABET[draw(sizeof ALPHABET - 1)]; break;
            case 1: text[at] ^= (char)(1 << draw(8)); break;
            case 2: memmove(text + at, text + at + some, size - at - some), size -= some; break;
            case 3: size = at; break;
            default:
                if (size + some > LONGEST) break;
                memmove(text + at + some, text + at, size - at);
                size += some;
        }
    }
    return size;
}

/* Mask a message into one frame, with a header of either length. */
static size_t framed(uint8_t *into, const char *text, size_t size) {
    size_t header = 2;
    uint8_t key[4];
    into[0] = (uint8_t)(draw(2) ? 0x81 : 0x82);
    if (size > 125 || draw(8) == 0) {
        into[1] = 0x80 | 126, into[2] = (uint8_t)(size >> 8), into[3] = (uint8_t)size;
        header = 4;
    } else {
        into[1] = (uint8_t)(0x80 | size);
    }
    for (int i = 0; i < 4; i++) key[i] = (uint8_t)draw(256);
    memcpy(into + header, key, 4);
    hd_unmask((const uint8_t *)text, size, key, into + header + 4);
    return header + 4 + size;
}

static int is_sound(const hd_scan *scan, const hd_words *words) {
    if (scan->count > HD_SCAN_POINTS || scan->parts > HD_SCAN_PARTS || scan->mapped >> words->device_count) return 0;
    for (uint32_t i = 0; i < scan->count; i++) {
        const hd_point *point = &scan->points[i];
        if (point->device >= words->device_count || !(words->devices[point->device].takes >> point->code & 1)) return 0;
        for (int k = 0; k < 3; k++)
            if (!(fabs(point->value[k]) <= 1e6)) return 0;
    }
    return 1;
}

/* Read the frames of a stream as the thread does, each from a buffer of its own; 0 when a reader broke what its header says. */
static int read_stream(const uint8_t *bytes, size_t count, const hd_words *words, hd_scan *scan) {
    size_t at = 0;
    while (at < count) {
        uint8_t *exact = malloc(count - at);
        hd_frame found;
        memcpy(exact, bytes + at, count - at);
        const enum hd_frame_kind kind = hd_look_at_frame(exact, count - at, &found);
        int sound = 1;
        if (kind == HD_FRAME_MESSAGE || kind == HD_FRAME_PING || kind == HD_FRAME_PONG) {
            uint8_t *message = malloc(found.size ? found.size : 1);
            sound = found.begin + found.size <= count - at;
            if (sound) hd_unmask(exact + found.begin, found.size, found.key, message);
            if (sound && hd_scan_message((const char *)message, found.size, words, scan)) sound = is_sound(scan, words);
            at += found.begin + found.size;
            free(message);
        } else {
            at = count;
        }
        free(exact);
        if (!sound) return 0;
    }
    return 1;
}

int main(int count, char **given) {
    if (count > 1 && !strcmp(given[1], "-")) {
        static uint8_t stream[4 * LONGEST];
        hd_scan *scan = malloc(sizeof *scan);
        hd_words *words = vocabulary();
        if (!read_stream(stream, fread(stream, 1, sizeof stream, stdin), words, scan)) abort();
        freelocale(words->numbers);
        free(words), free(scan);
        return 0;
    }
    const unsigned long rounds = strtoul(given[1], NULL, 10);
    const size_t beyond = count > 2;
    hd_words *words = vocabulary();
    hd_scan *scan = malloc(sizeof *scan);
    char *text = malloc(2 * LONGEST);
    uint8_t *frame = malloc(2 * LONGEST + 8);
    unsigned long messages = 0, plain = 0;
    for (unsigned long round = 0; round < rounds; round++) {
        const char *sample = SAMPLES[draw(sizeof SAMPLES / sizeof *SAMPLES)];
        size_t size = strlen(sample);
        if (draw(64) == 0) size = many(text);
        else memcpy(text, sample, size);
        if (draw(4) != 0) size = mutate(text, size);
        size_t length = framed(frame, text, size);
        const int whole = draw(4) != 0;
        if (!whole) {
            if (draw(2)) frame[draw(8)] ^= (uint8_t)(1 << draw(8));
            else length = (size_t)draw(length + 1);
        }
        uint8_t *exact = malloc(length ? length : 1);
        memcpy(exact, frame, length);
        hd_frame found;
        const enum hd_frame_kind kind = hd_look_at_frame(exact, length, &found);
        const int wasteful = size < 126 && length > 6 + size;
        if (whole && kind != (size > HD_FRAME_LONGEST || wasteful ? HD_FRAME_OTHER : HD_FRAME_MESSAGE)) return 1;
        if (kind == HD_FRAME_MESSAGE || kind == HD_FRAME_PING || kind == HD_FRAME_PONG) {
            if (found.begin + found.size > length || found.size > (kind == HD_FRAME_MESSAGE ? HD_FRAME_LONGEST : 125)) return 1;
            uint8_t *message = malloc(found.size ? found.size : 1);
            hd_unmask(exact + found.begin, found.size, found.key, message);
            if (whole && (found.size != size || memcmp(message, text, size) != 0)) return 1;
            messages++;
            if (hd_scan_message((const char *)message, found.size + beyond, words, scan)) {
                plain++;
                if (!is_sound(scan, words)) return 1;
            }
            free(message);
        }
        free(exact);
    }
    printf("rounds %lu messages %lu plain %lu\n", rounds, messages, plain);
    freelocale(words->numbers);
    free(words), free(scan), free(text), free(frame);
    return 0;
}
