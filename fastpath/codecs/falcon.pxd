"""Codec of the Novint Falcon: 16 bytes each way, numbers as four letters from 'A', least significant nibble first.

To the device: `<`, three motor commands, LEDs with the homing bit, `A`, `>`. From it: `<`, three encoder counts, homed bits
with the grip's buttons, `A`, `>`. No byte inside is `<` or `>`, so a lost byte costs the frame it was lost from.
"""

from libc.math cimport fabs, isfinite, rint
from libc.stdint cimport int64_t

cdef enum:
    FALCON_FRAME = 16
    FALCON_MOST_COUNTS = 4096
    FALCON_LETTER = 0x41
    FALCON_HOMING = 1
    FALCON_GREEN = 2
    FALCON_BLUE = 4
    FALCON_RED = 8
    FALCON_HOMED = 7

cdef struct FalconReply:
    # encoder counts; one bit for each motor that is homed; grip: 1 plus, 2 forward, 4 centre, 8 minus
    int counts[3]
    unsigned int homed
    unsigned int buttons

cdef struct FalconFrames:
    # bytes of the incomplete frame; numbers of valid and of dropped frames
    unsigned char held[FALCON_FRAME]
    int length
    int64_t whole
    int64_t bad


cdef inline void falcon_counts(const double *torque, double counts_per_nm, int *counts) noexcept nogil:
    """Crank torques (N.mm) -> motor commands: within +-4096, all three scaled down together; zero for NaN."""
    cdef double wanted[3]
    cdef double most = 0, share
    cdef int i
    for i in range(3):
        wanted[i] = torque[i] * 1e-3 * counts_per_nm
        if not isfinite(wanted[i]):
            counts[0] = 0; counts[1] = 0; counts[2] = 0
            return
        if fabs(wanted[i]) > most:
            most = fabs(wanted[i])
    share = FALCON_MOST_COUNTS / most if most > FALCON_MOST_COUNTS else 1
    for i in range(3):
        counts[i] = <int>rint(wanted[i] * share)


cdef inline void falcon_write(const int *counts, unsigned int lights, unsigned char *out) noexcept nogil:
    """Encode one command of 16 bytes; `lights`: LEDs and the homing bit."""
    cdef unsigned int word
    cdef int i, k
    out[0] = c'<'
    for i in range(3):
        word = <unsigned int>counts[i] & 0xFFFF
        for k in range(4):
            out[1 + 4 * i + k] = FALCON_LETTER + (word >> 4 * k & 0xF)
    out[13] = FALCON_LETTER + (lights & 0xF)
    out[14] = FALCON_LETTER
    out[15] = c'>'


cdef inline bint falcon_read(const unsigned char *frame, FalconReply *reply) noexcept nogil:
    """Decode one reply of 16 bytes; False, and nothing changed, when it is invalid."""
    cdef unsigned int word, letter
    cdef int counts[3]
    cdef int i, k
    if frame[0] != c'<' or frame[14] != FALCON_LETTER or frame[15] != c'>' or not 0 <= frame[13] - FALCON_LETTER < 0x80:
        return False
    for i in range(3):
        word = 0
        for k in range(4):
            letter = <unsigned int>(frame[1 + 4 * i + k] - FALCON_LETTER)
            if letter > 0xF:
                return False
            word |= letter << 4 * k
        counts[i] = <int>word - 0x10000 if word >= 0x8000 else <int>word
    for i in range(3):
        reply.counts[i] = counts[i]
    reply.homed = (frame[13] - FALCON_LETTER) >> 4
    reply.buttons = (frame[13] - FALCON_LETTER) & 0xF
    return True


cdef inline int falcon_take(FalconFrames *frames, const unsigned char *data, size_t size, FalconReply *reply) noexcept nogil:
    """Decode received bytes; return how many replies they complete, the last one in `reply`; count broken frames."""
    cdef int found = 0
    cdef size_t i
    for i in range(size):
        if data[i] == c'<':
            frames.bad += frames.length > 0
            frames.length = 0
        elif frames.length == 0:
            continue
        frames.held[frames.length] = data[i]
        frames.length += 1
        if frames.length == FALCON_FRAME:
            frames.length = 0
            if falcon_read(frames.held, reply):
                frames.whole += 1
                found += 1
            else:
                frames.bad += 1
    return found


cdef inline double falcon_angle(int count) noexcept nogil:
    """Encoder count -> crank angle, degrees: 1,280 counts a turn, gear 110 mm : 14.25 mm, 35 degrees where homing ends."""
    return count * (360.0 / 1280 * 14.25 / 110) + 35


cdef inline double falcon_count(double degrees) noexcept nogil:
    """Crank angle, degrees -> encoder count, with its fraction."""
    return (degrees - 35) / (360.0 / 1280 * 14.25 / 110)
