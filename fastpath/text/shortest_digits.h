/* Shortest decimal digits of float32 values from 1e-4 to 1e7 in fixed notation: the fewest digits that give the same float32, and of those
 * the nearest to it.
 *
 * Schubfach (R. Giulietti, "The Schubfach way to render doubles", 2021). In this range the powers of ten that it needs, 10^0 to 10^12, fit into
 * 64 bits exactly, so its products are exact too.
 */
#ifndef HAPTICD_SHORTEST_DIGITS_H
#define HAPTICD_SHORTEST_DIGITS_H

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "digits are put together in a register, the first one lowest");

namespace hapticd {

struct Decimal {
    std::uint32_t digits;
    /* the value is digits / 10^places */
    int places;
};

constexpr int MOST_PLACES = 12;
constexpr std::size_t SHORTEST_ROOM = 24;

struct PowersOfTen {
    std::uint64_t exact[MOST_PLACES + 1];
    /* shifted left until the highest bit is set */
    std::uint64_t normal[MOST_PLACES + 1];
};

constexpr PowersOfTen powers_of_ten() {
    PowersOfTen made{};
    std::uint64_t power = 1;
    for (int k = 0; k <= MOST_PLACES; k++, power *= 10) {
        made.exact[k] = power;
        std::uint64_t normal = power;
        while (!(normal >> 63)) normal <<= 1;
        made.normal[k] = normal;
    }
    return made;
}

constexpr PowersOfTen POWERS = powers_of_ten();

/* The upper 32 bits of g times c / 2^32, made odd if anything was cut off. */
inline std::uint32_t round_to_odd(std::uint64_t g, std::uint32_t c) {
    const unsigned __int128 product = static_cast<unsigned __int128>(g) * c;
    return static_cast<std::uint32_t>(product >> 64) | (static_cast<std::uint32_t>(product >> 32) > 1);
}

/* Decimal digits of a value from 1e-4 to 1e7 that is no integer; they may end in zeros. */
inline Decimal shortest_digits(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    const std::uint32_t fraction = bits & 0x7fffff;
    const std::uint32_t c = fraction | 0x800000;
    const int q = static_cast<int>(bits >> 23 & 0xff) - 150;
    /* Below a power of two the next float32 is half as far away. */
    const std::uint32_t closer = fraction == 0;
    const std::uint32_t odd = c & 1;
    /* floor of the logarithm to base 10 of the distance to the next float32, or of 3/4 of it */
    const int places = -((q * 1262611 - static_cast<int>(closer) * 524031) >> 22);
    const int shift = q + ((places * 1741647) >> 19) + 1;
    const std::uint64_t g = POWERS.normal[places];
    const std::uint32_t lower = round_to_odd(g, (4 * c - 2 + closer) << shift) + odd;
    const std::uint32_t middle = round_to_odd(g, (4 * c) << shift);
    const std::uint32_t upper = round_to_odd(g, (4 * c + 2) << shift) - odd;
    const std::uint32_t below = middle / 4;
    const std::uint32_t tens = below / 10;
    const bool tens_inside = lower <= 40 * tens, next_tens_inside = 40 * tens + 40 <= upper;
    if (tens_inside != next_tens_inside) return {tens + next_tens_inside, places - 1};
    const bool below_inside = lower <= 4 * below, above_inside = 4 * below + 4 <= upper;
    if (below_inside != above_inside) return {below + above_inside, places};
    const std::uint32_t half = 4 * below + 2;
    return {below + (middle > half || (middle == half && (below & 1))), places};
}

/* the character 0 in the lowest twelve bytes */
constexpr unsigned __int128 ZEROS = static_cast<unsigned __int128>(0x30303030) << 64 | 0x3030303030303030;

/* Eight decimal digits of a number below 1e8, one in each byte, the first one lowest. */
inline std::uint64_t eight_digits(std::uint32_t number) {
    /* quotients by 10,000, 100 and 10 in 2, 4 and 8 lanes: v * 5243 >> 19 is v / 100 below 10,000, v * 103 >> 10 is v / 10 below 100 */
    const std::uint64_t fours = number / 10000 | static_cast<std::uint64_t>(number % 10000) << 32;
    const std::uint64_t hundreds = (fours * 5243 >> 19) & 0x0000007f0000007f;
    const std::uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    const std::uint64_t tens = (twos * 103 >> 10) & 0x000f000f000f000f;
    return tens | (twos - 10 * tens) << 8;
}

/* Write a fraction of so many places behind its point, without the zeros at its end. `fraction` is above 0. */
inline char *put_fraction(char *at, std::uint32_t fraction, int places) {
    /* All twelve places in one register, without a branch: how many there are is as good as random. */
    const std::uint32_t high = fraction / 100000000;
    const std::uint64_t low = eight_digits(fraction - high * 100000000);
    const unsigned __int128 digits = static_cast<unsigned __int128>(low) << 32 | high << 24;
    const unsigned __int128 text = (digits | ZEROS) >> 8 * (MOST_PLACES - places);
    std::memcpy(at, &text, sizeof(text));
    return at + places - (low != 0 ? __builtin_clzll(low) / 8 : 8);
}

/* Write a value from 1e-4 to 1e7, at most 14 bytes; up to SHORTEST_ROOM are overwritten. */
inline char *put_shortest(char *at, float value) {
    /* No integer lies between a float32 of this range and its digits: integers are float32 themselves. */
    const std::uint32_t whole = static_cast<std::uint32_t>(value);
    if (whole < 10) {
        *at++ = static_cast<char>('0' + whole);
    } else {
        at = std::to_chars(at, at + 7, whole).ptr;
    }
    if (static_cast<float>(whole) == value) return at;
    const Decimal decimal = shortest_digits(value);
    *at++ = '.';
    return put_fraction(at, static_cast<std::uint32_t>(decimal.digits - whole * POWERS.exact[decimal.places]), decimal.places);
}

}  // namespace hapticd

#endif
