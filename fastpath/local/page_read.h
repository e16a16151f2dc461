/* What the loop does with memory that a client writes: copy, then judge the copy. Nothing in the page is followed, and no loop ends by it. */
#ifndef HAPTICD_PAGE_READ_H
#define HAPTICD_PAGE_READ_H

#ifndef HAPTICD_LOCAL_LAYOUT_ONLY
#define HAPTICD_LOCAL_LAYOUT_ONLY
#endif
#include <string.h>

#include "layout/limits.h"
#include "local/hapticd_local.h"

#define HD_LOCAL_WORDS (sizeof(hapticd_local_record) / 8)
/* Looks at a record that is overwritten meanwhile; then the next tick looks again. */
#define HD_LOCAL_LOOKS 2

/* Return the sequence of the newest record. */
static inline uint64_t hd_local_newest(const hapticd_local_cell *cell) { return __atomic_load_n(&cell->sequence, __ATOMIC_ACQUIRE); }

/* Copy the newest record; return its sequence, 0 when it was, or may have been, overwritten meanwhile.
 *
 * Its place is written again for the record that comes HAPTICD_LOCAL_PLACES later: once the one before that is there. */
static inline uint64_t hd_local_copy(const hapticd_local_cell *cell, hapticd_local_record *out) {
    uint64_t words[HD_LOCAL_WORDS];
    for (int look = 0; look < HD_LOCAL_LOOKS; look++) {
        uint64_t sequence = hd_local_newest(cell);
        const uint64_t *from = (const uint64_t *)&cell->records[sequence % HAPTICD_LOCAL_PLACES];
        for (size_t i = 0; i < HD_LOCAL_WORDS; i++) words[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&cell->sequence, __ATOMIC_RELAXED) - sequence < HAPTICD_LOCAL_PLACES - 1u) {
            memcpy(out, words, sizeof *out);
            return sequence;
        }
    }
    return 0;
}

/* Return why a copied record is refused, 0 when it is not; `taken`: sequence of the record that was taken last. */
static inline uint32_t hd_local_refusal(const hapticd_local_record *record, uint64_t sequence, uint64_t taken, uint32_t generation,
                                        const double *largest, int commands) {
    if (sequence <= taken || record->sequence != sequence) return HAPTICD_LOCAL_BAD_SEQUENCE;
    if (record->generation != generation) return HAPTICD_LOCAL_BAD_DEVICE;
    if (record->commands >> commands) return HAPTICD_LOCAL_BAD_COMMANDS;
    for (int command = 0; command < commands; command++)
        for (int i = 0; i < 3 && record->commands >> command & 1u; i++)
            if (!hd_within(record->set_points[command][i], largest[command])) return HAPTICD_LOCAL_BAD_NUMBER;
    return HAPTICD_LOCAL_TAKEN;
}

#endif
