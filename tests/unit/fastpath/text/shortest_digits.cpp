// Compare put_number with std::to_chars for each step-th float32 from -1e-4 to -1e7: prints how many it compared, stops at a difference.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "number_text.h"

static std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

int main(int count, char **words) {
    const std::uint32_t step = count > 1 ? static_cast<std::uint32_t>(std::atol(words[1])) : 1;
    unsigned long compared = 0;
    std::uint64_t nulls = 0;
    for (std::uint32_t bits = bits_of(1e-4f); bits < bits_of(1e7f); bits += step, compared++) {
        float value;
        std::memcpy(&value, &bits, sizeof(value));
        char ours[64], theirs[64];
        std::memset(ours, '?', sizeof(ours));
        value = -value;
        char *const end = hapticd::put_number(ours, value, &nulls);
        for (std::size_t i = hapticd::NUMBER_BYTES; i < sizeof(ours); i++) {
            if (ours[i] != '?') return std::printf("%.9g: wrote beyond its room\n", value), 1;
        }
        *end = 0;
        *std::to_chars(theirs, theirs + sizeof(theirs), value, std::chars_format::fixed).ptr = 0;
        if (std::strcmp(ours, theirs) != 0) return std::printf("%.9g: %s instead of %s\n", value, ours, theirs), 1;
    }
    std::printf("%lu\n", compared);
    return 0;
}
