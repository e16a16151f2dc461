/* Stress of a session's lock, fastpath/stream/session_lock.h, beside the loop that reads the records (fastpath/cells/cells.h).
 *
 *   session_lock_stress ROUNDS [careless|deaf]
 *
 * The streaming thread, told by a bell, writes a record and hands it over under the lock that it only tries; the event loop does the same
 * under the lock that it waits for, each time with its own parts of a record that must agree; the loop reads triple buffers and knows
 * no lock. Planted mistakes: `careless`, the streaming thread writes without the lock; `deaf`, nobody tells it that it missed a turn.
 * Prints "streamed S configured C read R torn T lost L" and exits with 1 when a record was torn or a turn was lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells/cells.h"
#include "stream/session_lock.h"

#define WORDS 40

typedef struct {
    uint64_t word[WORDS];
} record_t;

static hd_lock lock;
static hd_triple triple;
static record_t record, buffers[3];
static uint64_t bell, stop, turns, streamed, configured, reads, torn;
static int careless, deaf;

/* Write the whole record, and hand it over as a Writer does. */
static void write_record(uint64_t number) {
    for (int i = 0; i < WORDS; i++) record.word[i] = number;
    hd_triple_publish(&triple, buffers, &record, sizeof record);
}

/* Its turns come by the bell: a message of the client, or a holder of the lock that lets it try again. */
static void *streaming_main(void *argument) {
    (void)argument;
    uint64_t done = 0;
    while (!hd_load(&stop)) {
        if (!hd_exchange(&bell, 0)) { sched_yield(); continue; }
        if (!careless && !hd_lock_try(&lock)) continue;
        while (done < hd_load(&turns)) {
            write_record(2 * ++done);
            hd_store(&streamed, done);
        }
        if (!careless) hd_lock_leave(&lock);
    }
    return NULL;
}

static void *loop_main(void *argument) {
    (void)argument;
    record_t seen;
    while (!hd_load(&stop)) {
        reads += (uint64_t)hd_triple_take(&triple);
        memcpy(&seen, hd_triple_front(&triple, buffers, sizeof seen), sizeof seen);
        for (int i = 1; i < WORDS; i++) torn += seen.word[i] != seen.word[0];
    }
    return NULL;
}

int main(int argc, char **argv) {
    const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    pthread_t streaming, loop;
    uint64_t lost = 0;
    careless = argc > 2 && !strcmp(argv[2], "careless");
    deaf = argc > 2 && !strcmp(argv[2], "deaf");
    if (hd_lock_init(&lock) != 0) return 2;
    hd_triple_init(&triple);
    pthread_create(&streaming, NULL, streaming_main, NULL);
    pthread_create(&loop, NULL, loop_main, NULL);
    for (uint64_t round = 1; round <= rounds && lost == 0; round++) {
        /* A message comes, often while the lock is held: twice, as the event loop takes it within itself. */
        hd_lock_take(&lock);
        hd_lock_take(&lock);
        hd_store(&turns, round);
        hd_exchange(&bell, 1);
        write_record(2 * round + 1);
        configured++;
        if (round % 8 == 0) sched_yield();
        int tell = hd_lock_free(&lock, 0);
        tell |= hd_lock_free(&lock, 1);
        if (tell && !deaf) hd_exchange(&bell, 1);
        /* Each message is answered, whoever held the lock when it came. */
        for (uint64_t waited = 0; hd_load(&streamed) < round; waited++) {
            if (waited > 2000000) { lost++; hd_exchange(&bell, 1); waited = 0; }
            sched_yield();
        }
    }
    hd_store(&stop, 1);
    pthread_join(streaming, NULL);
    pthread_join(loop, NULL);
    printf("streamed %lu configured %lu read %lu torn %lu lost %lu\n", (unsigned long)streamed, (unsigned long)configured,
           (unsigned long)reads, (unsigned long)torn, (unsigned long)lost);
    hd_lock_end(&lock);
    return torn != 0 || lost != 0;
}
