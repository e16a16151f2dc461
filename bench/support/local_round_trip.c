/* Measure the shared memory: `local_round_trip STATE_DIR COUNT lockstep|anytime`. Prints p50 and p99 (us) from a command to the state of the tick that
 * has it, and p50 in ticks. `lockstep`: a command right behind each state; `anytime`: at moments that have nothing to do with ticks. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>

#include "hapticd_local.h"

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **words) {
    const long samples = count > 2 ? atol(words[2]) : 0;
    const int anytime = count > 3 && !strcmp(words[3], "anytime");
    double *took = (double *)calloc((size_t)samples + 1, sizeof(double)), *ticks = (double *)calloc((size_t)samples + 1, sizeof(double));
    hapticd_local client;
    hapticd_local_state state;
    unsigned seed = 1;
    int device;
    long i, lost = 0;
    if (count < 4 || !took || !ticks || hapticd_local_open(&client, words[1], "bench", NULL, HAPTICD_LOCAL_FORCE) != 0) {
        puts(count < 4 ? "usage" : client.error);
        return 1;
    }
    while ((device = hapticd_local_find(&client, NULL)) < 0)
        if (hapticd_local_wait(&client, 1000000000) < 0) return 1;
    for (i = 0; i < samples; i++) {
        double force[3] = {0, 0, 0.5};
        const uint64_t *taken = &client.states->seats[client.seat].devices[device].taken;
        int64_t begun;
        uint64_t before, during, tick;
        if (hapticd_local_wait(&client, 1000000000) != 1 || !hapticd_local_read(&client, device, &state)) return 1;
        if (anytime) {
            int64_t until = hapticd_local_now() + (int64_t)((seed = seed * 1103515245u + 12345u) % 100000u);
            while (hapticd_local_now() < until) {}
        }
        force[2] += 0.001 * (double)(i % 100);
        before = __atomic_load_n(&client.states->tick, __ATOMIC_ACQUIRE);
        begun = hapticd_local_now();
        hapticd_local_force(&client, device, state.generation, force);
        while (__atomic_load_n(taken, __ATOMIC_ACQUIRE) != client.next[device])
            if (hapticd_local_now() - begun > 1000000000) return 2;
        /* The tick that took it is under way; had it just been shown, the next one is waited for: too long rather than too short. */
        during = __atomic_load_n(&client.states->tick, __ATOMIC_ACQUIRE);
        while ((tick = __atomic_load_n(&client.states->tick, __ATOMIC_ACQUIRE)) == during)
            if (hapticd_local_now() - begun > 1000000000) return 2;
        if (!hapticd_local_read(&client, device, &state)) return 3;
        if (state.mode != 1) {
            /* This process had no processor for longer than a time-out. */
            if (++lost > samples / 10) return 4;
            i--;
            continue;
        }
        took[i] = (double)(hapticd_local_now() - begun) * 1e-3;
        ticks[i] = (double)(tick - before);
        client.waited = tick - (anytime ? 0u : 1u);
    }
    qsort(took, (size_t)samples, sizeof(double), by_size);
    qsort(ticks, (size_t)samples, sizeof(double), by_size);
    printf("{\"p50\": %.3f, \"p99\": %.3f, \"ticks\": %.0f, \"ticks99\": %.0f}\n", took[samples / 2], took[samples * 99 / 100], ticks[samples / 2],
           ticks[samples * 99 / 100]);
    return 0;
}
