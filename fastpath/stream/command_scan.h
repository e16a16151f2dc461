/* Scan one message of a session for set-points, without allocating.
 *
 * Takes only what needs no general reader: groups of known devices, each with a map of set-points in their named-field form
 * and of probes. Everything else is not plain, whether right or wrong: a word or a member that is not in the tables, a member
 * twice, an escape, a character beyond ASCII, a number beyond its limit. The general reader then reads the whole message.
 *
 * The tables are those of the general reader, copied by `plan.pyx`. Numbers are read as IEEE 754 doubles, correctly rounded.
 */
#ifndef HAPTICD_COMMAND_SCAN_H
#define HAPTICD_COMMAND_SCAN_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "layout/limits.h"

#define HD_WORD_BYTES 40
#define HD_SCAN_GROUPS 48
#define HD_SCAN_DEVICES 64
#define HD_SCAN_COMMANDS 8
#define HD_SCAN_PROBES 8
#define HD_SCAN_POINTS 64
/* Names of one group that is an object. */
#define HD_SCAN_NAMES 16
/* Members, devices and commands of one message; the general reader allows more. */
#define HD_SCAN_PARTS 256
#define HD_NUMBER_BYTES 64

typedef struct {
    uint32_t size;
    char text[HD_WORD_BYTES];
} hd_word;

/* A word that names a group, and the kinds of devices in it as bits. */
typedef struct {
    hd_word word;
    uint64_t kinds;
} hd_group;

/* A set-point: its name, the one member of its body, three members of that, and the largest magnitude of a number. */
typedef struct {
    hd_word name;
    hd_word field;
    hd_word keys[3];
    double largest;
    uint32_t code;
    uint32_t spare;
} hd_command;

/* A device of the session: the bit of its kind, and the commands that it takes now as bits of their codes. */
typedef struct {
    hd_word id;
    uint64_t kind;
    uint64_t takes;
} hd_device;

typedef struct {
    hd_group groups[HD_SCAN_GROUPS];
    hd_device devices[HD_SCAN_DEVICES];
    hd_command commands[HD_SCAN_COMMANDS];
    hd_word probes[HD_SCAN_PROBES];
    uint32_t group_count, device_count, command_count, probe_count;
    locale_t numbers;
} hd_words;

typedef struct {
    uint32_t device;
    uint32_t code;
    double value[3];
} hd_point;

/* What a plain message says; `mapped`: devices that have a map of commands, as bits. */
typedef struct {
    uint64_t mapped;
    uint32_t count;
    uint32_t parts;
    hd_point points[HD_SCAN_POINTS];
} hd_scan;

typedef struct {
    const char *at;
    const char *end;
} hd_cursor;

/* ---------------------------------------------------------------- tokens */

static inline void hd_skip_space(hd_cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r')) c->at++;
}

/* Skip white space and take one character; 1 when it was there. */
static inline int hd_take(hd_cursor *c, char wanted) {
    hd_skip_space(c);
    if (c->at >= c->end || *c->at != wanted) return 0;
    c->at++;
    return 1;
}

/* Take a string of plain ASCII; 0 for anything else. */
static inline int hd_take_string(hd_cursor *c, const char **text, uint32_t *size) {
    if (!hd_take(c, '"')) return 0;
    const char *start = c->at;
    for (; c->at < c->end; c->at++) {
        const unsigned char one = (unsigned char)*c->at;
        if (one == '"') {
            *text = start;
            *size = (uint32_t)(c->at - start);
            c->at++;
            return 1;
        }
        if (one == '\\' || one < 0x20 || one >= 0x80) return 0;
    }
    return 0;
}

/* Take a member's name and its colon. */
static inline int hd_take_name(hd_cursor *c, const char **text, uint32_t *size) {
    return hd_take_string(c, text, size) && hd_take(c, ':');
}

static inline int hd_is(const hd_word *word, const char *text, uint32_t size) {
    return word->size == size && memcmp(word->text, text, size) == 0;
}

/* After a member or an element: 1 when another one follows, 0 when the container ends, -1 for anything else. */
static inline int hd_take_next(hd_cursor *c, char closing) {
    hd_skip_space(c);
    if (c->at >= c->end) return -1;
    const char one = *c->at++;
    return one == ',' ? 1 : one == closing ? 0 : -1;
}

static inline int hd_is_digit(const hd_cursor *c) { return c->at < c->end && *c->at >= '0' && *c->at <= '9'; }

/* Take a number as JSON writes it (RFC 8259, 6), correctly rounded; an integer is never -0. */
static inline int hd_take_number(hd_cursor *c, locale_t locale, double *value) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    hd_skip_space(c);
    const char *start = c->at;
    uint64_t digits = 0;
    int significant = 0, scale = 0, exponent = 0, real = 0;
    const int negative = c->at < c->end && *c->at == '-';
    c->at += negative;
    if (!hd_is_digit(c)) return 0;
    const int leading_zero = *c->at == '0';
    for (int first = 1; hd_is_digit(c); c->at++, first = 0) {
        if (leading_zero && !first) return 0;
        if (significant < 19) digits = digits * 10 + (uint64_t)(*c->at - '0');
        significant += digits != 0;
    }
    if (c->at < c->end && *c->at == '.') {
        real = 1;
        c->at++;
        if (!hd_is_digit(c)) return 0;
        for (; hd_is_digit(c); c->at++, scale--) {
            if (significant < 19) digits = digits * 10 + (uint64_t)(*c->at - '0');
            significant += digits != 0;
        }
    }
    if (c->at < c->end && (*c->at == 'e' || *c->at == 'E')) {
        real = 1;
        c->at++;
        const int down = c->at < c->end && *c->at == '-';
        c->at += c->at < c->end && (*c->at == '-' || *c->at == '+');
        if (!hd_is_digit(c)) return 0;
        for (; hd_is_digit(c); c->at++) {
            if (exponent < 100000) exponent = exponent * 10 + (*c->at - '0');
        }
        if (down) exponent = -exponent;
    }
    exponent += scale;
    if (!real && digits == 0) {
        *value = 0;
        return 1;
    }
    /* Exact: integer and power of ten both have a double of their own (Clinger 1990). */
    if (significant <= 19 && digits <= (1ull << 53) && exponent >= -22 && exponent <= 22) {
        const double whole = (double)digits;
        const double size = exponent < 0 ? whole / powers[-exponent] : whole * powers[exponent];
        *value = negative ? -size : size;
        return 1;
    }
    char text[HD_NUMBER_BYTES];
    const size_t size = (size_t)(c->at - start);
    if (size >= sizeof text) return 0;
    memcpy(text, start, size);
    text[size] = 0;
    *value = strtod_l(text, NULL, locale);
    return 1;
}

/* ---------------------------------------------------------------- the message */

static inline int hd_count_part(hd_scan *out) { return ++out->parts <= HD_SCAN_PARTS; }

/* The body of a set-point: one member with three numbers. */
static inline int hd_scan_body(hd_cursor *c, const hd_words *words, const hd_command *command, double *value) {
    const char *text;
    uint32_t size;
    unsigned seen = 0;
    if (!hd_take(c, '{') || !hd_take_name(c, &text, &size) || !hd_is(&command->field, text, size) || !hd_take(c, '{'))
        return 0;
    for (int more = 1; more != 0;) {
        int key = 0;
        if (!hd_take_name(c, &text, &size)) return 0;
        while (key < 3 && !hd_is(&command->keys[key], text, size)) key++;
        if (key == 3 || seen >> key & 1) return 0;
        seen |= 1u << key;
        if (!hd_take_number(c, words->numbers, &value[key])) return 0;
        if (!hd_within(value[key], command->largest)) return 0;
        more = hd_take_next(c, '}');
        if (more < 0) return 0;
    }
    return seen == 7 && hd_take(c, '}');
}

/* A map of commands; its points get their device later. `seen`: commands of this device so far. */
static inline int hd_scan_commands(hd_cursor *c, const hd_words *words, hd_scan *out) {
    const char *text;
    uint32_t size;
    uint64_t seen = 0;
    if (!hd_take(c, '{')) return 0;
    if (hd_take(c, '}')) return 1;
    for (int more = 1; more != 0;) {
        uint32_t at = 0;
        if (!hd_take_name(c, &text, &size) || !hd_count_part(out)) return 0;
        while (at < words->command_count && !hd_is(&words->commands[at].name, text, size)) at++;
        if (at < words->command_count) {
            hd_point *point = &out->points[out->count];
            if (seen >> at & 1 || out->count == HD_SCAN_POINTS) return 0;
            seen |= 1ull << at;
            if (!hd_scan_body(c, words, &words->commands[at], point->value)) return 0;
            point->code = words->commands[at].code;
            out->count++;
        } else {
            /* A probe twice asks for the same again. */
            uint32_t probe = 0;
            while (probe < words->probe_count && !hd_is(&words->probes[probe], text, size)) probe++;
            if (probe == words->probe_count || !hd_take(c, '{') || !hd_take(c, '}')) return 0;
        }
        more = hd_take_next(c, '}');
        if (more < 0) return 0;
    }
    return 1;
}

/* One device of a group; `id`: its name in a group that is an object, else without text. */
static inline int hd_scan_device(hd_cursor *c, const hd_words *words, const hd_group *group, const char *id, uint32_t id_size, hd_scan *out) {
    const char *text;
    uint32_t size, device = 0;
    const uint32_t first = out->count;
    int named = 0, mapped = 0;
    if (!hd_count_part(out) || !hd_take(c, '{')) return 0;
    int more = !hd_take(c, '}');
    while (more != 0) {
        if (!hd_take_name(c, &text, &size) || !hd_count_part(out)) return 0;
        if (size == 9 && memcmp(text, "device_id", 9) == 0) {
            if (named++ || !hd_take_string(c, &id, &id_size)) return 0;
        } else if ((size == 8 && memcmp(text, "commands", 8) == 0) || (size == 12 && memcmp(text, "command_data", 12) == 0)) {
            if (mapped++ || !hd_scan_commands(c, words, out)) return 0;
        } else {
            return 0;
        }
        more = hd_take_next(c, '}');
        if (more < 0) return 0;
    }
    if (id == NULL) return 0;
    while (device < words->device_count && !hd_is(&words->devices[device].id, id, id_size)) device++;
    if (device == words->device_count || !(words->devices[device].kind & group->kinds)) return 0;
    if (mapped) out->mapped |= 1ull << device;
    for (uint32_t i = first; i < out->count; i++) {
        if (!(words->devices[device].takes >> out->points[i].code & 1)) return 0;
        out->points[i].device = device;
    }
    return 1;
}

/* Scan a message; 1 when it is plain, and then `out` says all of it. */
static inline int hd_scan_message(const char *message, size_t size, const hd_words *words, hd_scan *out) {
    hd_cursor cursor = {message, message + size};
    hd_cursor *c = &cursor;
    const char *text, *id;
    uint32_t length, id_size;
    uint64_t seen = 0;
    out->mapped = 0;
    out->count = 0;
    out->parts = 0;
    if (!hd_take(c, '{')) return 0;
    int more = !hd_take(c, '}');
    while (more != 0) {
        uint32_t group = 0;
        if (!hd_take_name(c, &text, &length) || !hd_count_part(out)) return 0;
        while (group < words->group_count && !hd_is(&words->groups[group].word, text, length)) group++;
        if (group == words->group_count || seen >> group & 1) return 0;
        seen |= 1ull << group;
        if (hd_take(c, '[')) {
            int another = !hd_take(c, ']');
            while (another != 0) {
                if (!hd_scan_device(c, words, &words->groups[group], NULL, 0, out)) return 0;
                another = hd_take_next(c, ']');
                if (another < 0) return 0;
            }
        } else if (hd_take(c, '{')) {
            const char *names[HD_SCAN_NAMES];
            uint32_t sizes[HD_SCAN_NAMES];
            int count = 0;
            int another = !hd_take(c, '}');
            while (another != 0) {
                if (count == HD_SCAN_NAMES || !hd_take_name(c, &id, &id_size)) return 0;
                /* A name twice is one member, the last one. */
                for (int i = 0; i < count; i++) {
                    if (sizes[i] == id_size && memcmp(names[i], id, id_size) == 0) return 0;
                }
                names[count] = id;
                sizes[count++] = id_size;
                if (!hd_scan_device(c, words, &words->groups[group], id, id_size, out)) return 0;
                another = hd_take_next(c, '}');
                if (another < 0) return 0;
            }
        } else {
            return 0;
        }
        more = hd_take_next(c, '}');
        if (more < 0) return 0;
    }
    hd_skip_space(c);
    return c->at == c->end;
}

#endif
