/* Loop that only sleeps: the reference for the lateness of the control loop.
 *
 *   bare_loop FREQUENCY SECONDS PRIORITY CPU     (CPU -1: not pinned)
 *
 * clock_nanosleep to absolute deadlines, late ticks skipped and counted as the service does. Prints one JSON object;
 * bucket b of `lateness` counts lateness under 2^b / 4 microseconds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#define BUCKETS 24

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_until(int64_t ns) {
    struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {}
}

int main(int count, char **words) {
    if (count != 5) {
        fprintf(stderr, "bare_loop FREQUENCY SECONDS PRIORITY CPU\n");
        return 2;
    }
    int64_t period = (int64_t)(1e9 / atof(words[1]));
    int64_t length = (int64_t)(atof(words[2]) * 1e9);
    int cpu = atoi(words[4]);
    struct sched_param parameters = {.sched_priority = atoi(words[3])};
    int fifo = parameters.sched_priority > 0 && pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0;
    if (fifo && cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) return 1;
    }
    prctl(PR_SET_TIMERSLACK, 1UL);
    mlockall(MCL_CURRENT);
    uint64_t lateness[BUCKETS] = {0}, ticks = 0, missed = 0;
    int64_t deadline = now_ns() + period, end = now_ns() + length, longest = 0;
    while (deadline < end) {
        sleep_until(deadline);
        int64_t late = now_ns() - deadline;
        missed += (uint64_t)(late / period);
        deadline += late / period * period;
        int bucket = 0;
        while (bucket < BUCKETS - 1 && late * 1e-3 >= 0.25 * (1 << bucket)) bucket++;
        lateness[bucket]++;
        ticks++;
        if (late > longest) longest = late;
        deadline += period;
    }
    printf("{\"fifo\": %d, \"ticks\": %" PRIu64 ", \"missed\": %" PRIu64 ", \"lateness_max\": %.9f, \"lateness\": [", fifo, ticks,
           missed, (double)longest * 1e-9);
    for (int i = 0; i < BUCKETS; i++) printf("%s%" PRIu64, i ? ", " : "", lateness[i]);
    printf("]}\n");
    return 0;
}
