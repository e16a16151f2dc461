/* Stress of the cells of fastpath/cells/cells.h: one writer at full speed, one reader (triple buffer) or several (seqlock).
 *
 *   cells_stress CELL READS      CELL: triple | seqlock | both, which is two cells under one sequence, as a device's state and what
 *                                navigation has come to; or with a planted mistake:
 *                                triple-shared | seqlock-blind | seqlock-plain | both-apart
 *
 * Every word of a value carries the value's number, so a torn value shows. The numbers that one reader sees never go back.
 * Readers go on until they have seen a new value for each 1,000 reads, so that on a busy machine they really meet the writer.
 * Prints "reads R values V torn T backwards B" and exits with 1 when a value was torn or went back.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells/cells.h"

#define WORDS 80
#define READERS 2
#define READS_FOR_A_VALUE 1000
#define STALE_READS 1000

typedef struct {
    uint64_t word[WORDS];
} value_t;

typedef struct {
    int (*read)(value_t *out);
    uint64_t reads, values, torn, backwards;
} reader_t;

static hd_triple triple;
static value_t buffers[3];
static uint64_t sequence;
static value_t shown;
static uint64_t stop;

/* ---- the cells as the service uses them */

static void triple_write(const value_t *value) { hd_triple_publish(&triple, buffers, value, sizeof *value); }

static int triple_read(value_t *out) {
    int fresh = hd_triple_take(&triple);
    memcpy(out, hd_triple_front(&triple, buffers, sizeof *out), sizeof *out);
    return fresh;
}

static void seqlock_write(const value_t *value) { hd_seq_write(&sequence, &shown, value, sizeof *value); }

static int seqlock_read(value_t *out) {
    hd_seq_read(&sequence, &shown, out, sizeof *out);
    return 1;
}

#define HALF (sizeof(value_t) / 2)

static value_t beside;

static void both_write(const value_t *value) {
    hd_seq_begin(&sequence);
    hd_seq_put(&shown, value->word, HALF);
    hd_seq_put(&beside, value->word + WORDS / 2, HALF);
    hd_seq_end(&sequence);
}

static int both_read(value_t *out) {
    hd_seq_read_both(&sequence, &shown, out->word, HALF, &beside, out->word + WORDS / 2, HALF);
    return 1;
}

/* ---- planted mistakes, which the stress must find */

static int apart_read(value_t *out) {
    hd_seq_read(&sequence, &shown, out->word, HALF);
    hd_seq_read(&sequence, &beside, out->word + WORDS / 2, HALF);
    return 1;
}

static void shared_write(const value_t *value) { memcpy(&buffers[0], value, sizeof *value); }

static int shared_read(value_t *out) {
    memcpy(out, &buffers[0], sizeof *out);
    return 1;
}

static int plain_read(value_t *out) {
    uint64_t before;
    do {
        before = hd_load(&sequence);
        memcpy(out, &shown, sizeof *out);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while (before & 1 || __atomic_load_n(&sequence, __ATOMIC_RELAXED) != before);
    return 1;
}

static int blind_read(value_t *out) {
    for (int i = 0; i < WORDS; i++) out->word[i] = __atomic_load_n(&shown.word[i], __ATOMIC_RELAXED);
    return 1;
}

/* ---- threads */

static void *writer_main(void *argument) {
    void (*write)(const value_t *) = *(void (**)(const value_t *))argument;
    value_t value;
    for (uint64_t number = 1; !hd_load(&stop); number++) {
        for (int i = 0; i < WORDS; i++) value.word[i] = number;
        write(&value);
    }
    return NULL;
}

static void *reader_main(void *argument) {
    reader_t *me = argument;
    value_t value;
    uint64_t last = 0, stale = 0;
    for (uint64_t n = 0; n < me->reads || me->values < me->reads / READS_FOR_A_VALUE; n++) {
        int fresh = me->read(&value);
        int whole = 1;
        for (int i = 1; i < WORDS; i++) whole &= value.word[i] == value.word[0];
        me->torn += !whole;
        me->backwards += whole && value.word[0] < last;
        if (fresh && value.word[0] != last) {
            me->values++;
            stale = 0;
        } else if (++stale % STALE_READS == 0) {
            sched_yield();
        }
        last = value.word[0];
    }
    return NULL;
}

int main(int argc, char **argv) {
    void (*write)(const value_t *) = NULL;
    int (*read)(value_t *) = NULL;
    int readers = READERS;
    if (argc == 3 && !strcmp(argv[1], "triple")) { write = triple_write; read = triple_read; readers = 1; }
    if (argc == 3 && !strcmp(argv[1], "triple-shared")) { write = shared_write; read = shared_read; readers = 1; }
    if (argc == 3 && !strcmp(argv[1], "seqlock")) { write = seqlock_write; read = seqlock_read; }
    if (argc == 3 && !strcmp(argv[1], "both")) { write = both_write; read = both_read; }
    if (argc == 3 && !strcmp(argv[1], "both-apart")) { write = both_write; read = apart_read; }
    if (argc == 3 && !strcmp(argv[1], "seqlock-blind")) { write = seqlock_write; read = blind_read; }
    if (argc == 3 && !strcmp(argv[1], "seqlock-plain")) { write = seqlock_write; read = plain_read; }
    if (write == NULL) {
        fprintf(stderr, "usage: cells_stress triple|seqlock|both|both-apart|triple-shared|seqlock-blind|seqlock-plain READS\n");
        return 2;
    }
    pthread_t writer, thread[READERS];
    reader_t reader[READERS], sum = {0};
    hd_triple_init(&triple);
    for (int i = 0; i < readers; i++) {
        memset(&reader[i], 0, sizeof reader[i]);
        reader[i].read = read;
        reader[i].reads = (strtoull(argv[2], NULL, 10) + (uint64_t)readers - 1) / (uint64_t)readers;
    }
    pthread_create(&writer, NULL, writer_main, &write);
    for (int i = 0; i < readers; i++) pthread_create(&thread[i], NULL, reader_main, &reader[i]);
    for (int i = 0; i < readers; i++) {
        pthread_join(thread[i], NULL);
        sum.reads += reader[i].reads;
        sum.values += reader[i].values;
        sum.torn += reader[i].torn;
        sum.backwards += reader[i].backwards;
    }
    hd_store(&stop, 1);
    pthread_join(writer, NULL);
    printf("reads %llu values %llu torn %llu backwards %llu\n", (unsigned long long)sum.reads,
           (unsigned long long)sum.values, (unsigned long long)sum.torn, (unsigned long long)sum.backwards);
    return sum.torn != 0 || sum.backwards != 0;
}
