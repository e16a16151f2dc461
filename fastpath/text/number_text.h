/* Write numbers and strings as JSON text, for encoder.pyx: each function writes at a cursor and returns the cursor behind its text.
 *
 * No function allocates or checks for room: the caller reserves the greatest length first.
 */
#ifndef HAPTICD_NUMBER_TEXT_H
#define HAPTICD_NUMBER_TEXT_H

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "shortest_digits.h"

namespace hapticd {

/* The longest float32 has 15: sign, nine digits, and either "0.000" or a point and "E-38"; put_shortest writes beyond, behind a sign. */
constexpr std::size_t NUMBER_BYTES = 1 + SHORTEST_ROOM;
constexpr std::size_t INTEGER_BYTES = 20;
/* One byte of UTF-8 becomes at most a backslash, u and four digits. */
constexpr std::size_t ESCAPE_BYTES = 6;

inline char *put_bytes(char *at, const char *text, std::size_t size) {
    std::memcpy(at, text, size);
    return at + size;
}

/* Write a literal; the compiler knows its length. */
__attribute__((always_inline)) inline char *put(char *at, const char *literal) {
    return put_bytes(at, literal, __builtin_strlen(literal));
}

inline char *put_integer(char *at, std::int64_t value) { return std::to_chars(at, at + INTEGER_BYTES, value).ptr; }
inline char *put_unsigned(char *at, std::uint64_t value) { return std::to_chars(at, at + INTEGER_BYTES, value).ptr; }

/* Rewrite std::to_chars's "1.5e+07" as mantissa, E, exponent without plus sign and leading zeros. */
inline char *put_scientific(char *at, float value) {
    char *end = std::to_chars(at, at + NUMBER_BYTES, value, std::chars_format::scientific).ptr;
    char *digits = end;
    while (digits[-1] != '+' && digits[-1] != '-') digits--;
    char *write = digits[-1] == '-' ? digits : digits - 1;
    digits[-2] = 'E';
    while (*digits == '0') digits++;
    while (digits < end) *write++ = *digits++;
    return write;
}

/* Write a real number: the shortest digits that give the same float32; `null`, counted, beyond float32. */
inline char *put_number(char *at, double real, std::uint64_t *nulls) {
    const float value = static_cast<float>(real);
    const float size = std::fabs(value);
    if (size == 0) {
        *at = '-';
        at += std::signbit(value);
        *at = '0';
        return at + 1;
    }
    if (size >= 1e-4f && size < 1e7f) {
        *at = '-';
        return put_shortest(at + std::signbit(value), size);
    }
    if (!std::isfinite(value)) {
        ++*nulls;
        return put(at, "null");
    }
    return put_scientific(at, value);
}

/* Write UTF-8 as the inside of a JSON string: quote, backslash and control characters escaped. */
inline char *put_escaped(char *at, const char *text, std::size_t size) {
    static const char hex[] = "0123456789abcdef";
    for (const char *end = text + size; text < end; text++) {
        const unsigned char c = static_cast<unsigned char>(*text);
        if (c >= 0x20 && c != '"' && c != '\\') {
            *at++ = *text;
            continue;
        }
        *at++ = '\\';
        switch (c) {
            case '"': case '\\': *at++ = *text; break;
            case '\b': *at++ = 'b'; break;
            case '\f': *at++ = 'f'; break;
            case '\n': *at++ = 'n'; break;
            case '\r': *at++ = 'r'; break;
            case '\t': *at++ = 't'; break;
            default:
                at = put(at, "u00");
                *at++ = hex[c >> 4];
                *at++ = hex[c & 15];
        }
    }
    return at;
}

}  // namespace hapticd

#endif
